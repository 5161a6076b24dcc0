// SharedLog: the event log of this process, which another process writes (collector.h). Appended events lie at once in
// memory that both share: nothing is flushed, and nothing is lost however the process ends.
//
// Thread safety: everything but open(), also in a signal's handler: nothing locks, allocates or calls the kernel.
// Events and texts are appended with Recorder's static functions and append_text().
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "deferred/shared_area.h"
#include "recorder/addressed_calls.h"
#include "recorder/process_page.h"
#include "recorder/recorder.h"

namespace contrafact::recorder {

class SharedLog {
 public:
  // Opens the recording whose control page lies at `control_path`, and claims an area of it. Calls the kernel as the
  // loader does (openat, mmap, close), so that a process that may load programs may do this. Never destroyed: the
  // process may use it until its very end. `parent_pid`: the recorded process that it was forked from, or 0.
  // `restricted`: makes no other call at all, and does not wait for a recording process that has no area ready.
  static base::Result<SharedLog*> open(const std::string& control_path, int32_t pid, int32_t parent_pid,
                                       bool restricted);

  // The current thread begins; its id in the kernel, and its number among the unnamed ones (0: the first thread). Null,
  // and counted, where too many live.
  Client* attach(uint32_t os_tid, uint32_t number);
  // The pairs that the client named last, all zero when it begins; null where it is to remember none.
  RememberedPair* pairs_of(const Client* client) const;
  void detach(Client* client) { producers_.detach(client); }

  const EventClock& clock() const { return control_.clock; }
  ProcessPage& page() { return page_of(producers_.header()); }
  // Sets a count that becomes the fact of that name: at most 39 characters in two parts. There is room for 56.
  void set_count(const char* group, const char* name, uint64_t value);
  // The pool of that name, of which 39 characters count: its number in events. A new name is a new pool with that kind
  // and these sizes; where there are too many, the last one goes for all further names.
  uint32_t add_pool(std::string_view name, format::PoolKind kind, uint32_t core_size, uint32_t max_size);
  // In a forked child, whose thread is in the middle of an append to its parent's log: what this process appends to it,
  // this append too, reaches nobody.
  void keep_to_this_process() const { producers_.area().keep_to_this_process(); }

 private:
  SharedLog(ControlPage& control, deferred::SharedArea area);
  ControlPage& control_;
  deferred::SharedProducers producers_;
  std::atomic<uint32_t> pools_claimed_{0};
};

}  // namespace contrafact::recorder
