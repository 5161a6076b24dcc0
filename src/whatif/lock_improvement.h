// LockImprovement: one optimisation applied to critical sections, as a person would make it in the source ("give this
// lock readers"). Plain data. Candidates are found elsewhere and handed to this folder; edits/ makes SectionEdits of
// them, which are simulated and re-timed.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "model/critical_sections.h"

namespace contrafact::whatif {

enum class LockOptimisation : uint8_t { drop_lock, reader_writer_lock, split_lock, shorten_section, make_atomic };
inline constexpr std::array<std::string_view, 5> kLockOptimisationNames{"drop-lock", "reader-writer-lock", "split-lock",
                                                                        "shorten-section", "make-atomic"};
constexpr std::string_view name_of(LockOptimisation optimisation) {
  return kLockOptimisationNames[static_cast<size_t>(optimisation)];
}

struct LockImprovement {
  LockOptimisation optimisation = LockOptimisation::drop_lock;
  std::vector<uint32_t> sections;         // that change: indexes into model::critical_sections(trace), ascending
  std::vector<uint32_t> part;             // split_lock: by position in `sections`; part 0 keeps the lock
  std::vector<int64_t> head_ns, tail_ns;  // shorten_section: likewise, what moves out in front and behind
};

}  // namespace contrafact::whatif
