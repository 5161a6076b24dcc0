// split-lock: sections take a lock of their own part of the data, or of two parts, instead of one for all.
// lock_splits.h finds the parts.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "improve/kinds/kinds.h"
#include "improve/lock_search.h"
#include "improve/lock_splits.h"
#include "improve/section_change.h"

namespace contrafact::improve {
namespace {

using whatif::Improvement;
using whatif::SectionEdit;

class SplitLock final : public SectionChange {
 public:
  constexpr SplitLock() : SectionChange("split-lock", Effort::redesign, 3, 7) {}

  void find(LockSearch& search) const override { add_splits(search, search.locks(), search.found()); }

  std::string_view fault(const Improvement& improvement) const override {
    const size_t count = improvement.sections.size();
    const bool all_placed =
        improvement.part.size() == count && (improvement.also_part.empty() || improvement.also_part.size() == count);
    return all_placed ? "" : "a section has no part";
  }

  void edit(const model::Trace& trace, std::span<const model::CriticalSection>, const Improvement& improvement,
            std::vector<SectionEdit>& edits) const override {
    auto next = static_cast<uint32_t>(trace.locks.size());
    for (const SectionEdit& edit : edits) {
      if (edit.lock != SectionEdit::kNoLock) next = std::max(next, edit.lock + 1);
      if (edit.also < SectionEdit::kAllLocks) next = std::max(next, edit.also + 1);
    }
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> part_of;  // by the lock and the part of it: the new lock
    const auto lock_of = [&](uint32_t lock, uint32_t part) {
      if (part == 0) return lock;
      const auto [made, added] = part_of.try_emplace({lock, part}, next);
      next += added;
      return made->second;
    };
    for (size_t i = 0; i < improvement.sections.size(); ++i) {
      SectionEdit& edit = edits[improvement.sections[i]];
      const uint32_t before = edit.lock;
      edit.lock = lock_of(before, improvement.part[i]);
      if (improvement.also_part.empty() || improvement.also_part[i] == improvement.part[i]) continue;
      edit.also = improvement.also_part[i] == Improvement::kAllParts ? SectionEdit::kAllLocks
                                                                     : lock_of(before, improvement.also_part[i]);
    }
  }

  std::string title(const Candidate& candidate) const override {
    if (candidate.parts == 0) return SectionChange::title(candidate);
    return fmt::format("{} into {}{}", name(), candidate.parts, candidate.taking_two > 0 ? ", two at a time" : "");
  }
  std::string_view legend() const override { return "(into how many, and whether sections take two at a time)"; }

  void add_directions(const Candidate& candidate, std::vector<std::string>& notes) const override {
    if (candidate.taking_two > 0)
      notes.push_back(fmt::format(
          "{} acquire{} two locks: always that of the lower address first; if the data under the first says which the "
          "second is, look it up, release the first, acquire both in order, and look again",
          sections_text(candidate.taking_two), candidate.taking_two == 1 ? "s" : ""));
    if (candidate.moves) notes.emplace_back("what moves between the parts is guarded by the lock of where it is");
    if (candidate.taking_all > 0)
      notes.push_back(fmt::format("{} touch{} more: {} all locks", sections_text(candidate.taking_all),
                                  candidate.taking_all == 1 ? "es" : "",
                                  candidate.taking_all == 1 ? "it takes" : "they take"));
    if (candidate.dividing > 0)
      notes.push_back(
          fmt::format("divide the data too: {} change what all parts share", sections_text(candidate.dividing)));
  }
};

constexpr SplitLock kSplitLock;

}  // namespace

const Kind* const kinds::split_lock = &kSplitLock;

}  // namespace contrafact::improve
