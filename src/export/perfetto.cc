#include "export/perfetto.h"

#include <unordered_map>

#include "export/perfetto.pb.h"
#include "model/blocked_on.h"
#include "model/processes.h"
#include "model/thread_label.h"

namespace contrafact::exporters {
namespace {

using model::EventIndex;
using model::EventKind;
using model::TaskId;
using model::ThreadId;
using perfetto_wire::TrackEvent;

constexpr uint32_t kSequence = 1;
constexpr uint32_t kFlagCleared = 1;
constexpr uint32_t kFlagNeedsInterned = 2;
constexpr uint64_t kProcessTrack = 1;
constexpr uint64_t kThreadTracks = 1 << 8;
constexpr uint64_t kCounterTracks = uint64_t{1} << 40;
constexpr uint64_t kProcessTracks = uint64_t{1} << 41;  // of several processes
constexpr int32_t kProcessIdUnknown = 1;
// Virtual threads have no id of the system; theirs start above any that Linux gives.
constexpr int32_t kVirtualThreadIds = 1 << 23;

enum Category : uint64_t { kTask = 1, kWait, kBlock, kMethod, kWorker, kCategories };
constexpr const char* kCategoryNames[] = {"", "task", "wait", "block", "method", "worker"};
enum Annotation : uint64_t { kTaskNumber = 1, kSpawnedAt, kPool, kOutcome, kAnnotations };
constexpr const char* kAnnotationNames[] = {"", "task", "spawned at", "pool", "outcome"};

constexpr const char* kReasons[] = {"park", "sleep", "monitor", "Object.wait", "io",
                                    "poll", "futex", "process", "signal"};
constexpr const char* kOutcomes[] = {"normal",    "exception", "timeout", "interrupted",
                                     "cancelled", "preempted", "blocked"};

using FlowsByTask = std::unordered_map<uint32_t, std::vector<uint64_t>>;

uint64_t start_flow(TaskId task) {
  return uint64_t{task.value} * 2 + 1;
}

class Writer {
 public:
  Writer(const model::Trace& trace, const base::TextSink& sink) : trace_(trace), sink_(sink) {}

  void finish() { base::hand_on(bytes_, sink_, 0); }

  void preamble() {
    perfetto_wire::TracePacket packet;
    packet.set_sequence_flags(kFlagCleared);
    for (uint64_t i = 1; i < kCategories; ++i)
      add_name(packet.mutable_interned_data()->add_event_categories(), i, kCategoryNames[i]);
    for (uint64_t i = 1; i < kAnnotations; ++i) {
      add_name(packet.mutable_interned_data()->add_debug_annotation_names(), i, kAnnotationNames[i]);
    }
    add(packet);
    const std::string_view command = trace_.fact("command");
    if (trace_.processes.empty())
      return process_track(kProcessTrack, process_id(ThreadId(0)), command.empty() ? "recorded program" : command);
    for (uint32_t i = 0; i < trace_.processes.size(); ++i)
      process_track(kProcessTracks + i, valid_id(trace_.processes[i].pid), trace_.processes[i].name);
  }

  void process_track(uint64_t uuid, int32_t id, std::string_view name) {
    perfetto_wire::TracePacket process;
    auto* track = process.mutable_track_descriptor();
    track->set_uuid(uuid);
    track->mutable_process()->set_pid(id);
    track->mutable_process()->set_process_name(valid(name));
    add(process);
  }

  void thread_track(ThreadId thread) {
    const format::ThreadRow& row = trace_.threads[thread.index()];
    perfetto_wire::TracePacket packet;
    auto* track = packet.mutable_track_descriptor();
    track->set_uuid(kThreadTracks + thread.value);
    track->set_parent_uuid(track_of_process(model::process_of(trace_, thread)));
    track->mutable_thread()->set_pid(process_id(thread));
    track->mutable_thread()->set_tid(row.os_tid != 0 ? static_cast<int32_t>(row.os_tid)
                                                     : kVirtualThreadIds + static_cast<int32_t>(thread.value));
    track->mutable_thread()->set_thread_name(valid(model::thread_label(trace_, thread)));
    add(packet);
  }

  void counter_track(size_t index, const CounterTrack& counter) {
    perfetto_wire::TracePacket packet;
    auto* track = packet.mutable_track_descriptor();
    track->set_uuid(kCounterTracks + index);
    track->set_parent_uuid(track_of_process(0));
    track->set_name(counter.name);
    track->mutable_counter()->set_unit_name(counter.unit);
    add(packet);
    for (const CounterSample& sample : counter.samples) {
      perfetto_wire::TracePacket value;
      TrackEvent* event = start_event(value, sample.time_ns, TrackEvent::TYPE_COUNTER, kCounterTracks + index);
      event->set_counter_value(sample.value);
      add(value);
    }
  }

