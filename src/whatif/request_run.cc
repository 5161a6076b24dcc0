#include "whatif/request_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/facts.h"
#include "model/finish.h"
#include "model/processes.h"
#include "model/sends.h"
#include "model/task_walk.h"
#include "whatif/handed_work.h"
#include "whatif/loop_work.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::PoolId;
using model::Request;
using model::Stretch;
using model::TaskId;
using model::TaskRow;
using model::Trace;

constexpr uint32_t kNowhere = UINT32_MAX;

struct PutIn {
  uint32_t before;  // this recorded event
  int order;        // among those before one event
  EventKind kind;
  int64_t time_ns;
  uint32_t a, b;
};
// What ends comes before what begins.
enum : int { kGives, kHandsOn, kEnds, kBegins, kTakes };

// "worker-12" and "worker-7" are alike.
std::string like_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= '0' && c <= '9') {
      if (out.empty() || out.back() != '#') out += '#';
    } else {
      out += c;
    }
  }
  return out;
}

class RequestTasks {
 public:
  RequestTasks(const model::Facts& facts, const model::Requests& requests)
      : facts_(facts), trace_(facts.trace()), given_(requests), requests_(requests.all), inner_(requests.inner) {
    made_.trace = trace_;
    made_.requests.resize(requests_.size());
  }

  base::Result<RequestRun> run() {
    for (const std::vector<Request>* requests : {&requests_, &inner_}) {
      for (const Request& request : *requests) {
        for (const Stretch* stretch : {&request.first, &request.second}) {
          if (stretch->exists()) note_thread(*stretch, request.connection);
        }
      }
    }
    handed_ = handed_work(facts_, given_);
    for (const HandedWork& handed : handed_) {
      if (handed.work.exists()) servers_[thread_at(handed.work)];
    }
    made_.loop_workers = loop_workers(facts_, given_);
    add_idle_alike();
    make_pools();
    for (size_t i = 0; i < requests_.size(); ++i) add_request(i);
    for (const Request& request : inner_) add_inner(request);
    add_resources();
    for (const HandedWork& handed : handed_) add_handed(handed);
    std::ranges::sort(left_out_);
    rebuild();
    base::Result<Trace> finished = model::finish(std::move(made_.trace));
    if (!finished) return finished.error();
    made_.trace = *std::move(finished);
    find_answers();
    return std::move(made_);
  }

 private:
  // A thread outside of any pool's tasks that serves requests.
  struct Server {
    std::set<uint32_t> connections;
    int64_t first_ns = INT64_MAX;  // its first request
  };

  uint32_t thread_at(const Stretch& stretch) const {
    return trace_.thread_of(model::EventIndex(std::min<uint32_t>(stretch.before, last_event()))).value;
  }
  uint32_t last_event() const { return static_cast<uint32_t>(trace_.event_count() - 1); }

  void note_thread(const Stretch& stretch, uint32_t connection) {
    Server& server = servers_[thread_at(stretch)];
    server.connections.insert(connection);
    server.first_ns = std::min(server.first_ns, stretch.begin_ns);
  }

  void make_pools() {
    std::map<std::pair<uint32_t, std::string>, std::map<model::MethodId, std::vector<uint32_t>>> by_name;
    for (const auto& [thread, server] : servers_) by_name[likeness_of(thread)][body_of(thread)].push_back(thread);
    std::map<std::string, std::vector<uint32_t>> alike;
    for (const auto& [likeness, by_body] : by_name) {
      for (const auto& [body, threads] : by_body) {
        const bool are_told_apart = by_body.size() > 1 && body.valid();
        const std::string more =
            are_told_apart ? " (" + trace_.method_name(trace_.methods[body.index()], true) + ")" : "";
        std::vector<uint32_t>& all = alike[model::with_process(trace_, likeness.first, likeness.second + more)];
        all.insert(all.end(), threads.begin(), threads.end());
      }
    }
    for (const auto& [name, threads] : alike) {
      const bool one_each = std::ranges::all_of(threads, [&](uint32_t thread) { return is_for_one(thread); });
      format::PoolRow row;
      row.name = add_string(name);
      row.kind = one_each ? format::PoolKind::thread_per_task : format::PoolKind::thread_pool;
      if (!one_each) row.core_size = row.max_size = static_cast<uint32_t>(threads.size());
      for (const uint32_t thread : threads)
        pool_of_thread_[thread] = PoolId(static_cast<uint32_t>(made_.trace.pools.size()));
      made_.trace.pools.push_back(row);
    }
  }

