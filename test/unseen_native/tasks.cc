// A pool of threads with one deque of tasks: who splits a task puts the halves at its end and takes from there, a
// thread with nothing to do takes from the front. Tasks are long beside what is locked. Nothing is to be changed. Twin:
// the same program.
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "work.h"

namespace {

class Tasks {
 public:
  using Task = std::function<void(Tasks&)>;

  void put(Task task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      ++unfinished_;
    }
    more_.notify_one();
  }
  void work() {
    bool newest = false;
    std::unique_lock lock(mutex_);
    while (true) {
      if (tasks_.empty()) newest = false;
      more_.wait(lock, [this] { return unfinished_ == 0 || !tasks_.empty(); });
      if (tasks_.empty()) return;
      Task task = std::move(newest ? tasks_.back() : tasks_.front());
      if (newest)
        tasks_.pop_back();
      else
        tasks_.pop_front();
      lock.unlock();
      task(*this);
      newest = true;
      lock.lock();
      if (--unfinished_ == 0) more_.notify_all();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Task> tasks_;
  size_t unfinished_ = 0;
};

std::atomic<uint64_t> area;  // in millionths

double height(double x, int curve) {
  return std::sin((30 + curve) / (x + 0.02)) + 1.5;
}

double simpson(double from, double to, int curve) {
  double sum = 0;
  constexpr int kSteps = 400;
  const double step = (to - from) / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const double x = from + i * step;
    sum += (height(x, curve) + 4 * height(x + step / 2, curve) + height(x + step, curve)) * step / 6;
  }
  return sum;
}

void integrate(Tasks& tasks, double from, double to, int curve) {
  const double middle = (from + to) / 2, whole = simpson(from, to, curve);
  const double halves = simpson(from, middle, curve) + simpson(middle, to, curve);
  if (std::abs(whole - halves) < 1e-14 * (to - from) || to - from < 1.0 / 16384) {
    area += static_cast<uint64_t>(halves * 1e6);
    return;
  }
  tasks.put([from, middle, curve](Tasks& all) { integrate(all, from, middle, curve); });
  tasks.put([middle, to, curve](Tasks& all) { integrate(all, middle, to, curve); });
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Tasks tasks;
    for (int curve = 0; curve < 6; ++curve) tasks.put([curve](Tasks& all) { integrate(all, 0, 1, curve); });
    run_threads(6, [&](int) { tasks.work(); });
    return area.load();
  });
}
