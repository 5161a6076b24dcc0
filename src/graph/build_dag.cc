#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "graph/lock_hand_overs.h"
#include "graph/trace_dag.h"
#include "model/hand_over_costs.h"
#include "model/library_calls.h"

namespace contrafact::graph {
namespace {

using model::EventKind;
using model::Outcome;
using model::TaskKind;
using model::TaskRow;
using model::Trace;

// One end of a wake-up: which event made which thread go on.
struct Wake {
  uint32_t target;
  int64_t time_ns;
  uint32_t event;
};

// Values seen of one kind of latency.
class Samples {
 public:
  void add(int64_t value) { values_.push_back(value); }
  bool empty() const { return values_.empty(); }
  // 0 without samples.
  int64_t percentile(double share) {
    if (values_.empty()) return 0;
    auto nth = values_.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(values_.size() - 1));
    std::nth_element(values_.begin(), nth, values_.end());
    return *nth;
  }

 private:
  std::vector<int64_t> values_;
};

// What is open on the thread being walked.
struct Frame {
  uint32_t body;
  std::vector<Vertex> vertices;
  std::vector<uint32_t> events;
  int64_t last_ns;                 // time of the last vertex, or of the body's begin
  int64_t idle_begin_ns = kNever;  // of the latest worker_idle since the last vertex
  int64_t idle_ns = 0;             // slept in idle periods since the last vertex, the latest one left out
  int64_t idle_end_ns = kNever;
  std::vector<int64_t> wait_begin_ns;
  int64_t block_begin_ns = kNever;
};

class DagBuilder {
 public:
  explicit DagBuilder(const model::Facts& facts) : facts_(facts), trace_(facts.trace()) {}

  base::Result<TraceDag> run() {
    if (trace_.tasks.size() >= kTasksMax) {
      return base::Error{
          fmt::format("the trace has {} tasks; at most {} can be estimated", trace_.tasks.size(), kTasksMax)};
    }
    dag_.trace = &trace_;
    dag_.uses = facts_.uses();
    dag_.vertices.reserve(trace_.event_count());  // what is not used takes no memory
    dag_.vertex_event.reserve(trace_.event_count());
    dag_.bodies.resize(trace_.tasks.size() + trace_.threads.size());
    dag_.roots.resize(trace_.threads.size());
    call_labels_.resize(trace_.pools.size() + 1);
    call_posts_.resize(trace_.pools.size() + 1);
    index_dependencies();
    set_task_flags();
    note_waited_for();
    link_wakes();
    link_locks();
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) walk(thread);
    set_hand_over_costs();
    set_askers();
    set_latencies();
    std::string_view cost = trace_.fact("probe.cost_ns");
    std::from_chars(cost.data(), cost.data() + cost.size(), dag_.probe_cost_ns);
    return std::move(dag_);
  }

 private:
  void index_dependencies() {
    dag_.dependency_begin.assign(trace_.tasks.size() + 1, 0);
    for (const model::Dependency& dependency : trace_.dependencies)
      ++dag_.dependency_begin[dependency.task.index() + 1];
    for (size_t i = 1; i < dag_.dependency_begin.size(); ++i) dag_.dependency_begin[i] += dag_.dependency_begin[i - 1];
  }

  void set_task_flags() {
    dag_.task_flags.assign(trace_.tasks.size(), 0);
    for (size_t i = 0; i < trace_.tasks.size(); ++i) {
      const TaskRow& row = trace_.tasks[i];
      uint8_t& flags = dag_.task_flags[i];
      if (row.spawn.valid()) flags |= kHasSpawn;
      if (row.complete.valid()) flags |= kHasComplete;
      if (row.start.valid()) flags |= kHasBody;
      if (row.kind == TaskKind::thread) flags |= kIsThread;
      if (dag_.dependency_begin[i + 1] > dag_.dependency_begin[i]) flags |= kHasDependencies;
      if (row.pool.valid()) flags |= kHasPool;
      if (row.delay_us > 0) flags |= kHasDelay;
    }
  }

