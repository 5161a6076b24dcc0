// Facts: values that follow from a trace alone and that many analyses use, such as its critical sections. Each is
// computed once, when it is first asked for. The command that loaded the trace owns them. Everything else takes them by
// reference and does not walk the trace again.
//
// Thread safety: any number of threads may ask. A thread that asks for a fact while another thread computes it waits.
// Invariant: once returned, a fact never changes, and neither does its address.
#pragma once

#include <mutex>
#include <vector>

#include "model/critical_sections.h"
#include "model/foreign_cores.h"
#include "model/hand_over_costs.h"
#include "model/result_waits.h"
#include "model/socket_wakes.h"
#include "model/sync_wakes.h"
#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::model {

class Facts {
 public:
  // Computes nothing yet. `trace` must outlive it. Implicit: a caller may pass a trace where its facts are expected.
  Facts(const Trace& trace) : trace_(trace) {}  // NOLINT(google-explicit-constructor)
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;

  const Trace& trace() const { return trace_; }
  // By thread: thread_uses(trace()).
  const std::vector<ThreadUse>& uses() const;
  const HandOverCosts& hand_over_costs() const;
  const std::vector<ResultWait>& result_waits() const;
  // critical_sections(trace()), and sync_wakes of these.
  const std::vector<CriticalSection>& sections() const;
  const std::vector<SyncWake>& wakes() const;
  // socket_wakes(trace()).
  const std::vector<SocketWake>& socket_wakes() const;
  // Whether the recorded locks ordered the run. Those of a native program did; those of any other only if a thread
  // waited for one.
  bool locks_ordered() const;
  // ForeignCores of the recorded machine.
  const ForeignCores& foreign_cores() const;

 private:
  // A value that is computed when it is first asked for.
  template <typename Value>
  class Once {
   public:
    template <typename Compute>
    const Value& get(Compute compute) const {
      std::call_once(computed_, [&] { value_ = compute(); });
      return value_;
    }

   private:
    mutable std::once_flag computed_;
    mutable Value value_;
  };

  const Trace& trace_;
  Once<std::vector<ThreadUse>> uses_;
  Once<HandOverCosts> costs_;
  Once<std::vector<ResultWait>> result_waits_;
  Once<std::vector<CriticalSection>> sections_;
  Once<std::vector<SyncWake>> wakes_;
  Once<std::vector<SocketWake>> socket_wakes_;
  Once<bool> locks_ordered_;
  Once<ForeignCores> foreign_cores_;
};

// Whether the trace is of a native program. A trace that does not say counts as native if it has events of locks and no
// pools.
bool is_native(const Trace& trace);

// Whether acquisitions and releases of locks were recorded. Of a JVM's locks that are not of chosen classes only waits
// are (lock_waits.h).
bool has_lock_events(const Trace& trace);

// Cores of the recorded machine; 0 if the trace does not say.
uint32_t recorded_cores(const Trace& trace);

}  // namespace contrafact::model
