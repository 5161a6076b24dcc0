// Threads that restrict their own system calls, or those of all threads (seccomp). Recording makes none, except for
// exec's way into the new image and for translation. Both end here, on all threads; if the restricting call fails,
// translation only pauses.
//
// A thread that may no longer read the clock is recorded up to that point.
//
// Also the names that threads give themselves.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent_native/agent.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "agent_native/threads.h"
#include "translate/system_calls.h"

namespace contrafact::agent_native {
namespace {

// Strict mode forbids more than system calls: reading the processor's counter is a fault, as after PR_SET_TSC, and the
// C library's clocks read it too.
bool takes_the_clock(const long* call) {
  if (call[0] == SYS_prctl && call[1] == PR_SET_TSC) return call[2] == PR_TSC_SIGSEGV;
  if (!translate::restricts_system_calls(call)) return false;
  return call[0] == SYS_seccomp ? call[1] == SECCOMP_SET_MODE_STRICT : call[2] == SECCOMP_MODE_STRICT;
}

// A filter for all threads may return the id of a thread that cannot have it; or a descriptor for the process that
// answers.
bool has_failed(const long* call, long result) {
  const bool is_for_all = call[0] == SYS_seccomp && (call[2] & SECCOMP_FILTER_FLAG_TSYNC) != 0 &&
                          (call[2] & SECCOMP_FILTER_FLAG_NEW_LISTENER) == 0;
  return result < 0 || (is_for_all && result != 0);
}

bool has_sets() {
  return sets_are_on() && g_agent.live.load(std::memory_order_acquire);
}

// The kernel may forbid system calls on all threads as soon as the call is made.
void begin_restriction() {
  g_agent.restrictions.fetch_add(1, std::memory_order_relaxed);
  if (!has_sets()) return;
  recording();  // attaches the thread, which may take system calls
  const Inside inside;
  forbid_kernel_calls_of_sets();
}

void end_restriction(bool failed) {
  const Inside inside;
  const bool sets_go_on = failed && has_sets() && allow_kernel_calls_of_sets();
  if (failed) g_agent.restrictions.fetch_sub(1, std::memory_order_relaxed);
  if (sets_go_on || !has_sets() || !t_local.client || !is_own(t_local.client)) return;
  recorder::append_text(t_local.client, recorder::TextKind::fact, 0, "sets.ended",
                        "the program restricts its system calls");
}

}  // namespace

// A child made by vfork, which runs on its parent's thread and memory, restricts itself alone.
ProgramCall::ProgramCall(const long* call) : call_(call) {
  if (contrafact_vfork_depth != 0) return;
  restricts_ = translate::restricts_system_calls(call);
  takes_clock_ = takes_the_clock(call) && !t_local.has_no_clock;
  if (restricts_) begin_restriction();
  if (takes_clock_) begin_without_clock();
}

void ProgramCall::returned(long result) {
  if (!restricts_ && !takes_clock_) return;
  const int error = errno;
  const bool failed = has_failed(call_, result);
  if (restricts_) end_restriction(failed);
  if (takes_clock_) end_without_clock(failed);
  errno = error;
}

// From here on neither the thread nor its handlers read a clock: all that may need one is done now.
void ProgramCall::begin_without_clock() {
  const bool is_recorded = g_agent.live.load(std::memory_order_acquire) && is_original();
  client_ = is_recorded ? recording() : nullptr;
  was_inside_ = t_local.inside;
  t_local.inside = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (client_ && is_own(client_)) {
    detach_sets();
    last_ns_ = g_clock.now_ns();
  }
  t_local.has_no_clock = true;
}

// The thread's recording ends if its later events could have no time.
void ProgramCall::end_without_clock(bool failed) {
  const bool is_recorded = client_ && is_own(client_);
  if (failed) {
    t_local.has_no_clock = false;
    if (is_recorded) attach_sets(client_, false);
  } else {
    if (is_recorded) leave_current(last_ns_);
    t_local.over = true;
    if (is_recorded) g_agent.shared->log->detach(client_);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_local.inside = was_inside_;
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, prctl, (int operation, long a, long b, long c, long d)) {
  CONTRAFACT_CALLED;
  const long call[] = {SYS_prctl, operation, a, b, c, d, 0};
  ProgramCall program_call(call);
  const int result = real().prctl(operation, a, b, c, d);
  program_call.returned(result);
  // The kernel has read it.
  if (operation == PR_SET_NAME && result == 0) name_thread(own_thread_id(), reinterpret_cast<const char*>(a));
  return called_.effect(SYS_prctl, result, operation, a, b, c, d);
}
