#include "model/requests.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "model/facts.h"
#include "model/hand_outs.h"
#include "model/request_answers.h"
#include "model/request_arrivals.h"
#include "model/request_endpoints.h"
#include "model/request_moments.h"
#include "model/request_stretches.h"
#include "model/request_turns.h"
#include "model/request_work.h"
#include "model/socket_wakes.h"
#include "model/task_walk.h"
#include "model/thread_sleeps.h"

namespace contrafact::model {
namespace {

// An event `receive`, and the event `send` of the program's own by which its first byte came.
using Sender = std::pair<uint32_t, uint32_t>;

// Requests that others asked for leave `all`.
void set_inner_apart(const RequestMoments& moments, const HandOuts& hand_outs, const std::vector<Sender>& senders,
                     Requests& found) {
  if (senders.empty()) return;
  RequestWork work(moments.trace(), hand_outs, found.all);
  for (Request& request : found.all) {
    const auto sender = std::ranges::lower_bound(senders, Sender(request.received, 0u));
    if (sender == senders.end() || sender->first != request.received) continue;
    const EventIndex asked(sender->second);
    if (work.request_of(asked, moments.at(asked.value).task) != RequestWork::kNoRequest) request.asked = asked.value;
  }
  const auto is_inner = [](const Request& request) { return request.asked != UINT32_MAX; };
  std::ranges::copy_if(found.all, std::back_inserter(found.inner), is_inner);
  std::erase_if(found.all, is_inner);
  std::set<uint32_t> connections;
  for (const Request& request : found.all) connections.insert(request.connection);
  found.connections = static_cast<uint32_t>(connections.size());
}

}  // namespace

Requests requests_by_connection(const Trace& trace) {
  Requests found = requests_in_turn(trace);
  if (found.all.empty()) return found;
  const std::vector<Sender> senders = senders_in_program(trace);
  std::vector<uint32_t> sends;
  for (const auto& [receive, send] : senders) sends.push_back(send);
  const ThreadSleeps sleeps(trace);
  const TurnEvents turns(found.all);
  HandOuts hand_outs(trace);
  const RequestMoments moments(sleeps, found.all, sends, hand_outs);
  place_arrivals(moments, turns, found.all);
  const StretchEnds ends(moments, turns, found.all);
  for (Request& request : found.all) ends.end_first(request);
  place_answers(moments, ends, hand_outs, found.all);
  keep_apart(found.all);
  set_inner_apart(moments, hand_outs, senders, found);
  std::ranges::stable_sort(found.all, {}, &Request::arrived_ns);
  name_endpoints(trace, found);
  return found;
}

void drop_warm_up(const Trace& trace, Requests& requests) {
  constexpr size_t kRequestsMin = 200;
  if (is_native(trace) || requests.all.size() < kRequestsMin) return;
  requests.warm_up = requests.all.size() / 2;
  requests.all.erase(requests.all.begin(), requests.all.begin() + static_cast<ptrdiff_t>(requests.warm_up));
}

Requests requests_by_task(const Trace& trace) {
  Requests found{.by_task = true};
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    for (TaskWalk walk(trace, ThreadId(i)); walk.next();) {
      if (walk.kind() != EventKind::task_spawn) continue;
      const bool is_outer = !walk.task().valid() || trace.tasks[walk.task().index()].kind == TaskKind::thread;
      const TaskRow& row = trace.tasks[walk.a()];
      if (!is_outer || row.kind != TaskKind::pooled || !row.end.valid() || row.truncated) continue;
      const uint32_t over = row.complete.valid() ? row.complete.value : row.end.value;
      found.all.push_back({.arrived_ns = walk.time_ns(), .answered_ns = trace.time_ns[over], .task = TaskId(walk.a())});
    }
  }
  std::ranges::stable_sort(found.all, {}, &Request::arrived_ns);
  name_endpoints(trace, found);
  return found;
}

}  // namespace contrafact::model
