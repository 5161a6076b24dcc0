#include "graph/section_conflicts.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace contrafact::graph {

using format::AccessRange;

namespace {

bool writes_any(const model::AccessRanges::View& ranges) {
  return std::ranges::any_of(ranges, [](const AccessRange& range) { return range.flags & format::kAccessWrite; });
}

// A place in a set.
class Walk {
 public:
  explicit Walk(const model::AccessRanges::View& ranges) : ranges_(ranges) { enter(); }
  bool at_end() const { return chunk_ == ranges_.chunks().size(); }
  const AccessRange& operator*() const { return *at_; }
  const AccessRange* operator->() const { return at_; }
  void next() {
    if (++at_ == end_) ++chunk_, enter();
  }
  // Moves to the first range that ends beyond `address`. Takes a chunk at a time: few of a long set's ranges lie near
  // those of a short one. REQUIRES: not at the end.
  void seek(uint64_t address) {
    while (std::prev(end_)->end() <= address) {
      ++chunk_, enter();
      if (at_end()) return;
    }
    at_ = std::partition_point(at_, end_, [&](const AccessRange& range) { return range.end() <= address; });
  }

 private:
  void enter() {
    if (at_end()) return;
    const std::span<const AccessRange> ranges = ranges_.chunk(chunk_);
    at_ = ranges.data();
    end_ = at_ + ranges.size();
  }
  const model::AccessRanges::View ranges_;
  size_t chunk_ = 0;
  const AccessRange *at_ = nullptr, *end_ = nullptr;
};

}  // namespace

PairKind SectionConflicts::between(uint32_t x, uint32_t y) {
  const uint64_t key = uint64_t{std::min(x, y)} << 32 | std::max(x, y);
  const auto [found, added] = known_.try_emplace(key, PairKind::unknown);
  if (added) found->second = compare(x, y);
  return found->second;
}

std::vector<uint64_t> SectionConflicts::places(uint32_t x, uint32_t y, size_t most) const {
  std::vector<uint64_t> found;
  for (const Meeting& meeting : meetings(x, y, most)) found.push_back(meeting.address);
  return found;
}

std::vector<SectionConflicts::Meeting> SectionConflicts::meetings(uint32_t x, uint32_t y, size_t most) const {
  std::vector<Meeting> found;
  const auto a = sets_.ranges_of(x), b = sets_.ranges_of(y);
  for (Walk i(a), j(b); !i.at_end() && !j.at_end() && found.size() < most;) {
    if (i->end() <= j->begin) {
      i.seek(j->begin);
    } else if (j->end() <= i->begin) {
      j.seek(i->begin);
    } else {
      const AccessClass by_x = class_of(i->flags), by_y = class_of(j->flags);
      if (need_order(by_x, by_y)) found.push_back({std::max(i->begin, j->begin), by_x, by_y});
      i->end() < j->end() ? i.next() : j.next();
    }
  }
  return found;
}

PairKind SectionConflicts::compare(uint32_t x, uint32_t y) const {
  const auto a = sets_.ranges_of(x), b = sets_.ranges_of(y);
  if ((a.empty() && sets_.is_complete(x)) || (b.empty() && sets_.is_complete(y))) return PairKind::null_lock;
  bool meet = false;  // one of the three intersections is not empty
  for (Walk i(a), j(b); !i.at_end() && !j.at_end();) {
    if (i->end() <= j->begin) {
      i.seek(j->begin);
    } else if (j->end() <= i->begin) {
      j.seek(i->begin);
    } else {
      if (need_order(class_of(i->flags), class_of(j->flags))) return PairKind::conflict;
      meet |= ((i->flags | j->flags) & format::kAccessWrite) != 0;
      i->end() < j->end() ? i.next() : j.next();
    }
  }
  if (!sets_.is_complete(x) || !sets_.is_complete(y)) return PairKind::unknown;
  if (meet) return PairKind::benign;
  return writes_any(a) || writes_any(b) ? PairKind::disjoint_write : PairKind::read_read;
}

}  // namespace contrafact::graph
