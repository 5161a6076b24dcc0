// A trace's events and tasks as CSV and JSON, for spreadsheets and scripts. Pure functions, linear.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/trace.h"
#include "table/table.h"

namespace contrafact::exporters {

// One line for each event: time_ns since the run's begin, thread, event, and its operands by name.
extern const table::Schema kEventsSchema;
std::string events_csv(const model::Trace& trace);

// One row for each task: where it was spawned, what it ran, when it was spawned, started, completed and ended.
extern const table::Schema kTaskListSchema;
table::Table task_list(const model::Trace& trace);

// The whole trace: facts, losses, threads, pools, tasks, events. docs/json.md describes it.
std::string trace_json(const model::Trace& trace, nlohmann::ordered_json document);

}  // namespace contrafact::exporters
