// A trace's events and tasks as CSV and JSON, for spreadsheets and scripts. Pure functions, linear; the text goes to a
// sink piece by piece and is never whole in memory.
#pragma once

#include <string>

#include "base/text_sink.h"
#include "model/trace.h"
#include "table/json.h"
#include "table/table.h"

namespace contrafact::exporters {

// One line for each event: time_ns since the run's begin, thread, event, and its operands by name.
extern const table::Schema kEventsSchema;
void events_csv(const model::Trace& trace, const base::TextSink& sink);

// One row for each task: where it was spawned, what it ran, when it was spawned, started, completed and ended.
extern const table::Schema kTaskListSchema;
void tasks_csv(const model::Trace& trace, const base::TextSink& sink);

// `document`, and the whole trace: facts, losses, threads, pools, tasks, events. docs/json.md describes it.
void trace_json(const model::Trace& trace, const table::Json& document, const base::TextSink& sink);

}  // namespace contrafact::exporters
