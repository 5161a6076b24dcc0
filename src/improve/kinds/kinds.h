// All kinds of improvements, a file of this folder for each.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "improve/kind.h"

namespace contrafact::improve {

namespace kinds {

extern const Kind* const convert_to_inline;      // the body runs at the spawn, on the spawning thread
extern const Kind* const inline_at_wait;         // the body runs where the task is first waited for, likewise
extern const Kind* const hoist_branch;           // convert-to-inline for the subset of tasks that take one branch
extern const Kind* const convert_to_combinator;  // who spawns tasks and waits for them becomes a chain of stages
extern const Kind* const drop_lock;              // critical sections take no lock
extern const Kind* const reader_writer_lock;     // critical sections take their lock as readers
extern const Kind* const shared_look;  // critical sections look as readers, and take it alone only to change something
extern const Kind* const split_lock;   // critical sections of one lock take several
extern const Kind* const shorten_section;  // what needs no exclusion is done before and after the section
extern const Kind* const make_atomic;      // critical sections become atomic operations
extern const Kind* const pool_size;        // a pool has another number of workers
extern const Kind* const cores;            // the machine has another number of cores

}  // namespace kinds

// In the order in which people read of them.
inline std::span<const Kind* const> all_kinds() {
  static const std::array all{kinds::convert_to_inline,     kinds::inline_at_wait, kinds::hoist_branch,
                              kinds::convert_to_combinator, kinds::drop_lock,      kinds::reader_writer_lock,
                              kinds::shared_look,           kinds::split_lock,     kinds::shorten_section,
                              kinds::make_atomic,           kinds::pool_size,      kinds::cores};
  return all;
}

}  // namespace contrafact::improve
