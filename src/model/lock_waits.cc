#include "model/lock_waits.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

namespace contrafact::model {
namespace {

// From a park that ended in vain to the next one: a try for the lock, and a look at who has it. What takes longer may be a section
// and more, of which nothing is recorded; so where two waits are taken for one, no more than this is wrongly counted as waiting.
constexpr int64_t kTryAgainNs = 20'000;

class WaitCollector {
 public:
  explicit WaitCollector(const Trace& trace) : trace_(trace) {}

  std::vector<LockWait> run() {
    find_ends();
    waits_.reserve(trace_.blocked_on.size());
    for (size_t i = 0; i < trace_.blocked_on.size(); ++i) add(trace_.blocked_on[i], ends_[i]);
    std::ranges::sort(waits_, {}, [](const LockWait& wait) { return std::tuple(wait.lock, wait.end_ns, wait.thread); });
    find_since();
    return std::move(waits_);
  }

 private:
  // By row of blocked_on, whose blocks are in the order of events. The trace has the end of each block.
  void find_ends() {
    ends_.reserve(trace_.blocked_on.size());
    for (const BlockedOn& row : trace_.blocked_on) ends_.push_back(row.block.value);
    for (size_t begin = 0, end = 0; begin < ends_.size(); begin = end) {
      const ThreadId thread = trace_.blocked_on[begin].thread;
      while (end < ends_.size() && trace_.blocked_on[end].thread == thread) ++end;
      find_ends_of(thread, begin, end);
    }
  }

  void find_ends_of(ThreadId thread, size_t next, size_t rows_end) {
    std::vector<size_t> open;  // brackets: the row, or kNoRow
    for (uint32_t i = trace_.blocked_on[next].block.value; i < trace_.thread_events(thread).end; ++i) {
      if (opens(trace_.kind[i])) {
        const bool is_row = next < rows_end && trace_.blocked_on[next].block.value == i;
        open.push_back(is_row ? next++ : kNoRow);
      } else if (closes(trace_.kind[i]) && !open.empty()) {
        if (open.back() != kNoRow) ends_[open.back()] = i;
        open.pop_back();
        if (open.empty() && next == rows_end) return;
      }
    }
  }

  void add(const BlockedOn& row, uint32_t end) {
    const uint32_t begin = row.block.value;
    const ContextId site(trace_.b[begin]);
    if (!waits_.empty() && waits_.back().thread == row.thread && waits_.back().lock == row.lock &&
        waits_.back().site == site && waits_.back().end.value + 1 == begin && waits_on(waits_.back(), begin)) {
      waits_.back().end = EventIndex(end);
      waits_.back().end_ns = trace_.time_ns[end];
      return;
    }
    waits_.push_back({row.lock, row.thread, site, EventIndex(begin), EventIndex(end), trace_.time_ns[begin],
                      trace_.time_ns[end], row.holder, row.holder_at});
  }

  // A thread that is woken, and finds that another has been faster, parks again: that is one wait. The JVM tells of one wait for a
  // monitor once.
  bool waits_on(const LockWait& before, uint32_t block) const {
    return trace_.a[block] != static_cast<uint32_t>(format::BlockReason::monitor) &&
           trace_.time_ns[block] - before.end_ns <= kTryAgainNs;
  }

  // Of one lock, by the ends of waits: whoever's wait ended last had the lock from then on, until it gave it back.
  void find_since() {
    for (size_t begin = 0, end = 0; begin < waits_.size(); begin = end) {
      while (end < waits_.size() && waits_[end].lock == waits_[begin].lock) ++end;
      const auto of_lock = std::span(waits_).subspan(begin, end - begin);
      for (LockWait& wait : of_lock) {
        const auto after = std::ranges::upper_bound(of_lock, wait.begin_ns, {}, &LockWait::end_ns);
        if (after != of_lock.begin() && wait.holder.valid() && std::prev(after)->thread == wait.holder)
          wait.held_since_ns = std::prev(after)->end_ns;
      }
    }
  }

  static constexpr size_t kNoRow = SIZE_MAX;
  const Trace& trace_;
  std::vector<uint32_t> ends_;  // by row of blocked_on
  std::vector<LockWait> waits_;
};

}  // namespace

std::vector<LockWait> lock_waits(const Trace& trace) {
  return WaitCollector(trace).run();
}

}  // namespace contrafact::model
