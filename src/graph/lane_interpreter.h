// The interpreter of lane programs, and the counting of what it writes. Included by lane_machine_*.cc only, each of
// which is compiled for another kind of machine: all is in an unnamed namespace.
#pragma once

#include <cstring>

#include "graph/lane_machine.h"
#include "graph/lane_vector.h"
#include "graph/trace_dag.h"

namespace contrafact::graph {
namespace {

constexpr int64_t kAll = -1;
// A time that is not known yet. It is later than all others, whatever is added to it, and twice its value still fits.
constexpr int64_t kUnknownMin = int64_t{5} << 59;
constexpr int64_t kUnknown = int64_t{6} << 59;
// The same, plus a guess of what it may turn out to be: a time less than 2^58 from 0.
constexpr int64_t kGuess = int64_t{7} << 59;
constexpr int64_t kGuessMin = kGuess - (int64_t{1} << 58);
// A lane's time becomes known once; where it does not settle soon after, the lane is left to a Propagator.
constexpr uint32_t kTurnsMax = 4 * kLanes;

// Keeps one block's rows; `first_bucket`: of the block in each lane.
void keep_block(PeakMemory& peaks, const LaneRow* rows, const Lanes& first_bucket, PeakMemory::Block& block) {
  const Lanes zero = Lanes::all(0), none = Lanes::all(kNever);
  Lanes begin;
  for (size_t i = 0; i < Lanes::kParts; ++i) begin.part[i] = first_bucket.part[i] << peaks.shift;
  begin = begin + peaks.begin_ns;
  begin = begin + begin - 1;
  Lanes beyond = zero;
  uint32_t* narrow = peaks.narrow + peaks.counted * peaks.kept;
  alignas(64) uint32_t row[kLanes];
  for (size_t i = 0; i < PeakMemory::kBlock; ++i) {
    const Lanes change = lanes_of(rows[i]);
    const Lanes present = change != none;
    const Lanes distance = select(present, change, begin) - begin;
    beyond |= (distance >> 32) | (present & ~(distance != zero));
    narrow_lanes(distance, row);
    std::memcpy(narrow, row, peaks.kept * sizeof(uint32_t));
    narrow += peaks.kept;
  }
  block.wide = PeakMemory::kNarrow;
  if (!is_any(beyond)) return;
  block.wide = static_cast<uint32_t>(peaks.wide_rows);
  for (size_t i = 0; i < PeakMemory::kBlock; ++i) lanes_of(peaks.wide[peaks.wide_rows + i]) = lanes_of(rows[i]);
  peaks.wide_rows += PeakMemory::kBlock;
}

void count_block(PeakMemory& peaks, const LaneRow* rows) {
  const Lanes zero = Lanes::all(0), max = Lanes::all(peaks.bucket_max);
  // A register for the sums that the loop below would add one by one: a lane's buckets follow the previous lane's.
  Lanes lane_begin;
  for (size_t lane = 0; lane < kLanes; ++lane)
    lane_begin.part[lane / Lanes::kLanesOfPart][lane % Lanes::kLanesOfPart] =
        static_cast<int64_t>(lane < peaks.kept ? lane : peaks.kept) * (peaks.bucket_max + 2);
  alignas(64) LaneRow place, step;
  Lanes first = max, last = zero;
  for (size_t i = 0; i < PeakMemory::kBlock; ++i) {
    const Lanes change = lanes_of(rows[i]);
    const Lanes present = change != Lanes::all(kNever);
    const Lanes bucket = earlier_of(later_of(((change >> 1) - peaks.begin_ns) >> peaks.shift, zero), max);
    first = earlier_of(first, select(present, bucket, max));
    last = later_of(last, select(present, bucket, zero));
    lanes_of(place) = lane_begin + select(present, bucket, max + 1);
    lanes_of(step) = select((change & 1) != zero, Lanes::all(PeakMemory::kRise), Lanes::all(PeakMemory::kFall));
#pragma GCC unroll 16
    for (size_t lane = 0; lane < kLanes; ++lane)
      peaks.buckets[place.lane[lane]] += static_cast<uint64_t>(step.lane[lane]);
  }
  PeakMemory::Block& block = peaks.blocks[peaks.counted / PeakMemory::kBlock];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    block.first[lane] = static_cast<int32_t>(first[lane]);
    block.last[lane] = static_cast<int32_t>(last[lane]);
  }
  keep_block(peaks, rows, first, block);
  peaks.counted += PeakMemory::kBlock;
}

void count_rows(PeakMemory& peaks, size_t rows) {
  for (size_t i = 0; i < rows; i += PeakMemory::kBlock) count_block(peaks, peaks.rows + i);
}

// One method for each operation; `ready` is the time of its thread when it is reached.
template <typename Op>
class Interpreter {
 public:
  explicit Interpreter(std::span<const Op> ops, LaneMemory& memory)
      : memory_(memory),
        ops_(ops.data()),
        ops_end_(ops.data() + ops.size()),
        slots_(reinterpret_cast<Lanes*>(memory.slots)),
        inlined_(reinterpret_cast<const Lanes*>(memory.inlined)),
        continued_(reinterpret_cast<const Lanes*>(memory.continued)),
        first_change_(reinterpret_cast<Lanes*>(memory.peaks->rows)),
        change_(first_change_),
        chunk_end_(first_change_ + PeakMemory::kChunk),
        bad_(lanes_of(memory.bad)) {}

