// Rows of a table with the same place, which the program reached by different calls: their callers distinguish them for
// a reader. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "model/trace.h"
#include "table/table.h"

namespace contrafact::cli {

using Rows = std::vector<std::vector<table::Cell>>;

// Where the places in `column` and the texts and places in the columns before it are equal, the places say from where
// they were called: by the first callers that differ; if only the functions that the program called there differ, by
// those. `contexts` has each row's; a row without one stays as it is, and so do rows of one context.
void name_callers(const model::Trace& trace, std::span<const model::ContextId> contexts, size_t column, Rows& rows);

}  // namespace contrafact::cli
