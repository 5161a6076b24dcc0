#include "recorder/awake_cores.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"

namespace contrafact::recorder {
namespace {

constexpr int kNiceLowest = 19;

bool take_lowest_priority(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  const sched_param none{};
  return sched_setaffinity(0, sizeof one, &one) == 0 && sched_setscheduler(0, SCHED_IDLE, &none) == 0 &&
         setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceLowest) == 0;
}

std::string text_of(const std::string& path) {
  const auto text = base::read_text_file(path);
  return text ? *text : "";
}

bool sessions_are_groups() {
  return text_of("/proc/sys/kernel/sched_autogroup_enabled").starts_with('1');
}

bool shares_our_group(pid_t child) {
  if (sessions_are_groups() && getsid(child) != getsid(0)) return false;
  const std::string its = text_of("/proc/" + std::to_string(child) + "/cgroup");
  return its.empty() || its == text_of("/proc/self/cgroup");
}

bool children_share_our_group() {
  const std::string children = text_of("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::string_view left = children;
  while (!left.empty()) {
    pid_t child = 0;
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), child);
    if (error != std::errc()) return true;
    if (!shares_our_group(child)) return false;
    left.remove_prefix(static_cast<size_t>(end - left.data()));
    left.remove_prefix(left.starts_with(' ') ? 1 : 0);
  }
  return true;
}

bool is_awake_turn(int64_t now_ns) {
  return now_ns / AwakeCores::kTurnNs % 2 == 1;
}

// Some 10 to 100 us.
void compute_nothing() {
  constexpr int kPauses = 1'000;
  for (int i = 0; i < kPauses; ++i) __builtin_ia32_pause();
}

}  // namespace

AwakeCores::AwakeCores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::atomic<size_t> lowest = 0, asked = 0;
  const bool is_known = sched_getaffinity(0, sizeof usable, &usable) == 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!is_known || !CPU_ISSET(core, &usable)) continue;
    threads_.emplace_back([this, core, &lowest, &asked, is_first = threads_.empty()] {
      const bool is_lowest = take_lowest_priority(core);
      if (is_lowest) ++lowest;
      ++asked;
      asked.notify_one();
      if (is_lowest) keep_awake(is_first);
    });
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (size_t done = asked; done < threads_.size(); done = asked) asked.wait(done);
  began_ = !threads_.empty() && lowest == threads_.size();
  if (!began_) end();
}

AwakeCores::~AwakeCores() {
  end();
  for (std::thread& thread : threads_) thread.join();
}

void AwakeCores::end() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  ends_.notify_all();
}

bool AwakeCores::wait_for_turn() {
  const int64_t now_ns = base::monotonic_ns(), next_ns = (now_ns / kTurnNs + 1) * kTurnNs;
  if (is_awake_turn(now_ns)) return !over_;
  std::unique_lock lock(mutex_);
  ends_.wait_for(lock, std::chrono::nanoseconds(next_ns - now_ns), [this] { return over_.load(); });
  return !over_;
}

void AwakeCores::keep_awake(bool looks_at_children) {
  while (wait_for_turn()) {
    if (looks_at_children && !children_share_our_group()) {
      stopped_ = true;
      return end();
    }
    while (!over_ && is_awake_turn(base::monotonic_ns())) compute_nothing();
  }
}

}  // namespace contrafact::recorder
