#include "analysis/made_locks.h"

#include <algorithm>
#include <map>

namespace contrafact::analysis {
namespace {

using model::AccessRange;
using model::CriticalSection;

constexpr size_t kPairsMin = 20;
// Between the first and the last byte that its sections touch: a flag, an owner, two counts and what lies between.
constexpr uint64_t kSpanBytesMax = 128;

class MadeLocks {
 public:
  MadeLocks(const model::Trace& trace, std::span<const CriticalSection> sections, const model::SectionSets& sets,
            std::span<const uint32_t> site_of)
      : trace_(trace),
        sections_(sections),
        sets_(sets),
        site_of_(site_of),
        closed_by_(sections.size(), kTakesNothing) {}

  std::vector<uint32_t> run() {
    for (uint32_t begin = 0, end = 0; begin < sections_.size(); begin = end) {
      while (end < sections_.size() && sections_[end].lock == sections_[begin].lock) ++end;
      if (model::is_mutex(trace_.locks[sections_[begin].lock.index()].kind)) look_at(begin, end);
    }
    return std::move(closed_by_);
  }

 private:
  struct Pair {
    uint32_t taking, giving_up;
  };

  void look_at(uint32_t begin, uint32_t end) {
    std::map<uint32_t, std::vector<uint32_t>> of_thread;
    for (uint32_t s = begin; s < end; ++s) {
      if (sections_[s].outcome == model::Outcome::normal) of_thread[sections_[s].thread.value].push_back(s);
    }
    if (of_thread.size() < 2) return;
    const uint32_t taking = site_of_[of_thread.begin()->second.front()];
    std::vector<Pair> pairs;
    for (auto& [thread, of_one] : of_thread) {
      std::ranges::sort(of_one, {}, [this](uint32_t s) { return sections_[s].acquire.value; });
      if (!pair_up(of_one, taking, pairs)) return;
    }
    if (pairs.size() < kPairsMin || !has_word(pairs)) return;
    for (const Pair& pair : pairs) closed_by_[pair.taking] = pair.giving_up;
  }

  // Sections of the first place acquire the lock, sections of the other place release it. The last locks may still be
  // held.
  bool pair_up(const std::vector<uint32_t>& of_thread, uint32_t taking, std::vector<Pair>& pairs) {
    std::vector<uint32_t> inside;
    for (const uint32_t s : of_thread) {
      if (site_of_[s] == taking) {
        inside.push_back(s);
        continue;
      }
      if (giving_up_site_ == kTakesNothing || pairs.empty()) giving_up_site_ = site_of_[s];
      if (inside.empty() || site_of_[s] != giving_up_site_) return false;
      pairs.push_back({inside.back(), s});
      inside.pop_back();
    }
    return true;
  }

  // Whether there are bytes that all known sections of the pairs change, and that the acquiring sections read.
  bool has_word(const std::vector<Pair>& pairs) const {
    std::vector<std::pair<uint64_t, uint64_t>> common;
    uint64_t begin = UINT64_MAX, end = 0;
    bool any = false;
    for (const Pair& pair : pairs) {
      for (const uint32_t s : {pair.taking, pair.giving_up}) {
        if (!sets_.is_complete(sets_.of_section[s])) continue;
        std::vector<std::pair<uint64_t, uint64_t>> changed = changed_by(s, s == pair.taking);
        common = any ? both(common, changed) : std::move(changed);
        any = true;
        for (const AccessRange& range : sets_.ranges_of(sets_.of_section[s])) {
          begin = std::min(begin, range.begin);
          end = std::max(end, range.end());
        }
        if (common.empty() || end - begin > kSpanBytesMax) return false;
      }
    }
    return any;
  }

  std::vector<std::pair<uint64_t, uint64_t>> changed_by(uint32_t s, bool and_read) const {
    constexpr uint32_t kRefused = format::kAccessCommutative | format::kAccessAtomic | format::kAccessFetched;
    const uint32_t needed = format::kAccessChanged | (and_read ? format::kAccessRead : 0);
    std::vector<std::pair<uint64_t, uint64_t>> changed;
    for (const AccessRange& range : sets_.ranges_of(sets_.of_section[s])) {
      if ((range.flags & needed) == needed && (range.flags & kRefused) == 0)
        changed.emplace_back(range.begin, range.end());
    }
    return changed;
  }

  static std::vector<std::pair<uint64_t, uint64_t>> both(const std::vector<std::pair<uint64_t, uint64_t>>& x,
                                                         const std::vector<std::pair<uint64_t, uint64_t>>& y) {
    std::vector<std::pair<uint64_t, uint64_t>> common;
    for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
      const uint64_t begin = std::max(x[i].first, y[j].first), end = std::min(x[i].second, y[j].second);
      if (begin < end) common.emplace_back(begin, end);
      x[i].second < y[j].second ? ++i : ++j;
    }
    return common;
  }

  const model::Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const model::SectionSets& sets_;
  const std::span<const uint32_t> site_of_;
  std::vector<uint32_t> closed_by_;
  uint32_t giving_up_site_ = kTakesNothing;  // of the lock that is looked at, once there is a pair
};

}  // namespace

std::vector<uint32_t> made_locks(const model::Trace& trace, std::span<const CriticalSection> sections,
                                 const model::SectionSets& sets, std::span<const uint32_t> site_of) {
  return MadeLocks(trace, sections, sets, site_of).run();
}

}  // namespace contrafact::analysis
