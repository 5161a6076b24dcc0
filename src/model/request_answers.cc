#include "model/request_answers.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "model/request_work.h"

namespace contrafact::model {
namespace {

class AnswerFinder {
 public:
  AnswerFinder(const RequestMoments& moments, const StretchEnds& ends, const HandOuts& hand_outs,
               std::vector<Request>& requests)
      : trace_(moments.trace()),
        moments_(moments),
        ends_(ends),
        hand_outs_(hand_outs),
        requests_(requests),
        work_(trace_, hand_outs, requests),
        receives_(trace_.threads.size()) {
    for (uint32_t i = 0; i < requests.size(); ++i) {
      if (requests[i].first.exists()) firsts_.emplace_back(requests[i].first.before, i);
      receives_[trace_.thread_of(EventIndex(requests[i].received)).index()] = true;
    }
    std::ranges::sort(firsts_);
  }

  void run() {
    for (Request& request : requests_) {
      if (leads_to_answer(request)) continue;
      request.then = goes_on_in(request);
      if (request.then.valid()) continue;
      ends_.end_at(request.second, request.answered);
      request.second.before = request.answered;
    }
    begin_second_stretches();
  }

 private:
  int64_t time(uint32_t event) const { return trace_.time_ns[event]; }

  // Tasks that hand each other out may go back to the program's begin: those before the request have no part in it.
  bool leads_to_answer(const Request& request) const {
    const auto is_in_first = [&](EventIndex event) {
      return request.first.exists() && event.valid() && event.value >= request.first.before &&
             event.value < request.first.until;
    };
    if (is_in_first(EventIndex(request.answered))) return true;
    TaskId task = moments_.at(request.answered).task;
    for (size_t levels = trace_.tasks.size(); task.valid() && levels > 0; --levels) {
      if (task == request.task) return true;
      const TaskRow& row = trace_.tasks[task.index()];
      if (is_in_first(row.spawn) || is_in_first(row.create)) return true;
      const EventIndex handed_out = hand_outs_.event(task);
      if (!handed_out.valid() || time(handed_out.value) < request.arrived_ns) return false;
      task = hand_outs_.around(task);
    }
    return false;
  }

  // The outermost task around the answer's work that began after the request was received. None: there is none, or it
  // belongs to a request that had no answer yet.
  TaskId goes_on_in(const Request& request) {
    TaskId found;
    TaskId task = moments_.at(request.answered).task;
    for (size_t levels = trace_.tasks.size(); task.valid() && levels > 0; --levels) {
      const TaskRow& row = trace_.tasks[task.index()];
      if (!row.start.valid() || time(row.start.value) < time(request.received)) break;
      found = task;
      task = hand_outs_.around(task);
    }
    if (!found.valid()) return found;
    const TaskRow& row = trace_.tasks[found.index()];
    if (row.kind != TaskKind::pooled || !row.spawn.valid()) return TaskId::none();
    const uint32_t owner = work_.request_of(row.spawn, hand_outs_.around(found));
    if (owner != RequestWork::kNoRequest && requests_[owner].answered_ns > time(row.start.value)) return TaskId::none();
    return taken_up_.insert(found.value).second ? found : TaskId::none();
  }

  // A thread that answers for another took the request from a queue. It begins on it where the wait ends that was under way
  // when the request was received; or, if there was none, where it is done with what it answered before.
  void begin_second_stretches() {
    std::vector<Request*> seconds;
    for (Request& request : requests_) {
      if (request.second.exists()) seconds.push_back(&request);
    }
    std::ranges::sort(seconds, {}, &Request::answered);
    const Request* before = nullptr;
    for (Request* request : seconds) {
      const ThreadId thread = trace_.thread_of(EventIndex(request->answered));
      if (before != nullptr && trace_.thread_of(EventIndex(before->answered)) != thread) before = nullptr;
      begin_second(*request, thread, before);
      before = request;
    }
  }

