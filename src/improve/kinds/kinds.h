// All kinds of improvements, a file of this folder for each.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "improve/kind.h"

namespace contrafact::improve {

namespace kinds {

extern const Kind* const convert_to_inline;      // the body runs at the spawn, on the spawning thread
extern const Kind* const inline_at_wait;         // the body runs at the first wait for the task, on the spawning thread
extern const Kind* const hoist_branch;           // convert-to-inline for the subset of tasks that take one branch
extern const Kind* const convert_to_combinator;  // a task that waits for its sub-tasks becomes a chain of stages
extern const Kind* const drop_lock;              // critical sections take no lock
extern const Kind* const reader_writer_lock;     // critical sections take their lock as readers
extern const Kind* const shared_look;   // critical sections look as readers, and lock exclusively only to change data
extern const Kind* const double_check;  // critical sections look without a lock, and take it to make what is missing
extern const Kind* const split_lock;    // critical sections of one lock take several
extern const Kind* const shorten_section;  // work that needs no exclusion moves before or after the section
extern const Kind* const make_atomic;      // critical sections become atomic operations
extern const Kind* const merge_tasks;      // neighbouring tasks become one
extern const Kind* const split_tasks;      // each task becomes several
extern const Kind* const cut_off;          // a recursion hands out no tasks below a level
extern const Kind* const wait_later;       // all tasks are handed out before the first is waited for
extern const Kind* const give_back_early;  // what was taken from a pool goes back before something else
extern const Kind* const block_outside;    // critical sections give their lock up while they block
extern const Kind* const pool_size;        // a pool has another number of workers
extern const Kind* const cores;            // the machine has another number of cores

}  // namespace kinds

// In the order in which documents list them.
inline std::span<const Kind* const> all_kinds() {
  static const std::array all{kinds::convert_to_inline,
                              kinds::inline_at_wait,
                              kinds::hoist_branch,
                              kinds::convert_to_combinator,
                              kinds::drop_lock,
                              kinds::reader_writer_lock,
                              kinds::shared_look,
                              kinds::double_check,
                              kinds::split_lock,
                              kinds::shorten_section,
                              kinds::make_atomic,
                              kinds::merge_tasks,
                              kinds::split_tasks,
                              kinds::cut_off,
                              kinds::wait_later,
                              kinds::give_back_early,
                              kinds::block_outside,
                              kinds::pool_size,
                              kinds::cores};
  return all;
}

}  // namespace contrafact::improve