  // Its process, and a name that others of a group have, too.
  std::pair<uint32_t, std::string> likeness_of(uint32_t thread) const {
    return {model::process_of(trace_, model::ThreadId(thread)), like_name(trace_.string(trace_.threads[thread].name))};
  }

  // Of a native program's thread, which is seldom named: what it runs.
  model::MethodId body_of(uint32_t thread) { return model::is_native(trace_) ? run_of(thread) : model::MethodId(); }

  // What the thread was started to run: its first task. None: nobody started it, as a program's first thread. It may have no task at
  // all, so it is looked through once.
  model::MethodId run_of(uint32_t thread) {
    const auto [run, is_new] = run_of_.try_emplace(thread);
    if (!is_new) return run->second;
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    for (uint32_t i = range.begin; i < range.end; ++i) {
      if (trace_.kind[i] != EventKind::task_start) continue;
      const TaskRow& first = trace_.tasks[trace_.a[i]];
      if (first.kind == model::TaskKind::thread) run->second = first.body;
      break;
    }
    return run->second;
  }

  // Further threads of groups that do work for requests: a load at which all have some comes later.
  void add_idle_alike() {
    std::set<std::pair<std::pair<uint32_t, std::string>, uint32_t>> groups;
    const auto group_of = [&](uint32_t thread) { return std::pair(likeness_of(thread), run_of(thread).value); };
    std::set<uint32_t> work_for_requests;
    for (const HandedWork& handed : handed_) {
      if (handed.work.exists()) work_for_requests.insert(thread_at(handed.work));
    }
    for (const uint32_t thread : work_for_requests) groups.insert(group_of(thread));
    for (uint32_t thread = 0; thread < trace_.threads.size() && !groups.empty(); ++thread) {
      if (facts_.uses()[thread].role != model::ThreadRole::worker && !servers_.contains(thread) &&
          run_of(thread).valid() && groups.contains(group_of(thread)))
        servers_[thread];
    }
  }

  // Whether the thread was begun for its only connection: its life before the first request was short.
  bool is_for_one(uint32_t thread) const {
    const Server& server = servers_.at(thread);
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    const int64_t begin_ns = trace_.time_ns[range.begin];
    const int64_t run_ns = trace_.end_ns() - trace_.begin_ns();
    constexpr int64_t kSoon = 20;  // of the run
    return server.connections.size() == 1 && begin_ns > trace_.begin_ns() &&
           server.first_ns - begin_ns < run_ns / kSoon;
  }

  model::StringId add_string(std::string text) {
    made_.trace.strings.push_back(std::move(text));
    return model::StringId(static_cast<uint32_t>(made_.trace.strings.size() - 1));
  }

  void add_request(size_t number) {
    Request request = requests_[number];
    RunRequest& run = made_.requests[number];
    run.connection = request.connection;
    run.arrived_ns = request.arrived_ns;
    if (request.received != kNowhere) run.received_ns = trace_.time_ns[request.received];
    run.answered_ns = request.answered_ns;
    if (request.first.exists()) {
      request.first = with_waiting(request.first);
      run.arrived_ns = std::min(run.arrived_ns, request.first.begin_ns);
    }
    run.root = root_of(request);
    if (request.first.exists()) arrivals_.emplace_back(request.first.begin_ns, run.root.value);
    hand_on(request);
  }