  // `before`: what the thread answered before; null: nothing.
  void begin_second(Request& request, ThreadId thread, const Request* before) const {
    if (same_turn(request)) {
      const bool is_next = before != nullptr && before->second.until > request.received;
      request.second.before = is_next ? before->second.until : request.answered;
      request.second.begin_ns = is_next ? before->second.end_ns : time(request.answered);
    } else if (is_resumed(request)) {
      resume(request, before);
    } else {
      request.second.before = before == nullptr ? trace_.thread_events(thread).begin : before->second.until;
      request.second.begin_ns = before == nullptr ? time(request.second.before) : before->second.end_ns;
      begin_after_wait(request, thread);
    }
  }

  // Whether the thread that received it answers it before it has nothing to do: an event loop that reads from several connections, and
  // writes to all of them in the end.
  bool same_turn(const Request& request) const {
    return request.first.exists() && request.answered > request.received &&
           trace_.thread_of(EventIndex(request.received)) == trace_.thread_of(EventIndex(request.answered)) &&
           moments_.at(request.received).busy_before == moments_.at(request.answered).busy_before;
  }

  // Whether an event loop, one of those that receive requests, answers in a turn that began after it was done with what it received.
  bool is_resumed(const Request& request) const {
    const ThreadId thread = trace_.thread_of(EventIndex(request.answered));
    return request.first.exists() && receives_[thread.index()] && moments_.polls(thread) &&
           moments_.at(request.answered).last.end_ns >= request.first.end_ns;
  }

  // The loop may have worked for other requests before, in the same turn: it began on this one where it was done with those.
  void resume(Request& request, const Request* before) const {
    const Look& turn = moments_.at(request.answered).last;
    request.is_resumed = true;
    request.second.before = turn.behind;
    request.second.begin_ns = turn.end_ns;
    const auto begin_at = [&](const Stretch& other) {
      if (!other.exists() || other.until > request.answered || other.until <= request.second.before) return;
      request.second.before = other.until;
      request.second.begin_ns = std::max(request.second.begin_ns, other.end_ns);
    };
    const auto after = std::ranges::upper_bound(firsts_, request.answered, {}, &std::pair<uint32_t, uint32_t>::first);
    if (after != firsts_.begin()) begin_at(requests_[std::prev(after)->second].first);
    if (before) begin_at(before->second);
  }

  void begin_after_wait(Request& request, ThreadId thread) const {
    const int64_t received_ns = time(request.received);
    int64_t since_ns = INT64_MAX;  // of the wait that is open
    for (uint32_t i = request.second.before; i < request.answered; ++i) {
      const EventKind kind = trace_.kind[i];
      if (moments_.sleeps().begins_at(i)) {
        if (time(i) > received_ns) break;
        since_ns = time(i);
      } else if (closes(kind) && kind != EventKind::method_exit && since_ns <= received_ns && time(i) >= received_ns) {
        request.second.before = i + 1;
        request.second.begin_ns = time(i);
        return;
      }
    }
    const CpuGap* sleep = moments_.sleeps().first_until(thread, std::max(received_ns, request.second.begin_ns + 1));
    if (sleep == nullptr || sleep->out_ns > received_ns) return;
    const auto times = trace_.time_ns.begin();
    request.second.before = static_cast<uint32_t>(
        std::lower_bound(times + request.second.before, times + request.answered, sleep->in_ns) - times);
    request.second.begin_ns = sleep->in_ns;
  }

  const Trace& trace_;
  const RequestMoments& moments_;
  const StretchEnds& ends_;
  const HandOuts& hand_outs_;
  std::vector<Request>& requests_;
  RequestWork work_;
  std::vector<bool> receives_;                         // by thread: requests
  std::vector<std::pair<uint32_t, uint32_t>> firsts_;  // where first stretches begin, and whose they are; sorted
  std::unordered_set<uint32_t> taken_up_;              // Request::then of those before
};

}  // namespace

void place_answers(const RequestMoments& moments, const StretchEnds& ends, const HandOuts& hand_outs,
                   std::vector<Request>& requests) {
  AnswerFinder(moments, ends, hand_outs, requests).run();
}

}  // namespace contrafact::model
