// The search for changes of critical sections: the kinds look at one group of locks at a time, and add the candidates
// that they find.
#pragma once

#include "improve/lock_uses.h"

namespace contrafact::improve {

class LockSearch : public LockUses {
 public:
  explicit LockSearch(const analysis::SectionFacts& facts) : LockUses(facts) {}

  // Starts the search of these locks. REQUIRES: one of groups().
  void begin(std::vector<model::LockId> locks) {
    locks_ = std::move(locks);
    look_at(locks_);
  }
  // Frees the memory of the group.
  void end() { forget(locks_); }
  const std::vector<model::LockId>& locks() const { return locks_; }

  void add(Candidate made) { found_.candidates.push_back(std::move(made)); }
  // Records once why there is no candidate of this kind at a lock; nothing for a lock that no thread waited for.
  void refuse(const whatif::Optimisation* optimisation, model::LockId lock, std::string_view reason) {
    if (!this->lock(lock).waited) return;
    const auto is_same = [&](const Ineligible& known) {
      return known.optimisation == optimisation && known.lock == lock && known.reason == reason;
    };
    if (std::ranges::any_of(found_.ineligible, is_same)) return;  // another site of the lock
    found_.ineligible.push_back({.optimisation = optimisation, .lock = lock, .reason = std::string(reason)});
  }
  Candidates& found() { return found_; }

 private:
  std::vector<model::LockId> locks_;
  Candidates found_;
};

}  // namespace contrafact::improve