  CONTRAFACT_LANE_INLINE void run() {
    for (at_ = ops_; at_ != ops_end_; ++at_) execute(*at_);
    while (change_ != chunk_end_) *change_++ = Lanes::all(kNever);
    count_rows(*memory_.peaks, rows());
    lanes_of(memory_.bad) = bad_;
    lanes_of(memory_.end) = end_;
    lanes_of(memory_.occupied) = occupied_;
    lanes_of(memory_.waiting) = waiting_;
    lanes_of(memory_.response) = response_;
  }

 private:
  CONTRAFACT_LANE_INLINE void execute(const Op& op) {
    const Lanes ready = slots_[op.now] + op.delay_ns;
    switch (op.code) {
      case LaneOpCode::set:
        slots_[op.now] = Lanes::all(memory_.begins[op.cause]);
        if (op.flags & kRises) rise(slots_[op.now]);
        return;
      case LaneOpCode::step:
        slots_[op.now] = ready;
        if (op.flags & kWrites) slots_[op.result] = ready + op.label_ns;
        if (op.flags & kRises) rise(ready);
        if (op.flags & kFalls) fall(ready);
        return;
      case LaneOpCode::sleep:
        return sleep(op, ready);
      case LaneOpCode::wait:
        return wait(op, ready);
      case LaneOpCode::acquire:
        return acquire(op, ready);
      case LaneOpCode::call:
        return call(op, ready);
      case LaneOpCode::call_moved:
        return call_moved(op, ready);
      case LaneOpCode::host:
        return host(op);
      case LaneOpCode::end:
        return end(op, ready);
      case LaneOpCode::end_moved:
        return end_moved(op, ready);
      case LaneOpCode::wait_moved:
        return wait_moved(op, ready);
      case LaneOpCode::first_cause:
        slots_[op.result] = slots_[op.cause];
        return;
      case LaneOpCode::next_cause:
        slots_[op.result] = later_of(slots_[op.result], slots_[op.cause]);
        return;
      case LaneOpCode::complete:
        slots_[op.now] = ready;
        if (op.flags & kWrites) slots_[op.result] = later_of(ready, slots_[op.cause]);
        if (op.flags & kRises) rise(ready);
        if (op.flags & kFalls) fall(ready);
        return;
      case LaneOpCode::response:
        response_ += slots_[op.cause] - slots_[op.result];
        return;
      case LaneOpCode::fork:
        return fork(op);
      case LaneOpCode::join:
        return join(op);
    }
  }

