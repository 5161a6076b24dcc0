// The part of `advise` about a service: what its clients would feel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/ranking.h"
#include "advise/service_advice.h"
#include "analysis/arrivals.h"
#include "cli/progress.h"
#include "cli/source_lines.h"
#include "model/requests.h"
#include "table/json.h"
#include "table/render.h"
#include "table/table.h"

namespace contrafact::cli {

using advise::AdviceDocument;

extern const table::Schema kServiceChangesSchema;

struct ServiceReport {
  model::Requests requests;
  analysis::Arrivals arrivals;
  std::vector<int64_t> recorded_ns;  // times of answers
  double error = 0;                  // of the recorded load's simulation
  std::vector<std::string> notes;
  advise::ServiceAdvice advice;
};

// None: the trace has no requests that can be simulated. Errors: the simulation of one failed.
base::Result<std::optional<ServiceReport>> service_report(const advise::Pricer& pricer, const advise::Advices& advices,
                                                          const advise::Combination& best,
                                                          const advise::ServiceAdviceOptions& options, uint32_t cores,
                                                          Progress& progress);

// "666 requests on 4 connections: 80 of them answered a second; from 2 clients that wait for each answer"
std::string requests_sentence(const model::Requests& requests, const analysis::Arrivals& arrivals);

table::Table service_changes_table(const AdviceDocument& document, const ServiceReport& report);
// With the line of source of each change, where `source` finds it.
std::string service_text(const AdviceDocument& document, const ServiceReport& report, SourceLines& source,
                         const table::TextStyle& style);
table::Json service_json(const AdviceDocument& document, const ServiceReport& report, SourceLines& source);

}  // namespace contrafact::cli
