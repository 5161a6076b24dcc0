// drop-lock: sections that touch nothing contested take no lock any more, and still do the same work.

#include "improve/kinds/kinds.h"
#include "improve/lock_search.h"
#include "improve/section_change.h"

namespace contrafact::improve {
namespace {

class DropLock final : public SectionChange {
 public:
  constexpr DropLock() : SectionChange("drop-lock", Effort::one_line, 0, 1) {}

  void find(LockSearch& search) const override {
    for (const auto& [site, sections] : search.by_site()) find_at(search, sections);
  }

  void edit(const model::Trace&, std::span<const model::CriticalSection>, const whatif::Improvement& improvement,
            std::vector<whatif::SectionEdit>& edits) const override {
    for (const uint32_t s : improvement.sections) edits[s].mode = whatif::SectionEdit::Mode::none;
  }

  // If only some sections of a place can do without the lock, the code needs a test of which.
  Effort effort(const Candidate& candidate) const override {
    const bool is_part = candidate.improvement.sections.size() < candidate.of_sections;
    return is_part ? Effort::one_function : SectionChange::effort(candidate);
  }

  void add_notes(const model::Trace&, const Candidate& candidate, std::vector<std::string>& notes) const override {
    if (candidate.improvement.sections.size() + candidate.unknown < candidate.of_sections)
      notes.emplace_back("only where nothing shared is touched");
  }

 private:
  void find_at(LockSearch& search, const std::vector<uint32_t>& of_site) const {
    std::vector<uint32_t> sections;
    std::ranges::copy_if(of_site, std::back_inserter(sections), [&](uint32_t s) { return search.is_harmless(s); });
    const model::LockId lock = search.section(of_site[0]).lock;
    const uint32_t site = search.facts().site_of[of_site[0]];
    if (search.is_lone(site) && std::ranges::any_of(sections, [&](uint32_t s) { return search.is_guarded(s); })) {
      return search.refuse(this, lock, "only one thread ran what writes under it");
    }
    if (sections.size() < of_site.size() && search.lock_of(of_site[0]).seen_of_one) {
      return search.refuse(this, lock,
                           "only one thread's sections were observed: record longer, or with --sets=always");
    }
    if (sections.size() < of_site.size() && search.is_reader(site)) {
      return search.refuse(this, lock,
                           "which sections read what others write depends on the data: a reader-writer lock is safe");
    }
    if (sections.size() < of_site.size() &&
        std::ranges::any_of(sections, [&](uint32_t s) { return !search.only_reads(s); })) {
      return search.refuse(this, lock, "which sections write what others use depends on the data");
    }
    if (!sections.empty()) search.add(search.candidate(this, std::move(sections)));
  }
};

constexpr DropLock kDropLock;

}  // namespace

const Kind* const kinds::drop_lock = &kDropLock;

}  // namespace contrafact::improve
