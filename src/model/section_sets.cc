#include "model/section_sets.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

namespace contrafact::model {
namespace {

using format::SetGap;

constexpr bool is_lock_event(EventKind kind) {
  return kind >= EventKind::lock_acquire && kind <= EventKind::sync_broadcast;
}

// These bound the memory, whatever a trace claims. No program has sections within so many others, or of so many sets.
// Unions of sets may be far more than the sets.
constexpr size_t kNestedMax = 64;
constexpr size_t kSetsMax = 1 << 16;
constexpr size_t kPartsKnownMax = 4 << 20;
constexpr size_t kJoinedRangesMax = 1 << 20;

// What was seen since the thread's last lock event.
struct Segment {
  int64_t begin_ns = 0;
  bool waits = false;              // it lies within the lock's own function
  std::vector<uint32_t> of_trace;  // the trace's sets
  std::vector<int64_t> end_ns;     // parallel: when each part ended
  std::vector<uint32_t> cuts;      // likewise: where
  SetGap gap = SetGap::complete;

  void begin(int64_t now_ns, bool is_wait) {
    begin_ns = now_ns;
    waits = is_wait;
    of_trace.clear();
    end_ns.clear();
    cuts.clear();
    gap = SetGap::complete;
  }
};

// A section that the thread is in.
struct Open {
  uint32_t section;
  std::vector<uint32_t> of_trace;
  SetGap gap = SetGap::complete;
  bool has_head = false;
  SectionSets::PartRange tail;
};

class SetCollector {
 public:
  SetCollector(const Trace& trace, std::span<const CriticalSection> sections)
      : trace_(trace),
        sections_(sections),
        unseen_(trace.fact("sets.windows_ns").empty() ? SetGap::not_observed : SetGap::outside_window) {}

  SectionSets run() {
    out_.ranges = trace_.access_ranges;
    const uint32_t unseen = intern({}, unseen_);
    out_.of_section.assign(sections_.size(), unseen);
    out_.parts.push_back({.set = unseen});
    out_.head.assign(sections_.size(), {0, 1});
    out_.tail = out_.head;
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      const CriticalSection& section = sections_[s];
      if (section.outcome != Outcome::normal || !is_held(trace_.locks[section.lock.index()].kind)) continue;
      begins_.emplace(section.acquire.value, s);
      if (section.release.valid()) ends_.emplace(section.release.value, s);
    }
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) scan(trace_.thread_events(ThreadId(t)));
    return std::move(out_);
  }

