#include "whatif/screen.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "base/parallel.h"
#include "base/saturating.h"

namespace contrafact::whatif {
namespace {

// Rounds of work that the same threads do. The work done so far is checked between two rounds.
class Screening {
 public:
  Screening(const Batch& batch, const ScreenOptions& options)
      : options_(options),
        batch_(batch),
        found_(batch.size()),
        visits_of_one_(batch.estimator().visits_of_one()),
        visits_max_(base::add_saturated(options.visits_max, batch.visits_spared())) {
    for (unsigned i = 0; i < batch.worker_count(options.threads); ++i)
      workers_.push_back(std::make_unique<Batch::Scratch>(batch_));
  }

  Screened run() {
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < found_.size(); ++i) {
      if (const std::string& reason = batch_.reason(i); !reason.empty())
        found_[i].emplace(base::Error{reason});
      else
        open.push_back(i);
    }
    in_lanes(open);
    std::erase_if(open, [&](uint32_t i) { return found_[i].has_value(); });
    one_by_one(open);
    Screened screened{{}, visits_};
    for (std::optional<base::Result<Figures>>& figures : found_) {
      if (figures)
        screened.figures.push_back(*std::move(figures));
      else
        screened.figures.emplace_back(base::Error{std::string(kBeyondBudget)});
    }
    return screened;
  }

 private:
  // Estimates all improvements that lanes can estimate, even beyond the budget: they cost a small part of the rest.
  void in_lanes(const std::vector<uint32_t>& open) {
    if (!batch_.has_lanes()) return;
    const size_t batches = (open.size() + Batch::kAtATime - 1) / Batch::kAtATime;
    each(batches, [&](size_t number, Batch::Scratch& scratch) {
      std::vector<std::vector<uint32_t>> sets;
      for (size_t i = number * Batch::kAtATime; i < std::min(open.size(), (number + 1) * Batch::kAtATime); ++i)
        sets.push_back({open[i]});
      std::vector<const std::vector<uint32_t>*> pointers;
      for (const std::vector<uint32_t>& set : sets) pointers.push_back(&set);
      const std::vector<std::optional<Figures>> figures = batch_.figures_in_lanes(pointers, scratch);
      for (size_t i = 0; i < sets.size(); ++i) {
        if (figures[i]) found_[sets[i][0]].emplace(*figures[i]);
      }
      report(std::min(open.size(), (number + 1) * Batch::kAtATime));
    });
  }

  // As many at a time as the budget has room for, so that any number of workers does the same work.
  void one_by_one(std::span<const uint32_t> open) {
    constexpr uint64_t kMost = 8;
    while (!open.empty() && visits_ < visits_max_) {
      const uint64_t room = (visits_max_ - visits_) / std::max<uint64_t>(1, visits_of_one_);
      const size_t round = std::min<uint64_t>(open.size(), std::clamp<uint64_t>(room, 1, kMost));
      each(round, [&](size_t i, Batch::Scratch& scratch) {
        const std::vector<uint32_t> set{open[i]};
        found_[set[0]].emplace(batch_.figures_of_one(set, scratch));
      });
      open = open.subspan(round);
      report(found_.size() - open.size());
    }
  }

  template <typename Work>
  void each(size_t count, Work work) {
    std::atomic<size_t> next{0};
    auto loop = [&](Batch::Scratch& scratch) {
      for (size_t i = next++; i < count; i = next++) work(i, scratch);
    };
    base::on_threads(std::min(workers_.size(), count), [&](size_t worker) { loop(*workers_[worker]); });
    for (const std::unique_ptr<Batch::Scratch>& worker : workers_) visits_ += std::exchange(worker->visits, 0);
  }

  void report(size_t done) const {
    if (options_.progress && std::this_thread::get_id() == caller_) options_.progress(done, found_.size());
  }

  const ScreenOptions& options_;
  const Batch& batch_;
  std::vector<std::optional<base::Result<Figures>>> found_;
  std::vector<std::unique_ptr<Batch::Scratch>> workers_;
  const std::thread::id caller_ = std::this_thread::get_id();
  const uint64_t visits_of_one_, visits_max_;
  uint64_t visits_ = 0;
};

}  // namespace

uint64_t default_visits(const Estimator& estimator) {
  constexpr uint64_t kVisits = 32'000'000, kPasses = 4;
  return std::max(kVisits, kPasses * estimator.visits_of_one());
}

size_t simulations_max(const model::Trace& trace) {
  constexpr size_t kEvents = 12'000'000, kLeast = 2;  // some four seconds
  return std::max(kLeast, kEvents / std::max<size_t>(1, trace.event_count()));
}

bool is_worth_restoring(const model::Trace& trace) {
  constexpr size_t kEventsMax = 2'000'000;
  return trace.event_count() <= kEventsMax;
}

size_t intervals_max(const Estimator& estimator, uint64_t visits_max) {
  return std::max<uint64_t>(1, visits_max / (3 * std::max<uint64_t>(1, estimator.visits_of_one())));
}

Screened screen(const Batch& batch, const ScreenOptions& options) {
  return Screening(batch, options).run();
}

std::vector<base::Result<Figures>> screen(const Estimator& estimator, const std::vector<Improvement>& improvements,
                                          const ScreenOptions& options) {
  return screen(Batch(estimator, improvements), options).figures;
}

}  // namespace contrafact::whatif
