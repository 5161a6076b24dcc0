#include "model/request_stretches.h"

#include <algorithm>

#include "model/sends.h"

namespace contrafact::model {

StretchEnds::StretchEnds(const RequestMoments& moments, const TurnEvents& turns, const std::vector<Request>& requests)
    : trace_(moments.trace()), moments_(moments), turns_(turns), resumes_(trace_.threads.size()) {
  find_resuming(requests);
}

void StretchEnds::find_resuming(const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    const ThreadId thread = trace_.thread_of(EventIndex(request.received));
    if (resumes_[thread.index()] || !moments_.polls(thread) || request.answered < request.received) continue;
    if (thread != trace_.thread_of(EventIndex(request.answered))) continue;
    const bool is_later = moments_.at(request.received).last.behind != moments_.at(request.answered).last.behind;
    resumes_[thread.index()] = is_later && turns_.any_between(request.received, request.answered);
  }
}

void StretchEnds::end_first(Request& request) const {
  if (request.first.exists()) end_at(request.first, same_work(request) ? request.answered : request.received);
}

bool StretchEnds::same_work(const Request& request) const {
  const Moment& from = moments_.at(request.received);
  const Moment& to = moments_.at(request.answered);
  if (request.answered < request.received || from.task != to.task) return false;
  const ThreadId thread = trace_.thread_of(EventIndex(request.received));
  if (thread != trace_.thread_of(EventIndex(request.answered))) return false;
  if (resumes_[thread.index()] && from.last.behind != to.last.behind) return false;
  return !turns_.any_between(request.received, request.answered);
}

void StretchEnds::end_at(Stretch& stretch, uint32_t event) const {
  const ThreadId thread = trace_.thread_of(EventIndex(event));
  const uint32_t end = trace_.thread_events(thread).end;
  // The call that sends may block by itself.
  uint32_t next = (trace_.kind[event] == EventKind::send ? end_of_send(trace_, event) : event) + 1;
  const auto goes_on = [&] {
    const EventKind kind = trace_.kind[next];
    if (moments_.sleeps().begins_at(next) || kind == EventKind::task_end || kind == EventKind::task_start) return false;
    return kind != EventKind::thread_end && !(kind == EventKind::receive && turns_.begins(next)) &&
           !(kind == EventKind::send && turns_.answers(next));
  };
  const uint32_t behind = next;
  while (next < end && goes_on()) ++next;
  // What comes before the next answer is done for that.
  const bool answers_more = trace_.kind[event] == EventKind::send && next < end && trace_.kind[next] == EventKind::send;
  if (answers_more) next = behind;
  stretch.until = std::min(next, end - 1);
  stretch.end_ns = trace_.time_ns[stretch.until];
  end_at_sleep(stretch, event, thread);
}

// What the kernel reports of sleeps is not recorded otherwise.
void StretchEnds::end_at_sleep(Stretch& stretch, uint32_t event, ThreadId thread) const {
  const CpuGap* sleep = moments_.sleeps().first_from(thread, trace_.time_ns[event]);
  if (sleep == nullptr || sleep->out_ns >= stretch.end_ns) return;
  stretch.end_ns = sleep->out_ns;
  const auto times = trace_.time_ns.begin();
  stretch.until = static_cast<uint32_t>(std::upper_bound(times + event, times + stretch.until, sleep->out_ns) - times);
}

void keep_apart(std::vector<Request>& requests) {
  std::vector<Stretch*> stretches;
  for (Request& request : requests) {
    for (Stretch* stretch : {&request.first, &request.second}) {
      if (stretch->exists()) stretches.push_back(stretch);
    }
  }
  std::ranges::sort(stretches, [](const Stretch* x, const Stretch* y) {
    return x->before != y->before ? x->before < y->before : x->until < y->until;
  });
  for (size_t i = 0; i + 1 < stretches.size(); ++i) {
    Stretch& one = *stretches[i];
    Stretch& other = *stretches[i + 1];
    if (one.until < other.before) continue;
    if (one.until == other.before) {
      // Where the next request was there already, the thread had it in hand as soon as it was done with the answer.
      one.end_ns = std::max(one.begin_ns, std::min(one.end_ns, other.begin_ns));
      other.begin_ns = std::max(other.begin_ns, one.end_ns);
      continue;
    }
    // Of two in one stretch of work, the second begins where it was received or answered.
    other.before = std::min(std::max(other.before, one.until), other.until);
    other.begin_ns = std::max(other.begin_ns, one.end_ns);
    other.end_ns = std::max(other.end_ns, other.begin_ns);
  }
}

}  // namespace contrafact::model
