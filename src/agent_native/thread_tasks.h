// ThreadTasks: which task a thread's handle stands for, for whoever joins it.
//
// Thread safety: everything, without locks and without the allocator: a new thread that used either would map memory of
// its own, or wait, which the program may not allow. A handle names one thread at a time; the C library uses handles
// again. Bounds: kSlots handles in 512 KiB, of which only the used part becomes resident; the thread of a further
// handle is joined without its task.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace contrafact::agent_native {

class ThreadTasks {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  void set(pthread_t thread, uint32_t task) {
    if (Slot* slot = find(thread, true)) slot->task_and_one.store(task + 1, std::memory_order_release);
  }
  // kNone if nothing is known of it.
  uint32_t of(pthread_t thread) {
    Slot* slot = find(thread, false);
    return slot ? slot->task_and_one.load(std::memory_order_acquire) - 1 : kNone;
  }
  void forget(pthread_t thread) {
    if (Slot* slot = find(thread, false)) slot->task_and_one.store(0, std::memory_order_release);
  }
  // Unless the handle stands for another task by now.
  void forget(pthread_t thread, uint32_t task) {
    uint32_t there = task + 1;
    if (Slot* slot = find(thread, false)) slot->task_and_one.compare_exchange_strong(there, 0);
  }

 private:
  static constexpr size_t kSlots = 1 << 15;
  static constexpr size_t kProbesMax = 64;
  struct Slot {
    std::atomic<pthread_t> thread{0};       // stays once it is set
    std::atomic<uint32_t> task_and_one{0};  // 0: none, so that untouched slots are all zero
  };

  Slot* find(pthread_t thread, bool add) {
    const size_t begin = static_cast<size_t>(thread * 0x9e3779b97f4a7c15u >> 49);
    for (size_t i = 0; i < kProbesMax; ++i) {
      Slot& slot = slots_[(begin + i) % kSlots];
      pthread_t there = slot.thread.load(std::memory_order_acquire);
      if (there == 0 && add && slot.thread.compare_exchange_strong(there, thread, std::memory_order_acq_rel)) {
        return &slot;
      }
      if (there == thread) return &slot;
      if (there == 0) return nullptr;
    }
    return nullptr;
  }

  std::array<Slot, kSlots> slots_{};
};

}  // namespace contrafact::agent_native
