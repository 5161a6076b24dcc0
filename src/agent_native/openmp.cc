// OpenMP, as its runtime reports it through OMPT: LLVM's libomp, which finds ompt_start_tool() in the preloaded agent.
//
//   parallel region     a task for each thread of the team (its implicit task), spawned by the thread that begins the
//                       region; that thread runs the first one itself, and then waits for the region, a future that is
//                       complete with all of its tasks
//   explicit task       spawned where it is made; taskwait and the end of a taskgroup wait for a future that depends on
//                       the tasks meant, as a barrier does
//   barrier             a future that depends on each thread's arrival, another future, and on the explicit tasks made
//                       since the barrier before. Threads run tasks while they wait
//   chunk of a loop     a task, run where it is taken
//   thread of a team    a worker of the pool "OpenMP team of N"; the thread that begins a region is none
//
// While a thread is in the runtime, to wait, it is inside (recording.h): the runtime's own locks are not the program's.
//
// An untied task that leaves its thread before its end goes on as another task.
//
// Thread safety: a callback concerns the current thread, but for what teams share, which is atomic. Bounds: 128 bytes for
// each task of the runtime's that is not over, and a region's some 100 while it lasts.
#include <dlfcn.h>

#include <new>
#include <utility>

#include "agent_native/ompt.h"
#include "agent_native/openmp.h"
#include "agent_native/real.h"
#include "agent_native/stack.h"
#include "agent_native/task_events.h"

namespace contrafact::agent_native {
namespace {

// A barrier of a region while threads may be at it. In one word: what it is, in the order of the region's barriers, so
// that the word can go to the barrier after the next one; who has come; the number of its future.
struct BarrierWord {
  uint64_t bits = 0;

  static constexpr int kArrivedShift = 32, kHasTasksShift = 44, kIsOverShift = 45, kIsUsedShift = 46, kNumberShift = 47;
  static constexpr uint32_t kNumberMask = (1 << 17) - 1;
  static constexpr uint32_t kThreadsMax = (1 << 12) - 1;

  static BarrierWord made(uint32_t number, uint32_t task) {
    return {uint64_t{task} | uint64_t{1} << kIsUsedShift | uint64_t{number & kNumberMask} << kNumberShift};
  }
  bool is_for(uint32_t number) const {
    return (bits >> kIsUsedShift & 1) != 0 && bits >> kNumberShift == (number & kNumberMask);
  }
  uint32_t task() const { return static_cast<uint32_t>(bits); }
  uint32_t arrived() const { return static_cast<uint32_t>(bits >> kArrivedShift) & kThreadsMax; }
  bool has_tasks() const { return (bits >> kHasTasksShift & 1) != 0; }
  bool is_over() const { return (bits >> kIsOverShift & 1) != 0; }
};

struct Region {
  uint32_t first_task;  // of the team's thread 0; the others follow, and then the region's own
  uint32_t requested;   // threads
  uint32_t pool;
  TaskOrigin origin;
  std::atomic<uint32_t> threads{0};            // that it got; 0 until that is known
  std::atomic<uint64_t> barriers[2] = {0, 0};  // BarrierWord

  uint32_t own_task() const { return first_task + requested; }

