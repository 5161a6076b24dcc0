#include "whatif/loop_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "model/event_parts.h"
#include "whatif/woken_waits.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Request;
using model::Trace;

class LoopWorkFinder {
 public:
  LoopWorkFinder(const model::Facts& facts, const model::Requests& requests)
      : facts_(facts), trace_(facts.trace()), waits_(waits_woken_by_any(facts)) {
    std::ranges::sort(waits_, {}, &WokenWait::cause);
    for (const model::TaskRow& task : trace_.tasks) {
      if (task.kind != model::TaskKind::thread && task.start.valid() && task.end.valid())
        in_tasks_.add(task.start.value, task.end.value);
    }
    in_tasks_.finish();
    for (const std::vector<Request>* all : {&requests.all, &requests.inner}) {
      for (const Request& request : *all) {
        for (const model::Stretch* stretch : {&request.first, &request.second}) {
          if (stretch->exists()) servers_.insert(trace_.thread_of(model::EventIndex(stretch->before)).value);
        }
      }
    }
  }

  // Of the waits that it ended in its first turn, that whose work ends last before the turn that answers.
  std::optional<LoopWork> of(const Request& request) const {
    std::optional<LoopWork> found;
    auto wait = std::ranges::lower_bound(waits_, request.first.before, {}, &WokenWait::cause);
    for (; wait != waits_.end() && wait->cause < request.first.until; ++wait) {
      const model::Stretch work = work_behind(*wait);
      if (!work.exists() || work.end_ns > request.second.begin_ns) continue;
      const int64_t pause_ns = request.second.begin_ns - request.first.end_ns;
      if (kMost * (work.end_ns - work.begin_ns) < pause_ns) continue;
      if (!found || found->work.end_ns < work.end_ns) found = LoopWork{wait->cause, work};
    }
    return found;
  }

 private:
  static constexpr int64_t kMost = 2;  // half of the pause

  // From where the thread was woken to where it waits again, which need not be for the same reason. None: it serves requests, or a pool.
  model::Stretch work_behind(const WokenWait& wait) const {
    const model::ThreadId thread = trace_.thread_of(model::EventIndex(wait.end));
    if (servers_.contains(thread.value) || in_tasks_.contain(wait.end) ||
        facts_.uses()[thread.index()].role == model::ThreadRole::worker)
      return {};
    const uint32_t end = trace_.thread_events(thread).end;
    for (uint32_t i = wait.end + 1; i < end; ++i) {
      const bool parks = trace_.kind[i] == EventKind::block_begin &&
                         static_cast<model::BlockReason>(trace_.a[i]) == model::BlockReason::park;
      if (trace_.kind[i] == EventKind::sync_wait || parks)
        return {wait.end + 1, trace_.time_ns[wait.end], i, trace_.time_ns[i]};
    }
    return {};
  }

  const model::Facts& facts_;
  const Trace& trace_;
  std::vector<WokenWait> waits_;  // by cause
  model::EventParts in_tasks_;
  std::set<uint32_t> servers_;  // threads that serve requests
};

}  // namespace

std::unordered_map<uint32_t, LoopWork> loop_work(const model::Facts& facts, const model::Requests& requests) {
  constexpr size_t kWorkMin = 10;  // as of other work that is handed over
  size_t resumed = 0;
  std::unordered_map<uint32_t, LoopWork> found;
  std::set<uint32_t> taken;  // where works begin: each is one request's
  std::optional<LoopWorkFinder> finder;
  for (const Request& request : requests.all) {
    if (!request.is_resumed || !request.first.exists() || !request.second.exists()) continue;
    ++resumed;
    if (!finder) finder.emplace(facts, requests);
    const std::optional<LoopWork> work = finder->of(request);
    if (work && taken.insert(work->work.before).second) found.emplace(request.received, *work);
  }
  if (found.size() < kWorkMin || 2 * found.size() < resumed) found.clear();
  return found;
}

std::string loop_workers(const model::Facts& facts, const model::Requests& requests) {
  const Trace& trace = facts.trace();
  std::set<uint32_t> threads;
  for (const auto& [received, one] : loop_work(facts, requests))
    threads.insert(trace.thread_of(model::EventIndex(one.work.before)).value);
  if (threads.empty()) return "";
  return fmt::format("{} ({} of them seen)", trace.string(trace.threads[*threads.begin()].name), threads.size());
}

}  // namespace contrafact::whatif
