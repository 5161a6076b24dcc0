#include "improve/lock_objects.h"

#include <algorithm>
#include <unordered_map>

namespace contrafact::improve {
namespace {

using graph::CellUse;

constexpr uint32_t kObjectsMin = 4;
constexpr uint64_t kRare = 20;   // one of so many
constexpr size_t kTogether = 2;  // objects of a section; a section that touches more takes all locks
// Guarded cells of all kinds of sections, and of all observed: 256 MiB.
constexpr uint64_t kListedMax = uint64_t{1} << 26;

constexpr bool is_nearly_all(uint64_t part, uint64_t all) {
  return part * kRare >= all * (kRare - 1);
}

class ObjectFinder {
 public:
  ObjectFinder(const LockUses& uses, model::LockId id) : uses_(uses), id_(id), lock_(uses.lock(id)) { list_kinds(); }

  LockObjects run() {
    if (is_too_much_) return {.too_many_uses = true};
    LockObjects found = find();
    if (found.count == 0) say_what_ties(found);
    found.too_many_uses = found.count == 0 && is_order_too_long_;
    return found;
  }

 private:
  // Sections that touch the same.
  struct Kind {
    uint32_t set = 0;
    uint64_t sections = 0;
    bool is_guarded = false;        // they touch something that the lock guards
    std::vector<uint32_t> objects;  // so far
    bool takes_all = false;
  };
  struct Cell {
    uint64_t touched = 0, written = 0;  // by so many sections
    std::vector<uint32_t> kinds;
    std::vector<uint32_t> observed;  // places in the observed order
  };

  void list_kinds() {
    cells_.resize(lock_.guarded.size());
    for (uint32_t s = lock_.begin; s < lock_.end; ++s) {
      if (uses_.counts(s) && uses_.is_known(s)) ++kinds_[kind_of(uses_.facts().sets.of_section[s])].sections;
    }
    for (const auto& [set, thread] : uses_.facts().observed_order[id_.index()]) {
      if (set != analysis::kNotObserved) kind_of(set);
    }
    std::vector<uint32_t> kinds_of_cell(cells_.size());
    uint64_t all = 0;
    for (const Kind& kind : kinds_) {
      for (const CellUse& use : lock_.cells->of(kind.set)) kinds_of_cell[use.cell] += lock_.guarded[use.cell];
    }
    for (const uint32_t kinds : kinds_of_cell) all += kinds;
    is_too_much_ = all > kListedMax;
    if (is_too_much_) return;
    for (size_t cell = 0; cell < cells_.size(); ++cell) cells_[cell].kinds.reserve(kinds_of_cell[cell]);
    for (uint32_t kind = 0; kind < kinds_.size(); ++kind) {
      for (const CellUse& use : lock_.cells->of(kinds_[kind].set)) {
        if (!lock_.guarded[use.cell]) continue;
        Cell& cell = cells_[use.cell];
        cell.kinds.push_back(kind);
        kinds_[kind].is_guarded = true;
        cell.touched += kinds_[kind].sections;
        cell.written += use.writes ? kinds_[kind].sections : 0;
      }
    }
  }

  uint32_t kind_of(uint32_t set) {
    const auto [known, added] = kind_of_set_.try_emplace(set, static_cast<uint32_t>(kinds_.size()));
    if (added) kinds_.push_back({.set = set});
    return known->second;
  }

  // If most cells that could be objects move between other objects, those that were not seen to move are taken to move
  // as well.
  LockObjects find() {
    companion_.assign(cells_.size(), LockObjects::kNone);
    list_observed();
    place_all(!is_order_too_long_);
    if (may_move_ && moving_ <= staying_) place_all(false);
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds && join_neighbours(); ++round) place_all(may_move_);
    return result();
  }

  // A cell next to an object in memory that is mostly touched with the object is part of it. Some sections may touch
  // the cell alone: they take the object's lock. Returns whether there is such a cell.
  bool join_neighbours() {
    std::ranges::sort(roots_);
    bool any = false;
    for (size_t i = 0; i < roots_.size(); ++i) {
      uint32_t& companion = companion_[roots_[i]];
      if (i > 0 && is_mostly_with(roots_[i], roots_[i - 1])) companion = roots_[i - 1];
      if (i + 1 < roots_.size() && is_mostly_with(roots_[i], roots_[i + 1])) companion = roots_[i + 1];
      any |= companion != LockObjects::kNone;
    }
    return any;
  }

  // Two thirds: a thread that goes round in a ring touches each with the next one half of the time.
  bool is_mostly_with(uint32_t cell, uint32_t other) const {
    if (cells_[other].written <= cells_[cell].written) return false;
    std::vector<uint32_t> both;
    std::ranges::set_intersection(cells_[cell].kinds, cells_[other].kinds, std::back_inserter(both));
    uint64_t together = 0;
    for (const uint32_t kind : both) together += kinds_[kind].sections;
    return 3 * together >= 2 * cells_[cell].touched;
  }

