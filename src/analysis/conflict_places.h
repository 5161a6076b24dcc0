// What the sections that need their order conflict on, by name: where the trace has names for memory (a JVM's fields). Pure;
// each pair of different sets is compared once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/section_facts.h"
#include "model/memory_names.h"
#include "model/section_flows.h"

namespace contrafact::analysis {

struct ConflictPlace {
  uint32_t site = 0;  // of SectionFacts::sites: where the second section of the pairs was asked for
  std::string memory;
  uint64_t pairs = 0;  // adjacent ones that conflict there, and perhaps elsewhere as well
};

// What overlapping sections of one lock conflict on without one of them getting information from the other: what keeps
// them apart only because the data are held as they are.
struct ConflictField {
  std::string memory;
  uint64_t pairs = 0;
  // In all of these pairs the two sections add to it, or one of them only reads it.
  bool is_counter = true;
};

// By lock, most pairs first. `flows`: of the sections of `facts`; `control`: those by branches alone count.
std::map<model::LockId, std::vector<ConflictField>> conflicts_without_flow(const SectionFacts& facts,
                                                                           const model::SectionFlows& flows,
                                                                           const model::MemoryNames& names,
                                                                           bool control);

// Most pairs first.
std::vector<ConflictPlace> conflict_places(const SectionFacts& facts, const model::MemoryNames& names);

}  // namespace contrafact::analysis
