#include "analysis/contended_places.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <utility>

#include "analysis/covered_time.h"
#include "model/blocked_on.h"
#include "model/critical_sections.h"
#include "model/library_calls.h"
#include "model/task_walk.h"

namespace contrafact::analysis {
namespace {

using format::BlockReason;
using model::ContextId;
using model::EventKind;
using model::Trace;

struct Wait {
  int64_t begin_ns, end_ns;
  ContextId context;
  ContextId holder_at;
};

// An object of waiting: a lock, or a line of a method.
struct Awaited {
  uint32_t lock = UINT32_MAX, method = UINT32_MAX, line = 0;
  auto operator<=>(const Awaited&) const = default;
};

// The program's line that waits at `context`; if only a library's code is on the stack, the library's line.
Awaited line_of(const Trace& trace, ContextId context) {
  const format::ContextRow& row = trace.contexts[trace.program_frame(context).index()];
  return {UINT32_MAX, row.method.value, row.line};
}

bool is_for_lock(const Trace& trace, BlockReason reason, ContextId context) {
  return reason == BlockReason::monitor || model::is_lock_call(trace, context);
}

// Whether such a block lasts equally long, however the program's tasks are run.
bool keeps_length(BlockReason reason) {
  return reason == BlockReason::sleep || reason == BlockReason::io;
}

class Places {
 public:
  explicit Places(const model::Facts& facts) : facts_(facts), trace_(facts.trace()) {}

  std::vector<ContendedPlace> find() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) {
      if (facts_.uses()[i].role != model::ThreadRole::bystander) walk_thread(model::ThreadId(i));
    }
    const int64_t recorded_ns = std::max<int64_t>(1, trace_.end_ns() - trace_.begin_ns());
    std::vector<ContendedPlace> places;
    for (auto& [awaited, waits] : waits_) {
      ContendedPlace& place = places.emplace_back();
      place.context = longest(waits, [](const Wait&) { return true; }).context;
      place.lock = model::LockId(awaited.lock);
      place.holder_at = longest(waits, [](const Wait& one) { return one.holder_at.valid(); }).holder_at;
      place.holder_may_wait = waiting_methods_.contains(line_of(trace_, place.context).method);
      place.contended_ns = covered_ns(waits);  // puts them in order
      place.share = static_cast<double>(place.contended_ns) / static_cast<double>(recorded_ns);
    }
    std::ranges::stable_sort(places, std::greater(), &ContendedPlace::contended_ns);
    return places;
  }

 private:
  // Of those that `counts` accepts; an empty one if there is none.
  template <typename Counts>
  static Wait longest(const std::vector<Wait>& waits, Counts counts) {
    Wait found{0, -1, {}, {}};
    for (const Wait& one : waits) {
      if (counts(one) && one.end_ns - one.begin_ns > found.end_ns - found.begin_ns) found = one;
    }
    return found;
  }

  void walk_thread(model::ThreadId thread) {
    for (model::TaskWalk walk(trace_, thread); walk.next();) {
      if (walk.kind() == EventKind::wait_begin) note_waiting(ContextId(walk.b()));
      if (walk.kind() != EventKind::block_end || !walk.has_closed()) continue;
      const uint32_t begin = walk.closed().begin.value;
      const auto reason = static_cast<BlockReason>(trace_.a[begin]);
      const ContextId context(trace_.b[begin]);
      if (!context.valid()) continue;
      const model::BlockedOn* known = model::blocked_on_at(trace_, model::EventIndex(begin));
      if (known != nullptr && model::is_held(trace_.locks[known->lock.index()].kind)) {
        waits_[{.lock = known->lock.value}].push_back(
            {trace_.time_ns[begin], walk.time_ns(), context, known->holder_at});
      } else if (known == nullptr && is_for_lock(trace_, reason, context)) {
        waits_[line_of(trace_, context)].push_back({trace_.time_ns[begin], walk.time_ns(), context, {}});
      } else if (!keeps_length(reason)) {
        note_waiting(context);
      }
    }
  }

  // Notes each method on the stack of `context`: its code waits.
  void note_waiting(ContextId context) {
    while (context.valid() && noted_.insert(context.value).second) {
      const format::ContextRow& row = trace_.contexts[context.index()];
      if (row.method.valid()) waiting_methods_.insert(row.method.value);
      context = row.parent;
    }
  }

  const model::Facts& facts_;
  const Trace& trace_;
  std::map<Awaited, std::vector<Wait>> waits_;
  std::set<uint32_t> noted_, waiting_methods_;
};

}  // namespace

std::vector<ContendedPlace> contended_places(const model::Facts& facts) {
  return facts.locks_ordered() ? std::vector<ContendedPlace>() : Places(facts).find();
}

}  // namespace contrafact::analysis
