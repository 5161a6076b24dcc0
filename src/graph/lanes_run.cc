#include <algorithm>

#include "base/check.h"
#include "graph/lane_vector.h"
#include "graph/lanes.h"

namespace contrafact::graph {

struct LaneRunner::Machine {
  CONTRAFACT_LANE_INLINE static void run(LaneRunner& runner);
  CONTRAFACT_LANE_TARGETS(run, LaneRunner&)
};

namespace {

constexpr int64_t kAll = -1;
// A time that is not known yet: later than all others, whatever is added to it, and twice it is still a number.
constexpr int64_t kUnknown = int64_t{3} << 60;
constexpr int64_t kUnknownMin = int64_t{5} << 59;
// Running all again this often takes as long as eight lanes one by one.
constexpr uint64_t kAgainMax = 8;
// The same, with what it may turn out to be: a time less than 2^58 from 0.
constexpr int64_t kGuess = int64_t{7} << 59;
constexpr int64_t kGuessMin = kGuess - (int64_t{1} << 58);
// A lane's time becomes known once; where it does not settle soon after, the lane is left to a Propagator.
constexpr uint32_t kTurnsMax = 4 * kLanes;

}  // namespace

inline void LaneRunner::Machine::run(LaneRunner& runner) {
  Row* const rows = runner.slots_.data();
  auto* const slots = reinterpret_cast<Lanes*>(rows);
  const auto* const inlined = reinterpret_cast<const Lanes*>(runner.inlined_.data());
  const auto* const continued = reinterpret_cast<const Lanes*>(runner.continued_.data());
  auto* const first_change = reinterpret_cast<Lanes*>(runner.peaks_.rows());
  Lanes* changes = first_change;
  const Lanes* full = changes + LanePeaks::kChunk;
  const Lanes none = Lanes{} + kNever;
  Lanes may_guess{}, bad{}, end = none, occupied{}, waiting{}, response{};
  uint32_t open = 0;  // loops: what was written since may be taken back
  const auto next_chunk = [&] {
    full += LanePeaks::kChunk;
    if (open == 0) runner.peaks_.count(static_cast<size_t>(changes - first_change));
  };
  const auto rise = [&](const Lanes& time, const Lanes& mask) __attribute__((always_inline)) {
    *changes++ = mask ? time * 2 + 1 : none;
    if (changes == full) next_chunk();
    occupied -= mask & time;
  };
  const auto fall = [&](const Lanes& time, const Lanes& mask) __attribute__((always_inline)) {
    *changes++ = mask ? time * 2 : none;
    if (changes == full) next_chunk();
    occupied += mask & time;
  };
  const Lanes all = Lanes{} + kAll;
  // Coordinators give their threads back, which go on where they are. Lanes outside `mask` write what was there.
  const auto leave_host = [&](const Host& host, const Lanes& time, const Lanes& mask) __attribute__((always_inline)) {
    const Lanes back = time - (lanes_of(host.spawner) & host.hand_out_ns);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      int64_t& slot = rows[host.slot.lane[lane]].lane[lane];
      slot = mask[lane] ? back[lane] : slot;
    }
  };

  const auto save = [&](uint32_t loop) __attribute__((always_inline)) {
    Saved& saved = runner.saved_[loop];
    store(saved.bad, bad);
    store(saved.end, end);
    store(saved.occupied, occupied);
    store(saved.waiting, waiting);
    store(saved.response, response);
    saved.changes = static_cast<size_t>(changes - first_change);
    saved.open = open;
    runner.save_slots(loop);
  };
  const auto put_back = [&](uint32_t loop) __attribute__((always_inline)) {
    const Saved& saved = runner.saved_[loop];
    bad = lanes_of(saved.bad);
    end = lanes_of(saved.end);
    occupied = lanes_of(saved.occupied);
    waiting = lanes_of(saved.waiting);
    response = lanes_of(saved.response);
    changes = first_change + saved.changes;
    full = first_change + (saved.changes / LanePeaks::kChunk + 1) * LanePeaks::kChunk;
    open = saved.open;
    runner.put_back_slots(loop);
  };

