// A thread pool of the program's own, whose tasks it names (contrafact/tasks.h): 3 threads, 60 tasks that main waits
// for one by one, and 5 that are dropped.
#include "contrafact/tasks.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct Job {
  void (*function)(long steps, long& result);
  long steps = 0;
  long result = 0;
  bool is_done = false;
  contrafact_task task = 0;
};

void add_up(long steps, long& result) {
  for (long i = 0; i < steps; ++i) result = result * 31 + (i ^ (result >> 3));
  result &= 7;
}

class Pool {
 public:
  explicit Pool(int threads) : name_(CONTRAFACT_POOL("adders", static_cast<uint32_t>(threads))) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  // Drops what has not begun.
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      ends_ = true;
      for (const auto& job : queue_) CONTRAFACT_TASK_DROP(job->task);
      queue_.clear();
    }
    there_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::shared_ptr<Job> submit(long steps) {
    auto job = std::make_shared<Job>(Job{.function = add_up, .steps = steps});
    {
      std::lock_guard lock(mutex_);
      job->task = CONTRAFACT_TASK_SUBMIT(name_, job->function);
      queue_.push_back(job);
    }
    there_.notify_one();
    return job;
  }

  long wait(Job& job) {
    CONTRAFACT_TASK_WAIT_BEGIN(job.task);
    {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [&] { return job.is_done; });
    }
    CONTRAFACT_TASK_WAIT_END(job.task);
    return job.result;
  }

  void stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }

 private:
  void run() {
    for (;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex_);
        there_.wait(lock, [&] { return ends_ || (!stopped_ && !queue_.empty()); });
        if (ends_) return;
        job = queue_.front();
        queue_.pop_front();
      }
      CONTRAFACT_TASK_BEGIN(job->task);
      job->function(job->steps, job->result);
      CONTRAFACT_TASK_END(job->task);
      {
        std::lock_guard lock(mutex_);
        job->is_done = true;
      }
      done_.notify_all();
    }
  }

  const contrafact_pool name_;
  std::mutex mutex_;
  std::condition_variable there_, done_;
  std::deque<std::shared_ptr<Job>> queue_;
  bool ends_ = false, stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

int main(int count, char** arguments) {
  const long steps = count > 1 ? std::atol(arguments[1]) : 20'000;
  Pool pool(3);
  std::vector<std::shared_ptr<Job>> jobs;
  for (int i = 0; i < 60; ++i) jobs.push_back(pool.submit(steps * (1 + i % 5)));
  long sum = 0;
  for (const auto& job : jobs) sum += pool.wait(*job);
  pool.stop();
  for (int i = 0; i < 5; ++i) pool.submit(steps);
  std::printf("%ld\n", sum);
  return 0;
}
