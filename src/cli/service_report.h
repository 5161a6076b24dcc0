// The part of `advise` about a service: what its clients would feel.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/load_curve.h"
#include "advise/ranking.h"
#include "advise/recorded_service.h"
#include "advise/service_advice.h"
#include "advise/service_several.h"
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
  std::string
      unusable;  // why the recording is no service's that can be simulated; empty: it is, and all below is known
  model::Requests requests;
  analysis::Arrivals arrivals;
  bool arrivals_given = false;       // other arrivals than the recorded ones
  std::vector<int64_t> recorded_ns;  // times of answers, sorted
  std::optional<double> error;       // of the recorded load's simulation
  std::vector<std::string> notes;
  std::vector<std::string> others;  // paths of other recordings in which the rows' gains were found, too
  advise::ServiceAdvice advice;
  std::vector<advise::ProgramLoads>
      loads;  // the recorded program and the best combination; empty: they are not asked for
};

struct ServiceReportOptions {
  advise::ServiceAdviceOptions advice;
  advise::ServiceReading reading;
  uint32_t cores = 0;
  bool with_loads = false;
  improve::SpecTrace shown;                             // by which the others' changes are found
  std::span<const advise::OtherRecording> others = {};  // of the same program
};

// Errors: the simulation failed.
base::Result<ServiceReport> service_report(const advise::Pricer& pricer, const advise::Advices& advices,
                                           const advise::Combination& best, const ServiceReportOptions& options,
                                           Progress& progress);

table::Table service_changes_table(const AdviceDocument& document, const ServiceReport& report);
// With the line of source of each change, where `source` finds it.
std::string service_text(const AdviceDocument& document, const ServiceReport& report, SourceLines& source,
                         const table::TextStyle& style);
table::Json service_json(const AdviceDocument& document, const ServiceReport& report, SourceLines& source);
// As a page for a browser: the loads' picture, what the text says, and the tables. REQUIRES: the report has loads.
std::string service_page(const AdviceDocument& document, const ServiceReport& report);

}  // namespace contrafact::cli
