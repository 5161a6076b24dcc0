#include "symbols/address_owners.h"

#include <algorithm>
#include <set>

namespace contrafact::symbols {
namespace {

struct Edge {
  uint64_t address;
  uint32_t range;
  bool begins;
};

std::vector<Edge> edges_of(const std::vector<AddressRange>& ranges) {
  std::vector<Edge> edges;
  edges.reserve(2 * ranges.size());
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin >= ranges[i].end) continue;
    edges.push_back({ranges[i].begin, i, true});
    edges.push_back({ranges[i].end, i, false});
  }
  std::ranges::sort(edges, {}, &Edge::address);
  return edges;
}

}  // namespace

AddressOwners::AddressOwners(const std::vector<AddressRange>& ranges) {
  const std::vector<Edge> edges = edges_of(ranges);
  std::set<uint32_t> around;  // the ranges that have the address that the sweep is at
  uint32_t owner = kNone;
  for (size_t i = 0; i < edges.size();) {
    const uint64_t address = edges[i].address;
    for (; i < edges.size() && edges[i].address == address; ++i) {
      if (edges[i].begins) {
        around.insert(edges[i].range);
      } else {
        around.erase(edges[i].range);
      }
    }
    const uint32_t next = around.empty() ? kNone : *around.rbegin();
    if (next == owner) continue;
    owner = next;
    begins_.push_back(address);
    owners_.push_back(owner);
  }
}

uint32_t AddressOwners::find(uint64_t address) const {
  const auto after = std::ranges::upper_bound(begins_, address);
  return after == begins_.begin() ? kNone : owners_[static_cast<size_t>(after - begins_.begin()) - 1];
}

}  // namespace contrafact::symbols
