// reader-writer-lock: sections of sites that only read take their lock as readers: they exclude writers only.

#include "improve/kinds/kinds.h"
#include "improve/lock_search.h"
#include "improve/section_change.h"

namespace contrafact::improve {
namespace {

class ReaderWriterLock final : public SectionChange {
 public:
  constexpr ReaderWriterLock() : SectionChange("reader-writer-lock", Effort::one_function, 2, 4) {}

  void find(LockSearch& search) const override {
    std::vector<uint32_t> readers;
    for (const auto& [site, sections] : search.by_site()) {
      if (!search.is_reader(site)) continue;
      std::ranges::copy_if(sections, std::back_inserter(readers),
                           [&](uint32_t s) { return search.is_known(s) && !search.section(s).shared; });
    }
    if (!readers.empty()) search.add(search.candidate(this, std::move(readers)));
  }

  void edit(const model::Trace&, std::span<const model::CriticalSection>, const whatif::Improvement& improvement,
            std::vector<whatif::SectionEdit>& edits) const override {
    for (const uint32_t s : improvement.sections) edits[s].mode = whatif::SectionEdit::Mode::shared;
  }
};

constexpr ReaderWriterLock kReaderWriterLock;

}  // namespace

const Kind* const kinds::reader_writer_lock = &kReaderWriterLock;

}  // namespace contrafact::improve
