// What `load` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/load_curve.h"
#include "analysis/arrivals.h"
#include "model/facts.h"
#include "model/requests.h"
#include "model/trace.h"
#include "table/json.h"
#include "table/render.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kLoadSchema;

struct LoadDocument {
  const std::string& path;
  const model::Trace& trace;
  const model::Facts& facts;
  const model::Requests& requests;
  const analysis::Arrivals& arrivals;
  bool arrivals_given = false;       // other arrivals than the recorded ones
  std::optional<double> error;       // of the recorded load's simulation
  std::vector<int64_t> recorded_ns;  // times of the answers
  std::vector<std::string> notes;
  std::vector<advise::ProgramLoads> programs;  // the recorded one first
  std::vector<std::string> shown = {};  // patterns of endpoints: times of answers are of these alone; empty: of all
  size_t requests_shown = 0;            // of those that are drawn
};

table::Table load_table(const std::vector<advise::ProgramLoads>& programs);
std::string load_text(const LoadDocument& document, const table::TextStyle& style);
// As SVG, and as a page.
std::string load_picture(const LoadDocument& document);
std::string load_page(const LoadDocument& document);
std::string load_csv(const LoadDocument& document);
// All endpoints, and nothing else.
std::string endpoints_text(const LoadDocument& document, const table::TextStyle& style);
std::string endpoints_csv(const LoadDocument& document);
std::string load_json(const LoadDocument& document);

}  // namespace contrafact::cli
