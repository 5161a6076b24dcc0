#include "model/requests.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/facts.h"
#include "model/request_endpoints.h"
#include "model/socket_wakes.h"
#include "model/task_walk.h"

namespace contrafact::model {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// A receive or send of bytes.
struct Touch {
  uint32_t connection;
  int64_t time_ns;
  uint32_t event;
  bool is_send;
};

// A call that looks for what has come: it waits, or finds that something is there.
struct Polled {
  int64_t begin_ns = INT64_MIN;
  int64_t end_ns = INT64_MIN;
  uint32_t behind = kNone;  // the event behind it
};

// Where an event lies in its thread's work.
struct Moment {
  TaskId task;               // innermost
  TaskId outermost;          // that a pool runs
  uint32_t busy_before = 0;  // since the event before this one the thread has had something to do ...
  int64_t busy_ns = 0;       // ... from this time on
  bool has_polled = false;   // the outermost task has waited for what clients send
  Polled last, before;       // the thread's last two looks for what has come
};

class RequestFinder {
 public:
  explicit RequestFinder(const Trace& trace)
      : trace_(trace),
        kernel_told_(std::ranges::any_of(trace.cpu, [](const auto& gaps) { return !gaps.empty(); })),
        senders_(senders_in_program(trace)) {}

  Requests by_connection() {
    gather_touches();
    match_answers();
    if (found_.all.empty()) return std::move(found_);
    looks_without_wait_.resize(trace_.threads.size());
    receives_.resize(trace_.threads.size());
    looks_.resize(trace_.threads.size());
    resumes_.resize(trace_.threads.size());
    for (const Request& request : found_.all) receives_[trace_.thread_of(EventIndex(request.received)).index()] = true;
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_thread(ThreadId(i));
    for (Request& request : found_.all) place_begin(request);
    place_arrivals();
    find_resuming();
    for (Request& request : found_.all) end_first_stretch(request);
    list_stretches();
    for (Request& request : found_.all) place_end(request);
    begin_second_stretches();
    keep_apart();
    set_inner_apart();
    std::ranges::stable_sort(found_.all, {}, &Request::arrived_ns);
    return std::move(found_);
  }

 private:
  int64_t time(uint32_t event) const { return trace_.time_ns[event]; }

  // Whether the thread has nothing to do from here on, until something comes.
  bool is_idle_begin(uint32_t event) const {
    const EventKind kind = trace_.kind[event];
    if (kind == EventKind::block_begin) return sleeps(event);
    return kind == EventKind::wait_begin || kind == EventKind::sync_wait || kind == EventKind::worker_idle;
  }

  // Whether a block is a sleep: calls that receive and send compute, too, and are blocks if that takes long.
  bool sleeps(uint32_t begin) const {
    if (static_cast<BlockReason>(trace_.a[begin]) != BlockReason::io) return true;
    const EventRange range = trace_.thread_events(trace_.thread_of(EventIndex(begin)));
    const uint32_t end = begin + 1;
    if (end >= range.end || trace_.kind[end] != EventKind::block_end) return true;
    if (!kernel_told_)
      return begin == range.begin || trace_.kind[begin - 1] != EventKind::send || time(begin - 1) != time(begin);
    const uint32_t thread = trace_.thread_of(EventIndex(begin)).value;
    if (thread >= trace_.cpu.size()) return true;
    const auto& gaps = trace_.cpu[thread];
    for (auto gap = std::ranges::upper_bound(gaps, time(begin), {}, &CpuGap::in_ns);
         gap != gaps.end() && gap->out_ns < time(end); ++gap) {
      if (!gap->preempted) return true;
    }
    return false;
  }

  void gather_touches() {
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      const bool is_send = trace_.kind[i] == EventKind::send;
      if (!is_send && trace_.kind[i] != EventKind::receive) continue;
      const uint32_t connection = trace_.a[i];
      if (connection >= trace_.connections.size() || trace_.b[i] == 0) continue;
      if (trace_.connections[connection].kind == format::ConnectionKind::connected) continue;
      touches_.push_back({connection, time(i), i, is_send});
    }
    std::ranges::stable_sort(touches_, [](const Touch& x, const Touch& y) {
      return x.connection != y.connection ? x.connection < y.connection : x.time_ns < y.time_ns;
    });
  }

