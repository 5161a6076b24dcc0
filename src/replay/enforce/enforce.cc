#include "replay/enforce/enforce.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <semaphore>

#include "base/clock.h"
#include "replay/enforce/burn.h"
#include "replay/enforce/live_locks.h"
#include "replay/enforce/thread_states.h"
#include "replay/enforce/turns.h"

namespace contrafact::replay {
namespace {

constexpr size_t kBlockBytes = 1 << 20;  // K of equation 1
constexpr size_t kStackBytes = 128 << 10;

void sleep_ns(int64_t ns) {
  timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR) {
  }
}

// How much longer a sleep takes here than requested: recorded sleeps include that already.
int64_t sleep_overhead_ns() {
  constexpr int kTries = 15;
  constexpr int64_t kAsked = 100'000;
  std::vector<int64_t> over_ns;
  for (int i = 0; i < kTries; ++i) {
    const int64_t begin_ns = base::monotonic_ns();
    sleep_ns(kAsked);
    over_ns.push_back(base::monotonic_ns() - begin_ns - kAsked);
  }
  std::nth_element(over_ns.begin(), over_ns.begin() + kTries / 2, over_ns.end());
  return over_ns[kTries / 2];
}

// For the deterministic order. A turn may have to be handed to a thread without a core, which takes longer than many a
// program computes between two locks: for such a program quanta are so long that hand-overs take a small part of them.
// For others that would cost parallelism: in each quantum a thread's first lock waits for all lower threads.
int quantum_bits(const Schedule& schedule) {
  constexpr uint64_t kHandOverNs = 20'000;
  constexpr int kLong = 17;  // 131 us
  uint64_t burnt_ns = 0, takes = 0;
  for (const ReplayThread& thread : schedule.threads) {
    for (const Action& action : thread.actions) {
      if (action.code == ActionCode::burn) burnt_ns += action.value;
      takes += action.code == ActionCode::take || action.code == ActionCode::take_shared;
    }
  }
  return burnt_ns < takes * kHandOverNs ? kLong : 0;
}

class Run {
 public:
  Run(Schedule schedule, Strategy strategy)
      : schedule_(std::move(schedule)),
        deterministic_(strategy == Strategy::deterministic),
        by_sections_(strategy == Strategy::sections),
        recorded_(strategy == Strategy::recorded || by_sections_),
        locks_(std::make_unique<LiveLock[]>(schedule_.locks.size())),
        counts_(std::make_unique<LiveCount[]>(schedule_.locks.size())),
        tokens_(std::make_unique<LiveCount[]>(schedule_.tokens)),
        tasks_(std::make_unique<LiveCount[]>(schedule_.tasks)),
        rounds_(std::make_unique<LiveCount[]>(schedule_.round_sizes.size())),
        parking_(schedule_.threads.size()),
        quantum_bits_(quantum_bits(schedule_)),
        turns_(schedule_.threads.size(), quantum_bits_),
        doing_(std::make_unique<Doing[]>(schedule_.threads.size())),
        workers_(schedule_.threads.size()),
        times_(schedule_),
        over_(std::make_unique<std::atomic<uint32_t>[]>(schedule_.sections.size())) {
    for (size_t i = 0; i < schedule_.locks.size(); ++i) {
      locks_[i].init(schedule_.locks[i]);
      counts_[i].count = schedule_.locks[i].kind == ReplayLockKind::semaphore ? schedule_.locks[i].count : 0;
    }
  }

  base::Status run(ReplayResult& result) {
    prctl(PR_SET_TIMERSLACK, 1);
    sleep_over_ns_ = sleep_overhead_ns();
    uint32_t foreground = 0;
    for (const ReplayThread& thread : schedule_.threads) foreground += !thread.background && !thread.actions.empty();
    left_.store(foreground);
    acting_.store(static_cast<uint32_t>(schedule_.starts.size()));
    begin_ns_ = base::monotonic_ns();
    if (deterministic_) {
      for (const Start& start : schedule_.starts) turns_.join_at(start.thread, static_cast<int64_t>(start.time_ns));
    }
    for (const Start& start : schedule_.starts) {
      if (!create(start.thread, static_cast<int64_t>(start.time_ns))) return base::Error{"no more threads to be had"};
    }
    watch();
    result.waits_left = waits_left_;
    result.sleep_over_ns = sleep_over_ns_;
    result.run_ns = end_ns_.load() - begin_ns_;
    if (failed_.load()) return base::Error{"no more threads to be had"};
    summarise(result);
    return {};
  }