  TrackEvent* start_event(perfetto_wire::TracePacket& packet, int64_t time_ns, TrackEvent::Type type, uint64_t track) {
    packet.set_timestamp(static_cast<uint64_t>(time_ns));
    packet.set_sequence_flags(kFlagNeedsInterned);
    packet.mutable_track_event()->set_type(type);
    packet.mutable_track_event()->set_track_uuid(track);
    return packet.mutable_track_event();
  }

  // A name that is not yet interned is defined in the packet that first uses it.
  void set_name(perfetto_wire::TracePacket& packet, const std::string& name) {
    auto [entry, is_new] = names_.try_emplace(name, names_.size() + 1);
    if (is_new) add_name(packet.mutable_interned_data()->add_event_names(), entry->second, name);
    packet.mutable_track_event()->set_name_iid(entry->second);
  }

  void add(perfetto_wire::TracePacket& packet) {
    packet.set_trusted_packet_sequence_id(kSequence);
    // Each packet is field 1 of the Trace message, so that no whole Trace is held in memory twice.
    size_t size = packet.ByteSizeLong();
    bytes_.push_back('\x0a');
    for (size_t rest = size;; rest >>= 7) {
      if (rest < 0x80) {
        bytes_.push_back(static_cast<char>(rest));
        break;
      }
      bytes_.push_back(static_cast<char>((rest & 0x7f) | 0x80));
    }
    packet.AppendToString(&bytes_);
    base::hand_on(bytes_, sink_);
  }

  const model::Trace& trace() const { return trace_; }

  // protobuf strings are UTF-8; names of the recorded program may not be.
  static std::string valid(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
      if (static_cast<unsigned char>(c) >= 0x80 || static_cast<unsigned char>(c) < 0x20) c = '?';
    }
    return out;
  }

 private:
  static void add_name(perfetto_wire::InternedName* entry, uint64_t iid, const std::string& name) {
    entry->set_iid(iid);
    entry->set_name(name);
  }

  uint64_t track_of_process(uint32_t process) const {
    return process < trace_.processes.size() ? kProcessTracks + process : kProcessTrack;
  }

  static int32_t valid_id(int64_t number) {
    return number > 0 && number <= INT32_MAX ? static_cast<int32_t>(number) : kProcessIdUnknown;
  }

  int32_t process_id(ThreadId thread) const {
    const uint32_t process = model::process_of(trace_, thread);
    if (process < trace_.processes.size()) return valid_id(trace_.processes[process].pid);
    return valid_id(std::atoi(std::string(trace_.fact("pid")).c_str()));
  }

  const model::Trace& trace_;
  const base::TextSink& sink_;
  std::string bytes_;
  std::unordered_map<std::string, uint64_t> names_;
};

// The packets of one thread's events.
class ThreadExport {
 public:
  // `flows`: those of the thread's waits in order, 0 for none; `waiters`: for each task, the flows to its waiters.
  ThreadExport(Writer& writer, ThreadId thread, std::vector<uint64_t> flows, const FlowsByTask& waiters)
      : writer_(writer),
        trace_(writer.trace()),
        track_(kThreadTracks + thread.value),
        flows_(std::move(flows)),
        waiters_(waiters) {}

  void run(model::EventRange range) {
    for (uint32_t i = range.begin; i < range.end; ++i) event(i);
    int64_t end_ns = range.size() == 0 ? 0 : trace_.time_ns[range.end - 1];
    while (!open_.empty()) pop(end_ns);
  }

