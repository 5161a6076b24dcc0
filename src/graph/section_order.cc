#include "graph/section_order.h"

#include <algorithm>
#include <utility>

#include "graph/lock_cells.h"

namespace contrafact::graph {
namespace {

using model::CriticalSection;
using model::Outcome;
using model::SectionSets;
using model::Trace;

bool is_ordered(const Trace& trace, const CriticalSection& section) {
  return section.outcome == Outcome::normal && model::is_held(trace.locks[section.lock.index()].kind);
}

// Calls `visit` with each lock's range of sections.
template <typename Visit>
void each_lock(std::span<const CriticalSection> sections, Visit visit) {
  for (uint32_t begin = 0; begin < sections.size();) {
    uint32_t end = begin;
    while (end < sections.size() && sections[end].lock == sections[begin].lock) ++end;
    visit(begin, end);
    begin = end;
  }
}

// A group of accesses to one cell that need no order among each other. Of each thread the last one stands for all.
struct Group {
  AccessClass access = AccessClass::reads;
  std::vector<uint32_t> members;  // sections
};
struct CellState {
  Group previous, current;
};

class LockSweep {
 public:
  // Sweeps over the sections of one lock, `begin` to `end`.
  LockSweep(std::span<const CriticalSection> sections, uint32_t begin, uint32_t end, const SectionSets& sets,
            const LockCells& cells)
      : sections_(sections),
        sets_(sets),
        cells_(cells),
        states_(cells.cell_count() + 1),
        begin_(begin),
        found_by_(end - begin, UINT32_MAX) {}

  // The sections before `section`, which is the next of the lock, each once, unsorted.
  const std::vector<uint32_t>& next(uint32_t section) {
    found_.clear();
    const uint32_t set = sets_.of_section[section];
    const bool known = sets_.is_complete(set);
    const auto uses = cells_.of(set);
    for (const CellUse& use : uses) {
      if (cells_.is_ordered(use.cell)) touch(states_[use.cell], section, use.access);
    }
    // The last state stands for "anything": a section that is not known writes it, one that touches something reads it.
    if (!known || !uses.empty()) touch(states_.back(), section, known ? AccessClass::reads : AccessClass::writes);
    return found_;
  }

 private:
  void touch(CellState& state, uint32_t section, AccessClass access) {
    Group& current = state.current;
    if (!current.members.empty() && need_order(current.access, access)) {
      state.previous = std::move(current);
      current = {};
    }
    current.access = access;
    for (const uint32_t before : state.previous.members) {
      if (found_by_[before - begin_] == section || sections_[before].thread == sections_[section].thread) continue;
      found_by_[before - begin_] = section;
      found_.push_back(before);
    }
    const auto same = std::find_if(current.members.begin(), current.members.end(), [&](uint32_t member) {
      return sections_[member].thread == sections_[section].thread;
    });
    if (same == current.members.end()) {
      current.members.push_back(section);
    } else {
      *same = section;
    }
  }

  const std::span<const CriticalSection> sections_;
  const SectionSets& sets_;
  const LockCells& cells_;
  std::vector<CellState> states_;
  const uint32_t begin_;
  std::vector<uint32_t> found_by_;  // by section from `begin_` on: the last one that it was found to be before
  std::vector<uint32_t> found_;
};

// Drops the predecessors that a section has by way of others. Keeps for each section and thread the last section of
// that thread that is known to be before it.
class Reduction {
 public:
  static constexpr size_t kEntriesMax = 16 << 20;

  Reduction(std::span<const CriticalSection> sections, uint32_t begin, uint32_t end)
      : sections_(sections), begin_(begin) {
    for (uint32_t s = begin; s < end; ++s) threads_.push_back(sections[s].thread.value);
    std::sort(threads_.begin(), threads_.end());
    threads_.erase(std::unique(threads_.begin(), threads_.end()), threads_.end());
    own_.assign(threads_.size(), 0);
    if (threads_.size() * (end - begin) <= kEntriesMax) known_.assign(threads_.size() * (end - begin), 0);
  }

  // REQUIRES: the lock's sections come one after the other.
  void reduce(uint32_t section, std::vector<uint32_t>& before) {
    std::sort(before.begin(), before.end(), std::greater<>());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    if (known_.empty()) return;
    uint32_t* mine = row(section);
    const size_t thread = thread_of(section);
    if (own_[thread] != 0) std::copy_n(row(own_[thread] - 1 + begin_), threads_.size(), mine);
    std::erase_if(before, [&](uint32_t other) {
      const size_t theirs = thread_of(other);
      if (mine[theirs] >= other - begin_ + 1) return true;
      const uint32_t* known = row(other);
      for (size_t t = 0; t < threads_.size(); ++t) mine[t] = std::max(mine[t], known[t]);
      mine[theirs] = std::max(mine[theirs], other - begin_ + 1);
      return false;
    });
    own_[thread] = section - begin_ + 1;
  }

