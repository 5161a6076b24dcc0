#include "whatif/handed_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "model/event_parts.h"
#include "model/library_calls.h"
#include "whatif/woken_waits.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Trace;

constexpr size_t kWorkMin = 10;  // of all requests, for one thread's work
constexpr size_t kSeldom = 3;    // for less than a third of what it does

class WorkFinder {
 public:
  WorkFinder(const model::Facts& facts, const model::Requests& requests)
      : facts_(facts), trace_(facts.trace()), waits_(waits_woken_by_any(facts)) {
    add_waits_for_results();
    for (const model::TaskRow& task : trace_.tasks) {
      if (task.kind != model::TaskKind::thread && task.start.valid() && task.end.valid())
        in_tasks_.add(task.start.value, task.end.value);
    }
    in_tasks_.finish();
    for (const std::vector<model::Request>* all : {&requests.all, &requests.inner}) {
      for (const model::Request& request : *all) {
        for (const model::Stretch& stretch : {request.first, request.second}) {
          if (!stretch.exists()) continue;
          if (stretch.until > stretch.before) in_requests_.add(stretch.before, stretch.until - 1);
          servers_.insert(trace_.thread_of(model::EventIndex(stretch.before)).value);
        }
      }
    }
    in_requests_.finish();
  }

  std::vector<HandedWork> run() {
    for (const WokenWait& wait : waits_) {
      woken_by_.emplace(wait.end, wait.cause);
      if (is_for_work(wait)) by_thread_[thread_at(wait.cause)].push_back(wait);
    }
    std::vector<HandedWork> found;
    for (auto& [thread, waits] : by_thread_) {
      if (waits.size() >= kWorkMin) add_work(thread, waits, found);
    }
    std::ranges::sort(found, {}, &HandedWork::wait_begin);
    return found;
  }

 private:
  // Waits for results that no task computes: another thread says what they are.
  void add_waits_for_results() {
    std::vector<uint32_t> open;
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
      open.clear();
      for (uint32_t i = range.begin; i < range.end; ++i) {
        if (trace_.kind[i] == EventKind::wait_begin) open.push_back(i);
        if (trace_.kind[i] != EventKind::wait_end || open.empty()) continue;
        const uint32_t begin = open.back();
        open.pop_back();
        if (trace_.a[begin] >= trace_.tasks.size()) continue;
        const model::TaskRow& result = trace_.tasks[trace_.a[begin]];
        if (result.start.valid() || !result.complete.valid()) continue;
        const int64_t at_ns = trace_.time_ns[result.complete.index()];
        if (at_ns >= trace_.time_ns[begin] && at_ns <= trace_.time_ns[i])
          waits_.push_back({begin, i, result.complete.value});
      }
    }
  }

  uint32_t thread_at(uint32_t event) const { return trace_.thread_of(model::EventIndex(event)).value; }

  // A request's thread waits, and one that works for no request and no pool wakes it.
  bool is_for_work(const WokenWait& wait) const {
    const uint32_t by = thread_at(wait.cause);
    const bool is_of_request = in_requests_.contain(wait.begin) || in_tasks_.contain(wait.begin);
    return is_of_request && by != thread_at(wait.begin) && !servers_.contains(by) && !in_tasks_.contain(wait.cause) &&
           facts_.uses()[by].role != model::ThreadRole::worker;
  }

  // Where the thread may have begun with other work.
  bool is_begin(uint32_t event) const {
    if (const auto woken = woken_by_.find(event); woken != woken_by_.end())
      return in_requests_.contain(woken->second) || in_tasks_.contain(woken->second);
    return trace_.kind[event] == EventKind::block_end && event > 0 &&
           trace_.kind[event - 1] == EventKind::block_begin &&
           model::is_queue_call(trace_, model::ContextId(trace_.b[event - 1]));
  }

  void add_work(uint32_t thread, std::vector<WokenWait>& waits, std::vector<HandedWork>& found) const {
    std::ranges::sort(waits, {}, &WokenWait::cause);
    const size_t first = found.size();
    size_t woken_for = 0;
    uint32_t begin = trace_.thread_events(model::ThreadId(thread)).begin;
    for (const WokenWait& wait : waits) {
      uint32_t from = wait.cause;
      while (from > begin && !is_begin(from - 1)) --from;
      const uint32_t woken = from - (from > begin ? 1 : 0);
      HandedWork work;
      work.wait_begin = wait.begin;
      work.wait_end = wait.end;
      work.cause = wait.cause;
      work.handed_before = handed_before(wait, woken);
      work.work = {from, trace_.time_ns[woken], wait.cause, trace_.time_ns[wait.cause]};
      if (woken < wait.cause) found.push_back(work);
      if (from > begin) ++woken_for;
      begin = wait.cause;
    }
    // Some begin with what came while it worked: then nobody has to wake it.
    if (woken_for * kSeldom >= waits.size()) return;
    for (size_t i = first; i < found.size(); ++i) found[i].work = {};
  }

  // Where the request's thread woke the other one, if it did; else where it begins to wait.
  uint32_t handed_before(const WokenWait& wait, uint32_t woken) const {
    const auto by = woken_by_.find(woken);
    if (by == woken_by_.end() || by->second >= wait.begin || thread_at(by->second) != thread_at(wait.begin))
      return wait.begin;
    return by->second;
  }

  const model::Facts& facts_;
  const Trace& trace_;
  std::vector<WokenWait> waits_;
  model::EventParts in_tasks_, in_requests_;
  std::set<uint32_t> servers_;                            // threads that serve requests
  std::unordered_map<uint32_t, uint32_t> woken_by_;       // by the end of a wait: its cause
  std::map<uint32_t, std::vector<WokenWait>> by_thread_;  // that ended them
};

}  // namespace

std::vector<HandedWork> handed_work(const model::Facts& facts, const model::Requests& requests) {
  return WorkFinder(facts, requests).run();
}

}  // namespace contrafact::whatif
