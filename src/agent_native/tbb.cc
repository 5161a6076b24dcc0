// oneTBB's tasks: a library of its own, preloaded where the program has libtbb.so.12, in front of the functions by which
// programs hand tasks over and wait for them.
//
//     program's templates ── spawn(task, context) ──> here ──> libtbb, whose threads call the task's execute()
//
// A task is an object with a virtual execute() and cancel(). When it is handed over, its virtual table is exchanged for a
// copy that has ours in those two places (Shadow). Ours puts the original back, and calls the original function: so the
// object is changed only while it waits for its turn, and behaves as ever. The tables stay; there are at most kShadowsMax.
//
// Who waits, waits for all tasks that were handed over with the same context (task_group_context), by a future of theirs.
// A task that execute() returns runs next, on the same thread, and counts as handed over there.
//
// Exceptions that leave a task or a wait pass through here: this library uses the program's own C++ runtime, which libtbb
// needs, too.
//
// Thread safety: all of it; nothing locks. What there is no room for stays unrecorded and is counted.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "agent_native/task_shim.h"

namespace {

using contrafact::agent_native::TaskShim;

constexpr uint32_t kNone = UINT32_MAX;

struct Context;
struct WaitContext;
struct Arena;
struct ArenaBase;

struct ExecutionData {
  Context* context;  // the task's; more follows
};
struct Task {
  std::atomic<const uintptr_t*> table;  // the virtual one
};
using Execute = Task* (*)(Task*, ExecutionData*);

// Null where no agent is preloaded.
const TaskShim* known_agent() {
  static constinit std::atomic<const TaskShim*> found{nullptr};
  static constinit std::atomic<bool> is_known{false};
  if (!is_known.load(std::memory_order_acquire)) {
    found.store(static_cast<const TaskShim*>(dlsym(RTLD_DEFAULT, contrafact::agent_native::kTaskShimSymbol)));
    is_known.store(true, std::memory_order_release);
  }
  return found.load(std::memory_order_relaxed);
}

// Null where the thread is not recorded, or is in the runtime.
const TaskShim* agent() {
  const TaskShim* const shim = known_agent();
  return shim && shim->is_recording() ? shim : nullptr;
}

// From an address to a number, of what is there for a while. Open addressing: an address lies in one of the kProbes places
// behind its first.
template <size_t kPlaces>
class Numbers {
 public:
  bool put(const void* address, uint32_t number) {
    for (size_t i = 0; i < kProbes; ++i) {
      Place& place = place_of(address, i);
      uintptr_t none = 0;
      if (place.address.load(std::memory_order_relaxed) != 0 ||
          !place.address.compare_exchange_strong(none, key(address), std::memory_order_acq_rel))
        continue;
      place.number.store(number, std::memory_order_release);
      return true;
    }
    return false;
  }
  uint32_t find(const void* address) {
    Place* const place = there(address);
    return place ? place->number.load(std::memory_order_acquire) : kNone;
  }
  // kNone: it is not there.
  uint32_t take(const void* address) {
    Place* const place = there(address);
    if (!place) return kNone;
    const uint32_t number = place->number.exchange(kNone, std::memory_order_acq_rel);
    place->address.store(0, std::memory_order_release);
    return number;
  }

 private:
  static constexpr size_t kProbes = 16;
  struct Place {
    std::atomic<uintptr_t> address{0};
    std::atomic<uint32_t> number{kNone};
  };
  static uintptr_t key(const void* address) { return reinterpret_cast<uintptr_t>(address); }
  Place& place_of(const void* address, size_t probe) {
    return places_[((key(address) * 0x9e3779b97f4a7c15u >> 32) + probe) % kPlaces];
  }
  Place* there(const void* address) {
    for (size_t i = 0; i < kProbes; ++i) {
      Place& place = place_of(address, i);
      if (place.address.load(std::memory_order_acquire) == key(address)) return &place;
    }
    return nullptr;
  }

  Place places_[kPlaces] = {};
};

constinit Numbers<1 << 16> g_tasks;     // handed over, and not begun; 1 MiB, of which what is used is resident
constinit Numbers<1 << 14> g_contexts;  // the future of a context's tasks
constinit std::atomic<uint64_t> g_unseen{0};

// ---- Virtual tables

constexpr size_t kBefore = 2;  // words in front of a table's address: an offset, and the type
constexpr size_t kExecute = 2, kCancel = 3;
constexpr size_t kWords = 16;  // further functions of derived classes, if any; what lies behind the table is never used
constexpr size_t kShadowsMax = 512;

struct Shadow {
  std::atomic<const uintptr_t*> original{nullptr};
  std::atomic<bool> is_ready{false};
  uintptr_t execute = 0, cancel = 0;  // the original's
  uintptr_t words[kBefore + kWords] = {};