  // The barrier's word after `bits` were added to it.
  BarrierWord at_barrier(uint32_t number, uint64_t added) {
    std::atomic<uint64_t>& slot = barriers[number & 1];
    BarrierWord word{slot.load(std::memory_order_acquire)}, next;
    do {
      next = word.is_for(number) ? word : BarrierWord::made(number, new_tasks());
      next.bits += added;
    } while (!slot.compare_exchange_weak(word.bits, next.bits, std::memory_order_acq_rel));
    return next;
  }
  // Sets a flag; false if it was set.
  bool set_at_barrier(uint32_t number, int shift) {
    const uint64_t flag = uint64_t{1} << shift;
    return (barriers[number & 1].fetch_or(flag, std::memory_order_acq_rel) & flag) == 0;
  }
};

// Of a taskgroup: those are complete when it ends that were made in it, or by those.
struct Group {
  uint32_t task;
  std::atomic<bool> has_tasks{false};
  Group* outer;
  uint64_t site;
};

struct Task {
  ompt::Data* owner;  // the runtime's; another one's by now if it is not
  Region* region;     // null: in none
  Group* group;       // the innermost one
  uint32_t number = kNoTask;
  uint32_t children = kNoTask;  // a future of those made since it waited for them last
  uint32_t barrier = 0;         // before which it must be over: the number of it in the region
  uint32_t chunk = kNoTask;     // of a loop, that it runs
  uint32_t waits_for = kNoTask;
  uint32_t sibling = kNoTask;  // the future of its maker's children that it is one of
  uint64_t site = 0;
  bool is_explicit = false;
  bool is_untied = false;
  bool is_late = false;  // it may wait for others: it counts as handed out when it starts
  bool depends = false;  // it does
  bool has_started = false;
  bool is_over = false;   // an implicit one, which is at the region's last barrier
  bool is_first = false;  // of the thread that began the region
};
static_assert(sizeof(Task) <= 128);

struct ThreadState {
  Task* task = nullptr;    // the innermost
  uint64_t loop_site = 0;  // of the loop that it is in
  bool is_worker = false;
  bool is_quiet = false;  // inside, because it is in the runtime
};
thread_local constinit ThreadState t_openmp __attribute__((tls_model("initial-exec")));

const Shared* g_openmp_of = nullptr;  // the process that the runtime began in
uint64_t g_runtime_begin = 0, g_runtime_end = 0;

// Where the program asked for it; `otherwise`, where a call that was its function's last one looks like the runtime's.
uint64_t site_of(const void* code, uint64_t otherwise) {
  const auto site = reinterpret_cast<uint64_t>(code);
  return site == 0 || (site >= g_runtime_begin && site < g_runtime_end) ? otherwise : site;
}

constexpr uint32_t kRequestedMax = BarrierWord::kThreadsMax;

// A callback: the thread is not quiet in it, and is so after it where that is asked for.
class Heard {
 public:
  Heard() {
    if (t_openmp.is_quiet) {
      t_openmp.is_quiet = false;
      t_local.inside = false;
    }
    if (g_agent.shared == g_openmp_of) client_ = recording();
  }
  ~Heard() {
    if (!is_quiet_ || t_local.inside) return;
    t_openmp.is_quiet = true;
    t_local.inside = true;
  }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

  Client* client() const { return client_; }
  void be_quiet() { is_quiet_ = true; }