  void note_waited_for() {
    waited_for_.assign(trace_.tasks.size(), false);
    for (size_t i = 0; i < trace_.event_count(); ++i) {
      if (trace_.kind[i] == EventKind::wait_end && trace_.a[i] != UINT32_MAX) waited_for_[trace_.a[i]] = true;
    }
  }

  // Whether the block that begins at `event` waits for something that another thread must bring about. Sleeps, input
  // and output end by themselves. Which thread holds, and so releases, a lock is luck, and not to be kept in a variant.
  bool is_handed_over(uint32_t event) const {
    switch (static_cast<format::BlockReason>(trace_.a[event])) {
      case format::BlockReason::park:
        return !model::is_lock_call(trace_, model::ContextId(trace_.b[event]));
      case format::BlockReason::object_wait:
        return true;
      default:
        return false;
    }
  }

  std::vector<Wake> wakes_by_target() const {
    std::vector<Wake> wakes;
    for (size_t i = 0; i < trace_.event_count(); ++i) {
      if (trace_.kind[i] == EventKind::wake && trace_.a[i] != UINT32_MAX) {
        wakes.push_back({trace_.a[i], trace_.time_ns[i], static_cast<uint32_t>(i)});
      }
    }
    std::sort(wakes.begin(), wakes.end(), [](const Wake& x, const Wake& y) {
      return x.target != y.target     ? x.target < y.target
             : x.time_ns != y.time_ns ? x.time_ns < y.time_ns
                                      : x.event < y.event;
    });
    return wakes;
  }

  // Finds for each block_end the wake that caused it: the last one aimed at the thread since its previous block, wait
  // or idle time ended. Of waits for a socket of the program's own, the send.
  void link_wakes() {
    const std::vector<Wake> wakes = wakes_by_target();
    size_t next = 0;
    for (uint32_t thread = 0; thread < trace_.threads.size() && next < wakes.size(); ++thread) {
      const model::EventRange range = trace_.thread_events(ThreadId(thread));
      while (next < wakes.size() && wakes[next].target < thread) ++next;
      uint32_t block_begin = UINT32_MAX;
      for (uint32_t i = range.begin; i < range.end; ++i) {
        const EventKind kind = trace_.kind[i];
        if (kind == EventKind::block_begin) block_begin = i;
        if (kind != EventKind::block_end && kind != EventKind::wait_end && kind != EventKind::worker_busy) continue;
        uint32_t cause = UINT32_MAX;
        while (next < wakes.size() && wakes[next].target == thread && wakes[next].time_ns <= trace_.time_ns[i]) {
          cause = wakes[next++].event;
        }
        const uint32_t begin = block_begin;
        block_begin = UINT32_MAX;
        if (cause == UINT32_MAX || kind != EventKind::block_end || begin == UINT32_MAX || !is_handed_over(begin))
          continue;
        add_link(cause, i);
      }
    }
    for (const model::SocketWake& wake : facts_.socket_wakes()) add_link(wake.send, wake.block_end);
    std::sort(link_of_event_.begin(), link_of_event_.end());
  }

  void add_link(uint32_t cause, uint32_t block_end) {
    link_of_event_.emplace_back(cause, dag_.link_count);
    wake_of_link_.push_back(cause);
    link_of_event_.emplace_back(block_end, dag_.link_count++);
  }

  uint32_t link_at(uint32_t event) const { return link_in(link_of_event_, event); }

  static uint32_t link_in(const std::vector<std::pair<uint32_t, uint32_t>>& links, uint32_t event) {
    auto it = std::lower_bound(links.begin(), links.end(), std::pair<uint32_t, uint32_t>{event, 0});
    return it != links.end() && it->first == event ? it->second : UINT32_MAX;
  }

  // One link for each release that a wait for a lock ended with: several readers may go on at once.
  void link_locks() {
    lock_waits_ = lock_hand_overs(facts_);
    std::vector<uint32_t> releases;
    for (const LockHandOver& one : lock_waits_) releases.push_back(one.release.value);
    std::ranges::sort(releases);
    releases.erase(std::unique(releases.begin(), releases.end()), releases.end());
    for (const uint32_t release : releases) link_of_release_.emplace_back(release, dag_.link_count++);
  }

