#include "model/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/facts.h"
#include "model/finish.h"
#include "model/join_facts.h"
#include "model/processes.h"
#include "model/socket_wakes.h"

namespace contrafact::model {
namespace {

// Of one boot of a machine, the two clocks differ by the same time in every recording, but for what sets the clock of the
// day: a second, and a thousandth of the time between two recordings (the kernel slews by half of that at most).
constexpr int64_t kClockStepNs = 1'000'000'000;
constexpr int64_t kClockSlew = 1'000;

std::string why_unfit(const JoinedRecording& recording) {
  const Trace& trace = recording.trace;
  const auto refused = [&](std::string_view why) { return fmt::format("{}: {}", recording.path, why); };
  if (trace.origin != Origin::measured)
    return refused("it was not recorded, but made from a recording: join recordings");
  if (!trace.processes.empty())
    return refused("it is joined already: give the recordings that it was made of, and the others, at once");
  if (trace.event_count() == 0) return refused("it holds no events: leave it out");
  if (number_in_fact(trace, "start.monotonic_ns", -1) < 0 || number_in_fact(trace, "start.unix_ns", -1) < 0)
    return refused("it does not say when it began (facts start.monotonic_ns and start.unix_ns): join recordings");
  if (!trace.access_sets.empty() || !trace.fact("sets.source").empty() || trace.access_log.accesses > 0)
    return refused(
        "it has read and write sets, which are of one process: record without --sets, --accesses and --flow");
  return "";
}

// Whether both were recorded on one machine since it started.
bool are_of_one_boot(const Trace& x, const Trace& y) {
  const std::string_view one = x.fact("boot"), other = y.fact("boot");
  if (!one.empty() && !other.empty()) return one == other;
  const auto start_ns = [](const Trace& trace) { return number_in_fact(trace, "start.monotonic_ns", 0); };
  const auto boot_ns = [&](const Trace& trace) { return number_in_fact(trace, "start.unix_ns", 0) - start_ns(trace); };
  const auto distance = [](int64_t a, int64_t b) {
    return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
                 : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
  };
  return distance(boot_ns(x), boot_ns(y)) <= kClockStepNs + distance(start_ns(x), start_ns(y)) / kClockSlew;
}

bool overlap(const Trace& x, const Trace& y) {
  return x.begin_ns() <= y.end_ns() && y.begin_ns() <= x.end_ns();
}

bool are_of_one_process(const Trace& x, const Trace& y) {
  return !x.fact("pid").empty() && x.fact("pid") == y.fact("pid") &&
         x.fact("start.monotonic_ns") == y.fact("start.monotonic_ns");
}

std::string why_unfit(const std::vector<JoinedRecording>& recordings) {
  if (recordings.size() > kProcessesMax) return fmt::format("more than {} recordings cannot be joined", kProcessesMax);
  for (const JoinedRecording& recording : recordings) {
    if (std::string why = why_unfit(recording); !why.empty()) return why;
  }
  const JoinedRecording& first = recordings.front();
  for (size_t i = 0; i < recordings.size(); ++i) {
    const JoinedRecording& one = recordings[i];
    if (!are_of_one_boot(first.trace, one.trace))
      return fmt::format(
          "{} and {} are not of one machine since it started: join recordings of the same time on one machine",
          first.path, one.path);
    if (is_native(first.trace) != is_native(one.trace))
      return fmt::format("{} is of {}, {} of {}: join recordings of native programs, or recordings of JVMs", first.path,
                         is_native(first.trace) ? "a native program" : "a JVM", one.path,
                         is_native(one.trace) ? "a native program" : "a JVM");
    for (size_t k = 0; k < i; ++k) {
      if (are_of_one_process(recordings[k].trace, one.trace))
        return fmt::format("{} and {} are of the same process: give it once", recordings[k].path, one.path);
    }
    const bool is_alone = std::ranges::none_of(
        recordings, [&](const JoinedRecording& other) { return &other != &one && overlap(other.trace, one.trace); });
    if (is_alone)
      return fmt::format("{}: no other recording is of the same time: join those of programs that ran together",
                         one.path);
  }
  return "";
}

// Puts the recordings behind each other.
class Joiner {
 public:
  // Takes the events out of `recordings`.
  explicit Joiner(std::vector<JoinedRecording>& recordings) : recordings_(recordings) {}

