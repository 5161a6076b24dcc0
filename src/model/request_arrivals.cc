#include "model/request_arrivals.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace contrafact::model {
namespace {

class ArrivalFinder {
 public:
  ArrivalFinder(const RequestMoments& moments, const TurnEvents& turns)
      : trace_(moments.trace()), moments_(moments), turns_(turns) {}

  void run(std::vector<Request>& requests) {
    for (Request& request : requests) place_begin(request);
    for (size_t i = 0; i < requests.size(); ++i) {
      Request& request = requests[i];
      if (!request.first.exists()) continue;
      const bool is_later = i > 0 && requests[i - 1].connection == request.connection;
      answered_ns_[request.received] = is_later ? requests[i - 1].answered_ns : INT64_MIN;
      of_thread_[trace_.thread_of(EventIndex(request.received)).value].push_back(&request);
    }
    for (auto& [thread, received] : of_thread_) place_received(ThreadId(thread), received);
    for (const auto& [look, together] : found_) place_found(together);
  }

 private:
  int64_t time(uint32_t event) const { return trace_.time_ns[event]; }

  void place_begin(Request& request) const {
    const Moment& moment = moments_.at(request.received);
    const TaskId task = moment.outermost;
    if (task.valid() && trace_.tasks[task.index()].spawn.valid() && trace_.tasks[task.index()].end.valid() &&
        !moment.has_polled && !serves_others(task)) {
      request.task = task;
      request.arrived_ns = time(trace_.tasks[task.index()].spawn.value);
      return;
    }
    begin_stretch(request.first, request.received);
    request.arrived_ns = request.first.begin_ns;
  }

  // Whether requests begin in the task beside this one.
  bool serves_others(TaskId task) const {
    const TaskRow& row = trace_.tasks[task.index()];
    return turns_.begin_within(row.start.value, row.end.value) > 1;
  }

  // From where the thread last had nothing to do.
  void begin_stretch(Stretch& stretch, uint32_t event) const {
    const Moment& moment = moments_.at(event);
    stretch.before = moment.busy_before;
    stretch.begin_ns = moment.busy_ns;
    const int64_t came_ns = moments_.sleeps().last_end_ns(event);
    if (came_ns <= stretch.begin_ns) return;
    const auto times = trace_.time_ns.begin();
    stretch.before =
        static_cast<uint32_t>(std::lower_bound(times + moment.busy_before, times + event, came_ns) - times);
    stretch.begin_ns = came_ns;
  }

  // What a thread finds there when it looks, without a wait, had come since it looked before, and since the connection's
  // last answer: at any time, so several at equal distances. Where only looks are recorded that waited, it looked when it
  // received the request before. Not so where another thread looked and handed on what it found.
  void place_received(ThreadId thread, std::vector<Request*>& requests) {
    std::ranges::sort(requests, {}, &Request::received);
    const bool all_seen = moments_.all_looks_seen(thread);
    const bool kernel_reports = thread.index() < trace_.cpu.size() && !trace_.cpu[thread.index()].empty();
    for (size_t i = 0; i < requests.size(); ++i) {
      Request& request = *requests[i];
      const Moment& moment = moments_.at(request.received);
      const Look& look = moment.last;
      const int64_t before_ns = i > 0 ? time(requests[i - 1]->received) : INT64_MIN;
      if (was_handed(moment)) continue;
      if (all_seen && look.exists() && !moments_.sleeps().has_waited(thread, look.begin_ns, look.end_ns)) {
        if (moment.before.exists()) found_[{thread.value, look.begin_ns}].push_back(&request);
      } else if (look.end_ns > before_ns || (all_seen && look.exists())) {
        request.arrived_ns = std::min(request.arrived_ns, look.end_ns);
      } else if (i > 0 && (kernel_reports || look.exists())) {
        const bool has_slept = moments_.sleeps().last_end_ns(request.received) > std::max(before_ns, moment.busy_ns);
        if (!has_slept)
          arrive_between(request, std::max(before_ns, answered_ns_[request.received]), time(request.received), 0.5);
      }
    }
  }

  // Those that one look found.
  void place_found(const std::vector<Request*>& requests) {
    for (size_t i = 0; i < requests.size(); ++i) {
      const Moment& moment = moments_.at(requests[i]->received);
      const auto share = (static_cast<double>(i) + 0.5) / static_cast<double>(requests.size());
      arrive_between(*requests[i], std::max(moment.before.end_ns, answered_ns_[requests[i]->received]),
                     moment.last.begin_ns, share);
    }
  }

  // Whether the thread got the request with a task that it began since it looked: another one found it.
  bool was_handed(const Moment& moment) const {
    if (!moment.task.valid()) return false;
    const EventIndex start = trace_.tasks[moment.task.index()].start;
    return start.valid() && time(start.value) > moment.last.end_ns;
  }

  static void arrive_between(Request& request, int64_t from_ns, int64_t to_ns, double share) {
    const int64_t room_ns = std::max<int64_t>(0, to_ns - from_ns);
    const int64_t come_ns = to_ns - room_ns + static_cast<int64_t>(share * static_cast<double>(room_ns));
    request.arrived_ns = std::min(request.arrived_ns, come_ns);
  }

  const Trace& trace_;
  const RequestMoments& moments_;
  const TurnEvents& turns_;
  std::unordered_map<uint32_t, int64_t> answered_ns_;  // by request's receive: of the connection's answer before
  std::map<uint32_t, std::vector<Request*>> of_thread_;
  std::map<std::pair<uint32_t, int64_t>, std::vector<Request*>> found_;  // by thread and look
};

}  // namespace

void place_arrivals(const RequestMoments& moments, const TurnEvents& turns, std::vector<Request>& requests) {
  ArrivalFinder(moments, turns).run(requests);
}

}  // namespace contrafact::model
