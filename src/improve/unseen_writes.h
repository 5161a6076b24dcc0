// Reads that are safe without the lock in no run but the recorded one. Where sections write ever other places, as the
// values of a table's entries, those that were observed show few of them: that none of them wrote what a section read
// meanwhile proves nothing. That the section reads the same kind of data shows in this: what it reads lies beside what
// they wrote.
//
// Looks at the sections of one site, which is the code that changes. Not thread-safe, as what it looks at. Cost: linear
// in the cells of the observed sections of the site's locks, and sorting what varies of them.
#pragma once

#include <unordered_map>
#include <vector>

#include "improve/lock_uses.h"

namespace contrafact::improve {

class UnseenWrites {
 public:
  // Why sections cannot do without their lock.
  static constexpr std::string_view kReason =
      "which of what they read other sections write meanwhile depends on the data";

  // Nothing may be reached.
  explicit UnseenWrites(const LockUses& uses) : uses_(uses) {}
  // `of_site`: the sections of one piece of code, under locks that are looked at. `uses` must last.
  UnseenWrites(const LockUses& uses, const std::vector<uint32_t>& of_site);

  // Whether a set of theirs, or of a part of one, reads what a section that was not observed may write.
  bool may_reach(model::LockId lock, uint32_t set) const;
  bool may_reach_any() const { return !reached_.empty(); }

 private:
  void look_at(model::LockId id, const std::vector<uint32_t>& of_site);

  const LockUses& uses_;
  // By lock, only where something may be reached, and cell: several threads read it there (who took an object out reads
  // it alone), in no more than half of the sections that read anything of that kind; or it leads there in most of them.
  std::unordered_map<uint32_t, std::vector<bool>> reached_;
};

}  // namespace contrafact::improve
