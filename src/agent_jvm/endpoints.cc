#include "agent_jvm/endpoints.h"

#include <string>

namespace contrafact::agent_jvm {
namespace {

constexpr uint64_t kNumberBits = 0xffff;

// FNV-1a, and a last mixing for its low bits. Never 0 in the upper 48 bits.
uint64_t hash_of(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  hash ^= hash >> 29;
  return hash | uint64_t{1} << 63;
}

}  // namespace

int32_t Endpoints::number(std::string_view name, bool given, std::string_view instead) {
  int32_t number = given ? find_or_add(name, given_, kGivenMax) : number_of_sent(name);
  if (number == 0 && !instead.empty()) number = find_or_add(instead, given_, kGivenMax);
  return number != 0 ? number : other();
}

int32_t Endpoints::number_of_sent(std::string_view name) {
  if (const int32_t known = find(name); known != 0) return known;
  const std::string_view before = name.substr(0, name.rfind('/') + 1);
  std::atomic<uint32_t>& siblings = siblings_[(hash_of(before) >> 16) % kPlaces];
  if (siblings.load(std::memory_order_relaxed) >= kSiblingsMax)
    return find_or_add(std::string(before) + "{}", sent_, kNamesMax);
  siblings.fetch_add(1, std::memory_order_relaxed);
  return find_or_add(name, sent_, kNamesMax);
}

int32_t Endpoints::find(std::string_view name) const {
  const uint64_t tag = hash_of(name) & ~kNumberBits;
  for (size_t probe = 0; probe < kPlaces; ++probe) {
    const uint64_t there = places_[((tag >> 16) + probe) % kPlaces].load(std::memory_order_acquire);
    if (there == 0) return 0;
    if ((there & ~kNumberBits) == tag) return static_cast<int32_t>(there & kNumberBits);
  }
  return 0;
}

int32_t Endpoints::find_or_add(std::string_view name, std::atomic<uint32_t>& count, uint32_t most) {
  const uint64_t tag = hash_of(name) & ~kNumberBits;
  uint64_t made = 0;
  for (size_t probe = 0; probe < kPlaces; ++probe) {
    std::atomic<uint64_t>& place = places_[((tag >> 16) + probe) % kPlaces];
    uint64_t there = place.load(std::memory_order_acquire);
    if (there == 0) {
      if (made == 0) {
        if (count.load(std::memory_order_relaxed) >= most) return 0;
        if (count.fetch_add(1, std::memory_order_relaxed) >= most) {
          count.fetch_sub(1, std::memory_order_relaxed);
          return 0;
        }
        made = recorder_.add_endpoint({recorder_.intern(name)}).value + 1;
      }
      if (place.compare_exchange_strong(there, tag | made, std::memory_order_acq_rel))
        return static_cast<int32_t>(made);
    }
    if ((there & ~kNumberBits) == tag) return static_cast<int32_t>(there & kNumberBits);
  }
  return 0;
}

int32_t Endpoints::other() {
  int32_t number = other_.load(std::memory_order_acquire);
  if (number != 0) return number;
  const auto made = static_cast<int32_t>(recorder_.add_endpoint({recorder_.intern("other")}).value) + 1;
  return other_.compare_exchange_strong(number, made, std::memory_order_acq_rel) ? made : number;
}

void Endpoints::report() const {
  if (other_.load(std::memory_order_acquire) != 0)
    recorder_.add_fact("endpoints.too_many", std::to_string(sent_.load() + given_.load()));
}

}  // namespace contrafact::agent_jvm
