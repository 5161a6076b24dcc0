// How good a service is with a change, against what it was and against other changes. All simulated (service.h).
//
// By throughput: programs are asked by as many clients, four times as many as saturate the recorded one. If that answers less, the
// more clients ask, what a program answers to as many as saturate the recorded one, and to twice as many, counts, too, so that
// no change is a gain which only keeps up with more clients. A recorded program that hangs with so many is judged by what it
// answers to the most with which it runs. A change with which it hangs with more clients only is better than any with which it
// hangs as before, and one with which it does not hang is better still.
#pragma once

#include <optional>
#include <vector>

#include "advise/effect.h"
#include "advise/pricer.h"
#include "advise/service.h"

namespace contrafact::advise {

// Throughputs that differ by less do not differ: repeated runs do as much.
inline constexpr double kTellableRate = 0.03;

enum class ServiceObjective : uint8_t { throughput, p99 };

// A change with which a program runs that hangs as recorded is tried with so many times the clients, too: a larger pool only
// puts off that its workers wait for each other.
inline constexpr uint32_t kManyTimesHanging = 16;

// How good a program is.
struct Worth {
  // Whether it hangs where the recorded program does; with more clients only; or not at all, as far as that is simulated.
  enum class Runs : uint8_t { as_recorded, with_more, always };
  double value = 0;  // the greater the better; the inverse of p99, if that is the objective
  Runs runs = Runs::always;

  bool exceeds(const Worth& other, double share) const {
    return runs == other.runs ? value > other.value * (1 + share) : runs > other.runs;
  }
  bool operator<(const Worth& other) const { return other.exceeds(*this, 0); }
  bool operator>(const Worth& other) const { return exceeds(other, 0); }
};

struct WorthOptions {
  ServiceObjective objective = ServiceObjective::throughput;
  double load = 1;  // under which p99 is asked for: so many times the recorded one
};

// Four times as many as saturate the recorded program, or twice as many as make it hang; kClientsMost at most.
uint32_t clients_to_judge_by(const Saturation& recorded);

class WorthMeter {
 public:
  // `before`, `at_load`: of the recorded program, saturated and under WorthOptions::load. All must outlive it.
  static base::Result<WorthMeter> make(const Service& service, const Pricer& pricer, const WorthOptions& options,
                                       const Saturation& before, const LoadPoint& at_load);

  // None: the changes exclude each other, or the program hangs where the recorded one does not.
  std::optional<Worth> worth_of(const std::vector<whatif::Improvement>& improvements, uint32_t clients) const;
  // How good that is, by all seeds: programs are chosen by one of them, and what is said of the chosen ones by all. Under as many clients as
  // worth_of; under fewer, if it and the recorded one hang with these. None: the changes exclude each other, or the program hangs.
  std::optional<LoadPoint> measured(const std::vector<whatif::Improvement>& improvements, uint32_t clients) const;
  // By which share one measured program is better than another. None: the other does nothing.
  std::optional<Gain> gain(const LoadPoint& before, const LoadPoint& after) const;
  // The changed program under as many clients as ask the recorded one; under fewer, if both hang with these. It may be stuck.
  base::Result<LoadPoint> rate(const whatif::Variant& variant) const;
  // How much more that is than the recorded program answers. None: one of the two hangs.
  std::optional<Gain> rate_gain(const LoadPoint& after) const;

  // Of the recorded program: how good it is, what it answers a second, and how many clients ask, if it runs with so many.
  const Worth& recorded() const { return recorded_; }
  double per_second() const { return rate_.stuck ? 0 : rate_.per_second; }
  uint32_t clients() const { return clients_; }

 private:
  WorthMeter(const Service& service, const Pricer& pricer, const WorthOptions& options, const Saturation& before,
             const LoadPoint& at_load)
      : service_(service), pricer_(pricer), before_(before), at_load_(at_load), options_(options) {}
  uint32_t clients_without_hang() const;
  base::Result<double> capacity(const whatif::Variant& variant, uint32_t clients) const;
  base::Result<LoadPoint> capacity_point(const whatif::Variant& variant, uint32_t clients) const;
  std::optional<Worth> by_p99(const whatif::Variant& variant) const;

  const Service& service_;
  const Pricer& pricer_;
  const Saturation& before_;
  const LoadPoint& at_load_;
  WorthOptions options_;
  uint32_t clients_ = 0;
  bool falls_off_ = false;  // the recorded program answers less to so many than to fewer
  LoadPoint rate_;          // of the recorded program
  Worth recorded_;
};

}  // namespace contrafact::advise