  const LockHandOver* lock_wait_at(uint32_t event) const {
    const auto found = std::ranges::lower_bound(lock_waits_, model::EventIndex(event), {}, &LockHandOver::acquire);
    return found != lock_waits_.end() && found->acquire.value == event ? &*found : nullptr;
  }

  // When the task could have started at the earliest; kNever if nothing is known.
  int64_t available_ns(TaskId task) const {
    const TaskRow& row = trace_.tasks[task.index()];
    if (row.spawn.valid()) return trace_.time_ns[row.spawn.index()] + int64_t{row.delay_us} * 1000;
    int64_t latest_ns = kNever;
    for (uint32_t i = dag_.dependency_begin[task.index()]; i < dag_.dependency_begin[task.index() + 1]; ++i) {
      const model::Dependency& dependency = trace_.dependencies[i];
      if (dependency.mode != format::DependsMode::all) return kNever;
      latest_ns = std::max(latest_ns, completed_ns(dependency.source));
    }
    return latest_ns;
  }

  int64_t completed_ns(TaskId task) const {
    const TaskRow& row = trace_.tasks[task.index()];
    if (row.complete.valid()) return trace_.time_ns[row.complete.index()];
    return row.end.valid() ? trace_.time_ns[row.end.index()] : kNever;
  }

  bool own_run(const Frame& frame) const {
    return frame.body >= trace_.tasks.size() || trace_.tasks[frame.body].kind == TaskKind::thread;
  }

  // REQUIRES: own_run(frame). What surrounds a thread's run, where that is a task, does not count.
  bool all_counts(const Frame& frame) const {
    const model::ThreadUse& use = dag_.uses[thread_];
    const bool is_run = frame.body < trace_.tasks.size();
    if (use.role == model::ThreadRole::joined) return is_run;
    return use.role == model::ThreadRole::own && is_run == use.has_run;
  }

  void walk(uint32_t thread) {
    const model::EventRange range = trace_.thread_events(ThreadId(thread));
    const model::ThreadUse& use = dag_.uses[thread];
    Root& root = dag_.roots[thread];
    root.counted = use.role != model::ThreadRole::bystander;
    thread_ = thread;
    depth_ = 0;
    if (range.size() == 0) return;
    root.begin_ns = trace_.time_ns[range.begin];
    open_body(static_cast<uint32_t>(trace_.tasks.size()) + thread, root.begin_ns);
    for (uint32_t i = range.begin; i < range.end; ++i) walk_event(i);
    while (depth_ > 0) close_body(trace_.time_ns[range.end - 1]);
    const bool daemon = trace_.threads[thread].daemon;
    root.pins_the_end = root.counted && use.role != model::ThreadRole::worker && !daemon;
    const Body& body = dag_.body_of(ThreadId(thread));
    if (body.begin < body.end) {
      const Vertex& first = dag_.vertices[body.begin];
      bool started_by_its_task = first.vertex_kind() == VertexKind::call && trace_.tasks[first.id].spawn.valid();
      if (started_by_its_task) root.begin_ns = kUnborn;
    }
  }

  Frame& top() { return frames_[depth_ - 1]; }

  void open_body(uint32_t body, int64_t now_ns) {
    if (depth_ == frames_.size()) frames_.emplace_back();
    Frame& frame = frames_[depth_++];
    frame.body = body;
    frame.vertices.clear();
    frame.events.clear();
    frame.wait_begin_ns.clear();
    frame.last_ns = now_ns;
    reset_idle(frame);
    frame.block_begin_ns = kNever;
  }

  static void reset_idle(Frame& frame) {
    frame.idle_begin_ns = kNever;
    frame.idle_end_ns = kNever;
    frame.idle_ns = 0;
  }

