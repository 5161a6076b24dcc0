#include <algorithm>

#include "base/check.h"
#include "graph/lanes.h"

namespace contrafact::graph {

// A row in a register (or in as many as the machine needs). Comparisons give -1 in the lanes where they hold.
using Lanes = int64_t __attribute__((vector_size(64)));

struct LaneRunner::Machine {
  // The whole state is in the runner; `rows` are its slots.
  [[gnu::always_inline]] static inline void run(LaneRunner& runner);
  static void run_plain(LaneRunner& runner);
#if defined(__x86_64__)
  static void run_avx2(LaneRunner& runner);
  static void run_avx512(LaneRunner& runner);
#endif
};

namespace {

constexpr int64_t kAll = -1;

// A bucket of changes: how many rise, and above them how many fall.
constexpr uint64_t kFall = uint64_t{1} << 32;
constexpr uint64_t kRisesMask = kFall - 1;

}  // namespace

inline void LaneRunner::Machine::run(LaneRunner& runner) {
  static_assert(sizeof(Row) == sizeof(Lanes));
  auto* const slots = reinterpret_cast<Lanes*>(runner.slots_.data());
  const auto* const inlined = reinterpret_cast<const Lanes*>(runner.inlined_.data());
  const auto* const continued = reinterpret_cast<const Lanes*>(runner.continued_.data());
  auto* changes = reinterpret_cast<Lanes*>(runner.changes_.data());
  const Lanes none = Lanes{} + kNever;
  Lanes bad{}, end = none, occupied{}, waiting{}, response{};
  const auto rise = [&](const Lanes& time, const Lanes& mask) __attribute__((always_inline)) {
    *changes++ = mask ? time * 2 + 1 : none;
    occupied -= mask & time;
  };
  const auto fall = [&](const Lanes& time, const Lanes& mask) __attribute__((always_inline)) {
    *changes++ = mask ? time * 2 : none;
    occupied += mask & time;
  };
  const Lanes all = Lanes{} + kAll;
  // Coordinators give their threads back, which go on where they are.
  const auto leave_host = [&](const Host& host, const Lanes& time, const Lanes& mask, Lanes& falls)
                              __attribute__((always_inline)) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      if (!mask[lane]) continue;
      slots[host.slot[lane]][lane] = time[lane] - (host.spawner >> lane & 1 ? host.hand_out_ns : 0);
      if (host.free >> lane & 1) falls[lane] = kAll;
    }
  };

  for (const LaneOp& op : runner.program_.ops) {
    const Lanes ready = slots[op.now] + op.delay_ns;
    switch (op.code) {
      case LaneOpCode::set:
        slots[op.now] = Lanes{} + op.delay_ns;
        if (op.flags & kRises) rise(slots[op.now], all);
        break;
      case LaneOpCode::step:
        slots[op.now] = ready;
        if (op.flags & kWrites) slots[op.result] = ready + op.label_ns;
        if (op.flags & kRises) rise(ready, all);
        if (op.flags & kFalls) fall(ready, all);
        break;
      case LaneOpCode::sleep: {
        const Lanes time = ready + op.label_ns;
        waiting += op.label_ns;
        slots[op.now] = time;
        if (op.flags & kRises) rise(ready, all);
        if (op.flags & kFalls) fall(time, all);
        break;
      }
      case LaneOpCode::wait: {
        const Lanes cause = slots[op.cause];
        const Lanes time = cause > ready ? cause + op.label_ns : ready + op.post_ns;
        if (op.flags & kWaits) waiting += time - ready;
        slots[op.now] = time;
        if (op.flags & kRises) rise(ready, all);
        if (op.flags & kFalls) fall(time, all);
        break;
      }
      case LaneOpCode::call:
      case LaneOpCode::call_moved: {
        const Lanes cause = op.flags & kCaused ? slots[op.cause] : none;
        const Lanes inline_lanes = inlined[op.moves], continue_lanes = continued[op.moves];
        const Lanes moved = inline_lanes | continue_lanes;
        Lanes at_once = op.flags & kAtOnce ? all : Lanes{};
        if (op.flags & kCoordinated) at_once |= continued[op.host_moves];
        const Lanes late = cause + std::min<int64_t>(op.label_ns, 0) > ready;
        bad |= at_once & late & (cause != kNever) & ~moved;
        const Lanes slept = cause > ready ? cause + op.label_ns : ready + op.post_ns;
        const Lanes time = at_once ? ready : slept;
        if (op.flags & kRises) rise(ready, all);
        if (op.code == LaneOpCode::call) {
          slots[op.now] = time;
          slots[op.callee] = time;
          if (op.flags & kFalls) fall(time, all);
          if (op.flags & kCalleeRises) rise(time, all);
          break;
        }
        const Lanes spawned = slots[op.spawner];
        slots[op.now] = moved ? ready : time;
        slots[op.callee] = moved ? spawned : time;
        if (op.flags & kFalls) fall(moved ? ready : time, all);
        if (op.flags & kCalleeRises) rise(time, ~moved);
        if (op.flags & kSpawnerRises) rise(spawned, moved);
        break;
      }
      case LaneOpCode::host: {
        Host& host = runner.hosts_[op.host];
        for (uint32_t& slot : host.slot) slot = op.spawner;
        host.spawner = 0xFF;
        host.free = op.flags & kSpawnerRises ? 0xFF : 0;
        host.hand_out_ns = op.label_ns;
        break;
      }
      case LaneOpCode::end:
        if (op.flags & kWrites) slots[op.result] = ready;
        if (op.flags & kPinsTheEnd) end = end > ready ? end : ready;
        if (op.callee != UINT32_MAX) slots[op.callee] = ready;
        if (op.flags & kRises) rise(ready, all);
        if (op.flags & kFalls) fall(ready, all);
        break;
      case LaneOpCode::end_moved: {
        const Lanes inline_lanes = inlined[op.moves], continue_lanes = continued[op.moves];
        Lanes here = all;
        if (op.flags & kInlinedOnly) here = inline_lanes;
        if (op.flags & kOthersOnly) here = ~inline_lanes;
        const Lanes stays = ~(inline_lanes | continue_lanes) & here;
        if (op.flags & kWrites) slots[op.result] = ready;
        if (op.flags & kPinsTheEnd) end = (here & (end < ready)) ? ready : end;
        slots[op.callee] = stays ? ready : slots[op.callee];
        const Lanes returns = inline_lanes & here;
        slots[op.spawner] = returns ? ready - op.label_ns : slots[op.spawner];
        Lanes falls{};
        if (op.flags & kCalleeRises) falls |= stays;
        if (op.flags & kSpawnerRises) falls |= returns;
        const bool leaves = runner.any_continued_[op.moves] && !(op.flags & kInlinedOnly);
        if (leaves) leave_host(runner.hosts_[op.host], ready, continue_lanes, falls);
        if (leaves || op.flags & (kCalleeRises | kSpawnerRises)) fall(ready, falls);
        break;
      }
      case LaneOpCode::park: {
        if (!runner.any_continued_[op.host_moves]) break;
        const Lanes mask = continued[op.host_moves];
        Lanes falls{};
        leave_host(runner.hosts_[op.host], ready, mask, falls);
        slots[op.now] = mask ? ready : slots[op.now];
        fall(ready, falls);
        break;
      }
      case LaneOpCode::wait_moved:
      case LaneOpCode::resume: {
        const Lanes cause = slots[op.cause];
        const Lanes time = cause > ready ? cause + op.label_ns : ready + op.post_ns;
        if (!runner.any_continued_[op.host_moves]) {
          waiting += time - ready;
          slots[op.now] = time;
          break;
        }
        const Lanes mask = continued[op.host_moves];
        const bool parked = op.code == LaneOpCode::resume;
        const Lanes asked = parked ? slots[op.now] : ready;
        const Lanes later = mask & (cause > asked);
        waiting += ~mask & (time - ready);
        slots[op.now] = mask ? asked : time;
        if (parked) bad |= mask & ~later;
        if (op.flags & kUnhosted) {
          bad |= later;
          break;
        }
        Host& host = runner.hosts_[op.host];
        Lanes falls{};
        if (!parked) leave_host(host, ready, later, falls);
        fall(ready, falls);
        const Lanes hosted = slots[op.callee];
        slots[op.now] = later ? hosted : slots[op.now];
        for (size_t lane = 0; lane < kLanes; ++lane) {
          if (!later[lane]) continue;
          host.slot[lane] = op.callee;
          host.spawner &= static_cast<uint8_t>(~(1u << lane));
          host.free = static_cast<uint8_t>((host.free & ~(1u << lane)) | (op.flags & kSlotFree ? 1u << lane : 0u));
        }
        if (op.flags & kSlotFree) rise(hosted, later);
        break;
      }
      case LaneOpCode::first_cause:
        slots[op.result] = slots[op.cause];
        break;
      case LaneOpCode::next_cause: {
        const Lanes other = slots[op.cause];
        slots[op.result] = slots[op.result] > other ? slots[op.result] : other;
        break;
      }
      case LaneOpCode::complete: {
        const Lanes cause = slots[op.cause];
        slots[op.now] = ready;
        if (op.flags & kWrites) slots[op.result] = ready > cause ? ready : cause;
        if (op.flags & kRises) rise(ready, all);
        if (op.flags & kFalls) fall(ready, all);
        break;
      }
      case LaneOpCode::response:
        response += slots[op.cause] - slots[op.result];
        break;
    }
  }
  CHECK(changes <= reinterpret_cast<Lanes*>(runner.changes_.data() + runner.changes_.size()));
  runner.change_count_ = static_cast<size_t>(changes - reinterpret_cast<Lanes*>(runner.changes_.data()));
  const auto keep = [](Row& row, const Lanes& lanes) __attribute__((always_inline)) {
    for (size_t lane = 0; lane < kLanes; ++lane) row.lane[lane] = lanes[lane];
  };
  keep(runner.bad_, bad);
  keep(runner.end_, end);
  keep(runner.occupied_, occupied);
  keep(runner.waiting_, waiting);
  keep(runner.response_, response);
}

