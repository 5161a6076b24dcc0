#include "symbols/address_owners.h"

#include <gtest/gtest.h>
#include <time.h>

#include <random>

namespace contrafact::symbols {
namespace {

// The definition, range by range.
uint32_t last_around(const std::vector<AddressRange>& ranges, uint64_t address) {
  for (size_t i = ranges.size(); i-- > 0;) {
    if (ranges[i].begin <= address && address < ranges[i].end) return static_cast<uint32_t>(i);
  }
  return AddressOwners::kNone;
}

// Edges of different ranges coincide where there are few places; some ranges are empty or turned round.
std::vector<AddressRange> random_ranges(std::mt19937_64& random, size_t count, uint64_t places) {
  std::vector<AddressRange> ranges(count);
  for (AddressRange& range : ranges) range = {random() % places, random() % places};
  return ranges;
}

TEST(AddressOwners, FindsWhatASearchOfAllRangesFinds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    const uint64_t places = 2 + random() % 100;
    const std::vector<AddressRange> ranges = random_ranges(random, random() % 40, places);
    const AddressOwners owners(ranges);
    for (uint64_t address = 0; address <= places; ++address) {
      ASSERT_EQ(owners.find(address), last_around(ranges, address)) << "round " << round << ", address " << address;
    }
  }
}

TEST(AddressOwners, KnowsTheEndsOfTheAddressSpace) {
  const AddressOwners owners({{0, 1}, {UINT64_MAX - 1, UINT64_MAX}, {5, 5}, {9, 8}});
  EXPECT_EQ(owners.find(0), 0u);
  EXPECT_EQ(owners.find(1), AddressOwners::kNone);
  EXPECT_EQ(owners.find(5), AddressOwners::kNone);
  EXPECT_EQ(owners.find(8), AddressOwners::kNone);
  EXPECT_EQ(owners.find(UINT64_MAX - 1), 1u);
  EXPECT_EQ(owners.find(UINT64_MAX), AddressOwners::kNone);
  EXPECT_EQ(AddressOwners({{0, UINT64_MAX}}).find(UINT64_MAX - 1), 0u);
  EXPECT_EQ(AddressOwners().find(0), AddressOwners::kNone);
}

int64_t processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// A heap lock's address is in no module: the definition goes through all of them, and takes more than 100 times as long
// here. Processor time, so that other programs do not count.
TEST(AddressOwners, OfAnAddressOutsideCostNoSearchOfAllRanges) {
  constexpr size_t kRanges = 4096, kAddresses = 2000;
  constexpr uint64_t kPlaces = uint64_t{1} << 47, kHeap = uint64_t{1} << 48;
  std::mt19937_64 random(2);
  std::vector<AddressRange> ranges(kRanges);  // narrow: most stay in sight
  for (AddressRange& range : ranges) {
    range.begin = random() % kPlaces;
    range.end = range.begin + random() % (kPlaces / kRanges);
  }
  const AddressOwners owners(ranges);
  std::vector<uint64_t> addresses(kAddresses);
  for (uint64_t& address : addresses) address = kHeap + random() % kPlaces;
  size_t outside = 0;
  const int64_t begin_ns = processor_ns();
  for (const uint64_t address : addresses) outside += owners.find(address) == AddressOwners::kNone;
  const int64_t between_ns = processor_ns();
  for (const uint64_t address : addresses) outside += last_around(ranges, address) == AddressOwners::kNone;
  const int64_t end_ns = processor_ns();
  EXPECT_EQ(outside, 2 * kAddresses);
  EXPECT_LT((between_ns - begin_ns) * 10, end_ns - between_ns);
}

}  // namespace
}  // namespace contrafact::symbols