  void close_body(int64_t now_ns) {
    Frame& frame = top();
    Body& body = dag_.bodies[frame.body];
    body.begin = static_cast<uint32_t>(dag_.vertices.size());
    dag_.vertices.insert(dag_.vertices.end(), frame.vertices.begin(), frame.vertices.end());
    dag_.vertex_event.insert(dag_.vertex_event.end(), frame.events.begin(), frame.events.end());
    body.end = static_cast<uint32_t>(dag_.vertices.size());
    body.called = true;
    body.end_delay_ns = now_ns - frame.last_ns;
    const model::ThreadRole role = dag_.uses[thread_].role;
    if (own_run(frame)) {
      body.state = all_counts(frame)                  ? BodyState::active
                   : role == model::ThreadRole::plain ? BodyState::plain
                                                      : BodyState::unoccupied;
      // A worker's last sleep has no length of its own: it lasts until the pool is shut down.
      bool joined = frame.body < trace_.tasks.size() && waited_for_[frame.body];
      if (role == model::ThreadRole::worker && frame.idle_begin_ns != kNever && !joined) {
        int64_t idle_end_ns = frame.idle_end_ns == kNever ? now_ns : frame.idle_end_ns;
        body.end_delay_ns -= frame.idle_ns + idle_end_ns - frame.idle_begin_ns;
      }
    }
    set_active_range(body);
    --depth_;
    if (depth_ > 0) {
      top().last_ns = now_ns;
      reset_idle(top());
    }
  }

  void set_active_range(Body& body) {
    body.active_begin = body.active_end = body.end;
    for (uint32_t i = body.begin; i < body.end; ++i) {
      const Vertex& vertex = dag_.vertices[i];
      const VertexKind kind = vertex.vertex_kind();
      const bool deals = kind == VertexKind::spawn || kind == VertexKind::complete || kind == VertexKind::wait ||
                         kind == VertexKind::sleep ||
                         (kind == VertexKind::call && trace_.tasks[vertex.id].kind != TaskKind::thread);
      if (!deals) continue;
      if (body.active_begin == body.end) body.active_begin = i;
      body.active_end = i + 1;
    }
  }

  void add(VertexKind kind, uint32_t id, uint32_t event, int64_t ready_ns, int64_t label_ns, int64_t post_ns,
           bool assumed_label, bool assumed_post) {
    Frame& frame = top();
    Vertex vertex{};
    vertex.delay_ns = ready_ns - frame.last_ns;
    vertex.label_ns = label_ns;
    vertex.post_ns = static_cast<int32_t>(std::min<int64_t>(post_ns, INT32_MAX));
    if (post_ns > INT32_MAX) vertex.delay_ns += post_ns - INT32_MAX;
    vertex.kind = static_cast<uint32_t>(kind);
    vertex.id = id;
    vertex.assumed_label = assumed_label;
    vertex.assumed_post = assumed_post;
    frame.vertices.push_back(vertex);
    frame.events.push_back(event);
    frame.last_ns = trace_.time_ns[event];
    reset_idle(frame);
  }

  // A vertex that only takes time on its own thread.
  void add_plain(VertexKind kind, uint32_t id, uint32_t event) {
    add(kind, id, event, trace_.time_ns[event], 0, 0, false, false);
  }

  // A vertex with a cause at `cause_ns`; true if the thread slept for it. kNever: no cause, never slept.
  bool add_caused(VertexKind kind, uint32_t id, uint32_t event, int64_t ready_ns, int64_t cause_ns) {
    const int64_t now_ns = trace_.time_ns[event];
    const bool slept = cause_ns != kNever && cause_ns > ready_ns;
    if (slept) {
      add(kind, id, event, ready_ns, now_ns - cause_ns, 0, false, true);
    } else {
      add(kind, id, event, ready_ns, 0, now_ns - ready_ns, true, false);
    }
    return slept;
  }