  void place_all(bool may_move) {
    forget();
    may_move_ = may_move;
    for (const bool structure : {false, true}) {
      for (const uint32_t cell : by_use(structure)) place(cell, structure);
    }
  }

  void forget() {
    roots_.clear();
    is_root_.assign(cells_.size(), false);
    moving_ = staying_ = 0;
    for (Kind& kind : kinds_) kind.objects.clear(), kind.takes_all = false;
  }

  bool is_structure(const Cell& cell) const { return cell.written * kRare <= cell.touched; }

  // The most changed cells first: an object that contains elements changes with each of them.
  std::vector<uint32_t> by_use(bool structure) const {
    std::vector<uint32_t> cells;
    for (uint32_t cell = 0; cell < cells_.size(); ++cell) {
      if (cells_[cell].touched == 0 || is_structure(cells_[cell]) != structure) continue;
      if (!left_out_.empty() && left_out_[cell]) continue;
      cells.push_back(cell);
    }
    std::ranges::stable_sort(cells, std::greater(),
                             [&](uint32_t cell) { return std::pair(cells_[cell].written, cells_[cell].touched); });
    return cells;
  }

  void place(uint32_t cell, bool structure) {
    if (std::ranges::all_of(cells_[cell].kinds, [&](uint32_t kind) { return needs_no_object(kinds_[kind]); })) return;
    auto [root, is_always] = root_for(cell);
    if (!is_always && may_move_ && moves(cell)) return;
    if (root == LockObjects::kNone && structure) return let_writers_take_all(cell);
    if (root == LockObjects::kNone) {
      roots_.push_back(root = cell);
      is_root_[cell] = true;
    }
    for (const uint32_t k : cells_[cell].kinds) {
      Kind& kind = kinds_[k];
      if (kind.takes_all || std::ranges::find(kind.objects, root) != kind.objects.end()) continue;
      kind.objects.push_back(root);
      kind.takes_all = kind.objects.size() > kTogether;
    }
  }

  static bool needs_no_object(const Kind& kind) { return kind.takes_all || kind.sections == 0; }

  struct Companion {
    uint32_t root = LockObjects::kNone;
    bool is_always = false;
  };
  Companion root_for(uint32_t cell) {
    uint32_t root = cell;
    while (companion_[root] != LockObjects::kNone) root = companion_[root];
    if (root == cell) return root_with(cell);
    companion_[cell] = root;  // who comes along here again has one step to go
    return is_root_[root] ? Companion{root, true} : root_with(cell);
  }

  // The object that most sections that touch the cell touch as well; of several, the nearest. None if these sections
  // are not nearly all.
  Companion root_with(uint32_t cell) {
    together_.resize(cells_.size());
    std::vector<uint32_t> met;
    uint64_t all = 0;
    for (const uint32_t k : cells_[cell].kinds) {
      const Kind& kind = kinds_[k];
      if (kind.takes_all) continue;
      all += kind.sections;
      for (const uint32_t root : kind.objects) {
        if (together_[root] == 0 && kind.sections > 0) met.push_back(root);
        together_[root] += kind.sections;
      }
    }
    const auto distance = [&](uint32_t root) { return root < cell ? cell - root : root - cell; };
    const auto rank = [&](uint32_t root) { return std::pair(all - together_[root], distance(root)); };
    const auto best = std::ranges::min_element(met, {}, rank);
    const bool is_any = best != met.end() && is_nearly_all(together_[*best], all);
    const Companion found = is_any ? Companion{*best, together_[*best] == all} : Companion();
    for (const uint32_t root : met) together_[root] = 0;
    return found;
  }

  // Whether any two sections that were seen to touch the cell one after the other both touch one object. Without such
  // sections nothing follows.
  bool moves(uint32_t cell) {
    if (roots_.size() < kObjectsMin) return false;
    uint32_t before = LockObjects::kNone;
    bool is_seen = false;
    for (const uint32_t place : cells_[cell].observed) {
      if (before != LockObjects::kNone && stretch_[before] == stretch_[place]) {
        if (!share_object(kinds_[observed_[before]], kinds_[observed_[place]])) {
          ++staying_;
          return false;
        }
        is_seen = true;
      }
      before = place;
    }
    moving_ += is_seen;
    return true;
  }

  static bool share_object(const Kind& x, const Kind& y) {
    if (x.takes_all || y.takes_all) return true;
    return std::ranges::find_first_of(x.objects, y.objects) != x.objects.end();
  }