  base::Result<Trace> run() {
    if (is_too_large()) return base::Error{"together they are too large: record shorter runs, or join fewer of them"};
    name_processes();
    make_room();
    for (uint32_t process = 0; process < recordings_.size(); ++process) add(process);
    join_facts(joined_, parts_);
    join_idle_times();
    name_endpoints_apart();
    return finish(std::move(joined_));
  }

 private:
  // All numbers of rows, events and tasks have 32 bits, of which the last one is none.
  bool is_too_large() const {
    std::map<int, uint64_t> sums;
    for (const auto& [path, trace] : recordings_) {
      const size_t sizes[] = {trace.event_count(),   trace.tasks.size(),    trace.strings.size(),
                              trace.methods.size(),  trace.contexts.size(), trace.pools.size(),
                              trace.threads.size(),  trace.locks.size(),    trace.connections.size(),
                              trace.endpoints.size()};
      for (int i = 0; const size_t size : sizes) sums[i++] += size;
    }
    return std::ranges::any_of(sums, [](const auto& sum) { return sum.second >= UINT32_MAX; });
  }

  // "backend", "backend 2"
  void name_processes() {
    std::map<std::string, size_t> seen;
    for (const auto& [path, trace] : recordings_) {
      std::string name = name_of_process(trace);
      const size_t same_before = seen[name]++;
      names_.push_back(same_before == 0 ? std::move(name) : fmt::format("{} {}", name, same_before + 1));
    }
  }

  void make_room() {
    size_t events = 0;
    for (const auto& [path, trace] : recordings_) events += trace.event_count();
    joined_.kind.reserve(events);
    joined_.time_ns.reserve(events);
    joined_.a.reserve(events);
    joined_.b.reserve(events);
  }

  void add(uint32_t process) {
    Trace& trace = recordings_[process].trace;
    const auto size = [](const auto& table) { return static_cast<uint32_t>(table.size()); };
    const RowOffsets offsets{.methods = size(joined_.methods),
                             .contexts = size(joined_.contexts),
                             .pools = size(joined_.pools),
                             .threads = size(joined_.threads),
                             .locks = size(joined_.locks),
                             .connections = size(joined_.connections),
                             .endpoints = size(joined_.endpoints),
                             .tasks = size(joined_.tasks)};
    parts_.push_back({&trace, offsets, size(trace.threads), size(trace.endpoints)});
    add_code(trace, offsets, process);
    add_rows(trace, process);
    add_tasks(trace, offsets);
    add_events(trace, offsets);
    add_beside(trace, offsets);
    add_loss(trace, names_[process]);
    trace.kind = {}, trace.time_ns = {}, trace.a = {}, trace.b = {};
    joined_.processes.push_back(
        {names_[process], static_cast<uint32_t>(std::clamp<int64_t>(number_in_fact(trace, "pid", 0), 0, INT32_MAX)),
         size(joined_.threads), size(joined_.pools), size(joined_.locks)});
  }

  template <typename Id>
  static Id moved(Id id, uint32_t by) {
    return id.valid() ? Id(id.value + by) : id;
  }

  StringId moved(StringId id, const Trace& trace) {
    if (!id.valid()) return id;
    const auto [known, is_new] = strings_.try_emplace(trace.strings[id.index()], StringId());
    if (is_new) {
      known->second = StringId(static_cast<uint32_t>(joined_.strings.size()));
      joined_.strings.push_back(trace.strings[id.index()]);
    }
    return known->second;
  }

  void add_code(const Trace& trace, const RowOffsets& offsets, uint32_t process) {
    for (format::MethodRow row : trace.methods) {
      row.class_name = moved(row.class_name, trace);
      row.name = moved(row.name, trace);
      row.file = moved(row.file, trace);
      joined_.methods.push_back(row);
    }
    for (format::ContextRow row : trace.contexts) {
      row.parent = moved(row.parent, offsets.contexts);
      row.method = moved(row.method, offsets.methods);
      joined_.contexts.push_back(row);
    }
    for (format::MethodAddressRow row : trace.method_addresses) {
      row.method = moved(row.method, offsets.methods);
      row.address = in_space_of(process, row.address);
      joined_.method_addresses.push_back(row);
    }
  }