 private:
  Client* client_ = nullptr;
  bool is_quiet_ = false;
};

// What a construct's task runs stands where the construct does: in the function that asked the runtime for it.
TaskOrigin origin_at(uint64_t site) {
  return {site, site == 0 ? 0 : site - 1};
}

template <typename Object>
Object* of(const ompt::Data* data) {
  return data ? static_cast<Object*>(data->pointer) : nullptr;
}

template <typename Object>
void give_back(Object* object) {
  const Inside inside;
  delete object;
}

// ---- Pools

// A team's threads but the one that begins its regions. By the size of the team; 0 is the place of all others.
constexpr uint32_t kTeamsMax = 256;
constinit std::atomic<uint32_t> g_team_pools[kTeamsMax] = {};  // and one

uint32_t pool_of_team(uint32_t threads) {
  std::atomic<uint32_t>& place = g_team_pools[threads < kTeamsMax ? threads : 0];
  if (const uint32_t known = place.load(std::memory_order_acquire); known != 0) return known - 1;
  char name[40] = "OpenMP team of ";
  size_t length = std::char_traits<char>::length(name);
  char digits[10];
  size_t count = 0;
  for (uint32_t rest = threads; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) name[length++] = digits[--count];
  const uint32_t workers = threads > 1 ? threads - 1 : 1;
  uint32_t made = g_agent.shared->log->add_pool({name, length}, format::PoolKind::fork_join, workers, workers) + 1;
  uint32_t none = 0;
  if (!place.compare_exchange_strong(none, made, std::memory_order_acq_rel)) made = none;  // a row without tasks stays
  return made - 1;
}

uint32_t pool_of(const Task& task) {
  return task.region ? task.region->pool : pool_of_team(1);
}

// ---- Parallel regions

void on_parallel_begin(ompt::Data*, const ompt::Frame*, ompt::Data* parallel, unsigned requested, int,
                       const void* code) {
  parallel->pointer = nullptr;
  Heard heard;
  Client* const client = heard.client();
  if (!client || requested == 0 || requested > kRequestedMax) return;
  const auto site = reinterpret_cast<uint64_t>(code);
  Region* region;
  {
    const Inside inside;
    region = new (std::nothrow) Region;
  }
  if (!region) return;
  region->first_task = new_tasks(requested + 1);
  region->requested = requested;
  region->pool = pool_of_team(requested);
  region->origin = origin_at(site);
  const int64_t now_ns = g_clock.now_ns();
  for (uint32_t i = 1; i <= requested; ++i) {
    append_stack(client, site);
    append_spawn(client, now_ns, region->first_task + i % requested, region->pool, region->origin);
  }
  parallel->pointer = region;
}

// The thread that began the region gets to its end.
void begin_wait_for_region(Client* client, int64_t now_ns, Task& first) {
  first.is_over = true;
  append_end(client, now_ns, first.number);
  append_wait_end(client, now_ns, first.number);
  append_wait_begin(client, now_ns, first.region->own_task(), first.region->origin.site);
}

void end_chunk(Client* client, int64_t now_ns, Task& task) {
  if (task.chunk == kNoTask) return;
  append_end(client, now_ns, task.chunk);
  task.chunk = kNoTask;
}

void end_implicit(Client* client, int64_t now_ns, Task& task) {
  if (task.is_over || task.number == kNoTask) return;
  end_chunk(client, now_ns, task);
  if (task.is_first) return begin_wait_for_region(client, now_ns, task);
  task.is_over = true;
  append_end(client, now_ns, task.number);
  append_worker(client, EventKind::worker_idle, now_ns, task.region->pool);
}

void on_parallel_end(ompt::Data* parallel, ompt::Data* encountering, int, const void*) {
  Heard heard;
  auto* const region = of<Region>(parallel);
  parallel->pointer = nullptr;
  t_openmp.task = of<Task>(encountering);
  if (!region) return;
  if (Client* const client = heard.client()) {
    const int64_t now_ns = g_clock.now_ns();
    for (const std::atomic<uint64_t>& slot : region->barriers) {
      const BarrierWord word{slot.load(std::memory_order_acquire)};
      if (!word.has_tasks() || word.is_over()) continue;  // tasks that were made after the last barrier
      append_complete(client, now_ns, word.task());
      append_depends(client, now_ns, region->own_task(), word.task());
    }
    append_complete(client, now_ns, region->own_task());
    append_wait_end(client, now_ns, region->own_task());
  }
  give_back(region);
}

void begin_implicit(Client* client, Region& region, Task& task, uint32_t threads, uint32_t index) {
  const int64_t now_ns = g_clock.now_ns();
  if (index == 0) {
    task.is_first = true;
    region.threads.store(threads, std::memory_order_release);
    for (uint32_t i = threads; i < region.requested; ++i)
      append(client, EventKind::task_drop, now_ns, region.first_task + i);
    for (uint32_t i = 0; i < threads; ++i) append_depends(client, now_ns, region.own_task(), region.first_task + i);
    append_wait_begin(client, now_ns, task.number, region.origin.site);
  } else {
    append_worker(client, EventKind::worker_busy, now_ns, region.pool);
  }
  append_start(client, now_ns, task.number);
}

Task* new_task(ompt::Data* owner, Region* region, Group* group) {
  const Inside inside;
  return new (std::nothrow) Task{.owner = owner, .region = region, .group = group};
}

void on_implicit_task(int endpoint, ompt::Data* parallel, ompt::Data* data, unsigned threads, unsigned index,
                      int flags) {
  Heard heard;
  Client* const client = heard.client();
  if (endpoint == ompt::kBegin) {
    data->pointer = nullptr;
    auto* const region = of<Region>(parallel);
    const bool is_initial = (flags & ompt::kTaskInitial) != 0;
    if (!client || (!is_initial && (!region || index >= region->requested))) {
      t_openmp.task = nullptr;
      return;
    }
    Task* const task = new_task(data, is_initial ? nullptr : region, nullptr);
    data->pointer = t_openmp.task = task;
    if (!task || is_initial) return;
    task->number = region->first_task + index;
    begin_implicit(client, *region, *task, threads, index);
    return;
  }
  auto* const task = of<Task>(data);
  data->pointer = nullptr;
  t_openmp.task = nullptr;
  if (t_openmp.is_worker) heard.be_quiet();
  if (!task) return;
  if (client) end_implicit(client, g_clock.now_ns(), *task);
  give_back(task);
}

// ---- Explicit tasks

// Who waits for the task: a barrier, a taskwait, a taskgroup.
void append_awaited(Client* client, int64_t now_ns, const Task& task) {
  if (Region* const region = task.region) {
    const BarrierWord word = region->at_barrier(task.barrier, 0);
    if (!word.has_tasks()) region->set_at_barrier(task.barrier, BarrierWord::kHasTasksShift);
    append_depends(client, now_ns, word.task(), task.number);
  }
  append_depends(client, now_ns, task.sibling, task.number);
  if (Group* const group = task.group) {
    group->has_tasks.store(true, std::memory_order_relaxed);
    append_depends(client, now_ns, group->task, task.number);
  }
}

void on_task_create(ompt::Data* encountering, const ompt::Frame*, ompt::Data* data, int flags, int has_dependences,
                    const void* code) {
  if (!data) return;
  data->pointer = nullptr;
  Heard heard;
  Client* const client = heard.client();
  auto* const by = of<Task>(encountering);
  if (!client || !by || (flags & ompt::kTaskExplicit) == 0) return;
  Task* const task = new_task(data, by->region, by->group);
  if (!task) return;
  const int64_t now_ns = g_clock.now_ns();
  // GNU's taskloop makes its tasks in the runtime, in a taskgroup.
  const uint64_t around = by->region ? by->region->origin.site : 0;
  const uint64_t site = site_of(code, by->group ? by->group->site : around);
  task->is_explicit = true;
  task->number = new_tasks();
  task->barrier = by->barrier;
  task->is_late = has_dependences != 0;
  if (task->is_late) {
    append_create(client, now_ns, task->number, origin_at(site));
  } else {
    append_spawn(client, now_ns, task->number, pool_of(*task), origin_at(site));
  }
  if (by->children == kNoTask) by->children = new_tasks();
  task->sibling = by->children;
  task->site = site;
  task->is_untied = (flags & ompt::kTaskUntied) != 0;
  append_awaited(client, now_ns, *task);
  data->pointer = task;
}

void on_task_dependence(ompt::Data* source, ompt::Data* sink) {
  Heard heard;
  const auto* const before = of<Task>(source);
  auto* const task = of<Task>(sink);
  if (!heard.client() || !before || !task) return;
  const uint32_t number = before->number;
  if (before->owner != source || number == kNoTask) return;  // it is over by now, and its memory another task's
  task->depends = true;
  append_depends(heard.client(), g_clock.now_ns(), task->number, number);
}

// A thread of a team that has come to the region's last barrier is a worker without a task.
bool is_idle(const Task* task) {
  return t_openmp.is_worker && (!task || (!task->is_explicit && task->is_over));
}

void end_explicit(Client* client, int64_t now_ns, Task& task, const Task* next) {
  if (task.is_over) return;
  task.is_over = true;
  if (!task.has_started) return append(client, EventKind::task_drop, now_ns, task.number);  // cancelled with its group
  append_end(client, now_ns, task.number);
  if (is_idle(next)) append_worker(client, EventKind::worker_idle, now_ns, pool_of(task));
}

void start_explicit(Client* client, int64_t now_ns, Task& task, const Task* before) {
  task.has_started = true;
  if (is_idle(before)) append_worker(client, EventKind::worker_busy, now_ns, pool_of(task));
  if (task.is_late) append_spawn(client, now_ns, task.number, pool_of(task), {});
  append_start(client, now_ns, task.number);
}

// The task leaves the thread, and may go on on any.
void cut(Client* client, int64_t now_ns, Task& task, const Task* next) {
  append_end(client, now_ns, task.number);
  if (is_idle(next)) append_worker(client, EventKind::worker_idle, now_ns, pool_of(task));
  const uint32_t before = std::exchange(task.number, new_tasks());
  task.has_started = false;
  task.is_late = true;
  append_create(client, now_ns, task.number, origin_at(task.site));
  append_depends(client, now_ns, task.number, before);
  append_awaited(client, now_ns, task);
}

bool is_left(const Task& task, int status, const Task* next) {
  const bool is_running = task.is_explicit && task.is_untied && task.has_started && !task.is_over;
  return is_running && status == ompt::kSwitch && (!next || !next->is_explicit || next->has_started);
}

void on_task_schedule(ompt::Data* prior, int status, ompt::Data* next) {
  Heard heard;
  Client* const client = heard.client();
  auto* before = of<Task>(prior);
  auto* const after = of<Task>(next);
  const int64_t now_ns = client ? g_clock.now_ns() : 0;
  const bool is_done = status == ompt::kComplete || status == ompt::kCancel || status == ompt::kLateFulfill;
  if (before && before->is_explicit && (is_done || status == ompt::kDetach)) {
    if (client) end_explicit(client, now_ns, *before, after);
    if (is_done) {
      prior->pointer = nullptr;
      before->owner = nullptr;
      give_back(before);
      before = nullptr;
    }
  }
  if (client && before && is_left(*before, status, after)) cut(client, now_ns, *before, after);
  if (status == ompt::kLateFulfill) return;  // by whatever thread runs now
  if (client && after && after->is_explicit && !after->has_started) start_explicit(client, now_ns, *after, before);
  t_openmp.task = after;
  // It goes back to a wait.
  if (after ? after->waits_for != kNoTask || (!after->is_explicit && after->is_over) : t_openmp.is_worker)
    heard.be_quiet();
}

// ---- Waits

void begin_wait(Heard& heard, int64_t now_ns, Task& task, uint32_t for_task, uint64_t site) {
  task.waits_for = for_task;
  append_wait_begin(heard.client(), now_ns, for_task, site);
  heard.be_quiet();
}

void end_wait(Client* client, int64_t now_ns, Task& task, bool completes) {
  if (completes) append_complete(client, now_ns, task.waits_for);
  append_wait_end(client, now_ns, task.waits_for);
  task.waits_for = kNoTask;
}

// Only tasks say when the last one is over; where there are none, the thread that comes last knows it.
void arrive(Heard& heard, Task& task, uint64_t site) {
  Client* const client = heard.client();
  Region& region = *task.region;
  const uint32_t arrival = new_tasks();
  const int64_t now_ns = g_clock.now_ns();
  end_chunk(client, now_ns, task);
  const BarrierWord word = region.at_barrier(task.barrier, uint64_t{1} << BarrierWord::kArrivedShift);
  append_depends(client, now_ns, word.task(), arrival);
  append_complete(client, now_ns, arrival);
  const bool is_last = word.arrived() == region.threads.load(std::memory_order_acquire);
  if (is_last && !word.has_tasks() && region.set_at_barrier(task.barrier, BarrierWord::kIsOverShift))
    append_complete(client, now_ns, word.task());
  begin_wait(heard, now_ns, task, word.task(), site);
}

void leave_barrier(Client* client, Task& task) {
  Region& region = *task.region;
  const bool is_first = region.set_at_barrier(task.barrier, BarrierWord::kIsOverShift);
  end_wait(client, g_clock.now_ns(), task, is_first);
  ++task.barrier;
}

bool is_barrier(int kind) {
  return kind == ompt::kBarrier || kind == ompt::kBarrierImplicit || kind == ompt::kBarrierExplicit ||
         kind == ompt::kBarrierImplementation || kind == ompt::kBarrierWorkshare;
}

void at_barrier(Heard& heard, int endpoint, Task& task, uint64_t site) {
  if (task.is_explicit || !task.region || task.number == kNoTask || task.is_over) return;
  if (endpoint == ompt::kBegin) return arrive(heard, task, site);
  if (task.waits_for != kNoTask) leave_barrier(heard.client(), task);
}

void at_taskwait(Heard& heard, int endpoint, Task& task, uint64_t site) {
  if (endpoint == ompt::kEnd) {
    if (task.waits_for == kNoTask) return;
    task.children = kNoTask;
    return end_wait(heard.client(), g_clock.now_ns(), task, true);
  }
  if (task.children != kNoTask) begin_wait(heard, g_clock.now_ns(), task, task.children, site);
}

void at_taskgroup(int endpoint, Task& task, uint64_t site) {
  const Inside inside;
  if (endpoint == ompt::kBegin) {
    auto* const group = new (std::nothrow) Group{.task = new_tasks(), .outer = task.group, .site = site};
    if (group) task.group = group;
  } else if (Group* const group = task.group) {
    task.group = group->outer;
    delete group;
  }
}

// The barrier that a region ends with. Before LLVM 17 its kind is that of a loop's; but no place of the program is named
// on a worker, and on the thread that began the region its own.
bool is_last_barrier(int kind, const Task* task, const void* code) {
  if (kind == ompt::kBarrierParallel) return true;
  if (kind != ompt::kBarrierImplicit || !task || task->is_explicit || !task->region) return false;
  return task->is_over || !code || reinterpret_cast<uint64_t>(code) == task->region->origin.site;
}

void on_sync_region(int kind, int endpoint, ompt::Data*, ompt::Data* data, const void* code) {
  Heard heard;
  auto* const task = of<Task>(data);
  if (!heard.client()) return;
  if (is_last_barrier(kind, task, code)) {
    if (endpoint == ompt::kBegin && task && !task->is_explicit) {
      end_implicit(heard.client(), g_clock.now_ns(), *task);
      heard.be_quiet();
    } else if (t_openmp.is_worker) {
      heard.be_quiet();  // until its next task
    }
    return;
  }
  if (!task) return;
  const uint64_t site = site_of(code, task->region ? task->region->origin.site : 0);
  if (is_barrier(kind)) at_barrier(heard, endpoint, *task, site);
  if (kind == ompt::kTaskwait) at_taskwait(heard, endpoint, *task, site);
  if (kind == ompt::kTaskgroup) at_taskgroup(endpoint, *task, site);
}

// A taskgroup is a region of the program's; only its end waits.
void on_sync_region_wait(int kind, int endpoint, ompt::Data*, ompt::Data* data, const void* code) {
  if (kind != ompt::kTaskgroup) return;
  Heard heard;
  auto* const task = of<Task>(data);
  if (!heard.client() || !task || !task->group) return;
  if (endpoint == ompt::kEnd) {
    if (task->waits_for == task->group->task) end_wait(heard.client(), g_clock.now_ns(), *task, true);
  } else if (task->group->has_tasks.load(std::memory_order_relaxed)) {
    begin_wait(heard, g_clock.now_ns(), *task, task->group->task, site_of(code, task->group->site));
  }
}

// ---- Loops

void on_work(int kind, int endpoint, ompt::Data*, ompt::Data* data, uint64_t, const void* code) {
  if (kind != ompt::kWorkLoop && (kind < ompt::kWorkLoopStatic || kind > ompt::kWorkLoopOther)) return;
  Heard heard;
  auto* const task = of<Task>(data);
  if (endpoint == ompt::kBegin) t_openmp.loop_site = reinterpret_cast<uint64_t>(code);
  if (endpoint == ompt::kEnd && task && heard.client()) end_chunk(heard.client(), g_clock.now_ns(), *task);
}

void on_dispatch(ompt::Data*, ompt::Data* data, int kind, ompt::Data) {
  if (kind != ompt::kDispatchLoopChunk) return;
  Heard heard;
  Client* const client = heard.client();
  auto* const task = of<Task>(data);
  if (!client || !task || !task->region) return;
  const int64_t now_ns = g_clock.now_ns();
  end_chunk(client, now_ns, *task);
  task->chunk = new_tasks();
  append_spawn(client, now_ns, task->chunk, task->region->pool, origin_at(t_openmp.loop_site));
  append_start(client, now_ns, task->chunk);
}

// ---- The runtime's life

void on_thread_begin(int kind, ompt::Data*) {
  Heard heard;
  t_openmp.is_worker = kind == ompt::kThreadWorker;
  if (t_openmp.is_worker) heard.be_quiet();
}

void on_thread_end(ompt::Data*) {
  const Heard heard;
}

struct Wanted {
  int kind;
  ompt::Callback callback;
};

template <typename Function>
Wanted wanted(int kind, Function* function) {
  return {kind, reinterpret_cast<ompt::Callback>(function)};
}

int initialize(ompt::Lookup lookup, int, ompt::Data*) {
  const auto set = reinterpret_cast<ompt::SetCallback>(lookup("ompt_set_callback"));
  if (!set) return 0;
  dl_find_object runtime;
  if (_dl_find_object(reinterpret_cast<void*>(lookup), &runtime) == 0) {
    g_runtime_begin = reinterpret_cast<uint64_t>(runtime.dlfo_map_start);
    g_runtime_end = reinterpret_cast<uint64_t>(runtime.dlfo_map_end);
  }
  for (const Wanted& each :
       {wanted(ompt::kThreadBegin, on_thread_begin), wanted(ompt::kThreadEnd, on_thread_end),
        wanted(ompt::kParallelBegin, on_parallel_begin), wanted(ompt::kParallelEnd, on_parallel_end),
        wanted(ompt::kImplicitTask, on_implicit_task), wanted(ompt::kTaskCreate, on_task_create),
        wanted(ompt::kTaskSchedule, on_task_schedule), wanted(ompt::kTaskDependence, on_task_dependence),
        wanted(ompt::kSyncRegion, on_sync_region), wanted(ompt::kSyncRegionWait, on_sync_region_wait),
        wanted(ompt::kWork, on_work)}) {
    set(each.kind, each.callback);
  }
  const bool has_chunks = set(ompt::kDispatch, wanted(ompt::kDispatch, on_dispatch).callback) >= ompt::kSetSometimes;
  append_text(recorder::TextKind::fact, 0, "openmp.chunks", has_chunks ? "reported" : "not reported");
  return 1;
}

void finalize(ompt::Data*) {}

constinit ompt::StartResult g_tool = {initialize, finalize, {}};

using StartTool = ompt::StartResult* (*)(unsigned version, const char* runtime);

}  // namespace

void leave_openmp_runtime() {
  if (!t_openmp.is_quiet) return;
  t_openmp.is_quiet = false;
  t_local.inside = false;
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

namespace {

bool has_other_tool(unsigned version, const char* runtime, ompt::StartResult*& other) {
  if (has_variable("OMP_TOOL_LIBRARIES")) return true;
  const auto next = reinterpret_cast<StartTool>(dlsym(RTLD_NEXT, "ompt_start_tool"));
  other = next ? next(version, runtime) : nullptr;
  return other != nullptr;
}

}  // namespace

// OpenMP runtimes ask for it when they begin. A tool of the program's own stays the program's.
extern "C" __attribute__((visibility("default"))) ompt::StartResult* ompt_start_tool(unsigned version,
                                                                                     const char* runtime) {
  ompt::StartResult* other = nullptr;
  const bool is_taken = has_other_tool(version, runtime, other);
  if (!recording()) return other;
  if (is_taken) {
    append_text(contrafact::recorder::TextKind::fact, 0, "scheduler.unseen.openmp",
                "OpenMP (which reports to a tool of the program's own)");
    return other;
  }
  g_openmp_of = g_agent.shared;
  append_text(contrafact::recorder::TextKind::fact, 0, "openmp.runtime", runtime);
  return &g_tool;
}
