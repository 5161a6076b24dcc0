#include "recorder/refill_meter.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"

namespace contrafact::recorder {
namespace {

constexpr size_t kLineWords = 64 / sizeof(uint64_t);
constexpr size_t kLines = (1 << 20) / 64;
constexpr size_t kStride = 7919;  // in lines; no processor fetches so far ahead
static_assert((kLines & (kLines - 1)) == 0 && kStride % 2 == 1, "each line is read once");

}  // namespace

RefillMeter::RefillMeter()
    : RefillMeter(base::monotonic_ns, [](int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }) {}

int64_t RefillMeter::read_all() {
  const int64_t begin_ns = clock_();
  uint64_t sum = 0;
  for (size_t i = 0; i < kLines; ++i) sum += memory_[i * kStride % kLines * kLineWords];
  volatile uint64_t kept = sum;  // else nothing would be read
  (void)kept;
  return clock_() - begin_ns;
}

void RefillMeter::step() {
  if (memory_.empty()) memory_.assign(kLines * kLineWords, 1);
  const size_t kind = steps_ % kIdleNs.size();
  read_all();
  const int64_t at_once_ns = read_all();
  sleep_(kIdleNs[kind]);
  longer_ns_[kind][steps_ / kIdleNs.size()] = read_all() - at_once_ns;
  ++steps_;
  if (done()) std::vector<uint64_t>().swap(memory_);
}

std::string RefillMeter::text() const {
  std::string out;
  for (size_t i = 0; i < kIdleNs.size(); ++i) {
    std::array<int64_t, kEach> sorted_ns = longer_ns_[i];
    std::ranges::nth_element(sorted_ns, sorted_ns.begin() + kEach / 2);
    if (i > 0) out += ' ';
    out += std::to_string(kIdleNs[i]) + ':' + std::to_string(std::max<int64_t>(0, sorted_ns[kEach / 2]));
  }
  return out;
}

}  // namespace contrafact::recorder
