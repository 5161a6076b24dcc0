#include "analysis/contended_places.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/covered_time.h"
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
};

using Line = std::pair<uint32_t, uint32_t>;  // method, line

// The program's line that waits at `context`; if only a library's code is on the stack, the library's line.
Line line_of(const Trace& trace, ContextId context) {
  const format::ContextRow& row = trace.contexts[trace.program_frame(context).index()];
  return {row.method.value, row.line};
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
    for (auto& [line, waits] : waits_) {
      const auto longest =
          std::ranges::max_element(waits, {}, [](const Wait& one) { return one.end_ns - one.begin_ns; });
      ContendedPlace& place = places.emplace_back();
      place.context = longest->context;
      place.holder_may_wait = waiting_methods_.contains(line.first);
      place.contended_ns = covered_ns(waits);  // puts them in order
      place.share = static_cast<double>(place.contended_ns) / static_cast<double>(recorded_ns);
    }
    std::ranges::stable_sort(places, std::greater(), &ContendedPlace::contended_ns);
    return places;
  }

 private:
  void walk_thread(model::ThreadId thread) {
    for (model::TaskWalk walk(trace_, thread); walk.next();) {
      if (walk.kind() == EventKind::wait_begin) note_waiting(ContextId(walk.b()));
      if (walk.kind() != EventKind::block_end || !walk.has_closed()) continue;
      const uint32_t begin = walk.closed().begin.value;
      const auto reason = static_cast<BlockReason>(trace_.a[begin]);
      const ContextId context(trace_.b[begin]);
      if (!context.valid()) continue;
      if (is_for_lock(trace_, reason, context)) {
        waits_[line_of(trace_, context)].push_back({trace_.time_ns[begin], walk.time_ns(), context});
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
  std::map<Line, std::vector<Wait>> waits_;
  std::set<uint32_t> noted_, waiting_methods_;
};

}  // namespace

std::vector<ContendedPlace> contended_places(const model::Facts& facts) {
  return facts.locks_ordered() ? std::vector<ContendedPlace>() : Places(facts).find();
}

}  // namespace contrafact::analysis
