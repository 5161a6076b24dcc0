// double-check: most sections of a site look at data that was made at first use and is not changed any more. They look
// without the lock. Only those that find nothing acquire it, look again, and make the data.

#include <algorithm>
#include <set>

#include "improve/kinds/kinds.h"
#include "improve/lock_looks.h"
#include "improve/section_change.h"
#include "improve/unseen_writes.h"

namespace contrafact::improve {
namespace {

class DoubleCheck final : public SectionChange {
 public:
  constexpr DoubleCheck() : SectionChange("double-check", Effort::one_function, 1, 2) {}

  void find(LockSearch& search) const override {
    for (const auto& [site, sections] : search.by_site()) find_at(search, sections);
  }

  std::string_view fault(const whatif::Improvement& improvement) const override {
    const size_t count = improvement.sections.size();
    return improvement.part.size() == count && improvement.look_ns.size() == count
               ? ""
               : "a section does not say whether it looks only";
  }

  void edit(const model::Trace&, std::span<const model::CriticalSection>, const whatif::Improvement& improvement,
            std::vector<whatif::SectionEdit>& edits) const override {
    for (size_t i = 0; i < improvement.sections.size(); ++i) {
      whatif::SectionEdit& edit = edits[improvement.sections[i]];
      if (improvement.part[i] == 1) {
        edit.mode = whatif::SectionEdit::Mode::none;
      } else {
        edit.look_ns += improvement.look_ns[i];
      }
    }
  }

  void add_notes(const model::Trace&, const Candidate&, std::vector<std::string>& notes) const override {
    notes.emplace_back(
        "the first look is a load (acquire) of an atomic that is stored (release) once all is made; a thread that "
        "finds "
        "nothing acquires the lock and looks again. std::call_once does the same");
  }

 private:
  void find_at(LockSearch& search, const std::vector<uint32_t>& of_site) const {
    const std::optional<Looks> looks = looks_of(search, of_site);
    if (!looks || !is_made_at_first_use(search, of_site, *looks)) return;
    const UnseenWrites unseen(search, of_site);
    for (size_t i = 0; i < looks->sections.size() && unseen.may_reach_any(); ++i) {
      const uint32_t s = looks->sections[i];
      if (looks->only[i] && unseen.may_reach(search.section(s).lock, search.facts().sets.of_section[s]))
        return search.refuse(this, search.section(s).lock, UnseenWrites::kReason);
    }
    for (const model::LockId lock : search.locks()) {
      if (is_made_elsewhere_too(search, of_site, *looks, lock))
        return search.refuse(this, lock, "other code may make some of what its sections look at");
    }
    Candidate made = search.candidate(this, looks->sections);
    for (size_t i = 0; i < looks->sections.size(); ++i) {
      made.improvement.part.push_back(looks->only[i] ? 1 : 0);
      made.improvement.look_ns.push_back(looks->only[i] ? 0 : looks->look_ns);
    }
    search.add(std::move(made));
  }

  // The looking sections read only data that sections at the beginning wrote, and one section of this site made them.
  // Data that several sections made, as the first entries of a memo table, are never complete: a look without the lock
  // would race with the next entry. All later sections are known. The maker may be known in part: the set of a section
  // that fills a table is seldom complete.
  static bool is_made_at_first_use(const LockSearch& search, const std::vector<uint32_t>& of_site, const Looks& looks) {
    const auto set_of = [&](uint32_t s) { return search.facts().sets.of_section[s]; };
    std::set<uint32_t> made_by;  // by set: sections of a plain recording may have one maker's set in common
    for (const uint32_t s : of_site) {
      if (!search.is_known(s)) made_by.insert(set_of(s));
    }
    for (size_t i = 0; i < looks.sections.size(); ++i) {
      const uint32_t s = looks.sections[i];
      if (looks.only[i] && search.is_disputed(search.section(s).lock, set_of(s))) return false;
      if (!looks.only[i] && search.is_contested(s)) made_by.insert(set_of(s));
    }
    return made_by.size() == 1 &&
           std::ranges::all_of(search.locks(), [&](model::LockId lock) { return is_known_later(search, lock); });
  }

  // Whether a section of the lock at another site writes what the site's sections look at, or may: of those that are not
  // known nobody can tell.
  static bool is_made_elsewhere_too(const LockSearch& search, const std::vector<uint32_t>& of_site, const Looks& looks,
                                    model::LockId id) {
    const LockUses::Lock& lock = search.lock(id);
    if (!lock.cells) return true;
    std::vector<bool> looked_at(lock.cells->cell_count());
    std::set<uint32_t> looking, others;  // sets, each once
    for (size_t i = 0; i < looks.sections.size(); ++i) {
      const uint32_t s = looks.sections[i];
      if (looks.only[i] && search.section(s).lock == id) looking.insert(search.facts().sets.of_section[s]);
    }
    for (const uint32_t set : looking) {
      for (const graph::CellUse& use : lock.cells->of(set)) looked_at[use.cell] = lock.contested[use.cell];
    }
    for (uint32_t s = lock.begin; s < lock.end; ++s) {
      if (!search.counts(s) || std::ranges::binary_search(of_site, s)) continue;
      if (!search.is_known(s)) return true;
      others.insert(search.facts().sets.of_section[s]);
    }
    return std::ranges::any_of(others, [&](uint32_t set) {
      return std::ranges::any_of(lock.cells->of(set),
                                 [&](const graph::CellUse& use) { return use.writes && looked_at[use.cell]; });
    });
  }

  static bool is_known_later(const LockSearch& search, model::LockId id) {
    const LockUses::Lock& lock = search.lock(id);
    for (uint32_t s = lock.settled_from(); s < lock.end; ++s) {
      if (search.counts(s) && !search.is_known(s)) return false;
    }
    return true;
  }
};

constexpr DoubleCheck kDoubleCheck;

}  // namespace

const Kind* const kinds::double_check = &kDoubleCheck;

}  // namespace contrafact::improve