  // Changes of use.
  size_t rows() const { return static_cast<size_t>(change_ - first_change_); }
  CONTRAFACT_LANE_INLINE void change(const Lanes& entry) {
    *change_++ = entry;
    if (change_ == chunk_end_) next_chunk();
  }
  [[gnu::noinline]] void next_chunk() {
    if (open_ == 0) {
      count_rows(*memory_.peaks, rows());
      change_ = first_change_;
    }
    chunk_end_ = change_ + PeakMemory::kChunk;
  }
  CONTRAFACT_LANE_INLINE void rise(const Lanes& time) {
    change(time + time + 1);
    occupied_ -= time;
  }
  CONTRAFACT_LANE_INLINE void fall(const Lanes& time) {
    change(time + time);
    occupied_ += time;
  }
  CONTRAFACT_LANE_INLINE void rise(const Lanes& time, const Lanes& mask) {
    if (!is_any(mask)) return;
    change(select(mask, time + time + 1, Lanes::all(kNever)));
    occupied_ -= mask & time;
  }
  CONTRAFACT_LANE_INLINE void fall(const Lanes& time, const Lanes& mask) {
    if (!is_any(mask)) return;
    change(select(mask, time + time, Lanes::all(kNever)));
    occupied_ += mask & time;
  }

  CONTRAFACT_LANE_INLINE void sleep(const Op& op, const Lanes& ready) {
    const Lanes time = ready + op.label_ns;
    waiting_ += Lanes::all(op.label_ns);
    slots_[op.now] = time;
    if (op.flags & kRises) rise(ready);
    if (op.flags & kFalls) fall(time);
  }

  // The time at which a vertex that waits for `cause` goes on.
  CONTRAFACT_LANE_INLINE static Lanes woken(const Op& op, const Lanes& ready, const Lanes& cause) {
    return select(cause > ready, cause + op.label_ns, ready + op.post_ns);
  }

  CONTRAFACT_LANE_INLINE void wait(const Op& op, const Lanes& ready) {
    const Lanes time = woken(op, ready, slots_[op.cause]);
    if (op.flags & kWaits) waiting_ += time - ready;
    slots_[op.now] = time;
    if (op.flags & kRises) rise(ready);
    if (op.flags & kFalls) fall(time);
  }

  CONTRAFACT_LANE_INLINE void acquire(const Op& op, const Lanes& ready) {
    const Lanes cause = slots_[op.cause];
    const Lanes time = select(cause > ready, earlier_of(cause + op.post_ns, ready + op.label_ns), ready);
    slots_[op.now] = select(later_of(cause, ready) >= Lanes::all(kUnknownMin), Lanes::all(kUnknown), time);
    if (op.flags & kRises) rise(ready);
    if (op.flags & kFalls) fall(slots_[op.now]);
  }

  // When the caller and the called task go on, whether the task runs on this thread or on one of its own.
  struct Begun {
    Lanes caller, task;
  };
  CONTRAFACT_LANE_INLINE Begun begin_call(const Op& op, const Lanes& ready, const Lanes& moved) {
    const Lanes cause = op.flags & kCaused ? slots_[op.cause] : Lanes::all(kNever);
    const Lanes slept = woken(op, ready, cause);
    if (op.flags & kRises) rise(ready);
    if (!(op.flags & (kAtOnce | kCoordinated))) return {slept, slept};
    Lanes at_once = Lanes::all(op.flags & kAtOnce ? kAll : 0);
    if (op.flags & kCoordinated) at_once |= continued_[op.host_moves];
    const Lanes late = cause + (op.label_ns < 0 ? op.label_ns : 0) > ready;
    const Lanes detached = at_once & late & (cause != Lanes::all(kNever)) & ~moved;
    const Lanes time = select(at_once & (cause < Lanes::all(kUnknownMin)), ready, slept);
    if (op.result == Op::kNone) {
      bad_ |= detached;
      return {time, time};
    }
    slots_[op.result] = detached;
    if (!is_any(detached)) return {time, time};
    const Lanes begun = select(detached, cause + (op.flags & kAtCause ? 0 : op.label_ns), time);
    if (!(op.flags & kCalleeRises)) rise(begun, detached);
    return {time, begun};
  }

