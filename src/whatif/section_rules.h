// Edits of critical sections as a person writes them: which lock, which of its sites, and the change. Pure.
//
//   lock=tables,site=update_b,as=b      sections that update_b begins on `tables` get a lock of their own
//   lock=tables,mode=shared             a reader-writer lock, all as readers
//   lock=totals,head=80%                of each hold, four fifths happen before the acquisition
//   lock=queue,site=consume,tail=20us   and here 20 us after the release
//   lock=bank,site=move,as=a,also=b     these take two new locks, in the order in which the rules name them first
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "whatif/section_edit.h"

namespace contrafact::whatif {

// Part of a hold: ns, or a share of it.
struct HoldPart {
  int64_t ns = 0;
  double share = 0;
};

struct SectionRule {
  std::string lock;  // its name or a part that no other has, or a pattern with `*`; or its kind and number ("mutex 3")
  std::string site;  // part of a frame's label at the acquisition; empty: everywhere
  std::string as;    // a new lock's name; empty: the same lock
  std::string also;  // the name of a new lock that is taken, too; empty: none
  std::optional<SectionEdit::Mode> mode;
  HoldPart head, tail;
};

base::Result<SectionRule> parse_section_rule(std::string_view text);

// Applies the rules in order, on top of the edits `before` (empty: none), which are parallel to `sections`. A lock or a
// mode that a rule names replaces the earlier one; of two parts of a hold that happen outside, the longer one counts.
// `sections` are those of `trace`. Errors: a rule fits no section, or several locks; the error lists the locks or sites that there are.
base::Result<std::vector<SectionEdit>> edits_of(const model::Trace& trace,
                                                std::span<const model::CriticalSection> sections,
                                                std::span<const SectionRule> rules,
                                                std::vector<SectionEdit> before = {});

}  // namespace contrafact::whatif
