// usage: unseen_shelves [base|twin]
// Parcels on the shelves of a warehouse, lists of nodes that go from one to the other, under one lock. Twin: each shelf
// has a lock; who moves a parcel takes those of both, that of the lower number first.
#include <algorithm>
#include <array>
#include <list>
#include <mutex>

#include "work.h"

namespace {

constexpr size_t kShelves = 30, kParcels = 250;
constexpr int kThreads = 4, kMoves = 12'000;

struct Parcel {
  uint32_t weight = 0;
  std::array<uint32_t, 12> stamps{};
};

struct Shelf {
  std::mutex lock;
  std::list<Parcel> parcels;
  uint64_t load = 0;
};

class Warehouse {
 public:
  Warehouse() {
    for (size_t shelf = 0; shelf < kShelves; ++shelf) {
      for (size_t i = 0; i < kParcels; ++i)
        shelves_[shelf].parcels.push_back({static_cast<uint32_t>(i * 7 + shelf), {}});
    }
  }

  // The lightest that is there.
  void move(size_t from, size_t to, uint32_t stamp) {
    if (twin) {
      const std::lock_guard first(shelves_[std::min(from, to)].lock);
      const std::lock_guard second(shelves_[std::max(from, to)].lock);
      return move_lightest(shelves_[from], shelves_[to], stamp);
    }
    const std::lock_guard guard(lock_);
    move_lightest(shelves_[from], shelves_[to], stamp);
  }

  uint64_t parcels() const {
    uint64_t sum = 0;
    for (const Shelf& shelf : shelves_) sum += shelf.parcels.size();
    return sum;
  }

 private:
  static void move_lightest(Shelf& from, Shelf& to, uint32_t stamp) {
    if (from.parcels.size() <= kParcels / 2) return;
    const auto lightest =
        std::ranges::min_element(from.parcels, {}, [&](const Parcel& p) { return p.weight ^ p.stamps[stamp % 12]; });
    lightest->stamps[stamp % 12] = stamp;
    to.parcels.splice(to.parcels.begin(), from.parcels, lightest);
    from.load = weigh(from), to.load = weigh(to);
  }
  static uint64_t weigh(const Shelf& shelf) {
    uint64_t load = 0;
    for (const Parcel& parcel : shelf.parcels) {
      load += parcel.weight;
      for (const uint32_t stamp : parcel.stamps) load = load * 3 + stamp;
    }
    return load;
  }

  std::mutex lock_;
  std::array<Shelf, kShelves> shelves_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Warehouse warehouse;
    run_threads(kThreads, [&](int thread) {
      uint64_t random = 2463534242u + static_cast<uint64_t>(thread);
      for (int i = 0; i < kMoves; ++i) {
        const uint64_t x = compute(next_random(random), 4);
        const size_t from = (random >> 9) % kShelves;
        warehouse.move(from, (from + 1 + (random >> 33) % (kShelves - 1)) % kShelves, static_cast<uint32_t>(x));
      }
    });
    return warehouse.parcels();
  });
}
