// AddressOwners: finds, among ranges of addresses that may overlap, the last one that contains an address.
//
// Of n ranges: n log n time to build, at most 2 n disjoint intervals, log n time for an address.
//
// Thread safety: immutable once built.
#pragma once

#include <cstdint>
#include <vector>

namespace contrafact::symbols {

struct AddressRange {
  uint64_t begin = 0, end = 0;  // empty unless begin < end
};

class AddressOwners {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  AddressOwners() = default;
  // REQUIRES: fewer than kNone ranges. Later ones hide earlier ones.
  explicit AddressOwners(const std::vector<AddressRange>& ranges);
  // The number of the last range with the address; kNone: none has it.
  uint32_t find(uint64_t address) const;

 private:
  // One array for the search alone: eight beginnings in a cache line. Ascending; each interval ends where the next
  // begins, neighbours have different owners, and addresses before the first one have none.
  std::vector<uint64_t> begins_;
  std::vector<uint32_t> owners_;
};

}  // namespace contrafact::symbols