  // Who asks for it hands its root out, instead of who took it in.
  void add_inner(const Request& request) {
    const TaskId root = root_of(request);
    uint32_t place = kNowhere;
    if (request.task.valid()) {
      const model::EventIndex spawn = trace_.tasks[request.task.index()].spawn;
      left_out_.push_back(spawn.value);
      place = trace_.b[spawn.index()];
    }
    put_in_.push_back(
        {request.asked, kHandsOn, EventKind::task_spawn, trace_.time_ns[request.asked], root.value, place});
    hand_on(request);
  }

  TaskId root_of(const Request& request) { return request.first.exists() ? add_task(request.first) : request.task; }

  void hand_on(const Request& request) {
    const uint32_t hands_on =
        request.first.exists() ? request.first.until : trace_.tasks[request.task.index()].end.value;
    const int64_t at_ns = request.first.exists() ? request.first.end_ns : trace_.time_ns[hands_on];
    if (request.then.valid()) {
      const model::EventIndex spawn = trace_.tasks[request.then.index()].spawn;
      left_out_.push_back(spawn.value);
      put_in_.push_back(
          {hands_on, kHandsOn, EventKind::task_spawn, at_ns, request.then.value, trace_.b[spawn.index()]});
    } else if (request.second.exists()) {
      const TaskId second = add_task(request.second);
      const TaskId next = request.is_resumed ? add_wait(at_ns, request.second.begin_ns, second) : second;
      put_in_.push_back({hands_on, kHandsOn, EventKind::task_spawn, at_ns, next.value, kNowhere});
    }
  }

  // A thread that serves one connection waits for each request, under every load: what it computes to begin the wait, and behind
  // it, is the requests'. (An event loop waits for many requests at once.) So the waits are made to last as long as it is off its
  // core.
  Stretch with_waiting(Stretch stretch) {
    const uint32_t thread = thread_at(stretch);
    const auto server = servers_.find(thread);
    if (server == servers_.end() || server->second.connections.size() != 1 || thread >= trace_.cpu.size())
      return stretch;
    const auto& gaps = trace_.cpu[thread];
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    const auto is = [&](uint32_t event, EventKind kind) {
      return event >= range.begin && event < range.end && trace_.kind[event] == kind;
    };
    const uint32_t ended = stretch.before - 1, begins = stretch.until;
    if (stretch.before > range.begin && is(ended, EventKind::block_end) && stretch.begin_ns == trace_.time_ns[ended]) {
      auto gap = std::ranges::upper_bound(gaps, stretch.begin_ns, {}, &model::CpuGap::in_ns);
      if (gap != gaps.begin() && !(--gap)->preempted && is(ended - 1, EventKind::block_begin) &&
          gap->in_ns >= waits_from_ns(ended - 1))
        stretch.begin_ns = moved_ns_[ended] = gap->in_ns;
    }
    if (is(begins, EventKind::block_begin) && stretch.end_ns == trace_.time_ns[begins]) {
      const auto gap = std::ranges::lower_bound(gaps, stretch.end_ns, {}, &model::CpuGap::out_ns);
      if (gap != gaps.end() && !gap->preempted && is(begins + 1, EventKind::block_end) &&
          gap->out_ns <= trace_.time_ns[begins + 1])
        stretch.end_ns = moved_ns_[begins] = gap->out_ns;
    }
    return stretch;
  }
  int64_t waits_from_ns(uint32_t block_begin) const {
    const auto moved = moved_ns_.find(block_begin);
    return moved == moved_ns_.end() ? trace_.time_ns[block_begin] : moved->second;
  }

  TaskId add_task(const Stretch& stretch) {
    const TaskId task(static_cast<uint32_t>(trace_.tasks.size() + new_tasks_.size()));
    put_in_.push_back({stretch.before, kBegins, EventKind::task_start, stretch.begin_ns, task.value, kNowhere});
    put_in_.push_back({stretch.until, kEnds, EventKind::task_end, stretch.end_ns, task.value, 0});
    TaskRow row;
    row.pool = pool_of(stretch);
    new_tasks_.push_back(row);
    return task;
  }

