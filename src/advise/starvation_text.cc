#include "advise/starvation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/places.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

using analysis::Starvation;
using analysis::StarvationEnd;
using analysis::StarvedWait;
using table::Json;

std::string since_start_text(const model::Trace& trace, int64_t time_ns) {
  return table::duration_text(static_cast<double>(time_ns - trace.begin_ns()));
}

// "Page.make (Page.java:25)"
std::string place_text(const model::Trace& trace, const StarvedWait& wait) {
  return wait.context.valid() ? trace.context_label(wait.context) : trace.method_label(wait.body);
}

std::string awaited_text(const model::Trace& trace, const StarvedWait& wait) {
  return wait.awaited.valid() ? trace.method_label(wait.awaited) : "a future of several tasks";
}

std::string pools_text(const model::Trace& trace, const std::vector<model::PoolId>& pools) {
  std::vector<std::string> names;
  for (const model::PoolId pool : pools) names.push_back(analysis::pool_name(trace, pool));
  return fmt::format("{}", fmt::join(names, " and "));
}

std::string workers_text(uint32_t workers) {
  if (workers == 1) return "the only worker";
  return workers == 2 ? "both workers" : fmt::format("all {} workers", workers);
}

std::string end_text(const Starvation& starvation) {
  switch (starvation.end) {
    case StarvationEnd::nothing:
      return "to the end of the recording: nothing in the program ends it";
    case StarvationEnd::time_out:
      return "until a wait's time-out ended it";
    case StarvationEnd::interrupt:
      return "until an interrupt ended it";
    case StarvationEnd::cancellation:
      return "until a cancellation ended it";
    case StarvationEnd::another_thread:
      return "until another thread ended it";
  }
  return "";
}

Json wait_json(const model::Trace& trace, const StarvedWait& wait) {
  return {{"pool", analysis::pool_name(trace, wait.pool)},
          {"workers", wait.workers},
          {"task", wait.body.valid() ? Json(trace.method_label(wait.body)) : Json()},
          {"where", place_text(trace, wait)},
          {"waits_for", wait.awaited.valid() ? Json(trace.method_label(wait.awaited)) : Json()}};
}

Json starvation_json(const model::Trace& trace, const Starvation& starvation) {
  Json pools = Json::array(), waits = Json::array();
  for (const model::PoolId pool : starvation.pools) pools.push_back(analysis::pool_name(trace, pool));
  for (const StarvedWait& wait : starvation.waits) waits.push_back(wait_json(trace, wait));
  return {{"pools", pools},
          {"workers", starvation.workers},
          {"queued", starvation.queued},
          {"begin_ns", starvation.begin_ns - trace.begin_ns()},
          {"end_ns", starvation.end_ns - trace.begin_ns()},
          {"ended_by", analysis::name_of(starvation.end)},
          {"times", starvation.times},
          {"waits", waits},
          {"summary", starvation_sentence(trace, starvation)}};
}

Json risk_json(const model::Trace& trace, const analysis::StarvationRisk& risk) {
  return {
      {"pool", analysis::pool_name(trace, risk.pool)}, {"size", risk.size},       {"waiting", risk.waiting},
      {"at_ns", risk.at_ns - trace.begin_ns()},        {"time_ns", risk.time_ns}, {"wait", wait_json(trace, risk.wait)},
      {"summary", risk_sentence(trace, risk)}};
}

}  // namespace

std::string starvation_sentence(const model::Trace& trace, const Starvation& starvation) {
  const bool one = starvation.pools.size() == 1;
  std::string text = fmt::format(
      "Deadlock by starvation: from {} of the run on, {} of {} {} waited for tasks in {} own {} ({} there), for {} {}",
      since_start_text(trace, starvation.begin_ns), workers_text(starvation.workers), one ? "pool" : "pools",
      pools_text(trace, starvation.pools), one ? "its" : "their", one ? "queue" : "queues", starvation.queued,
      table::duration_text(static_cast<double>(starvation.end_ns - starvation.begin_ns)), end_text(starvation));
  if (starvation.times > 1) text += fmt::format(" (the longest of {} times)", starvation.times);
  constexpr size_t kWaitsMax = 3;
  for (size_t i = 0; i < std::min(kWaitsMax, starvation.waits.size()); ++i) {
    const StarvedWait& wait = starvation.waits[i];
    text += fmt::format("{} {} at {} for {}", i == 0 ? ". Waiting:" : ",", wait.workers, place_text(trace, wait),
                        awaited_text(trace, wait));
  }
  if (starvation.waits.size() > kWaitsMax) {
    const uint64_t more = starvation.waits.size() - kWaitsMax;
    text += fmt::format(", and at {}", table::counted_text(more, "place more", "places more"));
  }
  return text + ". Give the tasks that are waited for a pool of their own, or inline them.";
}

std::string risk_sentence(const model::Trace& trace, const analysis::StarvationRisk& risk) {
  return fmt::format(
      "Near starvation: at {} of the run {} of the {} workers of pool {} waited at once, with tasks that they waited "
      "for "
      "in the queue (at {} for {}): with {} more, none is left to run these.",
      since_start_text(trace, risk.at_ns), risk.waiting, risk.size, analysis::pool_name(trace, risk.pool),
      place_text(trace, risk.wait), awaited_text(trace, risk.wait), risk.size - risk.waiting);
}

std::string starvations_text(const model::Trace& trace, const analysis::Starvations& found, bool unicode,
                             const std::string& where) {
  std::string text;
  for (const Starvation& starvation : found.starved)
    text += table::printable(where + starvation_sentence(trace, starvation), unicode) + "\n";
  for (const analysis::StarvationRisk& risk : found.risks)
    text += table::printable(where + risk_sentence(trace, risk), unicode) + "\n";
  return text.empty() ? text : text + "\n";
}

Json starvations_json(const model::Trace& trace, const analysis::Starvations& found) {
  Json starved = Json::array(), risks = Json::array();
  for (const Starvation& starvation : found.starved) starved.push_back(starvation_json(trace, starvation));
  for (const analysis::StarvationRisk& risk : found.risks) risks.push_back(risk_json(trace, risk));
  return {{"starved", starved}, {"risks", risks}};
}

}  // namespace contrafact::advise
