#include "recorder/event_clock.h"

#include <cpuid.h>

#include <algorithm>

#include "base/file.h"

namespace contrafact::recorder {

ClockPair read_clock_pair() {
  ClockPair best;
  uint64_t best_took = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    _mm_lfence();
    const uint64_t before = __rdtsc();
    const int64_t ns = base::monotonic_ns();
    _mm_lfence();
    const uint64_t took = __rdtsc() - before;
    if (took >= best_took) continue;
    best_took = took;
    best = {before + took / 2, ns};
  }
  return best;
}

const char* why_not_the_counter() {
  constexpr unsigned kPowerManagement = 0x80000007, kInvariant = 1 << 8;  // AMD64 manual, volume 3, appendix E
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(kPowerManagement, &a, &b, &c, &d) == 0 || (d & kInvariant) == 0) {
    return "the processor's counter is not invariant";
  }
  const auto source = base::read_text_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source || *source != "tsc\n") return "the kernel does not use the processor's counter";
  return nullptr;
}

void EventClock::start(bool use_counter, ClockPair pair) {
  uses_counter_ = use_counter;
  anchor_ = next_anchor_ = pair;
  error_ns_.store(0, std::memory_order_relaxed);
  late_.store(0, std::memory_order_relaxed);
}

void EventClock::steer(ClockPair pair) {
  if (!uses_counter_ || pair.ns - anchor_.ns < kFirstNs || pair.ticks <= anchor_.ticks) return;
  double ticks_per_ns = static_cast<double>(pair.ticks - anchor_.ticks) / static_cast<double>(pair.ns - anchor_.ns);
  const uint32_t newest = newest_.load(std::memory_order_relaxed);
  if (newest == 0) {
    first_ticks_per_ns_ = ticks_per_ns;
  } else {
    const uint64_t begin_ticks = lines_[newest % kLines].begin_ticks.load(std::memory_order_relaxed);
    const auto since = static_cast<int64_t>(pair.ticks - begin_ticks);
    if (since < static_cast<int64_t>(kLineNs * first_ticks_per_ns_)) return;
    if (pair.ns - ns_on(newest, pair.ticks) > kStepNs) {
      anchor_ = next_anchor_ = pair;
      ticks_per_ns = first_ticks_per_ns_;
    }
  }
  if (pair.ns - next_anchor_.ns >= kAnchorNs) {
    anchor_ = next_anchor_;
    next_anchor_ = pair;
  }
  draw(newest + 1, pair, ticks_per_ns);
}

void EventClock::draw(uint32_t number, ClockPair pair, double ticks_per_ns) {
  const uint64_t begin_ticks = pair.ticks + static_cast<uint64_t>(kNoticeNs * ticks_per_ns);
  const int64_t true_ns = pair.ns + kNoticeNs;
  int64_t begin_ns = true_ns;
  if (number > 1) {
    const int64_t error_ns = ns_on(number - 1, pair.ticks) - pair.ns;
    error_ns_.store(std::max({this->error_ns(), error_ns, -error_ns}), std::memory_order_relaxed);
    begin_ns = ns_on(number - 1, begin_ticks);
    if (true_ns - begin_ns > kStepNs) begin_ns = true_ns;
  }
  // The kernel's clock is adjusted by 500 parts in 10^6 at most: so no reading can justify a slope that is off by more
  // than twice that.
  const double aim = static_cast<double>(kSecondNs + true_ns - begin_ns) / kSecondNs / ticks_per_ns;
  const double slope = std::clamp(aim, 0.999 / first_ticks_per_ns_, 1.001 / first_ticks_per_ns_);
  Line& line = lines_[number % kLines];
  line.begin_ticks.store(begin_ticks, std::memory_order_relaxed);
  line.begin_ns.store(begin_ns, std::memory_order_relaxed);
  line.slope.store(static_cast<uint64_t>(slope * static_cast<double>(uint64_t{1} << kSlopeBits)),
                   std::memory_order_relaxed);
  newest_.store(number, std::memory_order_release);
  if (__rdtsc() >= begin_ticks) late_.fetch_add(1, std::memory_order_relaxed);
}

int64_t EventClock::ns_on(uint32_t number, uint64_t ticks) const {
  const Line& line = lines_[number % kLines];
  return line.begin_ns.load(std::memory_order_relaxed) +
         scaled(ticks - line.begin_ticks.load(std::memory_order_relaxed), line.slope.load(std::memory_order_relaxed));
}

// Before the newest line, before the first one, or without lines. A thread that was held up for longer than two lines
// last reads the counter again; where the counter has gone back, as after a suspended machine, the kernel's clock is
// read.
int64_t EventClock::slow_ns(uint64_t ticks) const {
  constexpr int kTries = 3;
  int64_t ns = 0;
  for (int i = 0; i < kTries; ++i, ticks = __rdtsc()) {
    const uint32_t newest = newest_.load(std::memory_order_acquire);
    if (newest == 0) {
      ns = base::monotonic_ns();
      if (newest_.load(std::memory_order_acquire) == 0) return ns;
      continue;
    }
    uint64_t since = 0, slope = 0;
    for (uint32_t number = newest; number > 0 && number + 2 > newest; --number) {
      const Line& line = lines_[number % kLines];
      since = ticks - line.begin_ticks.load(std::memory_order_relaxed);
      slope = line.slope.load(std::memory_order_relaxed);
      ns = line.begin_ns.load(std::memory_order_relaxed);
      if (static_cast<int64_t>(since) >= 0) break;
    }
    if (!is_there(newest)) continue;
    if (static_cast<int64_t>(since) >= 0) return ns + scaled(since, slope);
    if (newest == 1) return std::min(base::monotonic_ns(), ns);
  }
  return std::max(ns, base::monotonic_ns());
}

}  // namespace contrafact::recorder
