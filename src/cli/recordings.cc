#include "cli/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "analysis/cpu_use.h"
#include "analysis/flow_match.h"
#include "base/saturating.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/trace_input.h"
#include "improve/spec.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

// Also of a program that held no lock.
bool is_with_sets(const model::Trace& trace) {
  return !trace.access_sets.empty() || !trace.fact("sets.source").empty();
}

// Why two recordings cannot be of one program; empty: they can.
std::string other_program(const Recording& first, const Recording& second) {
  const std::string program = improve::program_of(first.trace), other = improve::program_of(second.trace);
  if (!program.empty() && !other.empty() && program != other)
    return fmt::format("'{}' is of another program, '{}', than '{}' of '{}'", second.path, other, first.path, program);
  if (first.trace.fact("agent") != second.trace.fact("agent"))
    return fmt::format("'{}' and '{}' are of different programs: one of them ran in a JVM", first.path, second.path);
  return "";
}

// Why recordings do not complete each other; empty: they do.
std::string mismatch(const std::vector<Recording>& all, bool several) {
  const Recording *plain = nullptr, *sets = nullptr;
  for (const Recording& one : all) {
    if (std::string why = other_program(all.front(), one); !why.empty()) return why;
    const Recording*& kind = is_with_sets(one.trace) ? sets : plain;
    if (kind != nullptr && &kind == &sets)
      return fmt::format("'{}' and '{}' were both recorded with --sets: only one of several recordings may be",
                         kind->path, one.path);
    if (kind != nullptr && !several)
      return fmt::format("neither '{}' nor '{}' was recorded with --sets: of two recordings one is to be with",
                         kind->path, one.path);
    kind = &one;
  }
  if (plain != nullptr && sets != nullptr && !model::has_lock_events(plain->trace) &&
      model::has_lock_events(sets->trace))
    return fmt::format(
        "'{}' has no critical sections that '{}' could say more of, only waits for locks: record --sets "
        "--twice with the same --classes makes both",
        plain->path, sets->path);
  return "";
}

double duration_ns(const model::Trace& trace) {
  return static_cast<double>(trace.end_ns() - trace.begin_ns());
}

double duration_ratio(const Recordings& recordings) {
  const double plain_ns = duration_ns(recordings.trace);
  return plain_ns > 0 ? duration_ns(*recordings.observed) / plain_ns : 1;
}

std::string given_twice(std::vector<std::string> files) {
  std::ranges::sort(files);
  const auto twice = std::ranges::adjacent_find(files);
  return twice == files.end() ? "" : fmt::format("'{}' is given twice: each recording counts once", *twice);
}

// The recording of median length; of an even number, the shorter of the two in the middle.
size_t median_of(const std::vector<Recording>& all) {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return duration_ns(all[i].trace); });
  return order[(order.size() - 1) / 2];
}

// Takes the recording with information flow out of `all`, unless it serves for sets as well, or is the only one.
std::optional<Recording> take_tracked(std::vector<Recording>& all) {
  const auto tracked = std::ranges::find_if(all, [](const Recording& one) { return model::has_flows(one.trace); });
  if (tracked == all.end() || all.size() == 1) return std::nullopt;
  const auto sets = std::ranges::count_if(all, [](const Recording& one) { return is_with_sets(one.trace); });
  if (sets == 1 && is_with_sets(tracked->trace)) return std::nullopt;
  Recording taken = std::move(*tracked);
  all.erase(tracked);
  return taken;
}

// Why `tracked` does not go with the others; empty: it does.
std::string mismatch_of_tracked(const std::vector<Recording>& all, const Recording& tracked) {
  for (const Recording& one : all) {
    if (std::string why = other_program(one, tracked); !why.empty()) return why;
    if (model::has_flows(one.trace))
      return fmt::format("'{}' and '{}' were both recorded with --flow: only one of several recordings may be",
                         tracked.path, one.path);
    if (!model::has_lock_events(one.trace))
      return fmt::format(
          "'{}' has no critical sections that '{}' could say more of, only waits for locks: record both with the same "
          "--classes",
          one.path, tracked.path);
  }
  return "";
}

