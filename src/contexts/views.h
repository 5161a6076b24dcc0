// A calling-context tree as text, as a table for other programs, and as folded stacks for flame graphs. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "contexts/profile.h"
#include "table/table.h"

namespace contrafact::contexts {

enum class Metric : uint8_t { bytes, objects, calls };
inline constexpr std::string_view kMetricNames[] = {"bytes", "objects", "calls"};
std::optional<Metric> metric_of(std::string_view name);

extern const table::Schema kTreeSchema;
extern const table::Schema kContextsSchema;

// The `top` contexts with the largest totals, each below the one that called it, heavier ones first. Contexts that only
// pass on to a single one are left out of its path: "+3" says how many.
table::Table tree_table(const Profile& profile, Metric by, size_t top);

// All of them, in the order of the file.
table::Table context_table(const Profile& profile);

// "main;work;parse 4711", a line for each context with something of its own.
std::string folded(const Profile& profile, Metric by);

}  // namespace contrafact::contexts