  CONTRAFACT_LANE_INLINE void call(const Op& op, const Lanes& ready) {
    const Begun begun = begin_call(op, ready, Lanes::all(0));
    slots_[op.now] = begun.caller;
    slots_[op.callee] = begun.task;
    if (op.flags & kFalls) fall(begun.caller);
    if (op.flags & kCalleeRises) rise(begun.task);
  }

  CONTRAFACT_LANE_INLINE void call_moved(const Op& op, const Lanes& ready) {
    const Lanes moved = inlined_[op.moves] | continued_[op.moves];
    const Begun begun = begin_call(op, ready, moved);
    const Lanes caller = select(moved, ready, begun.caller);
    const Lanes task = select(moved, slots_[op.spawner], begun.task);
    slots_[op.now] = caller;
    slots_[op.callee] = task;
    if (op.flags & kFalls) fall(caller);
    if (!(op.flags & (kCalleeRises | kSpawnerRises))) return;
    Lanes rises = Lanes::all(0);
    if (op.flags & kCalleeRises) rises |= ~moved;
    if (op.flags & kSpawnerRises) rises |= moved;
    rise(task, rises);
  }

  CONTRAFACT_LANE_INLINE void host(const Op& op) {
    LaneHost& host = memory_.hosts[op.host];
    lanes_of(host.slot) = Lanes::all(op.spawner);
    lanes_of(host.spawner) = Lanes::all(kAll);
    lanes_of(host.free) = Lanes::all(op.flags & kSpawnerRises ? kAll : 0);
    host.hand_out_ns = op.label_ns;
  }

  CONTRAFACT_LANE_INLINE void end(const Op& op, const Lanes& ready) {
    if (op.flags & kWrites) slots_[op.result] = ready - op.post_ns;
    if (op.flags & kPinsTheEnd) end_ = later_of(end_, ready);
    if (op.flags & kAtOnce) {
      const Lanes detached = slots_[op.cause];
      slots_[op.callee] = select(detached, slots_[op.callee], ready);
      if (!(op.flags & kFalls)) fall(ready, detached);
    } else if (op.callee != Op::kNone) {
      slots_[op.callee] = ready;
    }
    if (op.flags & kRises) rise(ready);
    if (op.flags & kFalls) fall(ready);
  }

  CONTRAFACT_LANE_INLINE void end_moved(const Op& op, const Lanes& ready) {
    const Lanes inlined = inlined_[op.moves], continued = continued_[op.moves];
    Lanes here = Lanes::all(kAll);
    if (op.flags & kInlinedOnly) here = inlined;
    if (op.flags & kOthersOnly) here = ~inlined;
    const Lanes stays = ~(inlined | continued) & here;
    const Lanes returns = inlined & here;
    if (op.flags & kWrites) slots_[op.result] = ready - op.post_ns;
    if (op.flags & kPinsTheEnd) end_ = select(here & (end_ < ready), ready, end_);
    Lanes falls = Lanes::all(0);
    if (op.flags & kAtOnce) falls = slots_[op.cause] & here;  // detached
    slots_[op.callee] = select(stays & ~falls, ready, slots_[op.callee]);
    slots_[op.spawner] = select(returns, ready - op.label_ns, slots_[op.spawner]);
    if (op.flags & kCalleeRises) falls |= stays;
    if (op.flags & kSpawnerRises) falls |= returns;
    if (memory_.any_continued[op.moves] && !(op.flags & kInlinedOnly)) {
      const LaneHost& host = memory_.hosts[op.host];
      leave_host(host, ready, continued);
      falls |= continued & lanes_of(host.free);
    }
    fall(ready, falls);
  }

