// A recorded service in text, ready for the tests of what is simulated of it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "advise/service.h"
#include "model/text_trace.h"

namespace contrafact::advise {

struct RecordedService {
  explicit RecordedService(const std::string& text) {
    base::Result<model::Trace> parsed = model::parse_text(text);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    trace = *std::move(parsed);
    facts.emplace(trace);
    requests = model::requests_by_connection(trace);
    base::Result<whatif::LoadSimulator> made = whatif::LoadSimulator::make(*facts, requests);
    EXPECT_TRUE(made.ok());
    simulator.emplace(*std::move(made));
    arrivals = analysis::arrivals_of(requests);
  }
  // Few requests, so that tests are quick.
  void simulate(ServiceOptions options = {}) {
    options.requests = 400;
    options.seeds = 1;
    service.emplace(*simulator, arrivals, std::move(options));
  }
  model::Trace trace;
  std::optional<model::Facts> facts;
  model::Requests requests;
  std::optional<whatif::LoadSimulator> simulator;
  analysis::Arrivals arrivals;
  std::optional<Service> service;
};

}  // namespace contrafact::advise