 private:
  void event(uint32_t i) {
    int64_t at_ns = trace_.time_ns[i];
    switch (trace_.kind[i]) {
      case EventKind::task_spawn:
        spawn(TaskId(trace_.a[i]), at_ns);
        break;
      case EventKind::task_start:
        begin_task(TaskId(trace_.a[i]), at_ns);
        break;
      case EventKind::task_end:
        end(EventKind::task_start, at_ns, trace_.b[i]);
        break;
      case EventKind::task_complete:
        complete(TaskId(trace_.a[i]), at_ns);
        break;
      case EventKind::wait_begin:
        begin(EventKind::wait_begin, at_ns, kWait, "wait for " + task_name(TaskId(trace_.a[i])));
        break;
      case EventKind::wait_end:
        end_wait(TaskId(trace_.a[i]), at_ns, trace_.b[i]);
        break;
      case EventKind::worker_idle:
        begin(EventKind::worker_idle, at_ns, kWorker, "idle");
        break;
      case EventKind::worker_busy:
        end(EventKind::worker_idle, at_ns, 0);
        break;
      case EventKind::block_begin:
        begin(EventKind::block_begin, at_ns, kBlock, block_name(i));
        break;
      case EventKind::block_end:
        end(EventKind::block_begin, at_ns, 0);
        break;
      case EventKind::lock_request:
      case EventKind::lock_request_shared:
      case EventKind::sync_wait:
        begin(EventKind::block_begin, at_ns, kBlock, "wait for " + lock_name(trace_.a[i]));
        break;
      case EventKind::lock_acquired:
      case EventKind::lock_acquired_shared:
      case EventKind::sync_woken:
        end(EventKind::block_begin, at_ns, 0);
        break;
      case EventKind::method_enter:
        begin(EventKind::method_enter, at_ns, kMethod,
              Writer::valid(trace_.method_label(model::MethodId(trace_.a[i]))));
        break;
      case EventKind::method_exit:
        end(EventKind::method_enter, at_ns, trace_.b[i]);
        break;
      default:
        break;
    }
  }

  // What it is for, where that is known.
  std::string block_name(uint32_t block) const {
    if (const model::BlockedOn* row = model::blocked_on_at(trace_, model::EventIndex(block)))
      return "wait for " + lock_name(row->lock.value);
    return std::string(kReasons[trace_.a[block] < std::size(kReasons) ? trace_.a[block] : 0]);
  }

  std::string lock_name(uint32_t lock) const {
    if (lock < trace_.locks.size() && trace_.locks[lock].name.valid())
      return Writer::valid(model::lock_label(trace_, model::LockId(lock)));
    return "lock " + std::to_string(lock);
  }

  std::string task_name(TaskId task) const {
    if (!task.valid()) return "any of several";
    const model::TaskRow& row = trace_.tasks[task.index()];
    if (row.body.valid()) return Writer::valid(trace_.method_label(row.body));
    return row.kind == model::TaskKind::thread ? "thread" : "future";
  }

  void begin(EventKind opener, int64_t at_ns, Category category, const std::string& name) {
    perfetto_wire::TracePacket packet;
    begin_packet(packet, opener, at_ns, category, name);
    writer_.add(packet);
  }

  void begin_packet(perfetto_wire::TracePacket& packet, EventKind opener, int64_t at_ns, Category category,
                    const std::string& name) {
    writer_.start_event(packet, at_ns, TrackEvent::TYPE_SLICE_BEGIN, track_)->add_category_iids(category);
    writer_.set_name(packet, name);
    open_.push_back(opener);
  }

  void begin_task(TaskId task, int64_t at_ns) {
    perfetto_wire::TracePacket packet;
    begin_packet(packet, EventKind::task_start, at_ns, kTask, task_name(task));
    const model::TaskRow& row = trace_.tasks[task.index()];
    annotate(packet, kTaskNumber)->set_uint_value(task.value);
    if (row.spawn_context.valid()) {
      annotate(packet, kSpawnedAt)->set_string_value(Writer::valid(trace_.context_label(row.spawn_context)));
    }
    if (row.pool.valid()) {
      annotate(packet, kPool)->set_string_value(Writer::valid(model::pool_label(trace_, row.pool)));
    }
    if (row.spawn.valid()) packet.mutable_track_event()->add_terminating_flow_ids(start_flow(task));
    writer_.add(packet);
  }

  void spawn(TaskId task, int64_t at_ns) {
    perfetto_wire::TracePacket packet;
    TrackEvent* event = writer_.start_event(packet, at_ns, TrackEvent::TYPE_INSTANT, track_);
    event->add_category_iids(kTask);
    writer_.set_name(packet, "spawn " + task_name(task));
    if (trace_.tasks[task.index()].start.valid()) event->add_flow_ids(start_flow(task));
    writer_.add(packet);
  }

  // Tells the waiters' flows apart: each wake-up is one flow that starts here and ends at that waiter.
  void complete(TaskId task, int64_t at_ns) {
    perfetto_wire::TracePacket packet;
    TrackEvent* event = writer_.start_event(packet, at_ns, TrackEvent::TYPE_INSTANT, track_);
    event->add_category_iids(kTask);
    writer_.set_name(packet, "complete " + task_name(task));
    if (auto found = waiters_.find(task.value); found != waiters_.end()) {
      for (uint64_t flow : found->second) event->add_flow_ids(flow);
    }
    writer_.add(packet);
  }