void LaneRunner::Machine::run_plain(LaneRunner& runner) {
  run(runner);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void LaneRunner::Machine::run_avx2(LaneRunner& runner) {
  run(runner);
}

[[gnu::target("avx512f,avx512dq,avx512vl,avx2")]] void LaneRunner::Machine::run_avx512(LaneRunner& runner) {
  run(runner);
}
#endif

LaneRunner::LaneRunner(const LaneProgram& program)
    : program_(program),
      slots_(program.slots),
      hosts_(program.hosts),
      inlined_(program.class_moves.size()),
      continued_(program.class_moves.size()),
      any_continued_(program.class_moves.size()),
      changes_(program.changes_max) {}

// Which lanes move which tasks.
void LaneRunner::choose(std::span<const std::span<const uint32_t>> sets) {
  std::vector<uint8_t> chosen(program_.moves);
  bad_ = {};
  std::fill(inlined_.begin(), inlined_.end(), Row{});
  std::fill(continued_.begin(), continued_.end(), Row{});
  std::fill(any_continued_.begin(), any_continued_.end(), 0);
  for (size_t lane = 0; lane < sets.size(); ++lane) {
    for (uint32_t move : sets[lane]) chosen[move] = 1;
    for (size_t i = 0; i < program_.class_moves.size(); ++i) {
      for (uint32_t move : program_.class_moves[i]) {
        if (!chosen[move]) continue;
        const bool continues = program_.placements[move] == Placement::continuation;
        (continues ? continued_ : inlined_)[i].lane[lane] = kAll;
        any_continued_[i] |= continues;
        if (program_.refused[i]) refused_.lane[lane] = kAll;
      }
    }
    for (uint32_t move : sets[lane]) chosen[move] = 0;
  }
}

void LaneRunner::run(std::span<const std::span<const uint32_t>> sets, int64_t begin_ns,
                     std::span<LaneResult> results) {
  CHECK(program_.possible && sets.size() <= kLanes && results.size() >= sets.size());
  refused_ = {};
  choose(sets);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    Machine::run_avx512(*this);
  else if (__builtin_cpu_supports("avx2"))
    Machine::run_avx2(*this);
  else
#endif
    Machine::run_plain(*this);
  for (size_t lane = 0; lane < sets.size(); ++lane) {
    LaneResult& result = results[lane];
    result = {};
    result.exact = !bad_.lane[lane] && !refused_.lane[lane];
    if (!result.exact) continue;
    result.end_ns = end_.lane[lane];
    result.waiting_ns = waiting_.lane[lane];
    result.active_ns = occupied_.lane[lane] - result.waiting_ns;
    result.response_ns = response_.lane[lane];
    result.peak_occupied = peak_of(lane, begin_ns, result.end_ns);
  }
}

// Changes are counted in buckets of time. Their counts at the buckets' borders are a lower bound of the peak; only
// buckets that can rise above it are looked at one change after the other. Held for more than zero time: threads that
// hand over at one instant are not counted twice.
uint32_t LaneRunner::peak_of(size_t lane, int64_t begin_ns, int64_t end_ns) {
  const int64_t span_ns = std::max<int64_t>(1, end_ns - begin_ns);
  int shift = 0;
  while (span_ns >> shift > static_cast<int64_t>(change_count_ / 2 + 64)) ++shift;
  const int64_t last = span_ns >> shift;
  const auto bucket_of = [&](int64_t time_ns) { return std::clamp<int64_t>((time_ns - begin_ns) >> shift, 0, last); };
  buckets_.assign(static_cast<size_t>(last) + 1, 0);
  const Row* const rows = changes_.data();
  for (size_t i = 0; i < change_count_; ++i) {
    const int64_t change = rows[i].lane[lane];
    if (change == kNever) continue;
    buckets_[static_cast<size_t>(bucket_of(change >> 1))] += change & 1 ? 1 : kFall;
  }
  int32_t count = 0, peak = 0, highest = 0;
  before_.resize(buckets_.size());
  for (size_t i = 0; i < buckets_.size(); ++i) {
    before_[i] = count;
    highest = std::max(highest, count + static_cast<int32_t>(buckets_[i] & kRisesMask));
    count += static_cast<int32_t>(buckets_[i] & kRisesMask) - static_cast<int32_t>(buckets_[i] >> 32);
    peak = std::max(peak, count);
  }
  if (highest <= peak) return static_cast<uint32_t>(peak);
  hot_.clear();
  for (size_t i = 0; i < change_count_; ++i) {
    const int64_t change = rows[i].lane[lane];
    if (change == kNever) continue;
    const auto bucket = static_cast<size_t>(bucket_of(change >> 1));
    if (before_[bucket] + static_cast<int32_t>(buckets_[bucket] & kRisesMask) > peak)
      hot_.push_back({change >> 1, change & 1 ? 1 : -1});
  }
  std::sort(hot_.begin(), hot_.end(), [](const Change& x, const Change& y) { return x.time_ns < y.time_ns; });
  int64_t bucket = -1;
  for (size_t i = 0; i < hot_.size(); ++i) {
    if (bucket_of(hot_[i].time_ns) != bucket) {
      bucket = bucket_of(hot_[i].time_ns);
      count = before_[static_cast<size_t>(bucket)];
    }
    count += hot_[i].step;
    if (i + 1 == hot_.size() || hot_[i + 1].time_ns != hot_[i].time_ns) peak = std::max(peak, count);
  }
  return static_cast<uint32_t>(peak);
}

}  // namespace contrafact::graph
