// Gathered: private profiles for the buffers of an analysis. A profile goes from buffer to buffer, and all are added up
// only at the end: merging after each buffer would cost an access to shared memory for every entry. There are as many
// profiles as buffers were processed at one time; one without a place to wait for the next buffer is added to the rest
// at once.
//
// Profile: add(const Profile&), and size(), its entries.
//
// Thread-safe but for the destructor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace contrafact::online {

template <typename Profile>
class Gathered {
 public:
  // `rest`: makes the one profile to which all others are added.
  template <typename... Arguments>
  explicit Gathered(Arguments&... rest) : rest_(rest...) {}
  ~Gathered() {
    for (auto& place : waiting_) delete place.load();
  }

  // Made by `make` where none waits.
  template <typename Make>
  Profile* begin(Make make) {
    for (size_t i = 0; i < kPlaces; ++i) {
      std::atomic<Profile*>& place = waiting_[(first_place() + i) % kPlaces];
      if (!place.load(std::memory_order_relaxed)) continue;
      if (Profile* profile = place.exchange(nullptr, std::memory_order_acquire)) return profile;
    }
    return make();
  }

  void merge(Profile* profile) {
    accesses_.fetch_add(kAccessesOfABuffer, std::memory_order_relaxed);
    for (size_t i = 0; i < kPlaces; ++i) {
      std::atomic<Profile*>& place = waiting_[(first_place() + i) % kPlaces];
      Profile* none = nullptr;
      if (place.compare_exchange_strong(none, profile, std::memory_order_release)) return;
    }
    const std::unique_ptr<Profile> done(profile);
    std::lock_guard lock(mutex_);
    add_to_rest(*done);
  }

  // REQUIRES: no buffer is being processed.
  Profile& sum() {
    std::lock_guard lock(mutex_);
    for (auto& place : waiting_) {
      const std::unique_ptr<Profile> profile(place.exchange(nullptr));
      if (profile) add_to_rest(*profile);
    }
    return rest_;
  }
  // Accesses to memory that threads share: one to take a profile, one to put it back, one for each sum added to the
  // rest.
  uint64_t accesses() const { return accesses_; }

 private:
  static constexpr size_t kPlaces = 64;  // a few MiB each at most, and only for as many as are busy at one time
  static constexpr uint64_t kAccessesOfABuffer = 2;

  // A thread takes the profile that it used last, most of which its core has at hand.
  static size_t first_place() {
    static std::atomic<size_t> threads{0};
    thread_local const size_t own = threads.fetch_add(1, std::memory_order_relaxed) % kPlaces;
    return own;
  }
  void add_to_rest(const Profile& profile) {
    rest_.add(profile);
    accesses_.fetch_add(profile.size(), std::memory_order_relaxed);
  }

  std::atomic<Profile*> waiting_[kPlaces] = {};
  std::atomic<uint64_t> accesses_{0};
  std::mutex mutex_;
  Profile rest_;
};

}  // namespace contrafact::online