  CONTRAFACT_LANE_INLINE void wait_moved(const Op& op, const Lanes& ready) {
    const Lanes cause = slots_[op.cause];
    const Lanes time = woken(op, ready, cause);
    if (!memory_.any_continued[op.host_moves]) {
      waiting_ += time - ready;
      slots_[op.now] = time;
      return;
    }
    const Lanes continued = continued_[op.host_moves];
    const Lanes later = continued & (cause > ready);
    waiting_ += ~continued & (time - ready);
    slots_[op.now] = select(continued, ready, time);
    if (op.flags & kUnhosted) {
      bad_ |= later;
      return;
    }
    Lanes left = ready;
    if (open_ > 0) left = guess_who_goes_first(op, ready, cause, continued);
    if (!is_any(later)) return;
    LaneHost& host = memory_.hosts[op.host];
    leave_host(host, left, later);
    fall(ready, later & lanes_of(host.free));
    const Lanes hosted = slots_[op.callee];
    slots_[op.now] = select(later, hosted, slots_[op.now]);
    lanes_of(host.slot) = select(later, Lanes::all(op.callee), lanes_of(host.slot));
    lanes_of(host.spawner) = lanes_of(host.spawner) & ~later;
    lanes_of(host.free) = op.flags & kSlotFree ? lanes_of(host.free) | later : lanes_of(host.free) & ~later;
    if (op.flags & kSlotFree) rise(hosted, later);
  }

  // The step of a Propagator where nothing else can go on: the coordinator leaves before the result is there, or the
  // thread that would host it goes on.
  CONTRAFACT_LANE_INLINE Lanes guess_who_goes_first(const Op& op, const Lanes& ready, const Lanes& cause,
                                                    const Lanes& continued) {
    const Lanes unknown = Lanes::all(kUnknownMin), hosts = slots_[op.callee];
    slots_[op.callee] = select(continued & (ready >= unknown) & (hosts < unknown), hosts + kGuess, hosts);
    return select((cause >= unknown) & (ready < unknown), ready + kGuess, ready);
  }

  // Coordinators give their threads back, which go on where they are.
  CONTRAFACT_LANE_INLINE void leave_host(const LaneHost& host, const Lanes& time, const Lanes& mask) {
    LaneRow back;
    lanes_of(back) = time - (lanes_of(host.spawner) & Lanes::all(host.hand_out_ns));
    for (size_t lane = 0; lane < kLanes; ++lane) {
      int64_t& slot = memory_.slots[host.slot.lane[lane]].lane[lane];
      slot = mask[lane] ? back.lane[lane] : slot;
    }
  }

  // Loops. The lanes in which the thread of a fork is held up:
  CONTRAFACT_LANE_INLINE bool forks(const Op& op) const {
    return (op.flags & kCoordinatedOnly ? memory_.any_continued : memory_.any_moved)[op.moves] != 0;
  }
  CONTRAFACT_LANE_INLINE Lanes held_up(const Op& op) const {
    return op.flags & kCoordinatedOnly ? continued_[op.moves] : continued_[op.moves] | inlined_[op.moves];
  }

  CONTRAFACT_LANE_INLINE void fork(const Op& op) {
    slots_[op.now] = slots_[op.cause];
    if (!forks(op)) return;
    save(op.result);
    ++open_;
    slots_[op.now] = select(held_up(op), lanes_of(memory_.predicted[op.result]), slots_[op.cause]);
  }