  void add_rows(const Trace& trace, uint32_t process) {
    for (format::PoolRow row : trace.pools) {
      row.name = moved(row.name, trace);
      joined_.pools.push_back(row);
    }
    for (format::ThreadRow row : trace.threads) {
      row.name = moved(row.name, trace);
      joined_.threads.push_back(row);
    }
    for (format::LockRow row : trace.locks) {
      row.name = moved(row.name, trace);
      row.address = in_space_of(process, row.address);
      joined_.locks.push_back(row);
    }
    for (format::EndpointRow row : trace.endpoints) {
      row.name = moved(row.name, trace);
      joined_.endpoints.push_back(row);
    }
    joined_.connections.insert(joined_.connections.end(), trace.connections.begin(), trace.connections.end());
  }

  void add_tasks(const Trace& trace, const RowOffsets& offsets) {
    for (const TaskRow& row : trace.tasks) {
      TaskRow bare = bare_row(row);
      bare.pool = moved(bare.pool, offsets.pools);
      bare.body = moved(bare.body, offsets.methods);
      joined_.tasks.push_back(bare);
    }
    for (Dependency dependency : trace.dependencies) {
      dependency.task = moved(dependency.task, offsets.tasks);
      dependency.source = moved(dependency.source, offsets.tasks);
      joined_.dependencies.push_back(dependency);
    }
  }

  static uint32_t moved(uint32_t value, format::Operand operand, const RowOffsets& offsets) {
    const auto by = [&]() -> uint32_t {
      switch (operand) {
        case format::Operand::task:
        case format::Operand::source:
          return offsets.tasks;
        case format::Operand::pool:
          return offsets.pools;
        case format::Operand::context:
          return offsets.contexts;
        case format::Operand::body:
        case format::Operand::method:
          return offsets.methods;
        case format::Operand::thread:
          return offsets.threads;
        case format::Operand::lock:
          return offsets.locks;
        case format::Operand::connection:
          return offsets.connections;
        case format::Operand::endpoint:
          return offsets.endpoints;
        default:
          return 0;
      }
    };
    return value == UINT32_MAX ? value : value + by();
  }

  void add_events(const Trace& trace, const RowOffsets& offsets) {
    const auto base = static_cast<uint32_t>(joined_.event_count());
    for (const EventRange& range : trace.thread_ranges)
      joined_.thread_ranges.push_back({base + range.begin, base + range.end});
    for (uint32_t i = 0; i < trace.event_count(); ++i) {
      const format::EventSchema& schema = format::schema_of(trace.kind[i]);
      joined_.kind.push_back(trace.kind[i]);
      joined_.time_ns.push_back(trace.time_ns[i]);
      joined_.a.push_back(moved(trace.a[i], schema.operands[0], offsets));
      joined_.b.push_back(moved(trace.b[i], schema.operands[1], offsets));
    }
  }

  void add_beside(const Trace& trace, const RowOffsets& offsets) {
    joined_.cpu.insert(joined_.cpu.end(), trace.cpu.begin(), trace.cpu.end());
    for (Pause pause : trace.pauses) {
      pause.thread = moved(pause.thread, offsets.threads);
      joined_.pauses.push_back(pause);
    }
    joined_.vm_stints.insert(joined_.vm_stints.end(), trace.vm_stints.begin(), trace.vm_stints.end());
    for (BlockedOn row : trace.blocked_on) {
      row.thread = moved(row.thread, offsets.threads);
      row.lock = moved(row.lock, offsets.locks);
      row.holder = moved(row.holder, offsets.threads);
      row.holder_at = moved(row.holder_at, offsets.contexts);
      joined_.blocked_on.push_back(row);
    }
  }

  void add_loss(const Trace& trace, const std::string& name) {
    Loss& loss = joined_.loss;
    loss.events_dropped += trace.loss.events_dropped;
    loss.blocks_damaged += trace.loss.blocks_damaged;
    loss.bytes_skipped += trace.loss.bytes_skipped;
    loss.cut_off |= trace.loss.cut_off;
    for (const std::string& note : trace.loss.notes) loss.notes.push_back(fmt::format("of {}: {}", name, note));
  }