// REQUIRES: no mismatch.
Recordings sorted_out(std::vector<Recording> all) {
  Recordings recordings;
  if (all.size() > 1) {
    const auto sets = std::ranges::find_if(all, [](const Recording& one) { return is_with_sets(one.trace); });
    if (sets != all.end()) {
      recordings.sets_path = std::move(sets->path);
      recordings.observed = std::move(sets->trace);
      all.erase(sets);
    }
  }
  const auto median = all.begin() + static_cast<ptrdiff_t>(median_of(all));
  recordings.path = std::move(median->path);
  recordings.trace = std::move(median->trace);
  all.erase(median);
  recordings.others = std::move(all);
  return recordings;
}

// Which recording has the times, and which one what sections touch.
std::string sources_text(const Recordings& recordings, const analysis::SectionFacts& facts) {
  const analysis::Counterparts& counterparts = facts.counterparts;
  const std::string dilation =
      counterparts.dilation ? fmt::format("{} times as long (median)", table::number_text(*counterparts.dilation)) : "";
  if (!recordings.observed) {
    if (counterparts.found > 0)
      return fmt::format("{} not observed, and taken to touch what the observed ones of their place do{}\n",
                         table::counted_text(counterparts.found, "section was", "sections were"),
                         dilation.empty() ? "" : "; the observed ones took " + dilation);
    const std::string_view source = recordings.trace.fact("sets.source");
    if (source != "translation" && source != "bytecode") return "";
    return "times are of a recording with --sets, which makes critical sections longer; one without it, given beside "
           "this one, has the times to go by\n";
  }
  std::string text = fmt::format("times: {}; what sections touch: {}", recordings.path, recordings.sets_path);
  if (!dilation.empty())
    text += fmt::format(", where they take {} and the run {} times", dilation,
                        table::number_text(duration_ratio(recordings)));
  if (counterparts.missing > 0)
    text += fmt::format("; {} without a counterpart there",
                        table::counted_text(counterparts.missing, "section is", "sections are"));
  return text + "\n";
}

// Places where much of the waiting is, and of whose sections few were observed right behind another observed one. Only
// windows count as the reason: where another one hides sections, a longer recording does not help.
std::string little_observed_text(const analysis::SectionFacts& facts) {
  constexpr uint64_t kEnough = 200;
  constexpr int64_t kSharesOfWaits = 20;
  if (facts.counterparts.found == 0) return "";
  struct Site {
    uint64_t sections = 0;
    int64_t wait_ns = 0;
  };
  std::vector<Site> sites(facts.sites.sites().size());
  int64_t wait_ns = 0;
  for (size_t s = 0; s < facts.sections.size(); ++s) {
    if (!model::is_held(facts.trace->locks[facts.sections[s].lock.index()].kind)) continue;
    Site& site = sites[facts.site_of[s]];
    ++site.sections;
    site.wait_ns = base::add_saturated(site.wait_ns, facts.sections[s].wait_ns());
    wait_ns = base::add_saturated(wait_ns, facts.sections[s].wait_ns());
  }
  std::vector<uint32_t> by_wait(sites.size());
  std::iota(by_wait.begin(), by_wait.end(), 0u);
  std::ranges::stable_sort(by_wait, std::greater(), [&](uint32_t site) { return sites[site].wait_ns; });
  std::string text;
  for (const uint32_t site : by_wait) {
    const bool is_much = sites[site].wait_ns > 0 && sites[site].wait_ns >= wait_ns / kSharesOfWaits;
    const uint64_t pairs = facts.observed_pairs[site];
    if (!is_much || pairs >= kEnough || 2 * uint64_t{facts.observed[site]} >= sites[site].sections) continue;
    const std::string times = pairs == 0 ? "longer" : fmt::format("{} times as long", (kEnough + pairs - 1) / pairs);
    text += fmt::format(
        "{} has {} of the waiting, and {} observed right behind another one: record {}, or with --sets=always\n",
        table::printable(facts.sites.sites()[site].label, true),
        table::percent_text(static_cast<double>(sites[site].wait_ns) / static_cast<double>(wait_ns)),
        pairs == 0 ? "none of its sections was" : "only " + table::counted_text(pairs, "section was", "sections were"),
        times);
  }
  return text;
}

}  // namespace

