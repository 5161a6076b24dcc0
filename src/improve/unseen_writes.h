// Reads that are safe without the lock only in the recorded run. Sections may write new places all the time, such as
// the values of a table's entries. Then the observed sections show few of these places. Even if none of them wrote what
// another section read meanwhile, that proves nothing. A section that reads such data is recognised by its reads: they
// lie beside those writes.
//
// Looks at the sections of one site, which is the code that changes. Not thread-safe, like LockUses. Cost: linear in
// the cells of the observed sections of the site's locks, and a sort of the cells that vary.
#pragma once

#include <unordered_map>
#include <vector>

#include "improve/lock_uses.h"

namespace contrafact::improve {

class UnseenWrites {
 public:
  // Why sections cannot do without their lock.
  static constexpr std::string_view kReason =
      "other sections may write what these read: whether they do depends on the data";

  // For no site: nothing may be reached.
  explicit UnseenWrites(const LockUses& uses) : uses_(uses) {}
  // `of_site`: the sections of one piece of code, under locks that are looked at. `uses` must last.
  UnseenWrites(const LockUses& uses, const std::vector<uint32_t>& of_site);

  // Whether a set of one of these sections, or of a part of one, reads data that an unobserved section may write.
  bool may_reach(model::LockId lock, uint32_t set) const;
  bool may_reach_any() const { return !reached_.empty(); }

 private:
  void look_at(model::LockId id, const std::vector<uint32_t>& of_site);

  const LockUses& uses_;
  // By lock and cell, for locks where something may be reached. A cell is reached if several threads read it (a thread
  // that took an object out reads it alone), in no more than half of the sections that read anything of that kind. So
  // is a cell that leads there in most of them.
  std::unordered_map<uint32_t, std::vector<bool>> reached_;
};

}  // namespace contrafact::improve
