#include "cli/replay_edits.h"

#include <algorithm>

#include "cli/spec_input.h"
#include "graph/trace_dag.h"
#include "model/event_cost.h"
#include "whatif/section_rules.h"

namespace contrafact::cli {
namespace {

base::Result<whatif::Variant> variant_of_specs(const std::vector<std::string>& paths, const Recordings& recordings,
                                               const whatif::Simulator& simulator) {
  const model::Facts of_trace(recordings.trace);
  const analysis::SectionFacts facts = section_facts(recordings, of_trace);
  const base::Result<graph::TraceDag> dag = graph::build_dag(recordings.trace);
  const base::Result<std::vector<improve::Candidate>> candidates =
      read_spec_files({.trace = recordings.trace,
                       .dag = dag && !recordings.trace.tasks.empty() ? &*dag : nullptr,
                       .sections = recordings.has_sets() ? &facts : nullptr},
                      paths);
  if (!candidates) return candidates.error();
  base::Result<whatif::Variant> variant =
      whatif::variant_of(recordings.trace, simulator.sections(), improvements_of(*candidates));
  if (!variant) return base::Error{"--apply: " + variant.error().message};
  return variant;
}

base::Status add_rules(const std::vector<std::string>& texts, const model::Trace& trace,
                       const whatif::Simulator& simulator, whatif::Variant& variant) {
  std::vector<whatif::SectionRule> rules;
  for (const std::string& text : texts) {
    base::Result<whatif::SectionRule> rule = whatif::parse_section_rule(text);
    if (!rule) return base::Error{"--edit " + rule.error().message};
    rules.push_back(*std::move(rule));
  }
  if (rules.empty()) return {};
  base::Result<std::vector<whatif::SectionEdit>> edits =
      whatif::edits_of(trace, simulator.sections(), rules, std::move(variant.edits));
  if (!edits) return base::Error{"--edit: " + edits.error().message};
  variant.edits = *std::move(edits);
  return {};
}

// Of the threads' time; none where nothing was recorded without sets, to compare with.
std::optional<double> sets_share(const Recordings& recordings, double threads_ns) {
  const model::Trace& trace = recordings.trace;
  if (trace.access_sets.empty()) return 0;
  if (trace.fact("sets.windows_ns").empty()) return std::nullopt;
  const analysis::SectionFacts facts(trace);
  double more_ns = 0;
  for (size_t s = 0; s < facts.cpu_scales.size(); ++s)
    more_ns += static_cast<double>(facts.sections[s].hold_ns()) * (1 - facts.cpu_scales[s]);
  return more_ns / threads_ns;
}

// Of the events alone.
RecorderShare probes_share(const model::Trace& trace, double threads_ns) {
  constexpr double kEventNs = 21;  // half of a lock and unlock, recorded less bare: bench/native/lock_cost.cc
  const model::EventCosts costs = model::event_costs(trace);
  double measured_ns = 0, estimated_ns = 0;
  for (size_t i = 0; i < trace.event_count(); ++i) {
    const model::EventKind kind = trace.kind[i];
    if (costs.measured(kind)) {
      measured_ns += static_cast<double>(costs.of(kind));
    } else if (kind >= model::EventKind::lock_acquire) {
      estimated_ns += kEventNs;
    }
  }
  return {.measured = measured_ns / threads_ns, .estimated = estimated_ns / threads_ns};
}

}  // namespace

base::Result<whatif::Variant> variant_of_rules(const std::vector<std::string>& texts, const model::Trace& trace,
                                               const whatif::Simulator& simulator) {
  whatif::Variant variant;
  if (base::Status status = add_rules(texts, trace, simulator, variant); !status) return status.error();
  return variant;
}

base::Result<whatif::Variant> variant_for(const ReplayEdits& edits, const Recordings& recordings,
                                          const whatif::Simulator& simulator) {
  whatif::Variant variant;
  if (!edits.specs.empty()) {
    base::Result<whatif::Variant> of_specs = variant_of_specs(edits.specs, recordings, simulator);
    if (!of_specs) return of_specs;
    variant = *std::move(of_specs);
  }
  if (base::Status status = add_rules(edits.rules, recordings.trace, simulator, variant); !status)
    return status.error();
  return variant;
}

std::optional<RecorderShare> recorder_share(const Recordings& recordings, int64_t recorded_ns) {
  const model::Trace& trace = recordings.trace;
  if (trace.access_log.accesses + trace.access_log.lost > 0) return std::nullopt;
  const double threads_ns = static_cast<double>(std::max<size_t>(trace.threads.size(), 1)) *
                            static_cast<double>(std::max<int64_t>(recorded_ns, 1));
  const std::optional<double> sets = sets_share(recordings, threads_ns);
  if (!sets) return std::nullopt;
  RecorderShare share = probes_share(trace, threads_ns);
  share.measured += *sets;
  return share;
}

}  // namespace contrafact::cli
