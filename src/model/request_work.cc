#include "model/request_work.h"

#include <algorithm>
#include <ranges>

namespace contrafact::model {

RequestWork::RequestWork(const Trace& trace, const HandOuts& hand_outs, const std::vector<Request>& requests)
    : hand_outs_(hand_outs), of_task_(trace.tasks.size(), kNotAsked) {
  for (uint32_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    for (const TaskId task : {request.task, request.then}) {
      if (!task.valid()) continue;
      of_task_[task.index()] = i;
      const TaskRow& row = trace.tasks[task.index()];
      if (row.start.valid() && row.end.valid()) tasks_.add(row.start.value, row.end.value + 1, i);
    }
    for (const Stretch* stretch : {&request.first, &request.second}) {
      if (!stretch->exists()) continue;
      // What a thread does before it has received the request is for any that may come.
      const bool has_received = stretch == &request.first && request.received < stretch->until;
      const uint32_t begin = has_received ? std::max(stretch->before, request.received) : stretch->before;
      stretches_.add(begin, stretch->until, i);
    }
  }
  stretches_.finish();
  tasks_.finish();
}

uint32_t RequestWork::request_of(EventIndex event, TaskId task) {
  uint32_t request = stretches_.owner_of(event.value);
  if (request == kNoRequest) request = request_of(task);
  return request != kNoRequest ? request : tasks_.owner_of(event.value);
}

uint32_t RequestWork::request_of(TaskId task) {
  chain_.clear();
  uint32_t request = kNoRequest;
  for (; task.valid() && request == kNoRequest; task = hand_outs_.around(task)) {
    if (of_task_[task.index()] != kNotAsked) {
      request = of_task_[task.index()];
      break;
    }
    of_task_[task.index()] = kNoRequest;  // also ends a circle, which damaged traces may have
    chain_.push_back(task.value);
    const EventIndex by = hand_outs_.event(task);
    if (!by.valid()) break;
    request = stretches_.owner_of(by.value);
  }
  for (const uint32_t one : std::views::reverse(chain_)) {
    const EventIndex by = hand_outs_.event(TaskId(one));
    if (request == kNoRequest && by.valid()) request = tasks_.owner_of(by.value);
    of_task_[one] = request;
  }
  return request;
}

}  // namespace contrafact::model