  const uintptr_t* table() const { return words + kBefore; }
};
constinit Shadow g_shadows[kShadowsMax];

Task* execute_task(Task* task, ExecutionData* data);
Task* cancel_task(Task* task, ExecutionData* data);

bool copy_table(Shadow& shadow, const uintptr_t* table) {
  dl_find_object object;
  if (_dl_find_object(const_cast<uintptr_t*>(table), &object) != 0) return false;
  const auto* const end = static_cast<const uintptr_t*>(object.dlfo_map_end);
  const size_t behind = static_cast<size_t>(end - table);
  if (behind <= kCancel) return false;
  std::memcpy(shadow.words, table - kBefore, (kBefore + (behind < kWords ? behind : kWords)) * sizeof *table);
  shadow.execute = table[kExecute];
  shadow.cancel = table[kCancel];
  shadow.words[kBefore + kExecute] = reinterpret_cast<uintptr_t>(&execute_task);
  shadow.words[kBefore + kCancel] = reinterpret_cast<uintptr_t>(&cancel_task);
  return true;
}

// Null: there is no room, or another library's table lies there now.
Shadow* shadow_of(const uintptr_t* table) {
  size_t at = (reinterpret_cast<uintptr_t>(table) * 0x9e3779b97f4a7c15u >> 40) % kShadowsMax;
  for (size_t i = 0; i < kShadowsMax; ++i, at = (at + 1) % kShadowsMax) {
    Shadow& shadow = g_shadows[at];
    const uintptr_t* there = shadow.original.load(std::memory_order_acquire);
    if (!there && shadow.original.compare_exchange_strong(there, table, std::memory_order_acq_rel)) {
      const bool is_good = copy_table(shadow, table);
      shadow.is_ready.store(is_good, std::memory_order_release);
      return is_good ? &shadow : nullptr;
    }
    if (there != table) continue;
    const bool is_same = shadow.is_ready.load(std::memory_order_acquire) && shadow.execute == table[kExecute] &&
                         shadow.cancel == table[kCancel];
    return is_same ? &shadow : nullptr;
  }
  return nullptr;
}

const Shadow& shadow_behind(const uintptr_t* table) {
  return *reinterpret_cast<const Shadow*>(reinterpret_cast<const char*>(table) - offsetof(Shadow, words) -
                                          kBefore * sizeof(uintptr_t));
}

// ---- Tasks

using Spawn = void (*)(Task&, Context&);
using SpawnTo = void (*)(Task&, Context&, uint16_t);
using Submit = void (*)(Task&, Context&, Arena*, uintptr_t);
using Enqueue = void (*)(Task&, ArenaBase*);
using EnqueueIn = void (*)(Task&, Context&, ArenaBase*);
using ExecuteAndWait = void (*)(Task&, Context&, WaitContext&, Context&);
using Wait = void (*)(WaitContext&, Context&);
using MaxConcurrency = int (*)(const ArenaBase*);

struct Real {
  Spawn spawn;
  SpawnTo spawn_to;
  Submit submit;
  Enqueue enqueue;
  EnqueueIn enqueue_in;
  ExecuteAndWait execute_and_wait;
  Wait wait;
  MaxConcurrency max_concurrency;
};

// Looked up by whoever is first; a second look finds the same.
const Real& real() {
  static constinit Real found{};
  static constinit std::atomic<bool> is_found{false};
  if (is_found.load(std::memory_order_acquire)) return found;
  const auto find = [](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_NEXT, name));
  };
  find(found.spawn, "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE");
  find(found.spawn_to, "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt");
  find(found.submit, "_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm");
  find(found.enqueue, "_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE");
  find(found.enqueue_in, "_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE");
  find(found.execute_and_wait,
       "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_");
  find(found.wait, "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE");
  find(found.max_concurrency, "_ZN3tbb6detail2r115max_concurrencyEPKNS0_2d115task_arena_baseE");
  is_found.store(true, std::memory_order_release);
  return found;
}

// The thread is in the runtime, or in a task of the program's, until the scope's end.
class InRuntime {
 public:
  explicit InRuntime(bool in) : shim_(known_agent()), before_(shim_ && shim_->be_quiet(in)) {}
  ~InRuntime() {
    if (shim_) shim_->be_quiet(before_);
  }
  InRuntime(const InRuntime&) = delete;
  InRuntime& operator=(const InRuntime&) = delete;

 private:
  const TaskShim* const shim_;
  const bool before_;
};

