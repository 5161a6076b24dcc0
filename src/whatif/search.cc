#include "whatif/search.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <span>
#include <unordered_map>

#include "base/check.h"
#include "base/parallel.h"

namespace contrafact::whatif {
namespace {

using Set = std::vector<uint32_t>;  // sorted

constexpr double kWorthMention = 0.01;  // of the score: less is not worth a slower run

struct Scored {
  std::optional<Combination> combination;  // nothing: cannot be estimated ...
  std::string reason;                      // ... because of this
  bool passes = false;
  double score() const { return combination && passes ? combination->score : std::numeric_limits<double>::infinity(); }
};

class Search {
 public:
  Search(const Batch& batch, const std::vector<Improvement>& improvements, const KnownFigures& given,
         const SearchOptions& options)
      : estimator_(batch.estimator()), improvements_(improvements), given_(given), options_(options), batch_(batch) {}

  SearchResult run() {
    find_exclusive();
    estimate_singles();
    Set companions;
    for (uint32_t i = 0; i < improvements_.size(); ++i) {
      if (result_.singles[i].estimate) (i < options_.first_companion ? usable_ : companions).push_back(i);
    }
    if (usable_.size() + companions.size() <= options_.exhaustive_max) {
      usable_.insert(usable_.end(), companions.begin(), companions.end());
      companions.clear();
    }
    if (usable_.size() > options_.exhaustive_max || !exhaustive()) climb();
    if (!companions.empty()) climb_with(companions);
    drop_idle_members();
    collect_best();
    return std::move(result_);
  }

 private:
  void find_exclusive() {
    // Few sets of improvements share tasks: each is looked at once, not for each of its tasks.
    std::vector<std::vector<uint32_t>> sets{{}};
    std::vector<uint32_t> set_of(estimator_.dag().task_count());
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t i = 0; i < improvements_.size(); ++i) {
      std::unordered_map<uint32_t, uint32_t> with_this;  // by set
      for (model::TaskId task : improvements_[i].tasks) {
        if (task.index() >= set_of.size()) continue;  // it cannot be made
        uint32_t& set = set_of[task.index()];
        if (!sets[set].empty() && sets[set].back() == i) continue;
        const auto [known, is_new] = with_this.try_emplace(set, static_cast<uint32_t>(sets.size()));
        if (is_new) {
          for (uint32_t other : sets[set]) pairs.emplace(other, i);
          sets.push_back(sets[set]);
          sets.back().push_back(i);
        }
        set = known->second;
      }
    }
    excludes_.resize(improvements_.size());
    for (auto [x, y] : pairs) {
      excludes_[x].push_back(y);
      excludes_[y].push_back(x);
    }
    result_.exclusive.assign(pairs.begin(), pairs.end());
  }

  bool excluded(const Set& set, uint32_t improvement) const {
    for (uint32_t other : excludes_[improvement]) {
      if (std::binary_search(set.begin(), set.end(), other)) return true;
    }
    return false;
  }

  Scored scored(const Set& set, const base::Result<Figures>& figures) const {
    Scored scored;
    if (!figures) {
      scored.reason = figures.error().message;
      return scored;
    }
    scored.combination = Combination{set, *figures, score_of(*figures, estimator_.base(), options_.weights)};
    scored.passes = !options_.filters || passes(*figures, options_.slower_max);
    return scored;
  }

  bool passes(const Figures& figures, double slower_max) const {
    return passes_filters(figures, estimator_.base(), slower_max, options_.filter_threads);
  }

  // Estimates those of `sets` that are not known yet, until the limits are reached.
  void estimate_all(const std::vector<Set>& sets) {
    std::vector<const Set*> fresh;
    for (const Set& set : sets) {
      if (known_.size() >= options_.estimates_max) {
        result_.cut_short = true;
        break;
      }
      auto [at, is_new] = known_.try_emplace(set);
      if (is_new) fresh.push_back(&at->first);
    }
    // The work done so far is checked between rounds, which are the same on any number of threads.
    std::span<const Set*> rest = fresh;
    while (!rest.empty()) {
      if (result_.visits >= options_.visits_max) {
        result_.cut_short = true;
        for (const Set* set : rest) known_.erase(known_.find(*set));
        return;
      }
      const size_t round = std::min(round_max(), rest.size());
      estimate_round(rest.first(round));
      rest = rest.subspan(round);
    }
  }

