// usage: unseen_partners [base|twin]
// Dancers in pairs; who dances does so with the partner of the moment, which the dancer itself says, and now and then
// two pairs change partners. One lock. Twin: each dancer has a lock; who dances looks at the partner with the own lock,
// gives that up, takes both in order of number and looks again. Who changes partners takes all.
#include <algorithm>
#include <array>
#include <mutex>

#include "work.h"

namespace {

constexpr uint32_t kDancers = 32, kThreads = 4, kDances = 20'000, kChangeEvery = 100;

struct Dancer {
  std::mutex lock;
  uint32_t partner = 0;
  std::array<uint32_t, 40> steps{};
  uint64_t danced = 0;
};

class Floor {
 public:
  Floor() {
    for (uint32_t i = 0; i < kDancers; ++i) dancers_[i].partner = i ^ 1;
  }

  void dance(uint32_t who, uint32_t step) {
    if (!twin) {
      const std::lock_guard guard(lock_);
      return dance_with(who, dancers_[who].partner, step);
    }
    for (;;) {
      const uint32_t partner = partner_of(who);
      const std::scoped_lock both(dancers_[std::min(who, partner)].lock, dancers_[std::max(who, partner)].lock);
      if (dancers_[who].partner == partner) return dance_with(who, partner, step);
    }
  }

  void change(uint32_t x, uint32_t y) {
    if (!twin) {
      const std::lock_guard guard(lock_);
      return swap_partners(x, y);
    }
    for (Dancer& dancer : dancers_) dancer.lock.lock();
    swap_partners(x, y);
    for (Dancer& dancer : dancers_) dancer.lock.unlock();
  }

  uint64_t danced() const {
    uint64_t sum = 0;
    for (const Dancer& dancer : dancers_) sum += dancer.danced;
    return sum;
  }

 private:
  uint32_t partner_of(uint32_t who) {
    const std::lock_guard guard(dancers_[who].lock);
    return dancers_[who].partner;
  }
  void dance_with(uint32_t who, uint32_t partner, uint32_t step) {
    move(dancers_[who], step);
    move(dancers_[partner], step + 1);
  }
  static void move(Dancer& dancer, uint32_t step) {
    for (uint32_t bar = 0; bar < 160; ++bar) {
      for (uint32_t& one : dancer.steps) one = one * 5 + step + bar;
    }
    ++dancer.danced;
  }
  void swap_partners(uint32_t x, uint32_t y) {
    const uint32_t of_x = dancers_[x].partner, of_y = dancers_[y].partner;
    if (of_x == y) return;
    dancers_[x].partner = of_y, dancers_[of_y].partner = x;
    dancers_[y].partner = of_x, dancers_[of_x].partner = y;
  }

  std::mutex lock_;
  std::array<Dancer, kDancers> dancers_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Floor floor;
    run_threads(kThreads, [&](int thread) {
      uint64_t random = 362436069u + static_cast<uint64_t>(thread);
      for (uint32_t i = 0; i < kDances; ++i) {
        const uint64_t x = compute(next_random(random), 1);
        const auto who = static_cast<uint32_t>(random >> 9) % kDancers;
        if (i % kChangeEvery == 0) {
          floor.change(who, (who + 1 + static_cast<uint32_t>(random >> 35) % (kDancers - 1)) % kDancers);
        }
        floor.dance(who, static_cast<uint32_t>(x));
      }
    });
    return floor.danced();
  });
}
