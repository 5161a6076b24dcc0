#include "recorder/recorder.h"

#include <unistd.h>

#include <mutex>

#include "deferred/drainer.h"
#include "format/fact_keys.h"
#include "format/writer.h"
#include "recorder/address_table.h"
#include "recorder/awake_cores.h"
#include "recorder/event_log.h"
#include "recorder/process_facts.h"
#include "recorder/process_page.h"
#include "recorder/tables.h"

namespace contrafact::recorder {

class Recorder::Impl {
 public:
  static base::Result<std::unique_ptr<Impl>> start(Options options);

  Tables tables;
  AddressTable addresses{tables};
  std::unique_ptr<EventLog> log;  // after the tables that it reads, before the drainer that calls it
  std::unique_ptr<deferred::Drainer> drainer;

  // Only the process that started the recorder has its drainer; in a forked child everything is let go silently.
  bool in_child() {
    if (getpid() == pid_) return false;
    drainer->abandon();
    return true;
  }
  void stop(std::string_view reason, int64_t timeout_ms) {
    if (in_child()) return;
    std::lock_guard lock(stop_mutex_);
    if (stopped_) return;
    stopped_ = true;
    log->set_exit_reason(reason);
    drainer->stop(timeout_ms);
  }

 private:
  const pid_t pid_ = getpid();
  std::mutex stop_mutex_;
  bool stopped_ = false;
};

base::Result<std::unique_ptr<Recorder::Impl>> Recorder::Impl::start(Options options) {
  std::unique_ptr<format::Sink> sink = std::move(options.sink);
  if (!sink) {
    auto opened =
        format::open_file_sink(options.output_path, {.keep_existing = options.keep_existing, .high_descriptor = true});
    if (!opened) return opened.error();
    sink = std::move(*opened);
  }
  auto writer = format::Writer::create(std::move(sink), options.compression_level);
  if (!writer) return writer.error();

  auto impl = std::make_unique<Impl>();
  for (const Fact& fact : process_facts(options.command_arguments)) impl->tables.fact(fact.key, fact.value);
  for (const Fact& fact : options.facts) impl->tables.fact(fact.key, fact.value);
  if (options.awake) impl->tables.fact(format::kAwakeFact, std::to_string(AwakeCores::kTurnNs));
  impl->tables.fact("recorder.memory_bytes_max", std::to_string(options.memory_bytes_max));
  impl->tables.fact("recorder.drain_interval_ms", std::to_string(options.drain_interval_ms));

  std::unique_ptr<CpuSwitches> switches;
  std::unique_ptr<IdleCores> idle_cores;  // says nothing without the switches
  if (options.cpu_switches) {
    auto opened = CpuSwitches::open();
    if (opened) {
      switches = std::move(*opened);
      if (options.idle_cores && !is_under_quota(0))
        idle_cores = std::make_unique<IdleCores>(0, Host::recorded_program, options.awake);
    }
    impl->tables.fact("cpu.switches", opened ? "kernel" : "unavailable: " + opened.error().message);
  } else {
    impl->tables.fact("cpu.switches", "unavailable: switched off");
  }
  impl->log = std::make_unique<EventLog>(std::move(*writer), impl->tables, impl->addresses, options.access_sets_max,
                                         std::move(switches), std::move(idle_cores), options.diagnostics);
  impl->log->watch_awake(options.awake);

  auto drainer = deferred::Drainer::start({.layout = trace_layout(),
                                           .memory_bytes_max = options.memory_bytes_max,
                                           .interval_ms = options.drain_interval_ms},
                                          *impl->log);
  if (!drainer) return drainer.error();
  impl->drainer = std::move(*drainer);
  impl->log->leave_to_drainer();
  return impl;
}

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::~Recorder() {
  stop("exit");
}

base::Result<std::unique_ptr<Recorder>> Recorder::start(Options options) {
  const auto each_pass = std::move(options.each_pass);
  auto impl = Impl::start(std::move(options));
  if (!impl) return impl.error();
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(*impl)));
  if (each_pass) recorder->impl_->log->each_pass([each_pass, self = recorder.get()] { each_pass(*self); });
  return recorder;
}

Client* Recorder::attach(const format::ThreadRow& row) {
  const ThreadId thread = impl_->tables.thread(row);
  impl_->log->name_thread(static_cast<uint32_t>(row.os_tid), thread);
  return impl_->drainer->attach(thread.value);
}
void Recorder::detach(Client* client) {
  impl_->drainer->detach(client);
}
ThreadId Recorder::add_thread(const format::ThreadRow& row) {
  return impl_->tables.thread(row);
}

void Recorder::note_unattached(const Client* client) {
  impl_->log->unattached_are(thread_of(client));
}

StringId Recorder::intern(std::string_view text) {
  return impl_->tables.string(text);
}
MethodId Recorder::add_method(const format::MethodRow& row) {
  return impl_->tables.method(row);
}
ContextId Recorder::intern_context(ContextId parent, MethodId method, uint32_t line) {
  return impl_->tables.context({parent, method, line});
}
ContextId Recorder::intern_context(std::span<const Frame> innermost_first) {
  return impl_->tables.contexts(innermost_first);
}
MethodId Recorder::method_at(uint64_t address, bool is_entry) {
  return impl_->addresses.method(address, is_entry);
}
ContextId Recorder::context_at(std::span<const uint64_t> return_addresses) {
  return impl_->addresses.context(return_addresses);
}
PoolId Recorder::add_pool(const format::PoolRow& row) {
  return impl_->tables.pool(row);
}
LockId Recorder::add_lock(const format::LockRow& row) {
  return impl_->tables.lock(row);
}
ConnectionId Recorder::add_connection(const format::ConnectionRow& row) {
  return impl_->tables.connection(row);
}
EndpointId Recorder::add_endpoint(const format::EndpointRow& row) {
  return impl_->tables.endpoint(row);
}
void Recorder::add_fact(std::string_view key, std::string_view value) {
  impl_->tables.fact(key, value);
}

void Recorder::stop(std::string_view reason, int64_t timeout_ms) {
  impl_->stop(reason, timeout_ms);
}
void Recorder::flush() {
  if (impl_->in_child()) return;
  impl_->log->hurry(+1);
  impl_->drainer->flush();
  impl_->log->hurry(-1);
}

Recorder::Statistics Recorder::statistics() const {
  const EventLog& log = *impl_->log;
  return {log.events_written(), log.events_dropped(), log.bytes_written(), impl_->drainer->bytes_made(),
          log.has_failed()};
}

}  // namespace contrafact::recorder
