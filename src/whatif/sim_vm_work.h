// How much the virtual machine's own threads (compiler, collector) computed beside the recorded program, and how much
// of the cores' time they use in a simulated run.
//
// The program causes this work: code to compile, garbage to collect. So each piece of work belongs to a point of the
// program, measured by how much the program's threads had computed until then. A run that gets to that point sooner
// must do the work in less time. Idle cores do the work. Where no core is idle, the work lags behind a little, as in a
// queue; from a lag of kLagNs on, the program proceeds only as fast as the cores can do both.
//
// Work during a stop of the program is not included: those stops are simulated themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

// A time in which a thread of the program computed, or was ready to compute and had no core.
struct ProgramStint {
  int64_t begin_ns, end_ns;
  bool has_core;
};

// Immutable after construction; O(n log n) in the stints.
class VmWork {
 public:
  // A piece of the program's computing.
  struct Piece {
    double until_ns;   // all that its threads computed by then
    double rate;       // the virtual machine's work for each ns of it
    double before_ns;  // the virtual machine's work while none of the program's threads wanted a core
  };

  VmWork() = default;  // none
  VmWork(const model::Trace& trace, const std::vector<ProgramStint>& program);

  // The same for a program of which only this share is left, in each of its pieces, and so of the work for it.
  void keep(double share);

  const std::vector<Piece>& pieces() const { return pieces_; }
  int64_t total_ns() const { return total_ns_; }

 private:
  std::vector<Piece> pieces_;
  int64_t total_ns_ = 0;
};

// That work in one simulation. REQUIRES: `work` outlives it; cores > 0.
class SimVmLoad {
 public:
  static constexpr double kLagNs = 10e6;

  SimVmLoad(const VmWork& work, uint32_t cores) : pieces_(&work.pieces()), cores_(cores) { enter(); }

  // The share of a core that each of `running` threads that want one gets, from now on ...
  double speed(size_t running) const;
  // ... for this long at least.
  int64_t steady_ns(size_t running) const;
  void advance(int64_t passed_ns, size_t running);
  // The program does not compute this, and the virtual machine has no work for it.
  void leave_out(int64_t ns);

 private:
  double rate() const { return piece_ < pieces_->size() ? (*pieces_)[piece_].rate : 0; }
  double growth(size_t running) const;
  void pass_pieces();
  void enter();

  const std::vector<VmWork::Piece>* pieces_;
  double cores_;
  size_t piece_ = 0;
  double done_ns_ = 0;  // by the program's threads
  double lag_ns_ = 0;   // of the virtual machine's work that is due
};

}  // namespace contrafact::whatif
