// The endpoints of a service under load, as `load` shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/endpoint_loads.h"
#include "advise/service.h"
#include "model/requests.h"
#include "table/json.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kEndpointsSchema;
extern const table::Schema kEndpointCurvesSchema;

// Of one program, recorded or changed.
struct ProgramEndpoints {
  std::string_view program;  // empty: there is only one
  const std::vector<advise::EndpointLoad>& loads;
  const std::vector<advise::LoadPoint>& curve;
};

// `rows_most`: the rest is one row.
table::Table endpoints_table(const model::Requests& requests, const std::vector<ProgramEndpoints>& programs,
                             size_t rows_most);
// The times of answers of each endpoint under each load of the curves.
table::Table endpoint_curves_table(const model::Requests& requests, const std::vector<ProgramEndpoints>& programs);
table::Json endpoints_json(const model::Requests& requests, const std::vector<advise::EndpointLoad>& loads);
// Of one point: by name, those that were answered.
table::Json point_endpoints_json(const model::Requests& requests, const advise::LoadPoint& point);

// Which endpoint's answers take longest at a load, and which one's gain most by changes: a sentence. Empty: there is only one endpoint.
// `after`: with the changes; null: there are none.
std::string slowest_endpoint_text(const model::Requests& requests, const advise::LoadPoint& before,
                                  const advise::LoadPoint* after);

// Which endpoints a glob names; empty: none.
std::vector<bool> endpoints_named(const model::Requests& requests, const std::vector<std::string>& patterns);

}  // namespace contrafact::cli
