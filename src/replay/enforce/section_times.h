// When each critical section of a replay was requested, acquired and released. Each section is noted by the threads
// that run it; sums may be taken while threads that do not count still run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/schedule.h"

namespace contrafact::replay {

class SectionTimes {
 public:
  explicit SectionTimes(const Schedule& schedule)
      : schedule_(schedule), stamps_(std::make_unique<Stamps[]>(schedule.sections.size())) {}

  void asked(uint32_t section, int64_t now_ns) { set(stamps_[section].asked, now_ns); }
  void had(uint32_t section, int64_t now_ns) { set(stamps_[section].had, now_ns); }
  void given(uint32_t section, int64_t now_ns) { set(stamps_[section].given, now_ns); }

  // From request to acquisition, summed over the sections of each group.
  std::vector<int64_t> wait_ns_by_group() const;
  // Sections acquired before the release of one that they follow: none, if the order was kept.
  uint64_t out_of_order() const;
  uint64_t count() const;  // of acquired sections

 private:
  static constexpr int64_t kNever = INT64_MIN;
  struct Stamps {
    std::atomic<int64_t> asked{kNever}, had{kNever}, given{kNever};
  };
  static void set(std::atomic<int64_t>& stamp, int64_t ns) { stamp.store(ns, std::memory_order_relaxed); }
  static int64_t get(const std::atomic<int64_t>& stamp) { return stamp.load(std::memory_order_relaxed); }

  const Schedule& schedule_;
  std::unique_ptr<Stamps[]> stamps_;  // by section
};

}  // namespace contrafact::replay
