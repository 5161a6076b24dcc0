// The machine's part about threads that wait for each other otherwise than for tasks: locks, conditions, semaphores,
// barriers, recorded wakes.
#include "whatif/sim_machine.h"

#include <algorithm>
#include <utility>

namespace contrafact::whatif {

using model::EventKind;

// xorshift64*: the same on every machine.
double SimMachine::random_share() {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return static_cast<double>((random_ * 0x2545F4914F6CDD1Dull) >> 11) * 0x1p-53;
}

int64_t SimMachine::latency_ns(const LatencySamples& samples) {
  if (!options_.recorded_latencies) return 0;
  return options_.seed == 0 ? samples.median_ns() : samples.at(random_share());
}

// The recorded ways in their order, from one that the seed chooses on.
int64_t SimMachine::next_way_ns() {
  const std::vector<int64_t>& ways_ns = program_.sync.mutex_ways_ns;
  if (ways_ns.empty() || !options_.recorded_latencies) return latency_ns(program_.sync.mutex_way);
  if (next_way_ == kNone)
    next_way_ = options_.seed == 0 ? 0 : static_cast<uint32_t>(random_share() * static_cast<double>(ways_ns.size()));
  if (next_way_ >= ways_ns.size()) next_way_ = 0;
  return ways_ns[next_way_++];
}

bool SimMachine::may_enter(const SimLock& lock, uint64_t value) const {
  switch (lock.rule) {
    case LockRule::recorded:
      return lock.over >= plan_.need_of(value);
    case LockRule::ordered:
      return before_of(section_of(value)) == kNone;
    case LockRule::fifo:
      return lock.first == kNone && lock.free_for(is_shared(value));
    case LockRule::barging:
      break;
  }
  return lock.free_for(is_shared(value));
}

bool SimMachine::enters_shared(const SimLock& lock, uint64_t value) {
  return is_shared(value) || lock.rule == LockRule::ordered;
}

// A section that has to be over before this one begins, and is not.
uint32_t SimMachine::before_of(uint32_t section) const {
  for (const uint32_t before : plan_.order->of(section)) {
    if (!section_over_[before]) return before;
  }
  const uint32_t own = plan_.own_before[section];
  return own != kNone && !section_over_[own] ? own : kNone;
}

// The thread waits for one section after the other.
void SimMachine::watch(uint32_t id) {
  uint32_t& first = first_watcher_[before_of(section_of(threads_[id].wanted))];
  threads_[id].next_waiter = std::exchange(first, id);
}

void SimMachine::unwatch(uint32_t id) {
  uint32_t* at = &first_watcher_[before_of(section_of(threads_[id].wanted))];
  while (*at != id) at = &threads_[*at].next_waiter;
  *at = threads_[id].next_waiter;
}

// In the order in which they began to wait for this section: the last one is the first in the list.
void SimMachine::end_ordered(uint32_t section) {
  section_over_[section] = true;
  uint32_t first = kNone;
  for (uint32_t id = std::exchange(first_watcher_[section], kNone); id != kNone;) {
    const uint32_t next = std::exchange(threads_[id].next_waiter, first);
    first = std::exchange(id, next);
  }
  while (first != kNone) {
    const uint32_t id = std::exchange(first, threads_[first].next_waiter);
    if (before_of(section_of(threads_[id].wanted)) != kNone) {
      watch(id);
      continue;
    }
    threads_[id].granted = true;
    SimLock& lock = locks_[threads_[id].blocked_on];
    lock.enter(true);
    // As a mutex wakes a thread to try.
    const bool tries = options_.recorded_latencies && clock_.now_ns() - threads_[id].wait_since_ns < lock.tried_ns;
    wake_waiter(id, tries ? lock.try_way_ns : next_way_ns());
  }
}

void SimMachine::enqueue(uint32_t& first, uint32_t& last, uint32_t id) {
  enqueue(first, last, id, [](uint32_t) { return 0; });
}

// The thread that needs less goes first; of equals, the one that came first.
template <typename Need>
void SimMachine::enqueue(uint32_t& first, uint32_t& last, uint32_t id, Need need) {
  Thread& thread = threads_[id];
  thread.next_waiter = kNone;
  if (first == kNone) {
    first = last = id;
    return;
  }
  if (need(last) <= need(id)) {
    threads_[last].next_waiter = id;
    last = id;
    return;
  }
  uint32_t* at = &first;
  while (need(*at) <= need(id)) at = &threads_[*at].next_waiter;
  thread.next_waiter = *at;
  *at = id;
}

bool SimMachine::step_take(uint32_t id, const Op& op) {
  Thread& thread = threads_[id];
  SimLock& lock = locks_[lock_of(op.value)];
  if (!thread.granted) {
    if (!may_enter(lock, op.value)) {
      wait_for_lock(id, op, lock.kind == format::LockKind::spinlock && clock_.sliced());
      return false;
    }
    lock.enter(enters_shared(lock, op.value));
    // A thread that comes by leaves a mutex unmarked, even if others sleep. A reader-writer lock remembers its
    // sleepers.
    lock.marked = thread.in_queue || (lock.marked && lock.kind == format::LockKind::rwlock);
  }
  had_lock(id, op, lock);
  if (lock.early > 0) {
    --lock.early;
    leave_lock(lock, op.value);
  }
  return true;
}

// Counts and writes the acquisition, and moves the thread on.
void SimMachine::had_lock(uint32_t id, const Op& op, SimLock& lock) {
  Thread& thread = threads_[id];
  const bool shared = is_shared(op.value);
  if (thread.in_queue) {
    lock.wait_ns += clock_.now_ns() - thread.wait_since_ns;
    out_.write(thread.stream, clock_.now_ns(), shared ? EventKind::lock_acquired_shared : EventKind::lock_acquired,
               lock_of(op.value), static_cast<uint32_t>(model::Outcome::normal));
  } else {
    out_.write(thread.stream, clock_.now_ns(), shared ? EventKind::lock_acquire_shared : EventKind::lock_acquire,
               lock_of(op.value), program_.sync.sections[section_of(op.value)].site.value);
  }
  thread.granted = thread.in_queue = thread.slept = false;
  ++thread.stack.back().pc;
}

void SimMachine::begin_wait(uint32_t id, const Op& op, SimLock& lock) {
  Thread& thread = threads_[id];
  if (thread.in_queue) return;
  thread.in_queue = true;
  thread.wait_since_ns = clock_.now_ns();
  ++lock.contended;
  out_.write(thread.stream, clock_.now_ns(),
             is_shared(op.value) ? EventKind::lock_request_shared : EventKind::lock_request, lock_of(op.value),
             program_.sync.sections[section_of(op.value)].site.value);
}

// Whether a thread that finds the lock held is on its core for a while before it sleeps.
bool SimMachine::lingers_at(const SimLock& lock) const {
  return lock.lingers && lock.rule == LockRule::barging && clock_.sliced() && options_.recorded_latencies;
}

// Threads queue in order of arrival. Under the recorded order they queue by what they need, so that the front one is
// next.
void SimMachine::wait_for_lock(uint32_t id, const Op& op, bool spins) {
  Thread& thread = threads_[id];
  SimLock& lock = locks_[lock_of(op.value)];
  const bool slept = thread.slept;
  begin_wait(id, op, lock);
  thread.wanted = op.value;
  thread.blocked_on = lock_of(op.value);
  lock.marked = true;
  if (!spins && lingers_at(lock)) {
    thread.mode = Mode::asking;
    return clock_.use_core(slept ? program_.sync.lingers.again_ns : program_.sync.lingers.asked_ns, id);
  }
  if (lock.rule == LockRule::ordered) {
    watch(id);
  } else if (lock.rule == LockRule::recorded) {
    enqueue(lock.first, lock.last, id, [this](uint32_t t) { return plan_.need_of(threads_[t].wanted); });
  } else {
    enqueue(lock.first, lock.last, id);
  }
  thread.mode = spins ? Mode::spinning : Mode::lock;
  if (spins) clock_.hold_core(id);
}

// The kernel lets the thread sleep only if the lock is still held and marked. A thread that acquired the lock meanwhile
// without waiting left it unmarked.
void SimMachine::ask_for_sleep(uint32_t id) {
  Thread& thread = threads_[id];
  SimLock& lock = locks_[thread.blocked_on];
  if (!lock.marked || !lock.writer) {
    thread.mode = Mode::running;
    return run_thread(id);
  }
  enqueue(lock.first, lock.last, id);
  thread.mode = Mode::leaving;
  clock_.use_core(thread.slept ? 0 : program_.sync.lingers.asleep_ns - program_.sync.lingers.asked_ns, id);
}

// The thread has left its core. If it was woken before that, it comes back no sooner than others.
void SimMachine::fall_asleep(uint32_t id) {
  Thread& thread = threads_[id];
  thread.mode = Mode::lock;
  thread.slept = true;
  if (thread.woken) clock_.at(std::max(thread.comes_ns, clock_.now_ns()), TimedKind::resume, id);
}

uint32_t SimMachine::dequeue(uint32_t& first, uint32_t& last) {
  const uint32_t id = first;
  first = threads_[id].next_waiter;
  if (first == kNone) last = kNone;
  return id;
}

void SimMachine::wake_waiter(uint32_t id, int64_t latency_ns) {
  if (threads_[id].mode == Mode::spinning) return clock_.stop_core(id);
  if (clock_.sliced() && clock_.wake(id)) latency_ns = 0;
  threads_[id].comes_ns = clock_.now_ns() + latency_ns;
  if (threads_[id].mode != Mode::leaving) clock_.at(threads_[id].comes_ns, TimedKind::resume, id);
}

void SimMachine::step_give(uint32_t id, const Op& op) {
  SimLock& lock = locks_[lock_of(op.value)];
  if (!lock.writer && lock.readers == 0) {
    ++lock.early;
    return;
  }
  pay_for_waking(id, op, lock);
  leave_lock(lock, op.value);
}

// Of a mutex that the first thread to come acquires, it is known which thread is woken, here and in the recording. Of
// other locks, it is known which threads sleep. In the recorded order, a thread may wait for its turn at a lock for
// which nobody slept: that costs the releasing thread nothing. Where sections
// became readers, only the last of them that leaves wakes anybody, and the others do not look.
void SimMachine::pay_for_waking(uint32_t id, const Op& op, const SimLock& lock) {
  const WakeCost& cost = program_.sync.wake_cost;
  const uint32_t section = section_of(op.value);
  const bool barges = cost.wakes_known && lock.rule == LockRule::barging;
  const bool wakes_known = barges && lock.kind == format::LockKind::mutex;
  const bool has_readers = barges && lock.made_shared;
  const bool is_ordered = lock.rule == LockRule::ordered;
  const bool waited_for = is_ordered ? first_watcher_[section] != kNone : lock.first != kNone || lock.coming > 0;
  const bool may_wake = (lock.rule != LockRule::recorded && !is_ordered) || cost.slept[section];
  const bool wakes = wakes_known   ? lock.marked && lock.first != kNone
                     : has_readers ? lock.first != kNone && lock.readers <= 1
                                   : may_wake && waited_for;
  const bool in_vain = wakes_known && !wakes && waited_for;
  const int64_t cost_ns = wakes ? cost.ns : in_vain ? cost.in_vain_ns : 0;
  if (op.event == kNone) {  // one of several locks released here, which was not there in the recording
    threads_[id].spared_ns -= cost_ns;
    return;
  }
  const bool woke = (wakes_known || has_readers ? cost.woke : cost.slept)[section];
  const bool was_in_vain = cost.slept[section] && !woke;
  if (wakes != woke || in_vain != was_in_vain) threads_[id].spared_ns = cost.recorded_ns[section] - cost_ns;
}

void SimMachine::leave_lock(SimLock& lock, uint64_t value) {
  const bool shared = enters_shared(lock, value);
  lock.leave(shared);
  // Others may wait for a section under another lock, which has no order of its own.
  if (!section_over_.empty()) end_ordered(section_of(value));
  if (lock.first == kNone) return;
  switch (lock.rule) {
    case LockRule::ordered:
      return;
    case LockRule::recorded:
      while (lock.first != kNone && lock.over >= plan_.need_of(threads_[lock.first].wanted))
        hand_over(lock, recorded_latency_ns(lock.first));
      return;
    case LockRule::fifo:
      while (lock.first != kNone && lock.free_for(is_shared(threads_[lock.first].wanted)))
        hand_over(lock, latency_ns(program_.sync.lock_latency));
      return;
    case LockRule::barging:
      return lock.kind == format::LockKind::rwlock ? change_phase(lock, shared) : wake_to_try(lock);
  }
}

// The C library's reader-writer locks hand over from a writer to all readers that wait, and from the last reader to a
// writer. Readers that come in between enter. Writers among themselves take it as a mutex.
void SimMachine::change_phase(SimLock& lock, bool was_shared) {
  if (lock.readers > 0) return;
  if (!was_shared && !any_reader_waits(lock)) return wake_to_try(lock);
  uint32_t at = lock.first;
  lock.first = lock.last = kNone;
  uint32_t first_writer = kNone;
  while (at != kNone) {
    const uint32_t id = at;
    at = threads_[id].next_waiter;
    const bool shared = is_shared(threads_[id].wanted);
    if (!shared && first_writer == kNone) first_writer = id;
    enqueue(lock.first, lock.last, id);
    if (!shared) continue;
    grant_out_of_turn(lock, id, latency_ns(program_.sync.lock_latency));
  }
  if (lock.readers == 0 && first_writer != kNone)
    grant_out_of_turn(lock, first_writer, latency_ns(program_.sync.lock_latency));
}

bool SimMachine::any_reader_waits(const SimLock& lock) const {
  for (uint32_t id = lock.first; id != kNone; id = threads_[id].next_waiter) {
    if (is_shared(threads_[id].wanted)) return true;
  }
  return false;
}

// A thread that waits here, but did not wait in the recording, came a little too early. To go on, it needs no more time
// than it waited.
int64_t SimMachine::recorded_latency_ns(uint32_t id) {
  const Thread& thread = threads_[id];
  const int64_t typical_ns = latency_ns(program_.sync.lock_latency);
  if (program_.sync.sections[section_of(thread.wanted)].contended()) return typical_ns;
  return std::min(typical_ns, clock_.now_ns() - thread.wait_since_ns);
}

void SimMachine::hand_over(SimLock& lock, int64_t latency_ns) {
  const uint32_t id = dequeue(lock.first, lock.last);
  threads_[id].granted = true;
  lock.enter(is_shared(threads_[id].wanted));
  wake_waiter(id, latency_ns);
}

// All spinning threads try at once. Of sleeping threads one is woken, or all readers at the front of the queue.
void SimMachine::wake_to_try(SimLock& lock) {
  if (threads_[lock.first].mode == Mode::spinning) {
    while (lock.first != kNone) wake_waiter(dequeue(lock.first, lock.last), 0);
    return;
  }
  const bool tries =
      options_.recorded_latencies && clock_.now_ns() - threads_[lock.first].wait_since_ns < lock.tried_ns;
  if (!std::exchange(lock.marked, false) && !tries) return;
  const bool shared = is_shared(threads_[lock.first].wanted);
  do {
    const uint32_t id = dequeue(lock.first, lock.last);
    threads_[id].woken = true;
    ++lock.coming;
    wake_waiter(id, tries ? lock.try_way_ns : next_way_ns());
  } while (shared && lock.first != kNone && is_shared(threads_[lock.first].wanted));
}

bool SimMachine::step_sem_take(uint32_t id, const Op& op) {
  Thread& thread = threads_[id];
  SimLock& semaphore = locks_[lock_of(op.value)];
  if (!thread.granted) {
    if (semaphore.count == 0) {
      wait_for_lock(id, op, false);
      return false;
    }
    --semaphore.count;
    ++semaphore.acquisitions;
  }
  had_lock(id, op, semaphore);
  return true;
}

void SimMachine::step_sem_post(const Op& op) {
  SimLock& semaphore = locks_[lock_of(op.value)];
  if (semaphore.first == kNone) {
    ++semaphore.count;
    return;
  }
  const uint32_t id = dequeue(semaphore.first, semaphore.last);
  threads_[id].granted = true;
  ++semaphore.acquisitions;
  wake_waiter(id, latency_ns(program_.sync.token_latency));
}

bool SimMachine::step_barrier(uint32_t id, const Op& op) {
  Thread& thread = threads_[id];
  if (std::exchange(thread.granted, false)) {
    ++thread.stack.back().pc;
    return true;
  }
  const auto number = static_cast<uint32_t>(op.value);
  Round& round = rounds_[number];
  if (++round.arrived < program_.sync.round_sizes[number]) {
    thread.mode = Mode::barrier;
    thread.blocked_on = number;
    enqueue(round.first, round.last, id);
    return false;
  }
  while (round.first != kNone) {
    const uint32_t other = dequeue(round.first, round.last);
    threads_[other].granted = true;
    wake_waiter(other, latency_ns(program_.sync.token_latency));
  }
  ++thread.stack.back().pc;
  return true;
}

// Comers are served in the order of their coming, because what they need never decreases. Each has a need of its own
// under the recorded order, and always at a futex (what the program builds of it is not known): then the comer that
// needs least is served first.
bool SimMachine::step_credit_wait(uint32_t id, const Op& op) {
  Thread& thread = threads_[id];
  const auto number = static_cast<uint32_t>(op.value);
  SimLock& condition = locks_[number];
  if (!std::exchange(thread.granted, false)) {
    const std::vector<uint32_t>& needs = program_.sync.credits.needs[number];
    const uint32_t need = condition.rule == LockRule::recorded || needs.empty()
                              ? static_cast<uint32_t>(op.value >> 32)
                              : needs[std::min<size_t>(condition.comers++, needs.size() - 1)];
    if (condition.count < need) {
      thread.wanted = need;
      thread.mode = Mode::credit;
      thread.blocked_on = number;
      thread.wait_since_ns = clock_.now_ns();
      ++condition.contended;
      enqueue(condition.first, condition.last, id, [this](uint32_t t) { return threads_[t].wanted; });
      return false;
    }
  } else {
    condition.wait_ns += clock_.now_ns() - thread.wait_since_ns;
  }
  ++condition.acquisitions;
  ++thread.stack.back().pc;
  return true;
}

void SimMachine::step_credit_fire(const Op& op) {
  SimLock& condition = locks_[static_cast<uint32_t>(op.value)];
  ++condition.count;
  while (condition.first != kNone && threads_[condition.first].wanted <= condition.count) {
    const uint32_t id = dequeue(condition.first, condition.last);
    threads_[id].granted = true;
    wake_waiter(id, latency_ns(program_.sync.token_latency));
  }
}

// Nothing can happen, and threads wait for signals: lets the first one go without its signal, as in the recording.
bool SimMachine::break_credits() {
  for (SimLock& condition : locks_) {
    if (!counts_signals(condition.kind) || condition.first == kNone) continue;
    const uint32_t id = dequeue(condition.first, condition.last);
    threads_[id].granted = true;
    ++tokens_broken_;
    wake_waiter(id, 0);
    return true;
  }
  return false;
}

// Nothing can happen: in another order than recorded, a lock's turn, or a signal, can come after the thread that waits
// for it. Lets the thread go whose turn comes first. False if no thread waits for a turn.
bool SimMachine::break_turns() {
  uint32_t first = kNone;
  for (uint32_t id = 0; id < threads_.size(); ++id) {
    const Thread& thread = threads_[id];
    const bool waits = thread.mode == Mode::lock || thread.mode == Mode::spinning;
    if (!waits || !thread.in_queue || thread.granted) continue;
    const SimLock& lock = locks_[thread.blocked_on];
    const bool is_free = lock.rule == LockRule::recorded && lock.free_for(is_shared(thread.wanted));
    if (!is_free && lock.rule != LockRule::ordered) continue;
    const auto since = [&](uint32_t t) { return program_.sync.sections[section_of(threads_[t].wanted)].acquire_ns; };
    if (first == kNone || since(id) < since(first)) first = id;
  }
  if (first == kNone) return false;
  ++turns_broken_;
  SimLock& lock = locks_[threads_[first].blocked_on];
  if (lock.rule == LockRule::recorded) {
    grant_out_of_turn(lock, first, 0);
    return true;
  }
  unwatch(first);
  threads_[first].granted = true;
  lock.enter(true);
  wake_waiter(first, 0);
  return true;
}

// Grants the lock to a thread from anywhere in the queue.
void SimMachine::grant_out_of_turn(SimLock& lock, uint32_t id, int64_t latency_ns) {
  uint32_t before = kNone;
  for (uint32_t at = lock.first; at != id; at = threads_[at].next_waiter) before = at;
  (before == kNone ? lock.first : threads_[before].next_waiter) = threads_[id].next_waiter;
  if (lock.last == id) lock.last = before;
  threads_[id].granted = true;
  lock.enter(is_shared(threads_[id].wanted));
  wake_waiter(id, latency_ns);
}

bool SimMachine::step_token(uint32_t id, const Op& op) {
  const auto token = static_cast<uint32_t>(op.value);
  if (fired_[token]) {
    ++threads_[id].stack.back().pc;
    return true;
  }
  token_waiter_[token] = id;
  threads_[id].mode = Mode::token;
  threads_[id].blocked_on = token;
  return false;
}

// A thread that comes while others wait takes the permits that are left, as at a semaphore that is not fair.
bool SimMachine::step_permit_take(uint32_t id, const Op& op) {
  Thread& thread = threads_[id];
  const auto pool = static_cast<uint32_t>(op.value);
  const auto count = static_cast<int64_t>(op.value >> 32);
  Permits& permits = permits_[pool];
  if (!std::exchange(thread.granted, false)) {
    if (permits.count < count) {
      permits.waiting.push_back({id, count});
      asked_pools_.push_back(pool);
      thread.mode = Mode::permits;
      thread.blocked_on = pool;
      return false;
    }
    permits.count -= count;
  }
  out_.copy(thread.stream, clock_.now_ns(), op.event);
  ++thread.stack.back().pc;
  return true;
}

void SimMachine::step_permit_give(const Op& op) {
  Permits& permits = permits_[static_cast<uint32_t>(op.value)];
  permits.count += static_cast<int64_t>(op.value >> 32);
  while (!permits.waiting.empty() && permits.count >= permits.waiting.front().count) let_have_permits(permits);
}

void SimMachine::let_have_permits(Permits& permits) {
  const uint32_t id = permits.waiting.front().thread;
  permits.count -= permits.waiting.front().count;
  permits.waiting.pop_front();
  threads_[id].granted = true;
  clock_.at(clock_.now_ns() + latencies_.wait_ns, TimedKind::resume, id);
}

std::vector<LockWait> SimMachine::lock_waits() const {
  std::vector<LockWait> waits;
  for (uint32_t i = 0; i < locks_.size(); ++i) {
    const SimLock& lock = locks_[i];
    if (lock.acquisitions == 0 && lock.contended == 0) continue;
    waits.push_back({i, lock.acquisitions, lock.contended, lock.wait_ns});
  }
  return waits;
}

}  // namespace contrafact::whatif