  void walk_event(uint32_t i) {
    const EventKind kind = trace_.kind[i];
    const uint32_t a = trace_.a[i];
    const int64_t now_ns = trace_.time_ns[i];
    Frame& frame = top();
    switch (kind) {
      case EventKind::task_spawn:
        if (trace_.tasks[a].spawn.value == i) add_plain(VertexKind::spawn, a, i);
        break;
      case EventKind::task_complete:
        if (trace_.tasks[a].complete.value == i) add_plain(VertexKind::complete, a, i);
        break;
      case EventKind::task_start:
        call(i, a);
        break;
      case EventKind::task_end:
        close_body(now_ns);
        break;
      case EventKind::wait_begin:
        frame.wait_begin_ns.push_back(now_ns);
        break;
      case EventKind::wait_end:
        wait(i);
        break;
      case EventKind::worker_idle:
        if (frame.idle_end_ns != kNever) frame.idle_ns += frame.idle_end_ns - frame.idle_begin_ns;
        frame.idle_begin_ns = now_ns;
        frame.idle_end_ns = kNever;
        break;
      case EventKind::worker_busy:
        if (frame.idle_begin_ns != kNever) frame.idle_end_ns = now_ns;
        break;
      case EventKind::block_begin:
        block_begin(i);
        break;
      case EventKind::block_end:
        block_end(i);
        break;
      case EventKind::wake:
      case EventKind::send:
        if (uint32_t link = link_at(i); link != UINT32_MAX) add_plain(VertexKind::wake, link, i);
        break;
      default:
        lock_event(i);
        break;
    }
  }

  void lock_event(uint32_t event) {
    if (lock_waits_.empty() || trace_.kind[event] < EventKind::lock_acquire) return;
    if (const LockHandOver* wait = lock_wait_at(event)) {
      const int64_t now_ns = trace_.time_ns[event];
      const int64_t ready_ns = std::max(wait->request_ns, top().last_ns);
      const int64_t after_ns = now_ns - trace_.time_ns[wait->release.index()];
      if (after_ns > INT32_MAX) return;
      add(VertexKind::acquire, link_in(link_of_release_, wait->release.value), event, ready_ns, now_ns - ready_ns,
          after_ns, false, false);
    } else if (const uint32_t link = link_in(link_of_release_, event); link != UINT32_MAX) {
      add_plain(VertexKind::wake, link, event);
    }
  }

  void call(uint32_t event, uint32_t task) {
    Frame& frame = top();
    const TaskRow& row = trace_.tasks[task];
    const int64_t now_ns = trace_.time_ns[event];
    const int64_t cause_ns = available_ns(TaskId(task));
    const bool taken_over = row.spawn.valid() && own_run(frame) && trace_.thread_of(row.spawn) != ThreadId(thread_);
    int64_t ready_ns = now_ns;
    if (frame.idle_begin_ns != kNever)
      ready_ns = frame.idle_begin_ns;
    else if (!frame.wait_begin_ns.empty())
      ready_ns = std::max(frame.wait_begin_ns.back(), frame.last_ns);
    else if (taken_over)
      ready_ns = frame.last_ns;
    const bool first_of_thread = frame.body >= trace_.tasks.size() && frame.vertices.empty() && row.spawn.valid();
    if (first_of_thread && cause_ns != kNever) {
      // The thread is there because of this task, or has been waiting for it: nothing else holds the task back.
      add(VertexKind::call, task, event, frame.last_ns, now_ns - cause_ns, 0, false, true);
    } else {
      const int64_t idle_ns = frame.idle_ns;
      const bool slept = add_caused(VertexKind::call, task, event, ready_ns, cause_ns);
      if (slept)
        frame.vertices.back().delay_ns -= idle_ns;  // earlier sleeps of unknown cause do not hold it back either
      const size_t pool = row.pool.valid() ? row.pool.index() : trace_.pools.size();
      if (row.spawn.valid() && row.delay_us == 0) {
        (slept ? call_labels_ : call_posts_)[pool].add(slept ? now_ns - cause_ns : now_ns - ready_ns);
      }
    }
    open_body(task, now_ns);
  }