class Running {
 public:
  Running(const TaskShim* shim, uint32_t number) : shim_(number == kNone ? nullptr : shim), number_(number) {
    if (shim_) shim_->start(number_);
  }
  ~Running() {
    if (shim_) shim_->end(number_, !is_done_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  void done() { is_done_ = true; }

 private:
  const TaskShim* const shim_;
  const uint32_t number_;
  bool is_done_ = false;
};

class Waiting {
 public:
  Waiting(const TaskShim* shim, const Context& context, uint64_t site) : context_(context) {
    number_ = shim ? g_contexts.find(&context) : kNone;
    if (number_ == kNone) return;
    shim_ = shim;
    shim_->wait_begin(number_, site);
  }
  ~Waiting() {
    if (!shim_) return;
    shim_->wait_end(number_);
    if (g_contexts.find(&context_) == number_) g_contexts.take(&context_);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  const Context& context_;
  const TaskShim* shim_ = nullptr;
  uint32_t number_ = kNone;
};

uint32_t pool(const TaskShim& shim) {
  static constinit std::atomic<uint32_t> known{0};  // and one
  if (const uint32_t number = known.load(std::memory_order_acquire); number != 0) return number - 1;
  const int all = real().max_concurrency ? real().max_concurrency(nullptr) : 0;
  const uint32_t made = shim.fork_join_pool("oneTBB", all > 1 ? static_cast<uint32_t>(all - 1) : 1);
  known.store(made + 1, std::memory_order_release);
  return made;
}

// The task is handed over at `site`; kNone: unrecorded.
uint32_t hand_over(const TaskShim& shim, Task& task, const Context* context, uint64_t site) {
  const uintptr_t* const table = task.table.load(std::memory_order_relaxed);
  Shadow* const shadow = shadow_of(table);
  const uint32_t number = shadow ? shim.new_task() : kNone;
  if (!shadow || !g_tasks.put(&task, number)) {
    shim.unseen(g_unseen.fetch_add(1, std::memory_order_relaxed) + 1);
    return kNone;
  }
  shim.spawn(number, pool(shim), site, shadow->execute);
  if (context) {
    uint32_t future = g_contexts.find(context);
    if (future == kNone) {
      future = shim.new_task();
      if (!g_contexts.put(context, future)) future = kNone;
    }
    if (future != kNone) shim.depends(future, number);
  }
  task.table.store(shadow->table(), std::memory_order_relaxed);
  return number;
}

Task* execute_task(Task* task, ExecutionData* data) {
  const Shadow& shadow = shadow_behind(task->table.load(std::memory_order_relaxed));
  task->table.store(shadow.original.load(std::memory_order_relaxed), std::memory_order_relaxed);
  const uint32_t number = g_tasks.take(task);
  const InRuntime not_now(false);
  const TaskShim* const shim = agent();
  Task* next;
  {
    Running running(shim, number);
    next = reinterpret_cast<Execute>(shadow.execute)(task, data);  // the task may be gone
    running.done();
  }
  if (shim && next) hand_over(*shim, *next, data->context, 0);
  return next;
}

Task* cancel_task(Task* task, ExecutionData* data) {
  const Shadow& shadow = shadow_behind(task->table.load(std::memory_order_relaxed));
  task->table.store(shadow.original.load(std::memory_order_relaxed), std::memory_order_relaxed);
  const uint32_t number = g_tasks.take(task);
  const InRuntime not_now(false);
  if (const TaskShim* const shim = number == kNone ? nullptr : agent()) shim->drop(number);
  return reinterpret_cast<Execute>(shadow.cancel)(task, data);
}

void note_hand_over(Task& task, const Context* context, uint64_t site) {
  if (const TaskShim* const shim = agent()) hand_over(*shim, task, context, site);
}

}  // namespace

// In front of libtbb's own, which have these names.
#define CONTRAFACT_TBB(name, parameters, symbol)                                                           \
  extern "C" __attribute__((visibility("default"))) void contrafact_tbb_##name parameters __asm__(symbol); \
  extern "C" __attribute__((visibility("default"))) void contrafact_tbb_##name parameters
#define CONTRAFACT_TBB_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))

CONTRAFACT_TBB(spawn, (Task & task, Context& context),
               "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE") {
  note_hand_over(task, &context, CONTRAFACT_TBB_SITE);
  const InRuntime now(true);
  real().spawn(task, context);
}

CONTRAFACT_TBB(spawn_to, (Task & task, Context& context, uint16_t slot),
               "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt") {
  note_hand_over(task, &context, CONTRAFACT_TBB_SITE);
  const InRuntime now(true);
  real().spawn_to(task, context, slot);
}

CONTRAFACT_TBB(submit, (Task & task, Context& context, Arena* arena, uintptr_t as_critical),
               "_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm") {
  note_hand_over(task, &context, CONTRAFACT_TBB_SITE);
  const InRuntime now(true);
  real().submit(task, context, arena, as_critical);
}

// Nobody waits for what is enqueued.
CONTRAFACT_TBB(enqueue, (Task & task, ArenaBase* arena),
               "_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE") {
  note_hand_over(task, nullptr, CONTRAFACT_TBB_SITE);
  const InRuntime now(true);
  real().enqueue(task, arena);
}

CONTRAFACT_TBB(enqueue_in, (Task & task, Context& context, ArenaBase* arena),
               "_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE") {
  note_hand_over(task, nullptr, CONTRAFACT_TBB_SITE);
  const InRuntime now(true);
  real().enqueue_in(task, context, arena);
}

CONTRAFACT_TBB(execute_and_wait, (Task & task, Context& context, WaitContext& wait, Context& wait_in),
               "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_") {
  const uint64_t site = CONTRAFACT_TBB_SITE;
  note_hand_over(task, &wait_in, site);
  const Waiting waiting(agent(), wait_in, site);
  const InRuntime now(true);
  real().execute_and_wait(task, context, wait, wait_in);
}

CONTRAFACT_TBB(wait, (WaitContext & wait, Context& context),
               "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE") {
  const Waiting waiting(agent(), context, CONTRAFACT_TBB_SITE);
  const InRuntime now(true);
  real().wait(wait, context);
}
