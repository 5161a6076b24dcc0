#include "cli/replay_rows.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "advise/missed_waits.h"
#include "base/middle.h"
#include "cli/recordings.h"

namespace contrafact::cli {
namespace {

using table::Type;
using table::Unit;

int64_t median(std::vector<int64_t> values) {
  return std::llround(base::median(std::span(values)));
}

double spread_of(const std::vector<int64_t>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return static_cast<double>(*most - *least) / static_cast<double>(std::max<int64_t>(median(values), 1));
}

// A model that is further off the recorded run is not to be trusted with a gain either.
constexpr double kErrorMax = 0.05;

// `error`: the gain may be wrong by the error of the unchanged run, and by half of the difference of repetitions.
std::string verdict_of(double gain, double error) {
  constexpr double kNothing = 0.0005;
  if (std::fabs(gain) < kNothing) return "no gain";
  if (std::fabs(gain) < error) return gain > 0 ? "a gain smaller than its error" : "a loss smaller than its error";
  return gain > 0 ? "a gain" : "a loss";
}

}  // namespace

MethodRow row_of(const MethodRuns& runs, int64_t recorded_ns) {
  MethodRow row{.method = runs.method, .origin = runs.origin, .missed = runs.missed};
  row.before_ns = median(runs.before_ns);
  row.error = static_cast<double>(row.before_ns - recorded_ns) / static_cast<double>(std::max<int64_t>(recorded_ns, 1));
  row.spread = spread_of(runs.before_ns);
  if (runs.after_ns.empty()) return row;
  row.after_ns = median(runs.after_ns);
  std::vector<double> gains = runs.gains;
  row.gain = gains.empty()
                 ? 1 - static_cast<double>(*row.after_ns) / static_cast<double>(std::max<int64_t>(row.before_ns, 1))
                 : base::median(std::span(gains));
  const double spread = std::max(row.spread, spread_of(runs.after_ns));
  row.verdict = verdict_of(*row.gain, advise::doubt_with_missed(row.error, row.missed) + spread / 2);
  if (std::fabs(row.error) > kErrorMax) row.verdict += ", baseline off";
  if (runs.foreign_share >= kForeignShareNoted) row.verdict += ", disturbed";
  return row;
}

const table::Schema kReplaySchema{
    "replay",
    "The recorded run again, and again with its critical sections changed, by each method.",
    {{"method", "method", Type::word, Unit::none,
      "Re-timed and simulated: computed. Replayed: run again by real threads, with locks in free order, in the "
      "recorded order (RLSC), in one that follows from the program alone (deterministic), with all accesses to shared "
      "memory in the recorded order (accesses), or with critical sections in the recorded order, and changed: in that "
      "order as far as conflicts need it (without unnecessary order)."},
     {"origin", "origin", Type::word, Unit::none, "measured, re-timed, simulated or replayed.", 3},
     {"before_ns", "unchanged", Type::duration, Unit::ns, "The unchanged run by this method: the median."},
     {"error", "error", Type::ratio, Unit::ratio, "By how much that differs from the recorded run."},
     {"spread", "spread", Type::ratio, Unit::ratio, "Longest less shortest of the unchanged runs, of their median."},
     {"after_ns", "changed", Type::duration, Unit::ns,
      "With the changes made, or without unnecessary order: the median."},
     {"gain", "gain", Type::ratio, Unit::ratio,
      "Of the unchanged run by this method; simulated, together with the waiting that it lacks and the recorded run "
      "had."},
     {"verdict", "verdict", Type::word, Unit::none,
      "Whether the gain exceeds its error: the unchanged run's, and half of the spread. Baseline off: that error is "
      "beyond 5 %. Disturbed: other programs used 5 % or more of the cores during the replays."}}};

const table::Schema kReplayPartsSchema{
    "replay_parts",
    "What the time of a replay is made of: medians.",
    {{"method", "replayed", Type::text, Unit::none, "The order of locks, or of all shared accesses."},
     {"read_ns", "reading", Type::duration, Unit::ns, "Reading the schedule from its file, in blocks of 1 MiB."},
     {"decode_ns", "decoding", Type::duration, Unit::ns, "Making actions of its bytes."},
     {"run_ns", "running", Type::duration, Unit::ns,
      "Executing them with real threads: what the table above compares."},
     {"file_bytes", "bytes", Type::integer, Unit::bytes, "Of the schedule's file.", 2},
     {"out_of_order", "out of order", Type::integer, Unit::none,
      "Critical sections that acquired their lock before one that came earlier in the recording."},
     {"orders", "orders", Type::integer, Unit::none,
      "How many different orders of locks the runs had; not noted where sections are ordered."},
     {"foreign_share", "foreign CPU", Type::ratio, Unit::ratio,
      "Of the cores' time during the replays, what others used: the mean."}}};

}  // namespace contrafact::cli
