#include "replay/plan/access_turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "model/finish.h"

namespace contrafact::replay {
namespace {

using model::AccessLog;
using model::EventKind;
using model::Trace;

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kGranuleBytes = 8;

// Which threads touched each granule of the program's memory.
class SharedMemory {
 public:
  SharedMemory(const Trace& trace, uint64_t bytes_max) : trace_(trace), pages_max_(bytes_max / kPageBytes) {}

  void touch(uint32_t thread, const format::LoggedAccess& access) {
    each_granule(access, [&](uint32_t& granule) {
      if ((access.flags & format::kAccessWrite) != 0) granule |= kWritten;
      const uint32_t owner = granule & kOwnerMask;
      if (owner == thread + 1) return;
      if (owner != 0 && live_at_once(owner - 1, thread)) granule |= kMany;
      granule = (granule & ~kOwnerMask) | (thread + 1);
    });
  }
  bool is_shared(const format::LoggedAccess& access) {
    bool shared = false;
    each_granule(access, [&](const uint32_t& granule) { shared |= is_shared(granule); });
    return shared;
  }
  bool too_much() const { return too_much_; }
  uint64_t shared_bytes() const {
    uint64_t granules = 0;
    for (const auto& [number, page] : pages_)
      granules += static_cast<uint64_t>(std::ranges::count_if(*page, [](uint32_t g) { return is_shared(g); }));
    return granules * kGranuleBytes;
  }

 private:
  using Page = std::array<uint32_t, kPageBytes / kGranuleBytes>;
  static constexpr uint32_t kMany = 1u << 31, kWritten = 1u << 30, kOwnerMask = kWritten - 1;  // the thread plus one

  static bool is_shared(uint32_t granule) { return (granule & (kMany | kWritten)) == (kMany | kWritten); }

  bool live_at_once(uint32_t x, uint32_t y) const {
    const auto [x_begin, x_end] = life(x);
    const auto [y_begin, y_end] = life(y);
    return x_begin < y_end && y_begin < x_end;
  }
  std::pair<int64_t, int64_t> life(uint32_t thread) const {
    const model::EventRange range = trace_.thread_ranges[thread];
    if (range.size() == 0) return {0, 0};
    return {trace_.time_ns[range.begin], trace_.time_ns[range.end - 1]};
  }

  template <typename Function>
  void each_granule(const format::LoggedAccess& access, Function function) {
    const uint64_t last = (access.end() - 1) / kGranuleBytes;
    for (uint64_t at = access.begin / kGranuleBytes; at <= last; ++at) {
      constexpr uint64_t kGranules = kPageBytes / kGranuleBytes;
      function(page(at / kGranules)[at % kGranules]);
    }
  }
  Page& page(uint64_t number) {
    Recent& recent = recent_[number % kRecent];
    if (recent.number != number || !recent.page) {
      const bool full = pages_.size() == pages_max_ && !pages_.contains(number);
      too_much_ |= full;
      std::unique_ptr<Page>& page = full ? beyond_ : pages_[number];
      if (!page) page = std::make_unique<Page>();
      recent = {number, page.get()};
    }
    return *recent.page;
  }

  struct Recent {
    uint64_t number = 0;
    Page* page = nullptr;
  };
  static constexpr size_t kRecent = 64;
  const Trace& trace_;
  const size_t pages_max_;
  std::array<Recent, kRecent> recent_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::unique_ptr<Page> beyond_;  // for all pages that are too many
  bool too_much_ = false;
};

struct Turn {
  int64_t begin_ns;
  int64_t end_ns;
};

int64_t time_of(const AccessLog::Chunk& chunk, uint32_t access) {
  const double share = std::min((access + 0.5) / std::max<double>(chunk.accesses, 1), 1.0);
  return chunk.begin_ns + static_cast<int64_t>(share * static_cast<double>(chunk.end_ns - chunk.begin_ns));
}

// By thread.
std::vector<std::vector<Turn>> find_turns(const Trace& trace, SharedMemory& memory, SharedAccesses& facts) {
  std::vector<std::vector<Turn>> turns(trace.threads.size());
  for (const AccessLog::Chunk& chunk : trace.access_log.chunks) {
    uint32_t number = 0, first = UINT32_MAX, last = 0;
    format::AccessDecoder log = trace.access_log.decode(chunk);
    for (format::LoggedAccess access; log.next(access); ++number) {
      if (!memory.is_shared(access)) continue;
      first = std::min(first, number);
      last = number;
      ++facts.shared;
    }
    facts.gaps += !log.good() || number != chunk.accesses;  // what is no access ends the chunk
    if (first == UINT32_MAX) continue;
    turns[chunk.thread.index()].push_back({time_of(chunk, first), time_of(chunk, last)});
    ++facts.turns;
  }
  return turns;
}

// Copies the events of one thread with its turns between them, none within a wait: the kernel's accesses for a call
// that blocked came at the call's end at the latest.
class Inserter {
 public:
  Inserter(const Trace& from, Trace& to, uint32_t lock) : from_(from), to_(to), lock_(lock) {}