  // Each recording says how long the machine's cores were idle. Where all mean the same cores, the first one counts, and
  // behind its end the next one.
  void join_idle_times() {
    const std::string_view cores = recordings_.front().trace.fact("cores");
    const std::string_view numbers = recordings_.front().trace.fact("cores.numbers");
    const bool are_same = std::ranges::all_of(recordings_, [&](const JoinedRecording& recording) {
      return recording.trace.fact("cores") == cores && recording.trace.fact("cores.numbers") == numbers;
    });
    if (!are_same) return;
    for (const auto& [path, trace] : recordings_) {
      int64_t from_ns = number_in_fact(trace, "start.monotonic_ns", 0);
      for (IdleTime row : trace.idle_times) {
        const int64_t last_ns = joined_.idle_times.empty() ? INT64_MIN : joined_.idle_times.back().until_ns;
        const int64_t since_ns = std::exchange(from_ns, row.until_ns);
        if (row.until_ns <= last_ns || row.until_ns <= since_ns) continue;
        if (since_ns < last_ns) {
          const double share =
              static_cast<double>(row.until_ns - last_ns) / static_cast<double>(row.until_ns - since_ns);
          row.idle_ns = static_cast<int64_t>(static_cast<double>(row.idle_ns) * share);
        }
        joined_.idle_times.push_back(row);
      }
    }
  }

  // Two processes may answer `GET /`.
  void name_endpoints_apart() {
    std::map<uint32_t, std::vector<uint32_t>> owners;  // by name: the processes, ascending
    const auto each = [&](auto visit) {
      for (uint32_t process = 0; process < parts_.size(); ++process) {
        const uint32_t begin = parts_[process].offsets.endpoints;
        const uint32_t end = begin + parts_[process].endpoints;
        for (uint32_t i = begin; i < end; ++i) visit(joined_.endpoints[i], process);
      }
    };
    each([&](const format::EndpointRow& row, uint32_t process) {
      std::vector<uint32_t>& all = owners[row.name.value];
      if (all.empty() || all.back() != process) all.push_back(process);
    });
    each([&](format::EndpointRow& row, uint32_t process) {
      const auto found = owners.find(row.name.value);
      if (!row.name.valid() || found == owners.end() || found->second.size() < 2) return;
      joined_.strings.push_back(fmt::format("{} of {}", joined_.strings[row.name.index()], names_[process]));
      row.name = StringId(static_cast<uint32_t>(joined_.strings.size() - 1));
    });
  }

  std::vector<JoinedRecording>& recordings_;
  std::vector<std::string> names_;  // of the processes
  std::vector<JoinedPart> parts_;
  std::unordered_map<std::string_view, StringId> strings_;  // in `recordings_`
  Trace joined_;
};

}  // namespace

base::Result<Trace> join(std::vector<JoinedRecording> recordings) {
  if (recordings.size() < 2) return base::Error{"one recording is there: join takes two or more"};
  if (std::string why = why_unfit(recordings); !why.empty()) return base::Error{std::move(why)};
  std::ranges::stable_sort(recordings, {}, [](const JoinedRecording& recording) {
    return std::pair(number_in_fact(recording.trace, "start.monotonic_ns", 0),
                     number_in_fact(recording.trace, "pid", 0));
  });
  return Joiner(recordings).run();
}

size_t connections_between_processes(const Trace& trace) {
  std::vector<uint32_t> users(trace.connections.size(), kNoProcess);
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const EventRange range = trace.thread_events(ThreadId(t));
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const bool is_use = trace.kind[i] == EventKind::send || trace.kind[i] == EventKind::receive;
      if (is_use && trace.a[i] < users.size()) users[trace.a[i]] = process_of(trace, ThreadId(t));
    }
  }
  const std::vector<uint32_t> peers = peers_in_program(trace);
  size_t ends = 0;
  for (size_t i = 0; i < peers.size(); ++i) ends += peers[i] != UINT32_MAX && users[i] != users[peers[i]];
  return ends / 2;
}

}  // namespace contrafact::model