std::optional<Recordings> load_recordings(const RecordingPaths& paths, const Session& session,
                                          const std::vector<std::string>& program_patterns,
                                          const model::LoadOptions& options) {
  if (const std::string twice = given_twice(paths.files); !twice.empty()) {
    fail(kExitInput, twice);
    return std::nullopt;
  }
  std::vector<Recording> all;
  for (const std::string& path : paths.files) {
    std::optional<model::Trace> trace = load_trace(path, session, program_patterns, options);
    if (!trace) return std::nullopt;
    all.push_back({path, *std::move(trace)});
  }
  std::optional<Recording> tracked;
  if (paths.flows) tracked = take_tracked(all);
  std::string why = tracked ? mismatch_of_tracked(all, *tracked) : "";
  if (why.empty()) why = mismatch(all, paths.several);
  if (!why.empty()) {
    fail(kExitInput, why);
    return std::nullopt;
  }
  Recordings recordings = sorted_out(std::move(all));
  if (tracked) {
    recordings.flow_path = std::move(tracked->path);
    recordings.tracked = std::move(tracked->trace);
  }
  return recordings;
}

void add_recording_arguments(OptionList& list, RecordingPaths& paths) {
  const auto add = [&paths](const std::string& path) { paths.files.push_back(path); };
  list.add_option("trace", add, "A recorded run").value_name("FILE").required();
  list.add_option("sets", add,
                  "Another recording, with --sets, which says what critical sections touch; the times are those of the "
                  "one without")
      .value_name("FILE");
}

void add_flow_recording_arguments(OptionList& list, RecordingPaths& paths) {
  add_recording_arguments(list, paths);
  paths.flows = true;
  list.add_option(
          "flow", [&paths](const std::string& path) { paths.files.push_back(path); },
          "Another recording, with --flow, which says what critical sections hand each other")
      .value_name("FILE");
}

void add_recordings_arguments(OptionList& list, RecordingPaths& paths) {
  constexpr int kAnyNumber = 1 << 29;  // as the help's "..." needs
  paths.several = true;
  list.add_option("trace", paths.files,
                  "A recorded run, or several of one program that differ: gains are then their medians, with what they "
                  "spread; also one with --sets, which says what critical sections touch")
      .value_name("FILE")
      .required()
      .number_of_values(1, kAnyNumber);
}

analysis::SectionFacts section_facts(const Recordings& recordings, const model::Facts& facts) {
  if (!recordings.observed) return analysis::SectionFacts(facts);
  return analysis::SectionFacts(facts, analysis::SectionFacts(*recordings.observed));
}

const model::Trace& tracked_recording(const Recordings& recordings) {
  if (recordings.tracked) return *recordings.tracked;
  return recordings.observed && model::has_flows(*recordings.observed) ? *recordings.observed : recordings.trace;
}

model::SectionFlows section_flows(const Recordings& recordings, const analysis::SectionFacts& facts) {
  const model::Trace& tracked = tracked_recording(recordings);
  if (&tracked == facts.trace) return analysis::matched_flows(facts, facts);
  return analysis::matched_flows(facts, analysis::SectionFacts(tracked));
}

model::MemoryNames memory_names(const Recordings& recordings) {
  return model::MemoryNames(recordings.observed ? *recordings.observed : recordings.trace);
}

std::string recordings_text(const Recordings& recordings, const analysis::SectionFacts& facts) {
  return sources_text(recordings, facts) + little_observed_text(facts);
}

std::string foreign_text(const model::Trace& trace) {
  const std::optional<double> foreign = analysis::foreign_share(trace);
  if (!foreign || *foreign < kForeignShareNoted) return "";
  return fmt::format(
      "warning: other programs had at least {} of the cores while this one wanted them: the recorded run is longer for "
      "it; record again when the machine is quiet\n",
      table::percent_text(*foreign));
}

table::Json counterparts_json(const Recordings& recordings, const analysis::SectionFacts& facts) {
  const analysis::Counterparts& counterparts = facts.counterparts;
  if (!recordings.observed && counterparts.found == 0) return nullptr;
  table::Json json{{"path", recordings.observed ? table::Json(recordings.sets_path) : table::Json()},
                   {"found", counterparts.found},
                   {"missing", counterparts.missing},
                   {"dilation", counterparts.dilation ? table::Json(*counterparts.dilation) : table::Json()},
                   {"duration_ratio", nullptr}};
  if (recordings.observed) json["duration_ratio"] = duration_ratio(recordings);
  return json;
}

}  // namespace contrafact::cli
