// shared-look: most sections of a site only look at contested bytes. All of them acquire the lock as readers to look;
// those that change something then acquire it exclusively, and look again.

#include <fmt/format.h>

#include <algorithm>

#include "improve/kinds/kinds.h"
#include "improve/lock_looks.h"
#include "improve/section_change.h"
#include "improve/section_ends.h"

namespace contrafact::improve {
namespace {

class SharedLook final : public SectionChange {
 public:
  constexpr SharedLook() : SectionChange("shared-look", Effort::one_function, 3, 5) {}

  void find(LockSearch& search) const override {
    for (const auto& [site, sections] : search.by_site()) find_at(search, sections);
  }

  std::string_view fault(const whatif::Improvement& improvement) const override {
    const size_t count = improvement.sections.size();
    const bool all_said = improvement.part.size() == count && improvement.look_ns.size() == count &&
                          (improvement.head_ns.empty() || improvement.head_ns.size() == count);
    return all_said ? "" : "a section does not say whether it looks only";
  }

  // The first look is time on a core, without the lock: what it waits for is as short as a look.
  void edit(const model::Trace&, std::span<const model::CriticalSection> sections,
            const whatif::Improvement& improvement, std::vector<whatif::SectionEdit>& edits) const override {
    for (size_t i = 0; i < improvement.sections.size(); ++i) {
      const uint32_t s = improvement.sections[i];
      whatif::SectionEdit& edit = edits[s];
      if (improvement.part[i] == 1) {
        edit.mode = whatif::SectionEdit::Mode::shared;
      } else {
        edit.look_ns += improvement.look_ns[i];
        if (!improvement.head_ns.empty())
          edit.head_outside_ns = std::clamp<int64_t>(improvement.head_ns[i], 0, sections[s].hold_ns());
      }
    }
  }

  void add_notes(const model::Trace&, const Candidate& candidate, std::vector<std::string>& notes) const override {
    notes.emplace_back("look with the lock shared; to change something, take it alone and look again");
    if (candidate.in_middle > 0)
      notes.push_back(fmt::format(
          "{} compute{} without the lock between the looks: what another thread was faster with is thrown away",
          sections_text(candidate.in_middle), candidate.in_middle == 1 ? "s" : ""));
  }

 private:
  // Most sections of the site find what they look for and change nothing, others do: get or insert.
  void find_at(LockSearch& search, const std::vector<uint32_t>& of_site) const {
    if (search.is_reader(search.facts().site_of[of_site[0]])) return;
    const std::optional<Looks> looks = looks_of(search, of_site);
    if (!looks) return;
    Candidate made = search.candidate(this, looks->sections);
    const UnseenWrites unseen(search, of_site);
    const SectionEnds ends(search, unseen);
    for (size_t i = 0; i < looks->sections.size(); ++i) {
      const bool only = looks->only[i];
      made.improvement.part.push_back(only ? 1 : 0);
      made.improvement.look_ns.push_back(only ? 0 : looks->look_ns);
      // A thread that looks again before it changes something needs no lock for its work in between.
      const Movable outside = only ? Movable() : ends.ends_and_middle(looks->sections[i], false);
      made.improvement.head_ns.push_back(outside.head_ns + outside.middle_ns);
      made.in_middle += outside.head_ns + outside.middle_ns > 0;
    }
    search.add(std::move(made));
  }
};

constexpr SharedLook kSharedLook;

}  // namespace

const Kind* const kinds::shared_look = &kSharedLook;

}  // namespace contrafact::improve
