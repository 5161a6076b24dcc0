// A pool of connections to a data base, at most five of them, with a condition for those who find none free. A
// connection is used up after some queries, and who then takes one opens it, which costs round trips, with the pool
// locked. Twin: it counts the connection in, unlocks, and then opens it.
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "work.h"

namespace {

constexpr size_t kOpenMax = 5;
constexpr int kThreads = 7, kQueries = 480, kQueriesOfOne = 6;

class Connection {
 public:
  void open(uint64_t seed) {
    usleep(250);  // the other side accepts
    key_ = compute(seed, 120) | 1;
    usleep(250);  // it agrees to the key
  }
  uint64_t query(uint64_t what) {
    ++queries_;
    const uint64_t sealed = compute(what, 60) ^ key_;
    usleep(200);  // the answer comes
    return compute(sealed ^ key_, 40);
  }
  bool used_up() const { return queries_ >= kQueriesOfOne; }

 private:
  uint64_t key_ = 0;
  int queries_ = 0;
};

class Pool {
 public:
  std::unique_ptr<Connection> borrow() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !idle_.empty() || open_ < kOpenMax; });
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ++open_;
    const uint64_t seed = ++opened_;
    if (twin) lock.unlock();
    auto connection = std::make_unique<Connection>();
    connection->open(seed);
    return connection;
  }
  void give_back(std::unique_ptr<Connection> connection) {
    {
      const std::lock_guard lock(mutex_);
      if (connection->used_up())
        --open_;
      else
        idle_.push_back(std::move(connection));
    }
    returned_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  size_t open_ = 0;
  uint64_t opened_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Pool pool;
    std::atomic<uint64_t> sum = 0;
    run_threads(kThreads, [&](int thread) {
      uint64_t mine = 0;
      for (int i = 0; i < kQueries; ++i) {
        auto connection = pool.borrow();
        mine += connection->query(static_cast<uint64_t>(thread * kQueries + i)) >> 40;
        pool.give_back(std::move(connection));
        mine += compute(mine, 20) == 0;
      }
      sum += mine;
    });
    return sum.load();
  });
}