  void match_answers() {
    Request open;
    const auto close = [&] {
      if (open.received == kNone) return;
      if (open.answered == kNone) {
        ++found_.unanswered;
      } else {
        if (found_.all.empty() || found_.all.back().connection != open.connection) ++found_.connections;
        found_.all.push_back(open);
      }
      open = {};
    };
    for (const Touch& touch : touches_) {
      const bool is_other = open.received != kNone && open.connection != touch.connection;
      if (is_other || (!touch.is_send && open.answered != kNone)) close();
      if (touch.is_send) {
        if (open.received == kNone) continue;  // the program speaks first
        open.answered = touch.event;
        open.answered_ns = time(end_of_send(trace_, touch.event));
      } else if (open.received == kNone) {
        open.connection = touch.connection;
        open.received = touch.event;
      }
    }
    close();
    for (const Request& request : found_.all) {
      moments_[request.received];
      moments_[request.answered];
      begins_.push_back(request.received);
      answers_.push_back(request.answered);
    }
    for (const auto& [receive, send] : senders_) moments_[send];
    std::ranges::sort(begins_);
    std::ranges::sort(answers_);
    spawned_in_.assign(trace_.tasks.size(), TaskId::none());
  }

  void walk_thread(ThreadId thread) {
    uint32_t busy_before = trace_.thread_events(thread).begin;
    int64_t busy_ns = trace_.thread_events(thread).size() > 0 ? time(busy_before) : 0;
    const BlockReason looks = looks_[thread.index()] = reason_of_looks(thread);
    Polled last, before;
    TaskId polling;
    for (TaskWalk walk(trace_, thread); walk.next();) {
      const uint32_t event = walk.event().value;
      const EventKind kind = walk.kind();
      if (const auto found = moments_.find(event); found != moments_.end())
        found->second = {walk.task(),
                         outermost_of(walk),
                         busy_before,
                         busy_ns,
                         polling.valid() && polling == outermost_of(walk),
                         last,
                         before};
      if (kind == EventKind::block_end && static_cast<BlockReason>(walk.a()) == BlockReason::poll)
        polling = outermost_of(walk);
      const bool hands_out = kind == EventKind::task_spawn || kind == EventKind::task_create;
      if (hands_out && walk.a() < spawned_in_.size()) spawned_in_[walk.a()] = walk.task();
      const bool goes_on = closes(kind) && kind != EventKind::method_exit && kind != EventKind::lock_acquired &&
                           kind != EventKind::lock_acquired_shared &&
                           !(kind == EventKind::block_end && walk.has_closed() && !sleeps(walk.closed().begin.value));
      if (goes_on || kind == EventKind::task_start) busy_before = event + 1, busy_ns = walk.time_ns();
      if (kind != EventKind::block_end || !walk.has_closed()) continue;
      const uint32_t begin = walk.closed().begin.value;
      if (static_cast<BlockReason>(trace_.a[begin]) != looks || (looks == BlockReason::io && is_of_send(begin)))
        continue;
      before = last;
      last = {time(begin), walk.time_ns(), event + 1};
      if (!has_waited(thread.value, last)) looks_without_wait_[thread.index()] = true;
    }
  }