 private:
  uint32_t* row(uint32_t section) { return known_.data() + size_t{section - begin_} * threads_.size(); }
  size_t thread_of(uint32_t section) const {
    const uint32_t thread = sections_[section].thread.value;
    return static_cast<size_t>(std::lower_bound(threads_.begin(), threads_.end(), thread) - threads_.begin());
  }

  const std::span<const CriticalSection> sections_;
  const uint32_t begin_;
  std::vector<uint32_t> threads_;
  std::vector<uint32_t> known_;  // by section and thread: position of the last one before, plus 1
  std::vector<uint32_t> own_;    // by thread: its last section so far, plus 1
};

// REQUIRES: sections are added in ascending order; those left out have none before them.
class OrderBuilder {
 public:
  explicit OrderBuilder(size_t sections) : sections_(sections) { order_.begin.reserve(sections + 1); }
  void add(uint32_t section, std::span<const uint32_t> before) {
    order_.begin.resize(section + 1, static_cast<uint32_t>(order_.before.size()));
    order_.before.insert(order_.before.end(), before.begin(), before.end());
    std::sort(order_.before.end() - static_cast<ptrdiff_t>(before.size()), order_.before.end());
  }
  SectionOrder finish() {
    order_.begin.resize(sections_ + 1, static_cast<uint32_t>(order_.before.size()));
    return std::move(order_);
  }

 private:
  const size_t sections_;
  SectionOrder order_;
};

class NeededOrder {
 public:
  NeededOrder(const Trace& trace, std::span<const CriticalSection> sections, const SectionSets& sets,
              const SectionOrder& recorded)
      : trace_(trace), sections_(sections), sets_(sets), recorded_(recorded), builder_(sections.size()) {}

  void keep(uint32_t begin, uint32_t end) {
    for (uint32_t s = begin; s < end; ++s) builder_.add(s, recorded_.of(s));
  }

  void relax(uint32_t begin, uint32_t end) {
    std::vector<uint32_t> used;
    bool shared = false, unknown = false;
    for (uint32_t s = begin; s < end; ++s) {
      if (!is_ordered(trace_, sections_[s])) continue;
      used.push_back(sets_.of_section[s]);
      shared |= sections_[s].shared;
      unknown |= !sets_.is_complete(used.back());
    }
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    if (shared && unknown) return keep(begin, end);
    const std::optional<LockCells> cells = LockCells::make(sets_, std::move(used), kCellUsesMax);
    if (!cells) return keep(begin, end);
    LockSweep sweep(sections_, begin, end, sets_, *cells);
    Reduction reduction(sections_, begin, end);
    for (uint32_t s = begin; s < end; ++s) {
      if (!is_ordered(trace_, sections_[s])) continue;
      std::vector<uint32_t> before = sweep.next(s);
      // Readers ran side by side in the recording already.
      std::erase_if(before, [&](uint32_t other) { return sections_[other].shared && sections_[s].shared; });
      reduction.reduce(s, before);
      builder_.add(s, before);
    }
  }

  SectionOrder finish() { return builder_.finish(); }

 private:
  const Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const SectionSets& sets_;
  const SectionOrder& recorded_;
  OrderBuilder builder_;
};

}  // namespace

SectionOrder recorded_order(const Trace& trace, std::span<const CriticalSection> sections) {
  OrderBuilder builder(sections.size());
  each_lock(sections, [&](uint32_t begin, uint32_t end) {
    uint32_t writer = UINT32_MAX;
    std::vector<uint32_t> readers;  // since then
    for (uint32_t s = begin; s < end; ++s) {
      if (!is_ordered(trace, sections[s])) continue;
      std::vector<uint32_t> before;
      if (!sections[s].shared && !readers.empty()) {
        before = std::exchange(readers, {});
      } else if (writer != UINT32_MAX) {
        before = {writer};
      }
      std::erase_if(before, [&](uint32_t other) { return sections[other].thread == sections[s].thread; });
      builder.add(s, before);
      if (sections[s].shared) {
        readers.push_back(s);
      } else {
        readers.clear();
        writer = s;
      }
    }
  });
  return builder.finish();
}

std::vector<SectionPair> adjacent_pairs(const SectionOrder& recorded) {
  std::vector<SectionPair> pairs;
  pairs.reserve(recorded.before.size());
  for (uint32_t s = 0; s + 1 < recorded.begin.size(); ++s) {
    for (const uint32_t before : recorded.of(s)) pairs.push_back({before, s});
  }
  return pairs;
}

SectionOrder needed_order(const Trace& trace, std::span<const CriticalSection> sections, const SectionSets& sets,
                          const SectionOrder& recorded, const std::vector<bool>& relax) {
  NeededOrder order(trace, sections, sets, recorded);
  each_lock(sections, [&](uint32_t begin, uint32_t end) {
    const size_t lock = sections[begin].lock.index();
    if (relax.empty() || relax[lock]) {
      order.relax(begin, end);
    } else {
      order.keep(begin, end);
    }
  });
  return order.finish();
}

}  // namespace contrafact::graph