  // A task that sleeps and then hands the other one out. Each has a thread to itself as long as it lasts.
  TaskId add_wait(int64_t begin_ns, int64_t end_ns, TaskId then) {
    const TaskId task(static_cast<uint32_t>(trace_.tasks.size() + new_tasks_.size()));
    TaskRow row;
    row.pool = waits_pool();
    new_tasks_.push_back(row);
    waits_.push_back({begin_ns, std::max(begin_ns, end_ns), task, then});
    return task;
  }

  PoolId waits_pool() {
    if (waits_pool_.valid()) return waits_pool_;
    format::PoolRow row;
    row.name = add_string("waits of event loops");
    row.kind = format::PoolKind::thread_per_task;
    waits_pool_ = PoolId(static_cast<uint32_t>(made_.trace.pools.size()));
    made_.trace.pools.push_back(row);
    return waits_pool_;
  }

  // That of the outermost task around the stretch, or of its thread.
  PoolId pool_of(const Stretch& stretch) const {
    const uint32_t thread = thread_at(stretch);
    if (!walked_.contains(thread)) walk_outermost(thread);
    const auto& tasks = walked_.at(thread);
    auto after = std::ranges::upper_bound(tasks, stretch.before, {}, &Outermost::start);
    if (after != tasks.begin() && stretch.before <= (after - 1)->end) return (after - 1)->pool;
    return pool_of_thread_.at(thread);
  }

  struct Outermost {
    uint32_t start, end;
    PoolId pool;
  };
  void walk_outermost(uint32_t thread) const {
    auto& tasks = walked_[thread];
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    for (uint32_t i = range.begin; i < range.end; ++i) {
      if (trace_.kind[i] != EventKind::task_start) continue;
      const TaskRow& row = trace_.tasks[trace_.a[i]];
      if (row.kind != model::TaskKind::pooled || !row.pool.valid() || !row.end.valid()) continue;
      if (!tasks.empty() && i < tasks.back().end) continue;
      tasks.push_back({i, row.end.value, row.pool});
    }
  }

  void rebuild() {
    std::ranges::stable_sort(put_in_, [](const PutIn& x, const PutIn& y) {
      if (x.before != y.before) return x.before < y.before;
      return x.order != y.order && x.time_ns == y.time_ns ? x.order < y.order : x.time_ns < y.time_ns;
    });
    Trace& made = made_.trace;
    made.kind.clear(), made.time_ns.clear(), made.a.clear(), made.b.clear();
    const auto put = [&](const PutIn& event) {
      made.kind.push_back(event.kind);
      made.time_ns.push_back(event.time_ns);
      made.a.push_back(event.a);
      made.b.push_back(event.b);
    };
    size_t next = 0;
    for (size_t t = 0; t < trace_.thread_ranges.size(); ++t) {
      const model::EventRange range = trace_.thread_ranges[t];
      made.thread_ranges[t].begin = static_cast<uint32_t>(made.kind.size());
      for (uint32_t i = range.begin; i < range.end; ++i) {
        while (next < put_in_.size() && put_in_[next].before == i) put(put_in_[next++]);
        if (std::ranges::binary_search(left_out_, i)) continue;
        const auto moved = moved_ns_.find(i);
        const int64_t time_ns = moved == moved_ns_.end() ? trace_.time_ns[i] : moved->second;
        put({i, 0, trace_.kind[i], time_ns, trace_.a[i], trace_.b[i]});
      }
      made.thread_ranges[t].end = static_cast<uint32_t>(made.kind.size());
    }
    add_clients();
    add_waits();
    for (TaskRow& row : made.tasks) row = model::bare_row(row);
    made.tasks.insert(made.tasks.end(), new_tasks_.begin(), new_tasks_.end());
  }