  void wait(uint32_t event) {
    Frame& frame = top();
    const int64_t now_ns = trace_.time_ns[event];
    int64_t ready_ns = frame.last_ns;
    if (!frame.wait_begin_ns.empty()) {
      ready_ns = std::max(ready_ns, frame.wait_begin_ns.back());
      frame.wait_begin_ns.pop_back();
    }
    const uint32_t task = trace_.a[event];
    const auto outcome = static_cast<Outcome>(trace_.b[event]);
    const int64_t cause_ns = task == UINT32_MAX ? kNever : completed_ns(TaskId(task));
    const bool got_it = outcome == Outcome::normal || outcome == Outcome::exception || cause_ns <= now_ns;
    if (cause_ns == kNever || !got_it) {
      add(VertexKind::sleep, 0, event, ready_ns, now_ns - ready_ns, 0, false, false);
      return;
    }
    const bool slept = add_caused(VertexKind::wait, task, event, ready_ns, cause_ns);
    (slept ? wait_labels_ : wait_posts_).add(slept ? now_ns - cause_ns : now_ns - ready_ns);
  }

  bool uncounted_here(const Frame& frame) const {
    return own_run(frame) && dag_.uses[thread_].role == model::ThreadRole::plain;
  }

  void block_begin(uint32_t event) {
    Frame& frame = top();
    if (frame.wait_begin_ns.empty() && uncounted_here(frame)) {
      add_plain(VertexKind::leave, 0, event);
    }
    frame.block_begin_ns = trace_.time_ns[event];
  }

  void block_end(uint32_t event) {
    Frame& frame = top();
    const uint32_t link = link_at(event);
    if (link != UINT32_MAX) {
      const int64_t cause_ns = trace_.time_ns[wake_of_link_[link]];
      const bool slept =
          add_caused(VertexKind::block, link, event, std::max(frame.block_begin_ns, frame.last_ns), cause_ns);
      (slept ? block_labels_ : block_posts_).add(trace_.time_ns[event] - (slept ? cause_ns : frame.block_begin_ns));
    }
    if (frame.wait_begin_ns.empty() && uncounted_here(frame)) add_plain(VertexKind::enter, 0, event);
    frame.block_begin_ns = kNever;
  }

  void set_hand_over_costs() {
    dag_.spawn_cost_ns = facts_.hand_over_costs().spawn_ns;
    dag_.answer_cost_ns = facts_.hand_over_costs().answer_ns;
  }

  void set_askers() {
    for (const model::ResultWait& wait : facts_.result_waits()) dag_.askers.push_back(wait.asker);
  }

  void set_latencies() {
    const std::array<std::pair<Latencies*, double>, 3> shares{
        {{&dag_.typical, 0.50}, {&dag_.low, 0.05}, {&dag_.high, 0.95}}};
    for (auto [latencies, share] : shares) {
      latencies->wait_label_ns = wait_labels_.percentile(share);
      latencies->wait_post_ns = wait_posts_.percentile(share);
      latencies->block_label_ns = block_labels_.percentile(share);
      latencies->block_post_ns = block_posts_.percentile(share);
      for (size_t pool = 0; pool < call_labels_.size(); ++pool) {
        latencies->call_label_ns.push_back(call_labels_[pool].percentile(share));
        latencies->call_post_ns.push_back(call_posts_[pool].percentile(share));
      }
    }
  }

  const model::Facts& facts_;
  const Trace& trace_;
  TraceDag dag_;
  std::vector<Frame> frames_;
  size_t depth_ = 0;
  uint32_t thread_ = 0;
  std::vector<bool> waited_for_;
  std::vector<uint32_t> wake_of_link_;                        // the wake's event
  std::vector<std::pair<uint32_t, uint32_t>> link_of_event_;  // (event, link), sorted
  std::vector<LockHandOver> lock_waits_;
  std::vector<std::pair<uint32_t, uint32_t>> link_of_release_;  // (event, link), sorted
  Samples wait_labels_, wait_posts_, block_labels_, block_posts_;
  std::vector<Samples> call_labels_, call_posts_;
};

}  // namespace

base::Result<TraceDag> build_dag(const model::Facts& facts) {
  return DagBuilder(facts).run();
}

}  // namespace contrafact::graph
