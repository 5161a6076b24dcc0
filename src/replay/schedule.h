// The schedule file: the actions of each thread of a recorded run, in order, so that real threads can repeat them. The
// planner (plan/) and the enforcer (enforce/) share nothing else.
//
// The file: the text "CFSCHED2", then unsigned LEB128 numbers: the tables below in their order, each with its size
// before it, then each thread's actions. An action is its code, its value, and where kHasSection says so the section
// and what it needs.
//
// Invariants (decode checks them)
//  1. Every number that an action names is in its table.
//  2. Every `spawn` names a thread that `starts` leaves out, and no thread is spawned twice.
//  3. Where `sections` has any, every section that an action names, or another one follows, is in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace contrafact::replay {

enum class ActionCode : uint8_t {
  burn,         // value: ns on a core
  sleep,        // value: ns off it
  take,         // value: the lock
  take_shared,  // value: the lock
  give,         // value: the lock
  give_shared,  // value: the lock
  sem_take,     // value: the lock
  sem_post,     // value: the lock
  barrier,      // value: the round
  token_wait,   // value: the token
  token_fire,   // value: the token
  credit_wait,  // value: the condition
  credit_fire,  // value: the condition
  spawn,        // value: the thread
  finish,       // value: the task, which is complete now
  join,         // value: the task, which is waited for
};
inline constexpr uint32_t kActionCodes = 16;

struct Action {
  uint64_t value = 0;
  uint32_t section = 0;  // take, give: which critical section of the recording
  uint32_t need = 0;     // take: how many of the lock's sections come before it (whatif/sim_lock.h);
                         // credit_wait: how many signals it needed in the recording;
                         // sem_take: its index among the semaphore's acquisitions
  ActionCode code = ActionCode::burn;
};

enum class ReplayLockKind : uint8_t { mutex, rwlock, spinlock, semaphore, condition };

struct ReplayLock {
  ReplayLockKind kind = ReplayLockKind::mutex;
  uint32_t count = 0;            // semaphores: permits at the beginning
  bool given_by_others = false;  // some thread releases it that did not acquire it
};

struct Start {
  uint32_t thread = 0;
  uint64_t time_ns = 0;  // after the beginning
};

struct ReplayThread {
  bool background = false;      // the run is over without it
  std::vector<Action> actions;  // in program order
};

// The sections that a critical section waits for, and the group that its waiting counts to.
struct ReplaySection {
  std::vector<uint32_t> follows;  // sections that are over before it begins
  uint32_t group = UINT32_MAX;    // group of its waiting, see Schedule::groups; none
};

struct Schedule {
  uint64_t recorded_ns = 0;
  std::vector<ReplayLock> locks;
  std::vector<std::vector<uint32_t>> credit_needs;  // by lock: of conditions, by the order of coming
  std::vector<uint32_t> round_sizes;
  uint32_t tokens = 0;
  uint32_t tasks = 0;
  std::vector<Start> starts;  // threads that no action spawns
  std::vector<ReplayThread> threads;
  // Of schedules whose sections are ordered one by one (plan/section_turns.h), else empty.
  std::vector<ReplaySection> sections;
  uint32_t groups = 0;
  uint64_t action_count() const;
};

std::vector<uint8_t> encode(const Schedule& schedule);
// Errors: not a schedule, cut off, or an invariant broken.
base::Result<Schedule> decode(std::span<const uint8_t> bytes);

}  // namespace contrafact::replay