 private:
  void scan(EventRange range) {
    open_.clear();
    segment_.begin(0, false);
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const EventKind kind = trace_.kind[i];
      if (kind == EventKind::accesses) {
        take(trace_.a[i], trace_.time_ns[i]);
      } else if (kind == EventKind::accesses_cut) {
        cut(ContextId(trace_.b[i]), trace_.a[i] != 0);
      } else if (kind == EventKind::gap) {
        segment_.gap = SetGap::lost;
      } else if (is_lock_event(kind)) {
        lock_event(i, kind);
      }
    }
    if (range.size() > 0) end_segment(trace_.time_ns[range.end - 1]);
    // If a run's end is missing, it is not known what its open sections touched later.
    const bool ends_early = trace_.loss.cut_off || trace_.loss.blocks_damaged > 0;
    for (Open& open : open_) {
      if (ends_early && open.gap == SetGap::complete) open.gap = SetGap::lost;
      close(open);
    }
  }

  void take(uint32_t set, int64_t now_ns) {
    if (set == UINT32_MAX) {
      segment_.gap = SetGap::lost;
      return;
    }
    segment_.of_trace.push_back(set);
    segment_.end_ns.push_back(now_ns);
    segment_.cuts.push_back(SectionSets::kNoCut);
    if (segment_.gap == SetGap::complete) segment_.gap = trace_.access_sets[set].gap;
  }

  // Where the part that was taken last ends. A place in a library is nothing that the program's author could change.
  void cut(ContextId call, bool is_after) {
    if (segment_.cuts.empty() || !call.valid() || !is_of_program(call)) return;
    const auto [known, added] = cuts_.try_emplace({call.value, is_after}, static_cast<uint32_t>(out_.cuts.size()));
    if (added) out_.cuts.push_back({trace_.context_label(call), is_after});
    segment_.cuts.back() = known->second;
  }

  bool is_of_program(ContextId call) const {
    const MethodId method = trace_.contexts[call.index()].method;
    return method.valid() && trace_.owner_name(method).empty();
  }

  void lock_event(uint32_t event, EventKind kind) {
    const int64_t now_ns = trace_.time_ns[event];
    end_segment(now_ns);
    if (kind == EventKind::lock_release) {
      const auto found = ends_.find(event);
      const auto open = std::find_if(open_.begin(), open_.end(), [&](const Open& each) {
        return found != ends_.end() && each.section == found->second;
      });
      if (open != open_.end()) {
        close(*open);
        open_.erase(open);
      }
    } else if (const auto found = begins_.find(event); found != begins_.end() && open_.size() < kNestedMax) {
      open_.push_back({found->second});
    }
    segment_.begin(now_ns, opens_lock_wait(kind));
  }

  void end_segment(int64_t now_ns) {
    if (open_.empty()) return;
    if (segment_.of_trace.empty() && segment_.gap == SetGap::complete && !segment_.waits &&
        now_ns > segment_.begin_ns) {
      segment_.gap = unseen_;
    }
    const SectionSets::PartRange parts = add_parts(now_ns);
    for (Open& open : open_) {
      add_sets(open);
      if (open.gap == SetGap::complete) open.gap = segment_.gap;
      if (!open.has_head) out_.head[open.section] = parts;
      open.has_head = true;
      open.tail = parts;
    }
  }

  void add_sets(Open& open) {
    open.of_trace.insert(open.of_trace.end(), segment_.of_trace.begin(), segment_.of_trace.end());
    if (open.of_trace.size() <= kSetsMax) return;
    make_unique(open.of_trace);
    if (open.of_trace.size() <= kSetsMax / 2) return;
    open.of_trace.clear();
    open.gap = SetGap::overflow;
  }

  static void make_unique(std::vector<uint32_t>& sets) {
    std::sort(sets.begin(), sets.end());
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  }

  SectionSets::PartRange add_parts(int64_t now_ns) {
    const auto begin = static_cast<uint32_t>(out_.parts.size());
    if (segment_.of_trace.empty()) {
      out_.parts.push_back({.set = intern({}, segment_.gap), .length_ns = now_ns - segment_.begin_ns});
    } else {
      segment_.end_ns.back() = now_ns;
    }
    int64_t from_ns = segment_.begin_ns;
    for (size_t i = 0; i < segment_.of_trace.size(); ++i) {
      out_.parts.push_back(
          {intern({segment_.of_trace[i]}, segment_.gap), segment_.cuts[i], segment_.end_ns[i] - from_ns});
      from_ns = segment_.end_ns[i];
    }
    return {begin, static_cast<uint32_t>(out_.parts.size())};
  }

  void close(Open& open) {
    out_.of_section[open.section] = intern(open.of_trace, open.gap);
    out_.tail[open.section] = open.tail;
  }

  // Looks first for the sets that are joined, then for the ranges that they come to.
  uint32_t intern(std::vector<uint32_t> of_trace, SetGap gap) {
    make_unique(of_trace);
    if (const auto known = by_parts_.find({gap, of_trace}); known != by_parts_.end()) return known->second;
    const uint32_t set = intern_joined(of_trace, gap);
    if (parts_known_ + of_trace.size() <= kPartsKnownMax) {
      parts_known_ += of_trace.size();
      by_parts_.try_emplace({gap, std::move(of_trace)}, set);
    }
    return set;
  }

  uint32_t intern_joined(const std::vector<uint32_t>& of_trace, SetGap gap) {
    AccessRanges::List list;
    if (of_trace.size() == 1) {
      list = trace_.access_sets[of_trace[0]].ranges;
    } else if (!join(of_trace, list)) {
      gap = SetGap::overflow;
    }
    const auto [same, fresh] =
        by_content_.try_emplace({gap, list.begin, list.end}, static_cast<uint32_t>(out_.sets.size()));
    if (fresh) out_.sets.push_back({gap, list});
    return same->second;
  }

  // False: that would be too many ranges.
  bool join(const std::vector<uint32_t>& of_trace, AccessRanges::List& list) {
    joined_.clear();
    for (const uint32_t set : of_trace) {
      std::ranges::copy(trace_.ranges_of(AccessSetId(set)), std::back_inserter(joined_));
      const size_t most = out_.ranges.held() + joined_.size();
      if (most > 8 * trace_.access_ranges.added() + kJoinedRangesMax) return false;
    }
    format::make_canonical(joined_);
    if (!out_.ranges.has_room_for(joined_.size())) return false;
    if (!joined_.empty()) list = out_.ranges.add(joined_);
    return true;
  }

  const Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const SetGap unseen_;  // why nothing is known of what has no set
  SectionSets out_;
  std::unordered_map<uint32_t, uint32_t> begins_, ends_;  // sections by event
  std::vector<Open> open_;
  Segment segment_;
  std::map<std::pair<SetGap, std::vector<uint32_t>>, uint32_t> by_parts_;
  size_t parts_known_ = 0;                                                 // in its keys
  std::map<std::tuple<SetGap, uint32_t, uint32_t>, uint32_t> by_content_;  // by the list of ranges
  std::vector<AccessRange> joined_;
  std::map<std::pair<uint32_t, bool>, uint32_t> cuts_;  // by context
};

}  // namespace

SectionSets section_sets(const Trace& trace, std::span<const CriticalSection> sections) {
  return SetCollector(trace, sections).run();
}

}  // namespace contrafact::model