 private:
  // What a thread reports to the watcher.
  struct alignas(64) Doing {
    std::atomic<uint32_t> actions{0};  // done
    std::atomic<bool> works{false};    // burns or sleeps
    int64_t left_ns = 0;               // deterministic order: its logical time when it began to wait for another
  };
  struct Worker {
    Run* run = nullptr;
    uint32_t thread = 0;
    int64_t start_ns = 0;
  };

  bool create(uint32_t thread, int64_t start_ns) {
    workers_[thread] = {this, thread, start_ns};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t created;
    const int error = pthread_create(&created, &attributes, &Run::body, &workers_[thread]);
    pthread_attr_destroy(&attributes);
    return error == 0;
  }

  static void* body(void* argument) {
    const Worker& worker = *static_cast<Worker*>(argument);
    worker.run->execute(worker);
    return nullptr;
  }

  void execute(const Worker& worker) {
    Doing& doing = doing_[worker.thread];
    doing.works.store(true, std::memory_order_relaxed);
    if (worker.start_ns > 0) sleep_ns(std::max<int64_t>(0, begin_ns_ + worker.start_ns - base::monotonic_ns()));
    const ReplayThread& thread = schedule_.threads[worker.thread];
    Burner burner;
    for (const Action& action : thread.actions) {
      doing.works.store(action.code == ActionCode::burn || action.code == ActionCode::sleep, std::memory_order_relaxed);
      perform(worker.thread, action, burner);
      doing.actions.store(doing.actions.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    doing.works.store(false, std::memory_order_relaxed);
    if (deterministic_) turns_.leave(worker.thread);
    if (thread.background || thread.actions.empty()) return stop_acting();
    const int64_t now_ns = base::monotonic_ns();
    for (int64_t end_ns = end_ns_.load(); end_ns < now_ns && !end_ns_.compare_exchange_weak(end_ns, now_ns);) {
    }
    left_.fetch_sub(1);
    stop_acting();
  }

  void perform(uint32_t thread, const Action& action, Burner& burner) {
    const auto ns = static_cast<int64_t>(action.value);
    switch (action.code) {
      case ActionCode::burn:
        return burner.burn(ns, deterministic_ ? &turns_.clock(thread) : nullptr);
      case ActionCode::sleep:
        if (deterministic_) turns_.clock(thread).fetch_add(ns);
        return sleep_ns(std::max<int64_t>(0, ns - sleep_over_ns_));
      case ActionCode::take:
      case ActionCode::take_shared:
        return take(thread, action, action.code == ActionCode::take_shared);
      case ActionCode::give:
      case ActionCode::give_shared:
        return give(thread, action, action.code == ActionCode::give_shared);
      case ActionCode::sem_take:
        if (recorded_) return wait_for(thread, counts_[action.value], action.need);
        return use_one(thread, counts_[action.value]);
      case ActionCode::sem_post:
      case ActionCode::credit_fire:
        return add_one(thread, counts_[action.value], !recorded_ && action.code == ActionCode::sem_post);
      case ActionCode::credit_wait:
        return come(thread, action);
      case ActionCode::token_fire:
        return add_one(thread, tokens_[action.value], false);
      case ActionCode::token_wait:
        return wait_for(thread, tokens_[action.value], 1);
      case ActionCode::finish:
        return add_one(thread, tasks_[action.value], false);
      case ActionCode::join:
        return wait_for(thread, tasks_[action.value], 1);
      case ActionCode::barrier:
        add_one(thread, rounds_[action.value], false);
        return wait_for(thread, rounds_[action.value], schedule_.round_sizes[action.value]);
      case ActionCode::spawn:
        return spawn(thread, static_cast<uint32_t>(action.value));
    }
  }

  // ---- Turns

  void await_turn(uint32_t thread) {
    if (deterministic_) turns_.wait(thread);
  }
  void leave_turns(uint32_t thread) {
    doing_[thread].left_ns = turns_.clock(thread).load(std::memory_order_relaxed);
    turns_.leave(thread);
  }
  // A thread's action at its turn takes a nanosecond of logical time, so that others' turns come.
  void end_turn(uint32_t thread) {
    if (deterministic_) turns_.clock(thread).fetch_add(1, std::memory_order_release);
  }

  // ---- Locks

  bool is_ordered_by_sections(const Action& action) const {
    return by_sections_ && !schedule_.locks[action.value].given_by_others;
  }

  void take(uint32_t thread, const Action& action, bool shared) {
    LiveLock& lock = locks_[action.value];
    if (is_ordered_by_sections(action)) {
      times_.asked(action.section, base::monotonic_ns());
      for (const uint32_t before : schedule_.sections[action.section].follows) await_count(over_[before], 1);
      return times_.had(action.section, base::monotonic_ns());
    }
    if (deterministic_) {
      take_at_turn(thread, lock, shared);
    } else {
      if (recorded_) await_count(lock.over, action.need);
      lock.lock(shared);
    }
    if (!shared) lock.note(action.section);
    end_turn(thread);
  }

  static void await_count(const std::atomic<uint32_t>& count, uint32_t need) {
    constexpr int kSpins = 100;
    for (int spins = 0;; ++spins) {
      const uint32_t now = count.load(std::memory_order_acquire);
      if (now >= need) return;
      if (spins < kSpins) {
        __builtin_ia32_pause();
      } else {
        count.wait(now, std::memory_order_acquire);
      }
    }
  }
  static void count_one(std::atomic<uint32_t>& count) {
    count.fetch_add(1, std::memory_order_release);
    count.notify_all();
  }

  // A lock that is free now but was released later in the order of turns is not free at this turn: whether its holder
  // has already released it is chance. Tries come in steps of logical time, so that their number does not show: tries
  // known to be in vain are left out.
  void take_at_turn(uint32_t thread, LiveLock& lock, bool shared) {
    constexpr int64_t kLeastStep = 500;
    const int64_t step_ns = std::max(kLeastStep, int64_t{1} << quantum_bits_);
    std::atomic<int64_t>& clock = turns_.clock(thread);
    for (;;) {
      turns_.wait(thread);
      int64_t steps = 1;
      if (lock.try_lock(shared)) {
        int64_t given_up = lock.given_up.load(std::memory_order_acquire);
        if (!shared) given_up = std::max(given_up, lock.given_up_shared.load(std::memory_order_acquire));
        const int64_t now_ns = clock.load(std::memory_order_relaxed);
        if (given_up <= turns_.place(thread, now_ns)) return;
        lock.unlock();
        steps = (turns_.after(thread, given_up) - now_ns + step_ns - 1) / step_ns;
      }
      clock.fetch_add(steps * step_ns, std::memory_order_release);
    }
  }

  void give(uint32_t thread, const Action& action, bool shared) {
    if (is_ordered_by_sections(action)) {
      times_.given(action.section, base::monotonic_ns());
      return count_one(over_[action.section]);
    }
    LiveLock& lock = locks_[action.value];
    if (deterministic_) {
      std::atomic<int64_t>& given_up = shared ? lock.given_up_shared : lock.given_up;
      const int64_t now = turns_.place(thread, turns_.clock(thread).load(std::memory_order_relaxed));
      int64_t before = given_up.load(std::memory_order_relaxed);
      while (before < now && !given_up.compare_exchange_weak(before, now)) {
      }
    }
    lock.unlock();
    end_turn(thread);
    if (recorded_) count_one(lock.over);
  }

  // ---- Waiting for each other

  // Lets those threads go on that have what they need. `used_up`: each takes one away.
  void add_one(uint32_t thread, LiveCount& what, bool used_up) {
    await_turn(thread);
    {
      std::lock_guard guard(what.mutex);
      ++what.count;
      std::erase_if(what.waiting, [&](const LiveCount::Waiter& waiter) {
        if (what.count < waiter.need) return false;
        if (used_up) --what.count;
        if (deterministic_) turns_.join_at(waiter.thread, turns_.clock(thread).load(std::memory_order_relaxed) + 1);
        let_go(waiter.thread);
        return true;
      });
    }
    end_turn(thread);
  }

  // The last thread that could let another go on reports to the watcher that none can any more.
  void park(uint32_t thread) {
    stop_acting();
    parking_.park(thread);
  }
  void let_go(uint32_t thread) {
    acting_.fetch_add(1);
    parking_.let_go(thread);
  }
  void stop_acting() {
    if (acting_.fetch_sub(1) == 1) none_acts_.release();
  }

  void wait_for(uint32_t thread, LiveCount& what, uint32_t need) {
    await_turn(thread);
    {
      std::lock_guard guard(what.mutex);
      if (what.count >= need) return end_turn(thread);
      what.waiting.push_back({thread, need});
      if (deterministic_) leave_turns(thread);
    }
    park(thread);
  }

  void use_one(uint32_t thread, LiveCount& semaphore) {
    await_turn(thread);
    {
      std::lock_guard guard(semaphore.mutex);
      if (semaphore.count > 0) {
        --semaphore.count;
        return end_turn(thread);
      }
      semaphore.waiting.push_back({thread, 1});
      if (deterministic_) leave_turns(thread);
    }
    park(thread);
  }

  // In the recorded order each comer needs what it needed in the recording; in others, what its place among the comers
  // needs, where places have needs.
  void come(uint32_t thread, const Action& action) {
    const std::vector<uint32_t>& needs = schedule_.credit_needs[action.value];
    LiveCount& signals = counts_[action.value];
    await_turn(thread);
    {
      std::lock_guard guard(signals.mutex);
      const size_t place = signals.comers++;
      const uint32_t need = recorded_ || needs.empty() ? action.need : needs[std::min(place, needs.size() - 1)];
      if (signals.count >= need) return end_turn(thread);
      signals.waiting.push_back({thread, need});
      if (deterministic_) leave_turns(thread);
    }
    park(thread);
  }

  void spawn(uint32_t thread, uint32_t child) {
    await_turn(thread);
    if (deterministic_) turns_.join_at(child, turns_.clock(thread).load(std::memory_order_relaxed) + 1);
    acting_.fetch_add(1);
    if (!create(child, 0)) {
      failed_.store(true);
      left_.store(0);
    }
    end_turn(thread);
  }

  // ---- When nothing can happen any more

  // In another order of locks than the recorded one, two threads may wait for each other: the test that the program
  // makes before it waits is not in the trace. The last thread to park reports this; where one waits at a lock whose
  // holder is parked, only looking shows it. Returns at the end of the run. Looks are rare, because they take a core.
  void watch() {
    constexpr int64_t kLookNs = 5'000'000, kLookAgainNs = 500'000;
    constexpr int kLooks = 4;  // that find nothing done
    Progress before;
    for (int looks = 0; left_.load() > 0;) {
      if (none_acts_.try_acquire_for(std::chrono::nanoseconds(looks == 0 ? kLookNs : kLookAgainNs))) {
        if (left_.load() > 0) waits_left_ += let_one_go();
        looks = 0;
        continue;
      }
      const Progress now = progress();
      looks = now.works || now.done != before.done ? 0 : looks + 1;
      before = now;
      if (looks < kLooks) continue;
      looks = 0;
      if (others_can_run()) continue;  // some may wait for a core, or had one between two of the looks
      const Progress after = progress();
      if (!after.works && after.done == now.done) waits_left_ += let_one_go();
    }
  }

  struct Progress {
    uint64_t done = 0;   // actions, by all threads
    bool works = false;  // a thread burns or sleeps
  };
  Progress progress() const {
    Progress sum;
    for (size_t i = 0; i < schedule_.threads.size(); ++i) {
      sum.done += doing_[i].actions.load(std::memory_order_relaxed);
      sum.works |= doing_[i].works.load(std::memory_order_relaxed);
    }
    return sum;
  }

  // The first that waits for a signal goes on without it, or else for a recorded wake; as in the simulation.
  bool let_one_go() {
    for (size_t i = 0; i < schedule_.locks.size(); ++i) {
      if (schedule_.locks[i].kind == ReplayLockKind::condition && let_go_of(counts_[i])) return true;
    }
    for (uint32_t i = 0; i < schedule_.tokens; ++i) {
      if (let_go_of(tokens_[i])) return true;
    }
    return false;
  }

  bool let_go_of(LiveCount& what) {
    std::lock_guard guard(what.mutex);
    if (what.waiting.empty()) return false;
    const uint32_t thread = what.waiting.front().thread;
    what.waiting.erase(what.waiting.begin());
    if (deterministic_) turns_.join_at(thread, doing_[thread].left_ns);
    let_go(thread);
    return true;
  }

  void summarise(ReplayResult& result) {
    if (by_sections_) {
      result.wait_ns_by_group = times_.wait_ns_by_group();
      result.out_of_order = times_.out_of_order();
      result.sections = times_.count();
      return;
    }
    uint64_t digest = 14695981039346656037u;  // FNV-1a
    for (size_t i = 0; i < schedule_.locks.size(); ++i) {
      uint32_t latest = 0;
      for (const uint32_t section : locks_[i].order()) {
        digest = (digest ^ section) * 1099511628211u;
        result.out_of_order += section < latest;
        latest = std::max(latest, section);
        ++result.sections;
      }
    }
    result.order_digest = digest;
  }

  const Schedule schedule_;
  const bool deterministic_;
  const bool by_sections_;
  const bool recorded_;  // whatever is not ordered by sections keeps its recorded order
  std::unique_ptr<LiveLock[]> locks_;
  std::unique_ptr<LiveCount[]> counts_;  // by lock: signals of conditions, posts of semaphores
  std::unique_ptr<LiveCount[]> tokens_, tasks_, rounds_;
  Parking parking_;
  const int quantum_bits_;
  Turns turns_;
  std::unique_ptr<Doing[]> doing_;
  std::vector<Worker> workers_;
  SectionTimes times_;
  std::unique_ptr<std::atomic<uint32_t>[]> over_;  // by section; of sections: whether it is over
  uint64_t waits_left_ = 0;
  std::atomic<uint32_t> left_{0};
  std::atomic<uint32_t> acting_{0};  // threads that are neither parked nor over
  std::counting_semaphore<> none_acts_{0};
  std::atomic<int64_t> end_ns_{0};
  std::atomic<bool> failed_{false};
  int64_t begin_ns_ = 0;
  int64_t sleep_over_ns_ = 0;
};

base::Result<std::vector<uint8_t>> read_blocks(const std::string& path, ReplayResult& result) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return base::Error{path + ": " + std::strerror(errno)};
  std::vector<uint8_t> bytes;
  for (;;) {
    const size_t at = bytes.size();
    bytes.resize(at + kBlockBytes);
    const ssize_t got = read(fd, bytes.data() + at, kBlockBytes);
    bytes.resize(at + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      close(fd);
      if (got < 0) return base::Error{path + ": " + std::strerror(errno)};
      return bytes;
    }
    ++result.blocks;
  }
}

}  // namespace

base::Result<ReplayResult> enforce(const std::string& path, Strategy strategy) {
  ReplayResult result;
  const int64_t begin_ns = base::monotonic_ns();
  base::Result<std::vector<uint8_t>> bytes = read_blocks(path, result);
  if (!bytes) return bytes.error();
  result.file_bytes = bytes->size();
  const int64_t read_ns = base::monotonic_ns();
  base::Result<Schedule> schedule = decode(*bytes);
  if (!schedule) return base::Error{path + ": " + schedule.error().message};
  result.read_ns = read_ns - begin_ns;
  result.decode_ns = base::monotonic_ns() - read_ns;
  // Kept as long as the process lives: threads that the run does not wait for may still use it.
  static std::vector<Run*>& kept = *new std::vector<Run*>;
  if (strategy == Strategy::sections && schedule->sections.empty())
    return base::Error{path + ": its sections are not ordered one by one"};
  Run* run = kept.emplace_back(new Run(*std::move(schedule), strategy));
  if (base::Status status = run->run(result); !status) return status.error();
  return result;
}

}  // namespace contrafact::replay