  // How the thread looks for what has come: an event loop polls; others receive.
  BlockReason reason_of_looks(ThreadId thread) const {
    const EventRange range = trace_.thread_events(thread);
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const bool blocks = trace_.kind[i] == EventKind::block_begin;
      if (blocks && static_cast<BlockReason>(trace_.a[i]) == BlockReason::poll) return BlockReason::poll;
    }
    return BlockReason::io;
  }

  bool is_of_send(uint32_t block_begin) const {
    return block_begin > 0 && trace_.kind[block_begin - 1] == EventKind::send &&
           time(block_begin - 1) == time(block_begin);
  }

  TaskId outermost_of(const TaskWalk& walk) const {
    for (const Frame& frame : walk.stack()) {
      if (frame.kind == FrameKind::task && trace_.tasks[frame.task.index()].kind == TaskKind::pooled) return frame.task;
    }
    return TaskId::none();
  }

  // Whether requests begin in the task beside this one.
  bool serves_others(TaskId task) const {
    const TaskRow& row = trace_.tasks[task.index()];
    const auto first = std::ranges::lower_bound(begins_, row.start.value);
    return std::distance(first, std::ranges::lower_bound(begins_, row.end.value)) > 1;
  }

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

  // What a thread finds there when it looks, without a wait, had come since it looked before, and since the connection's
  // last answer: at any time, so several at equal distances. Where only looks are recorded that waited, it looked when it
  // received the request before. Not so where another thread looked and handed on what it found.
  void place_arrivals() {
    std::map<std::pair<uint32_t, int64_t>, std::vector<Request*>> found;  // by thread and look
    std::map<uint32_t, std::vector<Request*>> of_thread;
    std::unordered_map<uint32_t, int64_t> answered_ns;  // by request: of the connection's last
    for (size_t i = 0; i < found_.all.size(); ++i) {
      Request& request = found_.all[i];
      if (!request.first.exists()) continue;
      const bool is_later = i > 0 && found_.all[i - 1].connection == request.connection;
      answered_ns[request.received] = is_later ? found_.all[i - 1].answered_ns : INT64_MIN;
      of_thread[trace_.thread_of(EventIndex(request.received)).value].push_back(&request);
    }
    for (auto& [thread, requests] : of_thread) {
      std::ranges::sort(requests, {}, &Request::received);
      const bool all_seen = thread < looks_without_wait_.size() && looks_without_wait_[thread];
      const bool is_told = thread < trace_.cpu.size() && !trace_.cpu[thread].empty();
      for (size_t i = 0; i < requests.size(); ++i) {
        Request& request = *requests[i];
        const Moment& moment = moments_.at(request.received);
        const int64_t before_ns = i > 0 ? time(requests[i - 1]->received) : INT64_MIN;
        if (was_handed(moment)) continue;
        if (all_seen && moment.last.begin_ns != INT64_MIN && !has_waited(thread, moment.last)) {
          if (moment.before.begin_ns != INT64_MIN) found[{thread, moment.last.begin_ns}].push_back(&request);
        } else if (moment.last.end_ns > before_ns || (all_seen && moment.last.begin_ns != INT64_MIN)) {
          request.arrived_ns = std::min(request.arrived_ns, moment.last.end_ns);
        } else if (i > 0 && (is_told || moment.last.begin_ns != INT64_MIN)) {
          const bool has_slept = last_gap_end_ns(request.received) > std::max(before_ns, moment.busy_ns);
          if (!has_slept)
            arrive_between(request, std::max(before_ns, answered_ns[request.received]), time(request.received), 0.5);
        }
      }
    }
    for (auto& [look, requests] : found) {
      for (size_t i = 0; i < requests.size(); ++i) {
        const Moment& moment = moments_.at(requests[i]->received);
        const auto share = (static_cast<double>(i) + 0.5) / static_cast<double>(requests.size());
        arrive_between(*requests[i], std::max(moment.before.end_ns, answered_ns[requests[i]->received]),
                       moment.last.begin_ns, share);
      }
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

  // Whether the thread left its core in the look; where the kernel did not say, whether that took long.
  bool has_waited(uint32_t thread, const Polled& look) const {
    constexpr int64_t kLongNs = 50'000;
    if (thread >= trace_.cpu.size() || trace_.cpu[thread].empty()) return look.end_ns - look.begin_ns > kLongNs;
    const auto& gaps = trace_.cpu[thread];
    auto gap = std::ranges::lower_bound(gaps, look.begin_ns, {}, &CpuGap::in_ns);
    while (gap != gaps.end() && gap->preempted && gap->out_ns < look.end_ns) ++gap;
    return gap != gaps.end() && gap->out_ns < look.end_ns;
  }

  // From where the thread last had nothing to do.
  void begin_stretch(Stretch& stretch, uint32_t event) const {
    const Moment& moment = moments_.at(event);
    stretch.before = moment.busy_before;
    stretch.begin_ns = moment.busy_ns;
    const int64_t came_ns = last_gap_end_ns(event);
    if (came_ns <= stretch.begin_ns) return;
    const auto times = trace_.time_ns.begin();
    stretch.before =
        static_cast<uint32_t>(std::lower_bound(times + moment.busy_before, times + event, came_ns) - times);
    stretch.begin_ns = came_ns;
  }

  // When the thread came back to a core from its last sleep before the event; INT64_MIN if the kernel told of none.
  int64_t last_gap_end_ns(uint32_t event) const {
    const uint32_t thread = trace_.thread_of(EventIndex(event)).value;
    if (thread >= trace_.cpu.size()) return INT64_MIN;
    const auto& gaps = trace_.cpu[thread];
    auto gap = std::ranges::upper_bound(gaps, time(event), {}, &CpuGap::in_ns);
    while (gap != gaps.begin()) {
      --gap;
      if (!gap->preempted) return gap->in_ns;
    }
    return INT64_MIN;
  }

  // To where the thread next has nothing to do, gets another request, answers another, or leaves its task.
  void end_stretch(Stretch& stretch, uint32_t event) const {
    const ThreadId thread = trace_.thread_of(EventIndex(event));
    const uint32_t end = trace_.thread_events(thread).end;
    // The call that sends may block by itself.
    uint32_t next = (trace_.kind[event] == EventKind::send ? end_of_send(trace_, event) : event) + 1;
    const auto goes_on = [&] {
      const EventKind kind = trace_.kind[next];
      if (is_idle_begin(next) || kind == EventKind::task_end || kind == EventKind::task_start) return false;
      return kind != EventKind::thread_end &&
             !(kind == EventKind::receive && std::ranges::binary_search(begins_, next)) &&
             !(kind == EventKind::send && std::ranges::binary_search(answers_, next));
    };
    const uint32_t behind = next;
    while (next < end && goes_on()) ++next;
    // What comes before the next answer is done for that.
    const bool answers_more =
        trace_.kind[event] == EventKind::send && next < end && trace_.kind[next] == EventKind::send;
    if (answers_more) next = behind;
    stretch.until = std::min(next, end - 1);
    stretch.end_ns = time(stretch.until);
    if (thread.index() >= trace_.cpu.size()) return;
    const auto& gaps = trace_.cpu[thread.index()];
    auto gap = std::ranges::lower_bound(gaps, time(event), {}, &CpuGap::out_ns);
    while (gap != gaps.end() && gap->preempted) ++gap;
    if (gap == gaps.end() || gap->out_ns >= stretch.end_ns) return;
    stretch.end_ns = gap->out_ns;
    const auto times = trace_.time_ns.begin();
    stretch.until = static_cast<uint32_t>(std::upper_bound(times + event, times + stretch.until, gap->out_ns) - times);
  }

  bool same_work(const Request& request) const {
    const Moment& from = moments_.at(request.received);
    const Moment& to = moments_.at(request.answered);
    if (request.answered < request.received || from.task != to.task) return false;
    if (trace_.thread_of(EventIndex(request.received)) != trace_.thread_of(EventIndex(request.answered))) return false;
    if (resumes_[trace_.thread_of(EventIndex(request.received)).index()] && from.last.behind != to.last.behind)
      return false;
    return !has_others_between(request);
  }

  bool has_others_between(const Request& request) const {
    const auto has_between = [&](const std::vector<uint32_t>& events) {
      return std::ranges::upper_bound(events, request.received) != std::ranges::lower_bound(events, request.answered);
    };
    return has_between(begins_) || has_between(answers_);
  }

  // Threads that poll and once dealt with another request before they answered one in a later turn: what they wait for between two
  // turns does not keep them from others. (A thread that polls for one answer of a database does.)
  void find_resuming() {
    for (const Request& request : found_.all) {
      const ThreadId thread = trace_.thread_of(EventIndex(request.received));
      if (resumes_[thread.index()] || looks_[thread.index()] != BlockReason::poll ||
          request.answered < request.received)
        continue;
      if (thread != trace_.thread_of(EventIndex(request.answered))) continue;
      const bool is_later = moments_.at(request.received).last.behind != moments_.at(request.answered).last.behind;
      resumes_[thread.index()] = is_later && has_others_between(request);
    }
  }

  // Whether the thread that received it answers it before it has nothing to do: an event loop that reads from several connections, and
  // writes to all of them in the end.
  bool same_turn(const Request& request) const {
    return request.first.exists() && request.answered > request.received &&
           trace_.thread_of(EventIndex(request.received)) == trace_.thread_of(EventIndex(request.answered)) &&
           moments_.at(request.received).busy_before == moments_.at(request.answered).busy_before;
  }

  void end_first_stretch(Request& request) const {
    if (request.first.exists()) end_stretch(request.first, same_work(request) ? request.answered : request.received);
  }

  // As far as they are known.
  void list_stretches() {
    stretches_.clear();
    of_task_.clear();
    for (uint32_t i = 0; i < found_.all.size(); ++i) {
      const Request& request = found_.all[i];
      if (request.task.valid()) of_task_[request.task.value] = i;
      for (const Stretch& stretch : {request.first, request.second}) {
        if (stretch.exists()) stretches_[stretch.before] = {stretch.until, i};
      }
    }
  }

  // The request in one of whose listed stretches the event is, or to whose task it leads. None: kNone.
  uint32_t request_of(EventIndex event, TaskId task) const {
    for (size_t levels = trace_.tasks.size() + 1; levels > 0; --levels) {
      if (event.valid()) {
        const auto after = stretches_.upper_bound(event.value);
        if (after != stretches_.begin() && event.value < std::prev(after)->second.until)
          return std::prev(after)->second.request;
      }
      if (!task.valid()) return kNone;
      if (const auto root = of_task_.find(task.value); root != of_task_.end()) return root->second;
      const TaskRow& row = trace_.tasks[task.index()];
      event = row.spawn.valid() ? row.spawn : row.create;
      task = spawned_in_[task.index()];
    }
    return kNone;
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
      task = spawned_in_[task.index()];
    }
    if (!found.valid()) return found;
    const TaskRow& row = trace_.tasks[found.index()];
    if (row.kind != TaskKind::pooled || !row.spawn.valid()) return TaskId::none();
    const uint32_t owner = request_of(row.spawn, spawned_in_[found.index()]);
    if (owner != kNone && found_.all[owner].answered_ns > time(row.start.value)) return TaskId::none();
    return taken_up_.insert(found.value).second ? found : TaskId::none();
  }

  void place_end(Request& request) {
    if (leads_to_answer(request)) return;
    request.then = goes_on_in(request);
    if (request.then.valid()) return;
    end_stretch(request.second, request.answered);
    request.second.before = request.answered;
  }

  // A thread that answers for another took the request from a queue. It begins on it where the wait ends that was under way
  // when the request was received; or, if there was none, where it is done with what it answered before.
  void begin_second_stretches() {
    std::vector<Request*> seconds;
    for (Request& request : found_.all) {
      if (request.second.exists()) seconds.push_back(&request);
    }
    std::ranges::sort(seconds, {}, &Request::answered);
    const Request* before = nullptr;
    for (Request* request : seconds) {
      const ThreadId thread = trace_.thread_of(EventIndex(request->answered));
      const bool is_first = before == nullptr || trace_.thread_of(EventIndex(before->answered)) != thread;
      if (same_turn(*request)) {
        const bool is_next = !is_first && before->second.until > request->received;
        request->second.before = is_next ? before->second.until : request->answered;
        request->second.begin_ns = is_next ? before->second.end_ns : time(request->answered);
        before = request;
        continue;
      }
      if (is_resumed(*request)) {
        resume(*request, is_first ? nullptr : before);
        before = request;
        continue;
      }
      request->second.before = is_first ? trace_.thread_events(thread).begin : before->second.until;
      request->second.begin_ns = is_first ? time(request->second.before) : before->second.end_ns;
      begin_after_wait(*request, thread);
      before = request;
    }
  }

  // Whether an event loop, one of those that receive requests, answers in a turn that began after it was done with what it received.
  bool is_resumed(const Request& request) const {
    const ThreadId thread = trace_.thread_of(EventIndex(request.answered));
    return request.first.exists() && receives_[thread.index()] && looks_[thread.index()] == BlockReason::poll &&
           moments_.at(request.answered).last.end_ns >= request.first.end_ns;
  }

  // The loop may have worked for other requests before, in the same turn: it began on this one where it was done with those.
  void resume(Request& request, const Request* before) const {
    const Polled& turn = moments_.at(request.answered).last;
    request.is_resumed = true;
    request.second.before = turn.behind;
    request.second.begin_ns = turn.end_ns;
    const auto begin_at = [&](const Stretch& other) {
      if (!other.exists() || other.until > request.answered || other.until <= request.second.before) return;
      request.second.before = other.until;
      request.second.begin_ns = std::max(request.second.begin_ns, other.end_ns);
    };
    const auto after = stretches_.upper_bound(request.answered);
    if (after != stretches_.begin()) begin_at(found_.all[std::prev(after)->second.request].first);
    if (before) begin_at(before->second);
  }

  void begin_after_wait(Request& request, ThreadId thread) const {
    const int64_t received_ns = time(request.received);
    int64_t since_ns = INT64_MAX;  // of the wait that is open
    for (uint32_t i = request.second.before; i < request.answered; ++i) {
      const EventKind kind = trace_.kind[i];
      if (is_idle_begin(i)) {
        if (time(i) > received_ns) break;
        since_ns = time(i);
      } else if (closes(kind) && kind != EventKind::method_exit && since_ns <= received_ns && time(i) >= received_ns) {
        request.second.before = i + 1;
        request.second.begin_ns = time(i);
        return;
      }
    }
    if (thread.index() >= trace_.cpu.size()) return;
    for (const CpuGap& gap : trace_.cpu[thread.index()]) {
      if (gap.out_ns > received_ns) return;
      if (gap.preempted || gap.in_ns < received_ns || gap.in_ns <= request.second.begin_ns) continue;
      const auto times = trace_.time_ns.begin();
      request.second.before = static_cast<uint32_t>(
          std::lower_bound(times + request.second.before, times + request.answered, gap.in_ns) - times);
      request.second.begin_ns = gap.in_ns;
      return;
    }
  }

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
      task = spawned_in_[task.index()];
    }
    return false;
  }

  // Stretches of one thread do not overlap: one that begins earlier ends where the next begins.
  void keep_apart() {
    std::vector<Stretch*> stretches;
    for (Request& request : found_.all) {
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

  // Requests that others asked for leave `all`.
  void set_inner_apart() {
    if (senders_.empty()) return;
    list_stretches();
    for (Request& request : found_.all) {
      const auto sender = std::ranges::lower_bound(senders_, std::pair(request.received, 0u));
      const bool is_known = sender != senders_.end() && sender->first == request.received;
      if (!is_known) continue;
      const EventIndex asked(sender->second);
      if (request_of(asked, moments_.at(asked.value).task) != kNone) request.asked = asked.value;
    }
    const auto is_inner = [](const Request& request) { return request.asked != kNone; };
    std::ranges::copy_if(found_.all, std::back_inserter(found_.inner), is_inner);
    std::erase_if(found_.all, is_inner);
    std::unordered_set<uint32_t> connections;
    for (const Request& request : found_.all) connections.insert(request.connection);
    found_.connections = static_cast<uint32_t>(connections.size());
  }

  const Trace& trace_;
  const bool kernel_told_;                                    // when threads left their cores
  const std::vector<std::pair<uint32_t, uint32_t>> senders_;  // in the program, by event that receives
  Requests found_;
  std::vector<Touch> touches_;
  std::vector<uint32_t> begins_, answers_;  // sorted
  std::vector<bool> looks_without_wait_;    // by thread: some are recorded, so all are
  std::vector<bool> receives_;              // by thread: requests
  std::vector<BlockReason> looks_;          // by thread
  std::vector<bool> resumes_;               // by thread: find_resuming()
  std::unordered_map<uint32_t, Moment> moments_;
  struct Listed {
    uint32_t until;
    uint32_t request;
  };
  std::map<uint32_t, Listed> stretches_;            // by their first event
  std::unordered_map<uint32_t, uint32_t> of_task_;  // requests by their tasks
  std::unordered_set<uint32_t> taken_up_;           // Request::then of those before
  std::vector<TaskId> spawned_in_;                  // by task: the innermost task of its spawner
};

}  // namespace

uint32_t end_of_send(const Trace& trace, uint32_t send) {
  const uint32_t begin = send + 1, end = send + 2;
  if (end >= trace.thread_events(trace.thread_of(EventIndex(send))).end) return send;
  const bool blocks = trace.kind[begin] == EventKind::block_begin && trace.time_ns[begin] == trace.time_ns[send] &&
                      static_cast<BlockReason>(trace.a[begin]) == BlockReason::io &&
                      trace.kind[end] == EventKind::block_end;
  return blocks ? end : send;
}

Requests requests_by_connection(const Trace& trace) {
  Requests found = RequestFinder(trace).by_connection();
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