  // The lanes in which the thread of a fork is held up.
  const auto forks = [&](const LaneOp& op) {
    return (op.flags & kCoordinatedOnly ? runner.any_continued_ : runner.any_moved_)[op.moves] != 0;
  };
  const auto held_up = [&](const LaneOp& op, Lanes& mask) __attribute__((always_inline)) {
    mask = continued[op.moves];
    if (!(op.flags & kCoordinatedOnly)) mask |= inlined[op.moves];
  };

  const uint64_t again_max = kAgainMax * runner.program_.ops.size();
  const LaneOp* const ops = runner.program_.ops.data();
  const LaneOp* const ops_end = ops + runner.program_.ops.size();
  for (const LaneOp* at = ops; at != ops_end; ++at) {
    const LaneOp& op = *at;
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
        const Lanes detached = at_once & late & (cause != kNever) & ~moved;
        at_once &= cause < kUnknownMin;
        const Lanes slept = cause > ready ? cause + op.label_ns : ready + op.post_ns;
        const Lanes time = at_once ? ready : slept;
        if (op.flags & kRises) rise(ready, all);
        Lanes begun = time;
        if (op.flags & (kAtOnce | kCoordinated)) {
          if (op.result == UINT32_MAX) {
            bad |= detached;
          } else {
            slots[op.result] = detached;
            if (is_any(detached)) {
              begun = detached ? cause + (op.flags & kAtCause ? 0 : op.label_ns) : begun;
              if (!(op.flags & kCalleeRises)) rise(begun, detached);
            }
          }
        }
        if (op.code == LaneOpCode::call) {
          slots[op.now] = time;
          slots[op.callee] = begun;
          if (op.flags & kFalls) fall(time, all);
          if (op.flags & kCalleeRises) rise(begun, all);
          break;
        }
        const Lanes spawned = slots[op.spawner];
        slots[op.now] = moved ? ready : time;
        slots[op.callee] = moved ? spawned : begun;
        if (op.flags & kFalls) fall(moved ? ready : time, all);
        if (op.flags & (kCalleeRises | kSpawnerRises)) {
          const Lanes free =
              (op.flags & kCalleeRises ? ~moved : Lanes{}) | (op.flags & kSpawnerRises ? moved : Lanes{});
          rise(moved ? spawned : begun, free);
        }
        break;
      }
      case LaneOpCode::host: {
        Host& host = runner.hosts_[op.host];
        store(host.slot, Lanes{} + op.spawner);
        store(host.spawner, all);
        store(host.free, op.flags & kSpawnerRises ? all : Lanes{});
        host.hand_out_ns = op.label_ns;
        break;
      }
      case LaneOpCode::end:
        if (op.flags & kWrites) slots[op.result] = ready - op.post_ns;
        if (op.flags & kPinsTheEnd) end = end > ready ? end : ready;
        if (op.flags & kAtOnce) {
          const Lanes detached = slots[op.cause];
          slots[op.callee] = detached ? slots[op.callee] : ready;
          if (!(op.flags & kFalls) && is_any(detached)) fall(ready, detached);
        } else if (op.callee != UINT32_MAX) {
          slots[op.callee] = ready;
        }
        if (op.flags & kRises) rise(ready, all);
        if (op.flags & kFalls) fall(ready, all);
        break;
      case LaneOpCode::end_moved: {
        const Lanes inline_lanes = inlined[op.moves], continue_lanes = continued[op.moves];
        Lanes here = all;
        if (op.flags & kInlinedOnly) here = inline_lanes;
        if (op.flags & kOthersOnly) here = ~inline_lanes;
        const Lanes stays = ~(inline_lanes | continue_lanes) & here;
        if (op.flags & kWrites) slots[op.result] = ready - op.post_ns;
        if (op.flags & kPinsTheEnd) end = (here & (end < ready)) ? ready : end;
        const Lanes detached = op.flags & kAtOnce ? slots[op.cause] & here : Lanes{};
        slots[op.callee] = stays & ~detached ? ready : slots[op.callee];
        const Lanes returns = inline_lanes & here;
        slots[op.spawner] = returns ? ready - op.label_ns : slots[op.spawner];
        Lanes falls{};
        if (op.flags & kCalleeRises) falls |= stays;
        if (op.flags & kSpawnerRises) falls |= returns;
        const bool leaves = runner.any_continued_[op.moves] && !(op.flags & kInlinedOnly);
        if (leaves) {
          const Host& host = runner.hosts_[op.host];
          leave_host(host, ready, continue_lanes);
          falls |= continue_lanes & lanes_of(host.free);
        }
        falls |= detached;
        if (leaves || op.flags & (kCalleeRises | kSpawnerRises) || (op.flags & kAtOnce && is_any(detached)))
          fall(ready, falls);
        break;
      }
      case LaneOpCode::wait_moved: {
        const Lanes cause = slots[op.cause];
        const Lanes time = cause > ready ? cause + op.label_ns : ready + op.post_ns;
        if (!runner.any_continued_[op.host_moves]) {
          waiting += time - ready;
          slots[op.now] = time;
          break;
        }
        const Lanes mask = continued[op.host_moves];
        const Lanes later = mask & (cause > ready);
        waiting += ~mask & (time - ready);
        slots[op.now] = mask ? ready : time;
        if (op.flags & kUnhosted) {
          bad |= later;
          break;
        }
        Host& host = runner.hosts_[op.host];
        Lanes left = ready;
        if (open > 0) {
          // What a Propagator does where nothing else can go on: the coordinator leaves before the result is there; or
          // the thread that would host it goes on.
          const Lanes hosts = slots[op.callee];
          left = (cause >= kUnknownMin) & (ready < kUnknownMin) ? ready + kGuess : ready;
          slots[op.callee] = mask & (ready >= kUnknownMin) & (hosts < kUnknownMin) ? hosts + kGuess : hosts;
        }
        leave_host(host, left, later);
        fall(ready, later & lanes_of(host.free));
        const Lanes hosted = slots[op.callee];
        slots[op.now] = later ? hosted : slots[op.now];
        store(host.slot, later ? Lanes{} + op.callee : lanes_of(host.slot));
        store(host.spawner, lanes_of(host.spawner) & ~later);
        store(host.free, op.flags & kSlotFree ? lanes_of(host.free) | later : lanes_of(host.free) & ~later);
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
      case LaneOpCode::fork: {
        slots[op.now] = slots[op.cause];
        if (!forks(op)) break;
        save(op.result);
        ++open;
        Lanes mask;
        held_up(op, mask);
        slots[op.now] = mask ? lanes_of(runner.predicted_[op.result]) : slots[op.cause];
        break;
      }
      case LaneOpCode::join: {
        if (!forks(op)) break;
        Lanes mask;
        held_up(op, mask);
        const Lanes found = slots[op.cause];
        auto& predicted = reinterpret_cast<Lanes&>(runner.predicted_[op.result]);
        auto& guessed = reinterpret_cast<Lanes&>(runner.guessed_[op.result]);
        const Lanes unsettled = mask & (found >= kUnknownMin);
        Lanes wrong = mask & ~unsettled & ~guessed & (found != predicted);
        predicted = wrong ? found : predicted;
        // Nothing else is open that could settle it.
        const Lanes guesses =
            unsettled & (open == 1 ? all : may_guess) & (predicted >= kUnknownMin) & (found >= kGuessMin);
        predicted = guesses ? found - kGuess : predicted;
        guessed |= guesses;
        wrong |= guesses;
        if (open == 1 && runner.any_guess_) {
          const Lanes more = unsettled & ~guesses & ~may_guess;  // the loops inside may
          may_guess |= more;
          wrong |= more;
        }
        const bool again = runner.saved_[op.result].turns < kTurnsMax && runner.again_ < again_max;
        if (again && is_any(wrong)) {
          ++runner.saved_[op.result].turns;
          put_back(op.result);
          runner.again_ += static_cast<uint64_t>(at - ops) - runner.program_.loops[op.result].fork;
          at = ops + runner.program_.loops[op.result].fork - 1;
          break;
        }
        bad |= wrong | unsettled | (mask & (found != predicted));
        if (--open == 0) may_guess = Lanes{};
        break;
      }
    }
  }
  while (changes != full) *changes++ = none;
  runner.peaks_.count(static_cast<size_t>(changes - first_change));
  store(runner.bad_, bad);
  store(runner.end_, end);
  store(runner.occupied_, occupied);
  store(runner.waiting_, waiting);
  store(runner.response_, response);
}

