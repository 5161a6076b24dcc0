// Improvement specs: improvements as JSON, with all that is needed to write the patch by hand or by tool, and enough to
// apply them to a trace again. docs/json.md describes the form.
//
// Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "whatif/improvement.h"

namespace contrafact::whatif {

// Raised when a field changes its name, type or meaning.
inline constexpr int kSpecVersion = 1;

nlohmann::ordered_json spec_of(const model::Trace& trace, std::span<const Improvement> improvements);

// The improvements of a spec, for `trace`. Where the spec lists tasks they must be this trace's; a spec without a list
// (written by hand) means every task that was spawned where its innermost frames say. Errors say which improvement and what
// is wrong with it.
base::Result<std::vector<Improvement>> parse_spec(const model::Trace& trace, std::string_view text);

}  // namespace contrafact::whatif
