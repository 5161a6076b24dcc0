// The tables of `contrafact flow`.
#pragma once

#include "advise/flow_advice.h"
#include "analysis/flow_graph.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kFlowOrdersSchema;
extern const table::Schema kFlowLocksSchema;
extern const table::Schema kFlowSitesSchema;
extern const table::Schema kFlowEdgesSchema;

// With the order of all locks reduced.
table::Table flow_orders_table(const advise::FlowAdvice& advice);
table::Table flow_locks_table(const analysis::SectionFacts& facts, const advise::FlowAdvice& advice);
table::Table flow_sites_table(const analysis::SectionFacts& facts, const analysis::FlowGraph& graph,
                              const analysis::ScheduleImpact& impact);
table::Table flow_edges_table(const analysis::SectionFacts& facts, const analysis::FlowGraph& graph);

}  // namespace contrafact::cli