  CONTRAFACT_LANE_INLINE void join(const Op& op) {
    if (!forks(op)) return;
    const Lanes unknown = Lanes::all(kUnknownMin);
    const Lanes mask = held_up(op), found = slots_[op.cause];
    Lanes& predicted = lanes_of(memory_.predicted[op.result]);
    Lanes& guessed = lanes_of(memory_.guessed[op.result]);
    const Lanes unsettled = mask & (found >= unknown);
    Lanes wrong = mask & ~unsettled & ~guessed & (found != predicted);
    predicted = select(wrong, found, predicted);
    // Nothing else is open that could settle it.
    const Lanes guesses = unsettled & (open_ == 1 ? Lanes::all(kAll) : may_guess_) & (predicted >= unknown) &
                          (found >= Lanes::all(kGuessMin));
    predicted = select(guesses, found - kGuess, predicted);
    guessed |= guesses;
    wrong |= guesses;
    if (open_ == 1 && memory_.any_guess) {
      const Lanes more = unsettled & ~guesses & ~may_guess_;  // the loops inside may
      may_guess_ |= more;
      wrong |= more;
    }
    if (memory_.turns[op.result] < kTurnsMax && memory_.again < memory_.again_max && is_any(wrong)) {
      ++memory_.turns[op.result];
      put_back(op.result);
      const Op* const fork = ops_ + memory_.loops[op.result].fork;
      memory_.again += static_cast<uint64_t>(at_ - fork);
      at_ = fork - 1;
      return;
    }
    bad_ |= wrong | unsettled | (mask & (found != predicted));
    if (--open_ == 0) may_guess_ = Lanes::all(0);
  }

  CONTRAFACT_LANE_INLINE void save(uint32_t number) {
    const LaneLoop& loop = memory_.loops[number];
    LaneSaved& saved = memory_.saved[loop.place];
    lanes_of(saved.bad) = bad_;
    lanes_of(saved.end) = end_;
    lanes_of(saved.occupied) = occupied_;
    lanes_of(saved.waiting) = waiting_;
    lanes_of(saved.response) = response_;
    saved.changes = rows();
    saved.open = open_;
    LaneRow* slot = memory_.saved_slots + memory_.places[loop.place].slots_begin;
    for (uint32_t i = loop.slots_begin; i < loop.slots_end; ++i) *slot++ = memory_.slots[memory_.loop_slots[i]];
    LaneHost* host = memory_.saved_hosts + memory_.places[loop.place].hosts_begin;
    for (uint32_t i = loop.hosts_begin; i < loop.hosts_end; ++i) *host++ = memory_.hosts[memory_.loop_hosts[i]];
  }

  CONTRAFACT_LANE_INLINE void put_back(uint32_t number) {
    const LaneLoop& loop = memory_.loops[number];
    const LaneSaved& saved = memory_.saved[loop.place];
    bad_ = lanes_of(saved.bad);
    end_ = lanes_of(saved.end);
    occupied_ = lanes_of(saved.occupied);
    waiting_ = lanes_of(saved.waiting);
    response_ = lanes_of(saved.response);
    change_ = first_change_ + saved.changes;
    chunk_end_ = first_change_ + (saved.changes / PeakMemory::kChunk + 1) * PeakMemory::kChunk;
    open_ = saved.open;
    const LaneRow* slot = memory_.saved_slots + memory_.places[loop.place].slots_begin;
    for (uint32_t i = loop.slots_begin; i < loop.slots_end; ++i) memory_.slots[memory_.loop_slots[i]] = *slot++;
    const LaneHost* host = memory_.saved_hosts + memory_.places[loop.place].hosts_begin;
    for (uint32_t i = loop.hosts_begin; i < loop.hosts_end; ++i) memory_.hosts[memory_.loop_hosts[i]] = *host++;
  }

  LaneMemory& memory_;
  const Op* const ops_;
  const Op* const ops_end_;
  const Op* at_ = nullptr;
  Lanes* const slots_;
  const Lanes* const inlined_;
  const Lanes* const continued_;
  Lanes* const first_change_;
  Lanes* change_;
  Lanes* chunk_end_;
  Lanes bad_;
  Lanes end_ = Lanes::all(kNever);
  Lanes occupied_ = Lanes::all(0), waiting_ = Lanes::all(0), response_ = Lanes::all(0);
  Lanes may_guess_ = Lanes::all(0);
  uint32_t open_ = 0;  // open loops: writes since their forks may be undone
};

template <typename Op>
void run_lanes(std::span<const Op> ops, LaneMemory& memory) {
  Interpreter<Op>(ops, memory).run();
}

constexpr LaneMachine kLaneMachine{run_lanes<LaneOp>, run_lanes<NarrowLaneOp>, count_rows};

}  // namespace
}  // namespace contrafact::graph
