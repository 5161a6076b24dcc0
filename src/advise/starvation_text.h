// Pools that starved, or came near to it, in words and as JSON.
#pragma once

#include <string>

#include "analysis/starvation.h"
#include "model/trace.h"
#include "table/json.h"

namespace contrafact::advise {

// "Pool shop starved: ...": since when, which tasks wait for which, and what ended it.
std::string starvation_sentence(const model::Trace& trace, const analysis::Starvation& starvation);
std::string risk_sentence(const model::Trace& trace, const analysis::StarvationRisk& risk);

// The sentences for all starvations and risks, a line each; empty: none. `where` stands before each: "In b.cft: ".
std::string starvations_text(const model::Trace& trace, const analysis::Starvations& found, bool unicode,
                             const std::string& where = "");

table::Json starvations_json(const model::Trace& trace, const analysis::Starvations& found);

}  // namespace contrafact::advise