  // One thread that hands out all stretches' tasks when they arrived.
  void add_clients() {
    Trace& made = made_.trace;
    std::ranges::sort(arrivals_);
    format::ThreadRow row;
    row.name = add_string("clients");
    row.daemon = true;
    const auto begin = static_cast<uint32_t>(made.kind.size());
    for (const auto& [time_ns, task] : arrivals_) {
      made.kind.push_back(EventKind::task_spawn);
      made.time_ns.push_back(time_ns);
      made.a.push_back(task);
      made.b.push_back(kNowhere);
    }
    made.threads.push_back(row);
    made.thread_ranges.push_back({begin, static_cast<uint32_t>(made.kind.size())});
    if (!made.cpu.empty()) made.cpu.resize(made.threads.size());
  }

  // On as few threads as it takes.
  void add_waits() {
    Trace& made = made_.trace;
    std::ranges::sort(waits_, {}, &Wait::begin_ns);
    std::vector<std::vector<Wait>> threads;
    std::multimap<int64_t, size_t> free_at;  // when threads are free again
    for (const Wait& wait : waits_) {
      const auto free = free_at.empty() || free_at.begin()->first > wait.begin_ns ? free_at.end() : free_at.begin();
      const size_t thread = free == free_at.end() ? threads.size() : free->second;
      if (free == free_at.end())
        threads.emplace_back();
      else
        free_at.erase(free);
      threads[thread].push_back(wait);
      free_at.emplace(wait.end_ns, thread);
    }
    const bool has_switches = !made.cpu.empty();
    for (const std::vector<Wait>& waits : threads) {
      const auto begin = static_cast<uint32_t>(made.kind.size());
      const auto put = [&](EventKind kind, int64_t time_ns, uint32_t a, uint32_t b) {
        made.kind.push_back(kind);
        made.time_ns.push_back(time_ns);
        made.a.push_back(a);
        made.b.push_back(b);
      };
      std::vector<model::CpuGap> gaps;
      for (const Wait& wait : waits) {
        put(EventKind::task_start, wait.begin_ns, wait.task.value, 0);
        put(EventKind::block_begin, wait.begin_ns, static_cast<uint32_t>(model::BlockReason::sleep), kNowhere);
        put(EventKind::block_end, wait.end_ns, static_cast<uint32_t>(model::BlockReason::sleep), 0);
        put(EventKind::task_spawn, wait.end_ns, wait.then.value, kNowhere);
        put(EventKind::task_end, wait.end_ns, wait.task.value, 0);
        gaps.push_back({wait.begin_ns, wait.end_ns, false});
      }
      format::ThreadRow row;
      row.name = add_string("waits");
      row.daemon = true;
      made.threads.push_back(row);
      made.thread_ranges.push_back({begin, static_cast<uint32_t>(made.kind.size())});
      if (has_switches) made.cpu.push_back(std::move(gaps));
    }
  }

  // The event before which stands what comes behind this one; itself, if it is its thread's last.
  uint32_t behind(uint32_t event) const {
    const uint32_t end = trace_.thread_events(trace_.thread_of(model::EventIndex(event))).end;
    return event + 1 < end ? event + 1 : event;
  }

  // The request hands out a task, and waits for that; or it waits for so long.
  void add_handed(const HandedWork& handed) {
    const uint32_t begin = handed.wait_begin, end = handed.wait_end;
    left_out_.insert(left_out_.end(), {begin, end});
    if (!handed.work.exists()) {
      constexpr auto kReason = static_cast<uint32_t>(model::BlockReason::park);
      put_in_.push_back({begin, kTakes, EventKind::block_begin, trace_.time_ns[begin], kReason, trace_.b[begin]});
      put_in_.push_back({end, kTakes, EventKind::block_end, trace_.time_ns[end], kReason, 0});
      if (trace_.kind[handed.cause] == EventKind::wake) left_out_.push_back(handed.cause);
      return;
    }
    const TaskId task = add_task(handed.work);
    put_in_.push_back({handed.handed_before, kHandsOn, EventKind::task_spawn, trace_.time_ns[handed.handed_before],
                       task.value, kNowhere});
    put_in_.push_back({begin, kTakes, EventKind::wait_begin, trace_.time_ns[begin], task.value, trace_.b[begin]});
    put_in_.push_back({end, kTakes, EventKind::wait_end, trace_.time_ns[end], task.value, 0});
  }

