// What threads of the virtual machine's own (compiler, collector) computed beside the recorded program, and what they
// take of the cores of a simulated one.
//
// It is work that the program makes: code to compile, garbage to collect. So it belongs to places of the program, by
// how much the program's threads had computed until then, and a run that gets there sooner must do it in less time. As
// long as cores are idle they do it. Where they are not, it lags behind a little, as it does in a queue; from kLagNs on
// the program gets on only as fast as the cores can do both.
//
// What the virtual machine did while it stopped the program is no part of it: those stops are simulated themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

// A thread of the program computed, or wanted to and had no core.
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
    double rate;       // the virtual machine's for each ns of it
    double before_ns;  // the virtual machine's while none of the program's threads wanted a core
  };

  VmWork() = default;  // none
  VmWork(const model::Trace& trace, const std::vector<ProgramStint>& program);

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

  // How much of a core each of so many threads has that want one, from now on ...
  double speed(size_t running) const;
  // ... for this long at least.
  int64_t steady_ns(size_t running) const;
  void advance(int64_t passed_ns, size_t running);

 private:
  double rate() const { return piece_ < pieces_->size() ? (*pieces_)[piece_].rate : 0; }
  double growth(size_t running) const;
  void enter();

  const std::vector<VmWork::Piece>* pieces_;
  double cores_;
  size_t piece_ = 0;
  double done_ns_ = 0;  // by the program's threads
  double lag_ns_ = 0;   // of the virtual machine's work that is there to be done
};

}  // namespace contrafact::whatif
