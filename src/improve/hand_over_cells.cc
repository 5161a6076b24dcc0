#include "improve/hand_over_cells.h"

#include <map>

namespace contrafact::improve {
namespace {

// Fewer may be chance.
constexpr uint32_t kTimesMin = 5;

struct Cell {
  uint32_t touched_at = 0;  // place in the order, from 1 on; 0: not in this stretch
  uint32_t written_at = 0;
  uint32_t handed_on = 0;  // times
  bool was_taken = false;
};

}  // namespace

std::vector<Passage> cell_passages(const graph::LockCells& cells, std::span<const analysis::ObservedSection> order) {
  std::vector<Cell> of(cells.cell_count());
  const auto thread_at = [&](uint32_t place) { return order[place - 1].thread; };
  std::map<uint32_t, uint32_t> read_from;  // by thread: the last place there that wrote what is read here
  uint32_t since = 1;                      // where this stretch of the order begins
  for (uint32_t place = 1; place <= order.size(); ++place) {
    const auto& [set, thread] = order[place - 1];
    if (set == analysis::kNotObserved) {
      since = place + 1;
      continue;
    }
    const auto uses = cells.of(set);
    read_from.clear();
    for (const graph::CellUse& use : uses) {
      const uint32_t written_at = of[use.cell].written_at;
      if (written_at < since || !use.reads) continue;
      uint32_t& latest = read_from[thread_at(written_at).value];
      latest = std::max(latest, written_at);
    }
    for (const graph::CellUse& use : uses) {
      Cell& cell = of[use.cell];
      if (cell.touched_at >= since && thread_at(cell.touched_at) != thread) {
        const auto from = read_from.find(thread_at(cell.touched_at).value);
        const bool is_later = from != read_from.end() && from->second > cell.touched_at;
        is_later ? void(++cell.handed_on) : void(cell.was_taken = true);
      }
      cell.touched_at = place;
      if (use.writes) cell.written_at = place;
    }
  }
  std::vector<Passage> passages(of.size(), Passage::unknown);
  for (size_t cell = 0; cell < of.size(); ++cell) {
    if (of[cell].handed_on >= kTimesMin) passages[cell] = Passage::handed_on;
    if (of[cell].was_taken) passages[cell] = Passage::taken;
  }
  return passages;
}

}  // namespace contrafact::improve