CONTRAFACT_LANE_DISPATCH(LaneRunner::Machine, run, LaneRunner&)

void LaneRunner::save_slots(uint32_t loop) {
  const LaneLoop& row = program_.loops[loop];
  for (uint32_t i = row.slots_begin; i < row.slots_end; ++i) saved_slots_[i] = slots_[program_.loop_slots[i]];
  for (uint32_t i = row.hosts_begin; i < row.hosts_end; ++i) saved_hosts_[i] = hosts_[program_.loop_hosts[i]];
}

void LaneRunner::put_back_slots(uint32_t loop) {
  const LaneLoop& row = program_.loops[loop];
  for (uint32_t i = row.slots_begin; i < row.slots_end; ++i) slots_[program_.loop_slots[i]] = saved_slots_[i];
  for (uint32_t i = row.hosts_begin; i < row.hosts_end; ++i) hosts_[program_.loop_hosts[i]] = saved_hosts_[i];
}

LaneRunner::LaneRunner(const LaneProgram& program)
    : program_(program),
      slots_(program.slots),
      hosts_(program.hosts),
      inlined_(program.class_moves.size()),
      continued_(program.class_moves.size()),
      any_moved_(program.class_moves.size()),
      any_continued_(program.class_moves.size()),
      predicted_(program.loops.size()),
      guessed_(program.loops.size()),
      saved_(program.loops.size()),
      saved_slots_(program.loop_slots.size()),
      saved_hosts_(program.loop_hosts.size()),
      peaks_(program.changes_max) {}

