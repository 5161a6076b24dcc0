// A service's loads in words and as JSON: what `load` and `advise` say alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/load_curve.h"
#include "advise/service.h"
#include "analysis/arrivals.h"
#include "model/facts.h"
#include "model/requests.h"
#include "model/trace.h"
#include "report/load_picture.h"
#include "table/json.h"

namespace contrafact::cli {

// "666 requests on 4 connections: 80 of them answered a second; from 2 clients that wait for each answer"
std::string requests_sentence(const model::Requests& requests, const analysis::Arrivals& arrivals, bool arrivals_given);
// "10 ms in the median, p99 10 ms (measured)"
std::string measured_text(const std::vector<int64_t>& sorted_ns);

// "318/s (314 to 323)"
std::string rate_text(const advise::LoadPoint& point);
// "10 ms (9.8 ms to 10.3 ms) in the median, p90 12 ms, p99 15 ms (13.9 ms to 16.2 ms)"; without intervals that have no width.
std::string times_text(const advise::LoadPoint& point);
// What becomes of a service, and of `answers`, under a load: "answers take 10 ms ... (simulated)", "it stands still
// (simulated)", "it falls behind: ...".
std::string fate_text(const advise::LoadPoint& point, std::string_view answers);

// "limited by pool web, 8 workers (with twice as many +45 %)"
std::string limit_text(const model::Trace& trace, const advise::ServiceLimit& limit);
// Where the lock that limits is held longest, and how to see what of that is needed, unless sets were recorded: a line. Empty: no lock
// limits.
std::string limit_hint(const model::Facts& facts, const advise::ServiceLimit& limit, bool has_sets = false);
// What twice as many would give of what requests wait for, where that is not known but estimated to limit: a line. Empty: something else
// limits.
std::string twice_text(const advise::Saturation& saturation);
table::Json limit_json(const model::Trace& trace, const advise::ServiceLimit& limit);

// "the program stands still from 3 clients on: REASON"; empty: it does not.
std::string hang_text(const advise::Saturation& saturation, std::string_view program);
// A warning line if the recorded load's simulation is far off, or none can be compared; else empty.
std::string error_warning(std::optional<double> error);
// A warning line if one of the loads, simulated, reached no steady state for another reason than that it falls behind; else empty.
std::string steady_warning(const std::vector<const advise::LoadPoint*>& points);
// How steady states and intervals are found, a line.
std::string method_line();

// Without the endpoints' answers.
table::Json point_json(const advise::LoadPoint& point);

report::LoadPicture load_picture_of(const std::string& path, bool open,
                                    const std::vector<advise::ProgramLoads>& programs);

}  // namespace contrafact::cli