  // As many sets as the budget seems to have room for, judged by the cost of the sets so far. In a long trace, each set
  // that the lanes cannot estimate takes a pass.
  size_t round_max() const {
    constexpr uint64_t kMost = 4 * Batch::kAtATime;
    const uint64_t left = options_.visits_max - result_.visits;
    const uint64_t each = visits_each() > 0 ? visits_each() : estimator_.visits_of_one();
    return std::clamp<uint64_t>(left / each, 1, kMost);
  }

  void estimate_round(std::span<const Set* const> sets) {
    std::vector<std::optional<base::Result<Figures>>> figures(sets.size());
    if (batch_.has_lanes()) {
      const size_t batches = (sets.size() + Batch::kAtATime - 1) / Batch::kAtATime;
      each(batches, [&](size_t number, Batch::Scratch& worker) {
        const size_t begin = number * Batch::kAtATime, count = std::min(Batch::kAtATime, sets.size() - begin);
        const std::vector<std::optional<Figures>> found = batch_.figures_in_lanes(sets.subspan(begin, count), worker);
        for (size_t i = 0; i < count; ++i) {
          if (found[i]) figures[begin + i].emplace(*found[i]);
        }
      });
    }
    // Sets that the lanes cannot estimate take far longer: one at a time for each worker.
    std::vector<size_t> alone;
    for (size_t i = 0; i < sets.size(); ++i) {
      if (!figures[i]) alone.push_back(i);
    }
    each(alone.size(), [&](size_t number, Batch::Scratch& worker) {
      figures[alone[number]].emplace(batch_.figures_of_one(*sets[alone[number]], worker));
    });
    for (const std::unique_ptr<Batch::Scratch>& worker : workers_) result_.visits += std::exchange(worker->visits, 0);
    for (size_t i = 0; i < sets.size(); ++i) {
      Scored& known = known_[*sets[i]];
      known = scored(*sets[i], *figures[i]);
      if (!known.combination) ++result_.deadlocked;
    }
    result_.estimated += sets.size();
    worked_out_ += sets.size();
    if (options_.progress) options_.progress(result_.estimated);
  }

  // Calls `work` for each of 0 to `count`, on as many workers as are of use.
  template <typename Work>
  void each(size_t count, Work work) {
    const size_t wanted = std::min<size_t>(batch_.worker_count(options_.threads), count);
    while (workers_.size() < wanted) workers_.push_back(std::make_unique<Batch::Scratch>(batch_));
    std::atomic<size_t> next{0};
    auto loop = [&](Batch::Scratch& worker) {
      for (size_t i = next++; i < count; i = next++) work(i, worker);
    };
    if (wanted > 0) base::on_threads(wanted, [&](size_t number) { loop(*workers_[number]); });
  }

  void estimate_singles() {
    std::vector<Set> sets;
    result_.singles.resize(improvements_.size());
    for (uint32_t i = 0; i < improvements_.size(); ++i) {
      result_.singles[i].reason = batch_.reason(i);
      if (batch_.reason(i).empty()) sets.push_back({i});
    }
    if (!given_.singles.empty()) {
      for (const Set& set : sets) known_[set] = scored(set, given_.singles[set[0]]);
      result_.estimated += sets.size();
    }
    estimate_all(sets);
    for (const Set& set : sets) {
      Single& single = result_.singles[set[0]];
      auto known = known_.find(set);
      if (known == known_.end()) {
        single.reason = "was not estimated: the search was cut short";
        continue;
      }
      single.estimate = known->second.combination;
      single.reason = known->second.reason;
      single.filtered = single.estimate && !passes(single.estimate->figures, options_.slower_max);
    }
  }

