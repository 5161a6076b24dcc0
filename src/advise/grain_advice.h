// Advice on the grain of tasks (Task granularity, sections 9 to 11): of each class of tasks, the curve of the run's
// duration against the number of its tasks, or against the level down to which a recursion hands tasks out. All
// simulated, without the recorder's own cost where the recording shows it: that grows with the number of tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "advise/advice.h"
#include "improve/task_grains.h"

namespace contrafact::advise {

struct GrainPoint {
  whatif::Improvement improvement;  // no optimisation: as recorded
  uint64_t setting = 0;             // how many tasks or threads, or the level
  SimulatedEffect effect;           // of the recorded setting: no gain
  Gain gain;                        // with its interval; nothing if the effect is stuck
};

enum class GrainAxis : uint8_t { tasks, threads, level };

struct GrainCurve {
  improve::TaskGrain grain;
  GrainAxis axis = GrainAxis::tasks;
  uint64_t before = 0;             // the recorded setting
  int64_t blocked_ns = 0;          // for which its tasks were off their cores without being preempted, summed
  std::vector<GrainPoint> points;  // by setting, ascending; the recorded one is among them
  // Positions in `points`: the settings around the best one that are about as good (kGainTie), and the one in the middle
  // of these; where the recorded setting is among them, that is taken.
  size_t best = 0, flat_first = 0, flat_last = 0;

  bool gains() const { return points[best].improvement.optimisation != nullptr; }
};

struct GrainOptions {
  size_t classes_max = 8;
  size_t points_max = 24;   // of one curve
  double share_min = 0.01;  // of the run's core time that a class's tasks, or handing them out, must take
  // Only larger tasks of classes that are too fine, and smaller ones of those that are too coarse or unbalanced
  // (analysis/granularity.h).
  bool only_promising = false;
  std::function<void(size_t done, size_t total)> progress = {};  // may be empty
};

// Whether a class of tasks is too fine, too coarse or unbalanced. Where none is, curves with `only_promising` are empty.
bool any_grain_promises(const model::Facts& facts);

// For the pricer of grains: the recorder and other programs.
whatif::LeftOut left_out_for_grains(const model::Trace& trace);

// The classes that take the most time come first. A class that can be neither merged nor split has no curve.
// REQUIRES: the pricer simulates; its options have left_out_for_grains.
std::vector<GrainCurve> grain_curves(const Pricer& pricer, const GrainOptions& options);

// The best point of each curve that gains.
std::vector<Advice> grain_advices(const Pricer& pricer, const std::vector<GrainCurve>& curves);

}  // namespace contrafact::advise
