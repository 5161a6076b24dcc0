// The part of OMPT, OpenMP's interface for tools (OpenMP 5.2, chapters 19 and 20), that the recorder uses. Declared here,
// so that a build needs no OpenMP runtime.
#pragma once

#include <cstdint>

namespace contrafact::agent_native::ompt {

union Data {
  uint64_t value;
  void* pointer;
};
struct Frame;

using Callback = void (*)();
using InterfaceFunction = void (*)();
using Lookup = InterfaceFunction (*)(const char* name);

struct StartResult {
  int (*initialize)(Lookup lookup, int initial_device, Data* tool);
  void (*finalize)(Data* tool);
  Data tool;
};

enum CallbackKind : int {
  kThreadBegin = 1,
  kThreadEnd = 2,
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kSyncRegionWait = 16,
  kTaskDependence = 19,
  kWork = 20,
  kSyncRegion = 23,
  kDispatch = 32,
};

// How sure it is that a callback is called: kSetAlways of 1 to 5.
using SetCallback = int (*)(int kind, Callback callback);
inline constexpr int kSetSometimes = 3;

enum Scope : int { kBegin = 1, kEnd = 2, kBeginEnd = 3 };

inline constexpr int kThreadWorker = 2;

// Flags of a task.
inline constexpr int kTaskInitial = 0x1, kTaskImplicit = 0x2, kTaskExplicit = 0x4, kTaskUntied = 0x10000000;

enum TaskStatus : int {
  kComplete = 1,
  kCancel = 3,
  kDetach = 4,
  kLateFulfill = 6,
  kSwitch = 7,
};

enum SyncRegion : int {
  kBarrier = 1,
  kBarrierImplicit = 2,
  kBarrierExplicit = 3,
  kBarrierImplementation = 4,
  kTaskwait = 5,
  kTaskgroup = 6,
  kBarrierWorkshare = 8,
  kBarrierParallel = 9,
};

// Of loops: before OpenMP 5.2 one kind, then one for each schedule.
inline constexpr int kWorkLoop = 1, kWorkLoopStatic = 10, kWorkLoopOther = 13;
enum Dispatch : int { kDispatchLoopChunk = 3 };

}  // namespace contrafact::agent_native::ompt