  void copy(model::EventRange range, std::span<const Turn> turns) {
    size_t next = 0;
    int64_t last_ns = range.size() == 0 ? 0 : from_.time_ns[range.begin];
    int waits = 0;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const int64_t now_ns = from_.time_ns[i];
      for (; waits == 0 && next < turns.size() && turns[next].begin_ns < now_ns; ++next) {
        const int64_t begin_ns = std::max(last_ns, turns[next].begin_ns);
        const int64_t end_ns = std::clamp(turns[next].end_ns, begin_ns, now_ns);
        add(EventKind::lock_acquire, begin_ns, lock_, UINT32_MAX);
        add(EventKind::lock_release, end_ns, lock_, UINT32_MAX);
        last_ns = end_ns;
      }
      add(from_.kind[i], now_ns, from_.a[i], from_.b[i]);
      waits += is_wait(from_.kind[i], model::opens) - is_wait(from_.kind[i], model::closes);
      last_ns = now_ns;
    }
  }

 private:
  template <typename Which>
  static int is_wait(EventKind kind, Which which) {
    const bool is_code = kind == EventKind::task_start || kind == EventKind::task_end ||
                         kind == EventKind::method_enter || kind == EventKind::method_exit;
    return which(kind) && !is_code;
  }
  void add(EventKind kind, int64_t time_ns, uint32_t a, uint32_t b) {
    to_.kind.push_back(kind);
    to_.time_ns.push_back(time_ns);
    to_.a.push_back(a);
    to_.b.push_back(b);
  }

  const Trace& from_;
  Trace& to_;
  const uint32_t lock_;
};

// All but the events, and the rows that say where events are.
Trace without_events(const Trace& trace) {
  Trace out;
  out.origin = trace.origin;
  out.facts = trace.facts;
  out.loss = trace.loss;
  out.threads = trace.threads;
  out.dependencies = trace.dependencies;
  out.methods = trace.methods;
  out.owners = trace.owners;
  out.contexts = trace.contexts;
  out.pools = trace.pools;
  out.locks = trace.locks;
  out.connections = trace.connections;
  out.endpoints = trace.endpoints;
  out.access_sets = trace.access_sets;
  out.access_ranges = trace.access_ranges;
  out.strings = trace.strings;
  out.cpu = trace.cpu;
  out.pauses = trace.pauses;
  out.vm_stints = trace.vm_stints;
  out.idle_times = trace.idle_times;
  for (const model::TaskRow& row : trace.tasks) {
    model::TaskRow task;
    task.pool = row.pool;
    task.body = row.body;
    task.delay_us = row.delay_us;
    out.tasks.push_back(task);
  }
  return out;
}

}  // namespace

base::Status check_access_log(const Trace& trace) {
  const AccessLog& log = trace.access_log;
  if (!log.chunks.empty()) return {};
  if (log.accesses_missing + log.chunks_missing > 0) {
    return base::Error{"the log of accesses was lost with the damaged parts of the file"};
  }
  if (!trace.fact("accesses.count").empty()) {
    return base::Error{
        "its log of accesses is empty: no thread ran in a window, or the recorder had no room for what they did"};
  }
  return base::Error{
      "the trace does not hold every access to shared memory in its order: contrafact record --accesses records them"};
}

base::Result<Trace> with_access_turns(const Trace& trace, SharedAccesses& facts, uint64_t touched_max) {
  if (base::Status status = check_access_log(trace); !status) return status.error();
  const AccessLog& log = trace.access_log;
  facts = {.accesses = log.accesses, .gaps = log.gaps + log.chunks_missing, .lost = log.lost + log.accesses_missing};
  SharedMemory memory(trace, touched_max);
  for (const AccessLog::Chunk& chunk : log.chunks) {
    format::AccessDecoder accesses = log.decode(chunk);
    for (format::LoggedAccess access; accesses.next(access) && !memory.too_much();)
      memory.touch(chunk.thread.value, access);
  }
  if (memory.too_much()) {
    return base::Error{fmt::format(
        "its accesses touch more than {} MiB: record windows of time, as with --accesses=10ms/1s", touched_max >> 20)};
  }
  const std::vector<std::vector<Turn>> turns = find_turns(trace, memory, facts);
  facts.shared_bytes = memory.shared_bytes();
  if (trace.event_count() + 2 * facts.turns >= UINT32_MAX) return base::Error{"more turns than a trace holds events"};
  Trace out = without_events(trace);
  const auto lock = static_cast<uint32_t>(out.locks.size());
  out.strings.push_back(kAccessTurnsLock);
  out.locks.push_back({format::LockKind::mutex, 0, format::StringId(static_cast<uint32_t>(out.strings.size() - 1))});
  Inserter inserter(trace, out, lock);
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    const auto begin = static_cast<uint32_t>(out.kind.size());
    inserter.copy(trace.thread_ranges[thread], turns[thread]);
    out.thread_ranges.push_back({begin, static_cast<uint32_t>(out.kind.size())});
  }
  base::Result<Trace> finished = model::finish(std::move(out));
  // Those that the recording cut off have their ends by now.
  if (finished) {
    for (size_t task = 0; task < trace.tasks.size(); ++task)
      finished->tasks[task].truncated = trace.tasks[task].truncated;
  }
  return finished;
}

}  // namespace contrafact::replay