  // Estimates all combinations. False, with nothing done, if that would be too much work.
  bool exhaustive() {
    std::vector<Set> sets;
    const size_t all = size_t{1} << usable_.size();
    for (size_t mask = 1; mask < all; ++mask) {
      Set set;
      bool possible = true;
      for (size_t i = 0; i < usable_.size() && possible; ++i) {
        if (!(mask >> i & 1)) continue;
        possible = !excluded(set, usable_[i]);
        set.push_back(usable_[i]);
      }
      if (possible) sets.push_back(std::move(set));
    }
    if (!affordable(sets.size())) return false;
    estimate_all(sets);
    result_.exhaustive = !result_.cut_short;
    return true;
  }

  std::vector<Set> neighbours(const Set& set) const {
    std::vector<Set> result;
    for (uint32_t i : usable_) {
      Set next;
      if (std::binary_search(set.begin(), set.end(), i)) {
        std::copy_if(set.begin(), set.end(), std::back_inserter(next), [&](uint32_t other) { return other != i; });
      } else {
        const std::vector<uint32_t>& gone = excludes_[i];
        std::copy_if(set.begin(), set.end(), std::back_inserter(next),
                     [&](uint32_t other) { return std::find(gone.begin(), gone.end(), other) == gone.end(); });
        next.insert(std::lower_bound(next.begin(), next.end(), i), i);
      }
      if (!next.empty()) result.push_back(std::move(next));
    }
    return result;
  }

  double score_of_set(const Set& set) const {
    if (set.empty()) return 1;
    auto known = known_.find(set);
    return known == known_.end() ? std::numeric_limits<double>::infinity() : known->second.score();
  }

  void climb_from(Set set) {
    if (!set.empty()) estimate_all({set});
    while (!result_.cut_short) {
      const std::vector<Set> next = neighbours(set);
      estimate_all(next);
      const Set* best = nullptr;
      double best_score = score_of_set(set);
      for (const Set& candidate : next) {
        if (double score = score_of_set(candidate); score < best_score) {
          best_score = score;
          best = &candidate;
        }
      }
      if (!best) return;
      set = *best;
    }
  }