// Which lanes move which tasks.
void LaneRunner::choose(std::span<const std::span<const uint32_t>> sets) {
  std::vector<uint8_t> chosen(program_.moves);
  bad_ = {};
  std::fill(inlined_.begin(), inlined_.end(), Row{});
  std::fill(continued_.begin(), continued_.end(), Row{});
  std::fill(any_moved_.begin(), any_moved_.end(), 0);
  std::fill(any_continued_.begin(), any_continued_.end(), 0);
  for (size_t lane = 0; lane < sets.size(); ++lane) {
    for (uint32_t move : sets[lane]) chosen[move] = 1;
    for (size_t i = 0; i < program_.class_moves.size(); ++i) {
      for (uint32_t move : program_.class_moves[i]) {
        if (!chosen[move]) continue;
        const bool continues = program_.placements[move] == Placement::continuation;
        (continues ? continued_ : inlined_)[i].lane[lane] = kAll;
        any_moved_[i] = 1;
        any_continued_[i] |= continues;
        if (program_.refused[i]) refused_.lane[lane] = kAll;
      }
    }
    for (uint32_t move : sets[lane]) chosen[move] = 0;
  }
}

void LaneRunner::run(std::span<const std::span<const uint32_t>> sets, std::span<LaneResult> results) {
  CHECK(program_.possible && sets.size() <= kLanes && results.size() >= sets.size());
  refused_ = {};
  choose(sets);
  for (Row& row : predicted_) std::fill(std::begin(row.lane), std::end(row.lane), kUnknown);
  std::fill(guessed_.begin(), guessed_.end(), Row{});
  any_guess_ = std::find(any_continued_.begin(), any_continued_.end(), 1) != any_continued_.end();
  for (Saved& saved : saved_) saved.turns = 0;
  again_ = 0;
  peaks_.begin(program_.begin_ns, program_.end_ns);
  Machine::dispatch_run(*this);
  for (size_t lane = 0; lane < sets.size(); ++lane) {
    LaneResult& result = results[lane];
    result = {};
    result.exact = !bad_.lane[lane] && !refused_.lane[lane];
    if (!result.exact) continue;
    result.end_ns = end_.lane[lane];
    result.waiting_ns = waiting_.lane[lane];
    result.active_ns = occupied_.lane[lane] - result.waiting_ns;
    result.response_ns = response_.lane[lane];
    result.peak_occupied = peaks_.find(lane);
  }
}

}  // namespace contrafact::graph
