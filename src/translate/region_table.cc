#include "translate/region_table.h"

#include <algorithm>

namespace contrafact::translate {

// Copies only the used part of 96 KiB.
RegionTable& RegionTable::operator=(const RegionTable& other) {
  if (this == &other) return *this;
  std::copy_n(other.regions_, other.count_, regions_);
  count_ = other.count_;
  return *this;
}

size_t RegionTable::first_behind(uint64_t address) const {
  return static_cast<size_t>(std::upper_bound(regions_, regions_ + count_, address,
                                              [](uint64_t at, const Region& region) { return at < region.begin; }) -
                             regions_);
}

const Region* RegionTable::find(uint64_t address) const {
  const size_t behind = first_behind(address);
  return behind > 0 && address < regions_[behind - 1].end ? &regions_[behind - 1] : nullptr;
}

bool RegionTable::knows_any(uint64_t begin, uint64_t end) const {
  if (begin >= end) return false;
  const size_t behind = first_behind(end - 1);
  return behind > 0 && regions_[behind - 1].end > begin;
}

bool RegionTable::split(uint64_t at) {
  const size_t behind = first_behind(at);
  if (behind == 0) return true;
  Region& region = regions_[behind - 1];
  if (region.begin == at || region.end <= at) return true;
  Region rest = region;
  rest.begin = at;
  region.end = at;
  return insert(behind, rest);
}

bool RegionTable::insert(size_t at, const Region& region) {
  if (count_ == kRegionsMax) return false;
  std::copy_backward(regions_ + at, regions_ + count_, regions_ + count_ + 1);
  regions_[at] = region;
  ++count_;
  return true;
}

void RegionTable::erase(size_t at) {
  std::copy(regions_ + at + 1, regions_ + count_, regions_ + at);
  --count_;
}

// Protections that come and go again leave no pieces behind.
void RegionTable::join_neighbours() {
  size_t kept = 0;
  for (size_t i = 0; i < count_; ++i) {
    const Region region = regions_[i];
    Region* last = kept > 0 ? &regions_[kept - 1] : nullptr;
    if (last && last->end == region.begin && last->kind == region.kind && last->state == region.state) {
      last->end = region.end;
    } else {
      regions_[kept++] = region;
    }
  }
  count_ = kept;
}

}  // namespace contrafact::translate
