// The information flow between the critical sections of a recording, as another recording of the program showed it; or
// as the tracked ones of this one show it of the others.
//
// A section has the flows of its counterpart (section_match.h). Where these came from is found by counting: if the
// counterpart got something from the third last section of a lock and place before it, so did the section. Its own
// thread stands for the counterpart's own thread, another one for another one.
//
// Pure function; a sort of the sections of each recording, and a search for each flow.
#pragma once

#include "analysis/section_facts.h"
#include "model/section_flows.h"

namespace contrafact::analysis {

// Of the sections of `to`, model::with_outside. `tracked` may be `to`: then a section that was tracked has its own
// flows.
model::SectionFlows matched_flows(const SectionFacts& to, const SectionFacts& tracked);

}  // namespace contrafact::analysis
