#include "cli/recordings.h"

#include <fmt/format.h>

#include <utility>

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

// Why two recordings cannot be of one program, or do not complete each other; empty: they do.
std::string mismatch(const Recordings& recordings) {
  const std::string program = improve::program_of(recordings.trace), other = improve::program_of(*recordings.observed);
  if (!program.empty() && !other.empty() && program != other)
    return fmt::format("'{}' is of another program, '{}', than '{}' of '{}'", recordings.sets_path, other,
                       recordings.path, program);
  const bool sets = is_with_sets(recordings.trace), others = is_with_sets(*recordings.observed);
  if (sets && others)
    return fmt::format("'{}' and '{}' were both recorded with --sets: of two recordings one is to be without",
                       recordings.path, recordings.sets_path);
  if (!sets && !others)
    return fmt::format("neither '{}' nor '{}' was recorded with --sets: of two recordings one is to be with",
                       recordings.path, recordings.sets_path);
  return "";
}

double duration_ns(const model::Trace& trace) {
  return static_cast<double>(trace.end_ns() - trace.begin_ns());
}

double duration_ratio(const Recordings& recordings) {
  const double plain_ns = duration_ns(recordings.trace);
  return plain_ns > 0 ? duration_ns(*recordings.observed) / plain_ns : 1;
}

}  // namespace

std::optional<Recordings> load_recordings(const RecordingPaths& paths, const Session& session,
                                          const std::vector<std::string>& program_patterns,
                                          const model::LoadOptions& options) {
  std::optional<model::Trace> first = load_trace(paths.trace, session, program_patterns, options);
  if (!first) return std::nullopt;
  Recordings recordings{.path = paths.trace, .trace = *std::move(first), .sets_path = "", .observed = std::nullopt};
  if (paths.sets.empty()) return recordings;
  recordings.sets_path = paths.sets;
  recordings.observed = load_trace(paths.sets, session, program_patterns);
  if (!recordings.observed) return std::nullopt;
  if (const std::string why = mismatch(recordings); !why.empty()) {
    fail(kExitInput, why);
    return std::nullopt;
  }
  if (is_with_sets(recordings.trace)) {
    std::swap(recordings.path, recordings.sets_path);
    std::swap(recordings.trace, *recordings.observed);
  }
  return recordings;
}

void add_recordings_arguments(OptionList& list, RecordingPaths& paths) {
  list.add_option("trace", paths.trace, "a recorded run").value_name("FILE").required();
  list.add_option("sets", paths.sets,
                  "of a native program: another recording, with --sets, which says what critical sections touch; the "
                  "times are those of the one without")
      .value_name("FILE");
}

analysis::SectionFacts section_facts(const Recordings& recordings) {
  if (!recordings.observed) return analysis::SectionFacts(recordings.trace);
  return analysis::SectionFacts(recordings.trace, analysis::SectionFacts(*recordings.observed));
}

std::string recordings_text(const Recordings& recordings, const analysis::SectionFacts& facts) {
  const analysis::Counterparts& counterparts = facts.counterparts;
  const std::string dilation =
      counterparts.dilation ? fmt::format("{} times as long (median)", table::number_text(*counterparts.dilation)) : "";
  if (!recordings.observed) {
    if (counterparts.found > 0)
      return fmt::format("{} outside of the windows are taken to touch what those inside do{}\n",
                         table::counted_text(counterparts.found, "section", "sections"),
                         dilation.empty() ? "" : "; these take " + dilation);
    if (recordings.trace.fact("sets.source") != "translation") return "";
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