  void add_resources() {
    OwnResources resources = own_resources(facts_);
    const auto first = static_cast<uint32_t>(made_.trace.pools.size());
    for (const OwnResource& resource : resources.all) {
      format::PoolRow row;
      row.name = add_string(resource.name);
      row.kind = format::PoolKind::permits;
      row.core_size = row.max_size = resource.size;
      made_.trace.pools.push_back(row);
    }
    constexpr auto kReason = static_cast<uint32_t>(model::BlockReason::park);
    for (const ResourceUse& use : resources.uses) {
      const int64_t at_ns = trace_.time_ns[use.event];
      switch (use.what) {
        case ResourceUse::What::take:
          put_in_.push_back({use.event, kTakes, EventKind::permit_take, at_ns, first + use.resource, 1});
          break;
        case ResourceUse::What::give:
          put_in_.push_back({behind(use.event), kGives, EventKind::permit_give, at_ns, first + use.resource, 1});
          break;
        case ResourceUse::What::wait_begin:
          put_in_.push_back({use.event, kTakes, EventKind::block_begin, at_ns, kReason, kNowhere});
          break;
        case ResourceUse::What::wait_end:
          put_in_.push_back({use.event, kTakes, EventKind::block_end, at_ns, kReason, 0});
          break;
      }
    }
    left_out_.insert(left_out_.end(), resources.left_out.begin(), resources.left_out.end());
    made_.first_resource = first;
    made_.resources = std::move(resources.all);
  }

  // The events have other positions now, but the sends keep their order.
  void find_answers() {
    const std::vector<uint32_t> before = sends_of(trace_), now = sends_of(made_.trace);
    for (size_t i = 0; i < requests_.size(); ++i) {
      const auto at = std::ranges::lower_bound(before, requests_[i].answered);
      const auto number = static_cast<size_t>(at - before.begin());
      if (at != before.end() && *at == requests_[i].answered && number < now.size())
        made_.requests[i].answered = model::end_of_send(made_.trace, now[number]);
    }
  }

  static std::vector<uint32_t> sends_of(const Trace& trace) {
    std::vector<uint32_t> sends;
    for (uint32_t i = 0; i < trace.event_count(); ++i) {
      if (trace.kind[i] == EventKind::send) sends.push_back(i);
    }
    return sends;
  }

  const model::Facts& facts_;
  const Trace& trace_;
  const model::Requests& given_;
  const std::vector<Request>& requests_;
  const std::vector<Request>& inner_;
  RequestRun made_;
  std::map<uint32_t, Server> servers_;
  std::map<uint32_t, PoolId> pool_of_thread_;
  std::map<uint32_t, model::MethodId> run_of_;                 // by thread
  mutable std::map<uint32_t, std::vector<Outermost>> walked_;  // by thread
  std::vector<HandedWork> handed_;
  std::vector<PutIn> put_in_;
  std::unordered_map<uint32_t, int64_t> moved_ns_;  // by event: its new time
  std::vector<uint32_t> left_out_;                  // events, sorted
  std::vector<TaskRow> new_tasks_;
  struct Wait {
    int64_t begin_ns, end_ns;
    TaskId task, then;
  };
  std::vector<Wait> waits_;
  PoolId waits_pool_;
  std::vector<std::pair<int64_t, uint32_t>> arrivals_;
};

}  // namespace

base::Result<RequestRun> with_request_tasks(const model::Facts& facts, const model::Requests& requests) {
  return RequestTasks(facts, requests).run();
}

}  // namespace contrafact::whatif
