#include "whatif/sim_vm_work.h"

#include <algorithm>
#include <cmath>

namespace contrafact::whatif {
namespace {

// Pieces of the program's computing: fine enough for a run of a second, and at most kPiecesMax for a long one.
constexpr double kPieceNs = 1e6;
constexpr double kPiecesMax = 4'096;
// The rate cannot exceed the machine's number of cores; this bounds what a damaged trace says.
constexpr double kRateMax = 1'000;

struct VmChange {
  int64_t time_ns;
  int8_t computing = 0, wanting = 0, machine = 0, stops = 0;
};

std::vector<VmChange> vm_changes_of(const model::Trace& trace, const std::vector<ProgramStint>& program) {
  std::vector<VmChange> changes;
  changes.reserve(2 * (program.size() + trace.vm_stints.size() + trace.pauses.size()));
  for (const ProgramStint& stint : program) {
    const int8_t computing = stint.has_core, wanting = !stint.has_core;
    changes.push_back({stint.begin_ns, computing, wanting});
    changes.push_back({stint.end_ns, static_cast<int8_t>(-computing), static_cast<int8_t>(-wanting)});
  }
  for (const model::VmStint& stint : trace.vm_stints) {
    if (stint.end_ns <= stint.begin_ns) continue;
    changes.push_back({.time_ns = stint.begin_ns, .machine = 1});
    changes.push_back({.time_ns = stint.end_ns, .machine = -1});
  }
  for (const model::Pause& pause : trace.pauses) {
    changes.push_back({.time_ns = pause.begin_ns, .stops = 1});
    changes.push_back({.time_ns = pause.end_ns, .stops = -1});
  }
  std::ranges::sort(changes, {}, &VmChange::time_ns);
  return changes;
}

}  // namespace

VmWork::VmWork(const model::Trace& trace, const std::vector<ProgramStint>& program) {
  if (trace.vm_stints.empty()) return;
  double all_ns = 0;
  for (const ProgramStint& stint : program) all_ns += stint.has_core ? double(stint.end_ns - stint.begin_ns) : 0;
  const double piece_ns = std::max(kPieceNs, all_ns / kPiecesMax);
  const int64_t begin_ns = trace.begin_ns(), end_ns = trace.end_ns();
  int64_t computing = 0, wanting = 0, machine = 0, stops = 0, at_ns = begin_ns;
  double done_ns = 0, piece_begin_ns = 0, beside_ns = 0, before_ns = 0, vm_ns = 0;
  const auto close = [&] {
    const double length_ns = done_ns - piece_begin_ns;
    if (length_ns <= 0) return;
    pieces_.push_back({done_ns, std::min(kRateMax, beside_ns / length_ns), before_ns});
    piece_begin_ns = done_ns;
    beside_ns = before_ns = 0;
  };
  for (const VmChange& change : vm_changes_of(trace, program)) {
    const int64_t time_ns = std::clamp(change.time_ns, at_ns, std::max(at_ns, end_ns));
    const auto passed_ns = static_cast<double>(time_ns - at_ns);
    at_ns = time_ns;
    const double machine_ns = stops > 0 ? 0 : passed_ns * static_cast<double>(std::max<int64_t>(machine, 0));
    done_ns += passed_ns * static_cast<double>(computing);
    (computing > 0 || wanting > 0 ? beside_ns : before_ns) += machine_ns;
    vm_ns += machine_ns;
    computing += change.computing;
    wanting += change.wanting;
    machine += change.machine;
    stops += change.stops;
    if (done_ns - piece_begin_ns >= piece_ns) close();
  }
  close();
  total_ns_ = std::llround(vm_ns);
}

void VmWork::keep(double share) {
  for (Piece& piece : pieces_) {
    piece.until_ns *= share;
    piece.before_ns *= share;
  }
  total_ns_ = std::llround(share * static_cast<double>(total_ns_));
}

void SimVmLoad::enter() {
  if (piece_ < pieces_->size()) lag_ns_ += (*pieces_)[piece_].before_ns;
}

double SimVmLoad::speed(size_t running) const {
  if (running == 0) return 1;
  const auto threads = static_cast<double>(running);
  const double alone = std::min(1.0, cores_ / threads);
  if (lag_ns_ < kLagNs) return alone;
  // Far behind, the virtual machine counts as one more thread that wants a core.
  const double more = lag_ns_ > 2 * kLagNs ? 1 : 0;
  return std::min(alone, cores_ / (threads * (1 + rate()) + more));
}

double SimVmLoad::growth(size_t running) const {
  const double had = static_cast<double>(running) * speed(running);
  return had * rate() - std::max(0.0, cores_ - had);
}

int64_t SimVmLoad::steady_ns(size_t running) const {
  if (running == 0 || piece_ >= pieces_->size()) return lag_ns_ < kLagNs ? INT64_MAX : 1'000'000;
  const double had = static_cast<double>(running) * speed(running);
  double ns = ((*pieces_)[piece_].until_ns - done_ns_) / had;
  const double growing = growth(running);
  constexpr double kStill = 1e-9;
  for (const double bound_ns : {kLagNs, 2 * kLagNs}) {
    const double to_bound_ns = (bound_ns - lag_ns_) / growing;
    if (std::fabs(growing) > kStill && to_bound_ns > 0) ns = std::min(ns, to_bound_ns);
  }
  return std::max<int64_t>(1, std::llround(std::ceil(std::min(ns, 1e18))));
}

void SimVmLoad::advance(int64_t passed_ns, size_t running) {
  const auto ns = static_cast<double>(passed_ns);
  lag_ns_ = std::max(0.0, lag_ns_ + growth(running) * ns);
  done_ns_ += static_cast<double>(running) * speed(running) * ns;
  pass_pieces();
}

void SimVmLoad::leave_out(int64_t ns) {
  done_ns_ += static_cast<double>(ns);
  pass_pieces();
}

void SimVmLoad::pass_pieces() {
  while (piece_ < pieces_->size() && done_ns_ >= (*pieces_)[piece_].until_ns) {
    ++piece_;
    enter();
  }
}

}  // namespace contrafact::whatif