  void end_wait(TaskId task, int64_t at_ns, uint32_t outcome) {
    end(EventKind::wait_begin, at_ns, outcome);
    uint64_t flow = flows_[next_flow_++];
    if (flow == 0) return;
    perfetto_wire::TracePacket packet;
    TrackEvent* event = writer_.start_event(packet, at_ns, TrackEvent::TYPE_INSTANT, track_);
    event->add_category_iids(kWait);
    writer_.set_name(packet, "got " + task_name(task));
    event->add_terminating_flow_ids(flow);
    writer_.add(packet);
  }

  // Closes the innermost slice that `opener` began, and what a damaged trace left open inside it.
  void end(EventKind opener, int64_t at_ns, uint32_t outcome) {
    size_t depth = open_.size();
    while (depth > 0 && open_[depth - 1] != opener) --depth;
    if (depth == 0) return;
    while (open_.size() > depth) pop(at_ns);
    open_.pop_back();
    perfetto_wire::TracePacket packet;
    writer_.start_event(packet, at_ns, TrackEvent::TYPE_SLICE_END, track_);
    if (outcome != 0 && outcome < std::size(kOutcomes))
      annotate(packet, kOutcome)->set_string_value(kOutcomes[outcome]);
    writer_.add(packet);
  }

  void pop(int64_t at_ns) {
    open_.pop_back();
    perfetto_wire::TracePacket packet;
    writer_.start_event(packet, at_ns, TrackEvent::TYPE_SLICE_END, track_);
    writer_.add(packet);
  }

  perfetto_wire::DebugAnnotation* annotate(perfetto_wire::TracePacket& packet, Annotation name) {
    auto* annotation = packet.mutable_track_event()->add_debug_annotations();
    annotation->set_name_iid(name);
    return annotation;
  }

  Writer& writer_;
  const model::Trace& trace_;
  uint64_t track_;
  std::vector<EventKind> open_;
  std::vector<uint64_t> flows_;
  size_t next_flow_ = 0;
  const FlowsByTask& waiters_;
};

// Numbers the wake-ups: for each thread the flow of each of its wait_ends, and for each task the flows that leave it.
// Only waits that began before their task was complete were woken by it.
struct WakeFlows {
  std::vector<std::vector<uint64_t>> by_thread;
  FlowsByTask by_task;
};

WakeFlows wake_flows(const model::Trace& trace) {
  WakeFlows flows;
  flows.by_thread.resize(trace.threads.size());
  uint64_t next = 2;  // even: apart from the flows of starts
  for (size_t t = 0; t < trace.threads.size(); ++t) {
    std::vector<int64_t> begins;
    model::EventRange range = trace.thread_ranges[t];
    for (uint32_t i = range.begin; i < range.end; ++i) {
      if (trace.kind[i] == EventKind::wait_begin) begins.push_back(trace.time_ns[i]);
      if (trace.kind[i] != EventKind::wait_end) continue;
      int64_t begin_ns = begins.empty() ? INT64_MIN : begins.back();
      if (!begins.empty()) begins.pop_back();
      TaskId task(trace.a[i]);
      uint64_t flow = 0;
      if (task.valid() && trace.tasks[task.index()].complete.valid()) {
        int64_t complete_ns = trace.time_ns[trace.tasks[task.index()].complete.index()];
        if (complete_ns >= begin_ns && complete_ns <= trace.time_ns[i]) {
          flow = next;
          next += 2;
          flows.by_task[task.value].push_back(flow);
        }
      }
      flows.by_thread[t].push_back(flow);
    }
  }
  return flows;
}

}  // namespace

void perfetto_trace(const model::Trace& trace, const std::vector<CounterTrack>& counters, const base::TextSink& sink) {
  Writer writer(trace, sink);
  writer.preamble();
  WakeFlows flows = wake_flows(trace);
  for (size_t t = 0; t < trace.threads.size(); ++t) {
    ThreadId thread(static_cast<uint32_t>(t));
    writer.thread_track(thread);
    ThreadExport(writer, thread, std::move(flows.by_thread[t]), flows.by_task).run(trace.thread_ranges[t]);
  }
  for (size_t c = 0; c < counters.size(); ++c) writer.counter_track(c, counters[c]);
  writer.finish();
}

}  // namespace contrafact::exporters