  void climb() {
    // The first start: all improvements that help by themselves, best first, where they do not exclude each other. It
    // is often near the top already.
    std::vector<uint32_t> order = usable_;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return score_of_set({x}) < score_of_set({y}); });
    Set greedy;
    for (uint32_t i : order) {
      if (score_of_set({i}) >= 1 || excluded(greedy, i)) continue;
      greedy.insert(std::lower_bound(greedy.begin(), greedy.end(), i), i);
    }
    climb_from(greedy);
    climb_from({});
    std::mt19937_64 random(options_.seed);
    for (size_t restart = 0; restart < options_.restarts && !result_.cut_short; ++restart) {
      Set set;
      for (uint32_t i : order) {
        // Written out, because distributions differ between standard libraries.
        if (random() % 2 == 0 || excluded(set, i)) continue;
        set.insert(std::lower_bound(set.begin(), set.end(), i), i);
      }
      climb_from(set);
    }
  }

  // Climbs from the best set so far, and from the best pair of companions.
  void climb_with(const Set& companions) {
    result_.exhaustive = false;
    usable_.insert(usable_.end(), companions.begin(), companions.end());
    climb_from(best_set());
    std::vector<Set> pairs;
    for (size_t i = 0; i < companions.size(); ++i) {
      for (size_t j = i + 1; j < companions.size(); ++j) {
        if (!excluded({companions[i]}, companions[j])) pairs.push_back({companions[i], companions[j]});
      }
    }
    if (pairs.empty() || !affordable(4 * pairs.size())) return;
    estimate_all(pairs);
    climb_from(best_of(pairs));
  }

  // Whether so many more estimates, at the mean cost so far, stay within the budget.
  bool affordable(size_t estimates) const {
    return static_cast<double>(visits_each()) * static_cast<double>(estimates) <=
           static_cast<double>(options_.visits_max);
  }

  // The mean cost of an estimate so far; 0: not known.
  uint64_t visits_each() const { return worked_out_ > 0 ? result_.visits / worked_out_ : given_.visits_each; }

  const Set& best_of(const std::vector<Set>& sets) const {
    return *std::min_element(sets.begin(), sets.end(),
                             [&](const Set& x, const Set& y) { return score_of_set(x) < score_of_set(y); });
  }

  // The best of all estimated sets; empty: nothing helps.
  Set best_set() const {
    Set best;
    double best_score = 1;
    for (const auto& [set, scored] : known_) {
      if (scored.score() < best_score) {
        best_score = scored.score();
        best = set;
      }
    }
    return best;
  }

  // Looks for the best set without the members that add less than rounding.
  void drop_idle_members() {
    Set set = best_set();
    const double enough = score_of_set(set) + kRounding;
    while (set.size() > 1) {
      std::vector<Set> fewer(set.size(), set);
      for (size_t i = 0; i < set.size(); ++i) fewer[i].erase(fewer[i].begin() + static_cast<std::ptrdiff_t>(i));
      estimate_all(fewer);
      set = best_of(fewer);
      if (score_of_set(set) > enough) return;
      lean_ = set;
    }
  }

  void collect_best() {
    std::vector<const Combination*> all;
    for (const auto& [set, scored] : known_) {
      if (scored.combination && scored.passes && scored.combination->score < 1) all.push_back(&*scored.combination);
    }
    std::sort(all.begin(), all.end(), [](const Combination* x, const Combination* y) {
      if (x->score != y->score) return x->score < y->score;
      // Of equal scores, the one with fewer changes is better.
      return x->improvements.size() != y->improvements.size() ? x->improvements.size() < y->improvements.size()
                                                              : x->improvements < y->improvements;
    });
    std::stable_partition(all.begin(), all.end(), [&](const Combination* x) { return x->improvements == lean_; });
    for (size_t i = 0; i < all.size() && i < options_.keep; ++i) result_.best.push_back(*all[i]);
    note_slower();
  }

  void note_slower() {
    if (!options_.filters) return;
    double enough = (result_.best.empty() ? 1 : result_.best.front().score) - kWorthMention;
    for (const auto& [set, scored] : known_) {
      if (scored.passes || !scored.combination || scored.combination->score >= enough) continue;
      if (!passes(scored.combination->figures, kSlightlySlower)) continue;
      result_.slower = scored.combination;
      enough = scored.combination->score;
    }
  }

  const Estimator& estimator_;
  const std::vector<Improvement>& improvements_;
  const KnownFigures& given_;
  const SearchOptions& options_;
  const Batch& batch_;
  size_t worked_out_ = 0;  // estimates made by this search
  std::vector<std::unique_ptr<Batch::Scratch>> workers_;
  std::vector<std::vector<uint32_t>> excludes_;  // by improvement
  std::vector<uint32_t> usable_;
  std::map<Set, Scored> known_;
  Set lean_;  // as good as the best set but for rounding, with fewer members; empty: none
  SearchResult result_;
};

}  // namespace

double score_of(const Figures& figures, const Figures& base, const SearchWeights& weights) {
  auto ratio = [](double value, double of) { return of > 0 ? value / of : 1.0; };
  const double total = weights.duration + weights.peak + weights.mean;
  if (total <= 0) return 1;
  return (weights.duration * ratio(static_cast<double>(figures.duration_ns), static_cast<double>(base.duration_ns)) +
          weights.peak * ratio(figures.peak_occupied, base.peak_occupied) +
          weights.mean * ratio(figures.mean_occupied, base.mean_occupied)) /
         total;
}

bool passes_filters(const Figures& figures, const Figures& base, double slower_max, bool threads) {
  return static_cast<double>(figures.duration_ns) <=
             static_cast<double>(base.duration_ns) * (1 + slower_max + kRounding) &&
         figures.mean_response_ns <= base.mean_response_ns * (1 + slower_tasks_max(slower_max)) &&
         (!threads || (figures.peak_occupied <= base.peak_occupied &&
                       figures.mean_occupied <= base.mean_occupied * (1 + kRounding)));
}

SearchResult search(const Batch& batch, const std::vector<Improvement>& improvements, const KnownFigures& known,
                    const SearchOptions& options) {
  CHECK(batch.size() == improvements.size());
  CHECK(known.singles.empty() || known.singles.size() == improvements.size());
  return Search(batch, improvements, known, options).run();
}

SearchResult search(const Estimator& estimator, const std::vector<Improvement>& improvements,
                    const SearchOptions& options) {
  return search(Batch(estimator, improvements), improvements, {}, options);
}

}  // namespace contrafact::whatif
