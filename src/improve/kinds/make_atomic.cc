// make-atomic: atomic operations on the contested words replace the lock. Either all that is contested is one word, and
// sections compute its new value from the old one by operations that commute, or in short sections. Or it is several
// words, such as counters, and sections only apply operations that commute to them.

#include <algorithm>

#include "improve/kinds/kinds.h"
#include "improve/lock_search.h"
#include "improve/section_change.h"
#include "improve/unseen_writes.h"

namespace contrafact::improve {
namespace {

bool changes_kernel_state(const LockUses::Lock& lock) {
  for (uint32_t cell = 0; cell < lock.contested.size(); ++cell) {
    if (lock.contested[cell] && is_kernel_state(lock.cells->address(cell))) return true;
  }
  return false;
}

// One word under every lock: 8 bytes at most that an atomic operation can take.
bool has_one_word(const LockUses::Lock& lock) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (uint32_t cell = 0; cell < lock.contested.size(); ++cell) {
    if (!lock.contested[cell]) continue;
    begin = std::min(begin, lock.cells->address(cell));
    end = std::max(end, lock.cells->end_address(cell));
  }
  return end == 0 || begin / 8 == (end - 1) / 8;
}

// Whether sections apply to these words only operations that commute and whose results they do not use. Each operation
// is on one word, so a range that crosses words is several whole ones.
bool only_updates_words(const LockUses::Lock& lock) {
  const auto is_of_words = [&](uint32_t cell) {
    const uint64_t begin = lock.cells->address(cell), end = lock.cells->end_address(cell);
    return begin / 8 == (end - 1) / 8 || (begin % 8 == 0 && end % 8 == 0);
  };
  return std::ranges::all_of(lock.cells->sets(), [&](uint32_t set) {
    return std::ranges::all_of(lock.cells->of(set), [&](const graph::CellUse& use) {
      return !lock.contested[use.cell] || (use.updates && is_of_words(use.cell));
    });
  });
}

// A section that computes the new value from the old one otherwise than by an operation that commutes.
bool replaces(const LockUses::Lock& lock) {
  return std::ranges::any_of(lock.cells->sets(), [&](uint32_t set) {
    return std::ranges::any_of(lock.cells->of(set),
                               [&](const graph::CellUse& use) { return lock.contested[use.cell] && use.replaces; });
  });
}

// A thread that compares and exchanges a word starts again each time another thread was faster. That pays only where it
// is seldom.
bool are_short(const LockUses& uses, model::LockId id) {
  constexpr int64_t kShortNs = 1'000;
  std::vector<int64_t> holds_ns;
  uses.each_section(std::span(&id, 1), [&](uint32_t s) { holds_ns.push_back(uses.section(s).hold_ns()); });
  if (holds_ns.empty()) return false;
  const auto middle = holds_ns.begin() + static_cast<ptrdiff_t>(holds_ns.size() / 2);
  std::ranges::nth_element(holds_ns, middle);
  return *middle <= kShortNs;
}

class MakeAtomic final : public SectionChange {
 public:
  constexpr MakeAtomic() : SectionChange("make-atomic", Effort::one_function, 4, 6) {}

  void find(LockSearch& search) const override {
    std::vector<uint32_t> sections;
    bool any = false, exchanges = false, several = false;
    for (const model::LockId lock : search.locks()) {
      const std::string_view reason = search.not_judged(lock);
      if (!reason.empty()) return search.refuse(this, lock, reason);
      const LockUses::Lock& info = search.lock(lock);
      if (changes_kernel_state(info)) return search.refuse(this, lock, "it orders system calls");
      if (!has_one_word(info)) {
        if (!only_updates_words(info)) return;
        several = true;
      } else if (replaces(info)) {
        if (!are_short(search, lock))
          return search.refuse(this, lock, "long sections need the value that they replace");
        exchanges = true;
      }
      any |= std::ranges::find(info.contested, true) != info.contested.end();
    }
    search.each_section(search.locks(), [&](uint32_t s) { sections.push_back(s); });
    if (!any) return;
    for (const auto& [site, of_site] : search.by_site()) {
      const UnseenWrites unseen(search, of_site);
      const auto reaches = [&](uint32_t s) {
        return unseen.may_reach(search.section(s).lock, search.facts().sets.of_section[s]);
      };
      if (unseen.may_reach_any() && std::ranges::any_of(of_site, reaches))
        return search.refuse(this, search.section(of_site[0]).lock, UnseenWrites::kReason);
    }
    Candidate made = search.candidate(this, std::move(sections));
    made.exchanges = exchanges;
    made.of_words = several;
    search.add(std::move(made));
  }

  // An atomic operation takes tens of nanoseconds where threads meet, as that on the lock's own word did: the recorded
  // section includes that time.
  void edit(const model::Trace&, std::span<const model::CriticalSection>, const whatif::Improvement& improvement,
            std::vector<whatif::SectionEdit>& edits) const override {
    for (const uint32_t s : improvement.sections) edits[s].mode = whatif::SectionEdit::Mode::none;
  }
  bool moves_conflicts() const override { return true; }

  void add_directions(const Candidate& candidate, std::vector<std::string>& notes) const override {
    if (candidate.exchanges)
      notes.emplace_back(
          "the new value follows from the old one: fetch_add where one is added, fetch_or where bits are set, else "
          "compare_exchange in a loop");
    if (candidate.of_words)
      notes.emplace_back("each word by itself: another thread may see one changed and the next one not yet");
  }
};

constexpr MakeAtomic kMakeAtomic;

}  // namespace

const Kind* const kinds::make_atomic = &kMakeAtomic;

}  // namespace contrafact::improve