  // If the memory does not suffice, nothing is taken to move: the sections that were left out might show that it stays.
  void list_observed() {
    if (!observed_.empty() || is_order_too_long_) return;
    const std::vector<analysis::ObservedSection>& order = uses_.facts().observed_order[id_.index()];
    std::vector<uint64_t> observed_of_kind(kinds_.size());
    for (const auto& [set, thread] : order) {
      if (set != analysis::kNotObserved) ++observed_of_kind[kind_of_set_.at(set)];
    }
    std::vector<uint64_t> observed_of_cell(cells_.size());
    uint64_t all = 0;
    for (size_t cell = 0; cell < cells_.size(); ++cell) {
      for (const uint32_t kind : cells_[cell].kinds) observed_of_cell[cell] += observed_of_kind[kind];
      all += observed_of_cell[cell];
    }
    is_order_too_long_ = all > kListedMax;
    if (is_order_too_long_) return;
    for (size_t cell = 0; cell < cells_.size(); ++cell) cells_[cell].observed.reserve(observed_of_cell[cell]);
    uint32_t stretch = 0;
    for (const auto& [set, thread] : order) {
      stretch += set == analysis::kNotObserved;
      if (set == analysis::kNotObserved) continue;
      const auto place = static_cast<uint32_t>(observed_.size());
      observed_.push_back(kind_of_set_.at(set));
      stretch_.push_back(stretch);
      for (const CellUse& use : lock_.cells->of(set)) {
        if (lock_.guarded[use.cell]) cells_[use.cell].observed.push_back(place);
      }
    }
  }

  void let_writers_take_all(uint32_t cell) {
    for (const uint32_t k : cells_[cell].kinds) {
      for (const CellUse& use : lock_.cells->of(kinds_[k].set)) kinds_[k].takes_all |= use.cell == cell && use.writes;
    }
  }

  LockObjects result() {
    std::ranges::sort(roots_);
    LockObjects made{.count = static_cast<uint32_t>(roots_.size()), .moves = moving_ > 0 && may_move_};
    for (uint32_t s = lock_.begin; s < lock_.end; ++s) {
      if (!uses_.counts(s) || !uses_.is_known(s)) continue;
      const Kind& kind = kinds_[kind_of_set_.at(uses_.facts().sets.of_section[s])];
      if (kind.objects.empty() && !kind.takes_all) continue;
      made.placed.push_back(placed(s, kind));
      made.taking_all += made.placed.back().second == LockObjects::kAll;
      made.taking_two +=
          made.placed.back().second < LockObjects::kAll && made.placed.back().second != made.placed.back().object;
    }
    if (made.count < kObjectsMin || made.taking_all * kRare > made.placed.size()) return {};
    return made;
  }

  LockObjects::Placed placed(uint32_t s, const Kind& kind) const {
    if (kind.takes_all) return {s, 0, LockObjects::kAll};
    const auto number = [&](uint32_t root) {
      return static_cast<uint32_t>(std::ranges::lower_bound(roots_, root) - roots_.begin());
    };
    const auto [first, second] = std::minmax(kind.objects.front(), kind.objects.back());
    return {s, number(first), number(second)};
  }

  // Looks for cells that nearly all sections touch, as a counter, and counts the objects that there would be without
  // these cells.
  void say_what_ties(LockObjects& found) {
    uint64_t sections = 0, bytes = 0, cells = 0;
    for (const Kind& kind : kinds_) sections += kind.is_guarded ? kind.sections : 0;
    left_out_.assign(cells_.size(), false);
    for (uint32_t cell = 0; cell < cells_.size(); ++cell) {
      cells += cells_[cell].touched > 0;
      left_out_[cell] = cells_[cell].touched > 0 && is_nearly_all(cells_[cell].touched, sections);
      if (!left_out_[cell]) continue;
      found.shares_kernel_state |= is_kernel_state(lock_.cells->address(cell));
      if (!is_kernel_state(lock_.cells->address(cell)))
        bytes += lock_.cells->end_address(cell) - lock_.cells->address(cell);
    }
    if ((bytes == 0 && !found.shares_kernel_state) ||
        cells == static_cast<uint64_t>(std::ranges::count(left_out_, true)))
      return;
    found.shared_bytes = bytes;
    LockObjects without = find();
    found.count_without = without.count;
    found.placed = std::move(without.placed);
  }

  const LockUses& uses_;
  const model::LockId id_;
  const LockUses::Lock& lock_;
  std::vector<Kind> kinds_;
  std::unordered_map<uint32_t, uint32_t> kind_of_set_;
  std::vector<Cell> cells_;
  std::vector<bool> left_out_;       // by cell; empty: none is
  std::vector<uint32_t> companion_;  // by cell: the one whose object it belongs to; each is written more than the last
  std::vector<uint32_t> roots_;      // cells that stand for objects
  std::vector<bool> is_root_;        // by cell
  std::vector<uint64_t> together_;   // by cell: sections; 0 between calls
  std::vector<uint32_t> observed_;   // kinds, in the order in which they were observed
  std::vector<uint32_t> stretch_;    // likewise: equal where nothing between was not observed
  bool is_too_much_ = false;         // the kinds' cells are more than kListedMax
  bool is_order_too_long_ = false;   // likewise those of what was observed
  bool may_move_ = true;
  size_t moving_ = 0, staying_ = 0;  // cells that were seen to move between objects, or not to
};

}  // namespace

LockObjects objects_of(const LockUses& uses, model::LockId lock) {
  return ObjectFinder(uses, lock).run();
}

}  // namespace contrafact::improve
