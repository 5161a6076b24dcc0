#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "deferred/background_thread.h"
#include "recorder/awake_cores.h"
#include "recorder/scheduling_groups.h"

namespace contrafact::recorder {
namespace {

constexpr int kNiceLowest = 19;

// Of a thread that waits. Whoever may not raise it again may still let it run elsewhere.
bool give_lowest_priority(pid_t thread, int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  const sched_param none{};
  return sched_setscheduler(thread, SCHED_IDLE, &none) == 0 &&
         setpriority(PRIO_PROCESS, static_cast<id_t>(thread), kNiceLowest) == 0 &&
         sched_setaffinity(thread, sizeof one, &one) == 0;
}

bool is_awake_turn(int64_t now_ns) {
  return now_ns / AwakeCores::kTurnNs % 2 == 1;
}

// Some 10 to 100 us.
void compute_nothing() {
  constexpr int kPauses = 1'000;
  for (int i = 0; i < kPauses; ++i) __builtin_ia32_pause();
}

int64_t own_cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

// What a thread does. One of them looks at groups, too, in each turn.
enum class AwakeCores::Duty : uint8_t { core, core_and_groups };

// What the threads and the object have in common; whoever is the last of them lets it go. Once the threads have the lowest priority nobody
// waits for one of them: they hold no mutex.
class AwakeCores::Shared {
 public:
  Shared(std::string proc, std::shared_ptr<AwakeReport> report, const cpu_set_t& usable)
      : groups_(std::move(proc)), report_(std::move(report)), usable_(usable) {}

  const std::shared_ptr<AwakeReport>& report() const { return report_; }
  bool stopped() const { return stopped_; }

  // A thread's first words, while it has the priority of whoever started it.
  void sit_down(int core) {
    {
      std::lock_guard lock(mutex_);
      seated_.emplace_back(gettid(), core);
    }
    sits_.notify_all();
    state_.wait(State::begins);
  }

  // Once so many threads have said who they are, gives them the lowest priority and lets them begin.
  base::Status begin(size_t threads) {
    constexpr std::chrono::seconds kLongest(2);  // they wait for cores like any thread
    std::unique_lock lock(mutex_);
    if (!sits_.wait_for(lock, kLongest, [&] { return seated_.size() == threads; }))
      return base::Error{"other programs leave its threads no core"};
    for (const auto& [thread, core] : seated_) {
      if (!give_lowest_priority(thread, core))
        return base::Error{"the system does not let threads have the lowest priority"};
    }
    known_awake_ns_ = base::monotonic_ns();
    go_to(State::turns);
    return {};
  }

  void keep_awake(int core, Duty duty) {
    while (wait_for_turn()) {
      if (duty == Duty::core_and_groups && !still_share()) return;
      while (is_under_way() && is_awake_turn(base::monotonic_ns())) {
        compute_nothing();
        report_->set_computed(core, own_cpu_ns());
      }
    }
  }

  // From now on no core is kept awake; `known_ns`: when it was last known that they were. Threads whose cores other programs use may end on
  // other ones.
  void end(int64_t known_ns) {
    if (ends_.exchange(true)) return;
    // As long as it is under way, no thread has ended, and no other has its number.
    if (is_under_way()) {
      for (const auto& [thread, core] : seated_) sched_setaffinity(thread, sizeof usable_, &usable_);
    }
    report_->set_until(known_ns);
    go_to(State::over);
  }

 private:
  enum class State : uint8_t { begins, turns, over };

  bool is_under_way() const { return state_ == State::turns; }
  void go_to(State state) {
    state_ = state;
    state_.notify_all();
  }

  // Until a turn in which cores are awake; false: it is over.
  bool wait_for_turn() const {
    while (is_under_way()) {
      const int64_t now_ns = base::monotonic_ns(), left_ns = kTurnNs - now_ns % kTurnNs;
      if (is_awake_turn(now_ns)) return true;
      const timespec nap{0, left_ns};  // less than a second
      nanosleep(&nap, nullptr);
    }
    return false;
  }

  // Where they do not, they may not have done so from right behind the look before.
  bool still_share() {
    const int64_t now_ns = base::monotonic_ns();
    if (groups_.descendants_share_ours()) {
      known_awake_ns_ = now_ns;
      return true;
    }
    stopped_ = true;
    end(known_awake_ns_);
    return false;
  }

  const SchedulingGroups groups_;
  const std::shared_ptr<AwakeReport> report_;
  const cpu_set_t usable_;
  std::mutex mutex_;  // until they begin
  std::condition_variable sits_;
  std::vector<std::pair<pid_t, int>> seated_;  // threads and their cores
  std::atomic<State> state_ = State::begins;
  std::atomic<bool> ends_ = false;
  std::atomic<bool> stopped_ = false;
  int64_t known_awake_ns_ = 0;  // of the thread that looks at groups, once they have begun
};

// What a thread is told.
struct AwakeCores::Seat {
  std::shared_ptr<Shared> shared;
  int core;
  Duty duty;

  static void* take(void* given) {
    const std::unique_ptr<Seat> seat(static_cast<Seat*>(given));
    seat->shared->sit_down(seat->core);
    seat->shared->keep_awake(seat->core, seat->duty);
    return nullptr;
  }
};

base::Result<std::unique_ptr<AwakeCores>> AwakeCores::start(const std::string& proc) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0)
    return base::Error{"the system does not say which cores there are"};
  auto report = AwakeReport::make();
  if (!report) return report.error();
  std::unique_ptr<AwakeCores> awake(new AwakeCores(std::make_shared<Shared>(proc, *std::move(report), usable)));
  size_t threads = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &usable)) continue;
    auto seat = std::make_unique<Seat>(awake->shared_, core, threads == 0 ? Duty::core_and_groups : Duty::core);
    pthread_t thread{};
    if (base::Status started = deferred::start_background_thread("awake core", Seat::take, seat.get(), thread);
        !started)
      return started.error();
    seat.release();
    pthread_detach(thread);
    ++threads;
  }
  if (base::Status begun = awake->shared_->begin(threads); !begun) return begun.error();
  return awake;
}

AwakeCores::~AwakeCores() {
  shared_->end(base::monotonic_ns());
}

bool AwakeCores::stopped() const {
  return shared_->stopped();
}

std::shared_ptr<const AwakeReport> AwakeCores::report() const {
  return shared_->report();
}

}  // namespace contrafact::recorder
