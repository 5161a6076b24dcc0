// Rows of a table with the same place, which the program reached by different calls: their callers distinguish them for
// a reader. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "model/trace.h"
#include "table/table.h"

namespace contrafact::cli {

using Rows = std::vector<std::vector<table::Cell>>;

// Rows are alike if their places in `column`, and the texts and places in the columns before it, are equal. The place
// of each such row then also says where it was called from: by the first callers that differ; if only the functions
// that the program called there differ, by these. `contexts`: one for each row. Rows of one context, or of none, stay
// as they are.
void name_callers(const model::Trace& trace, std::span<const model::ContextId> contexts, size_t column, Rows& rows);

}  // namespace contrafact::cli
