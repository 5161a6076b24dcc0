// What `load` prints.
#pragma once

#include <string>
#include <vector>

#include "advise/endpoint_loads.h"
#include "advise/service.h"
#include "analysis/arrivals.h"
#include "model/facts.h"
#include "model/requests.h"
#include "model/trace.h"
#include "table/json.h"
#include "table/render.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kLoadSchema;

// One program, recorded or changed, under its loads.
struct ProgramLoads {
  std::string program;
  advise::Saturation saturation = {};
  advise::LoadPoint recorded = {};  // the recorded load, simulated
  std::vector<advise::LoadPoint> curve = {};
  std::vector<advise::EndpointLoad> endpoints = {};
};

struct LoadDocument {
  const std::string& path;
  const model::Trace& trace;
  const model::Facts& facts;
  const model::Requests& requests;
  const analysis::Arrivals& arrivals;
  bool arrivals_given = false;       // other arrivals than the recorded ones
  double error = 0;                  // of the recorded load's simulation
  std::vector<int64_t> recorded_ns;  // times of the answers
  std::vector<std::string> notes;
  std::vector<ProgramLoads> programs;   // the recorded one first
  std::vector<std::string> shown = {};  // patterns of endpoints: times of answers are of these alone; empty: of all
  size_t requests_shown = 0;            // of those that are drawn
};

// "limited by pool web, 8 workers (twice as many: +45 %)"
std::string limit_text(const model::Trace& trace, const advise::ServiceLimit& limit);

// Where the lock that limits is held longest, and how to see what of that is needed: a line. Empty: no lock limits.
std::string limit_hint(const model::Facts& facts, const advise::ServiceLimit& limit);
table::Json limit_json(const model::Trace& trace, const advise::ServiceLimit& limit);

table::Table load_table(const LoadDocument& document);
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
