#include <algorithm>

#include "base/check.h"
#include "graph/lane_machine.h"
#include "graph/lanes.h"

namespace contrafact::graph {
namespace {

constexpr int64_t kAll = -1;
constexpr int64_t kUnknown = int64_t{3} << 60;  // see lane_interpreter.h
// Running all again this often takes as long as all lanes one by one.
constexpr uint64_t kAgainMax = kLanes;

size_t slots_end(const LanePlace& place) {
  return size_t{place.slots_begin} + place.slots;
}
size_t hosts_end(const LanePlace& place) {
  return size_t{place.hosts_begin} + place.hosts;
}

}  // namespace

LaneRunner::LaneRunner(const LaneProgram& program) : LaneRunner(program, lane_machine()) {}

LaneRunner::LaneRunner(const LaneProgram& program, const LaneMachine& machine)
    : program_(program),
      machine_(machine),
      slots_(program.slots),
      hosts_(program.hosts),
      inlined_(program.class_moves.size()),
      continued_(program.class_moves.size()),
      any_moved_(program.class_moves.size()),
      any_continued_(program.class_moves.size()),
      predicted_(program.loops.size()),
      guessed_(program.loops.size()),
      turns_(program.loops.size()),
      saved_(program.loop_places.size()),
      saved_slots_(program.loop_places.empty() ? 0 : slots_end(program.loop_places.back())),
      saved_hosts_(program.loop_places.empty() ? 0 : hosts_end(program.loop_places.back())),
      peaks_(program.changes_max, program.lanes) {}

size_t LaneRunner::bytes(const LaneProgram& program, size_t lanes) {
  const std::vector<LanePlace>& places = program.loop_places;
  const size_t slots = program.slots + (places.empty() ? 0 : slots_end(places.back()));
  const size_t hosts = program.hosts + (places.empty() ? 0 : hosts_end(places.back()));
  const size_t by_loop = 2 * sizeof(LaneRow) + sizeof(uint32_t), by_class = 2 * sizeof(LaneRow) + 2;
  return slots * sizeof(LaneRow) + hosts * sizeof(LaneHost) + program.loops.size() * by_loop +
         program.class_moves.size() * by_class + places.size() * sizeof(LaneSaved) +
         LanePeaks::bytes(program.changes_max, lanes);
}

// Which lanes move which tasks.
void LaneRunner::choose(std::span<const std::span<const uint32_t>> sets) {
  std::vector<uint8_t> chosen(program_.moves);
  std::fill(inlined_.begin(), inlined_.end(), LaneRow{});
  std::fill(continued_.begin(), continued_.end(), LaneRow{});
  std::fill(any_moved_.begin(), any_moved_.end(), 0);
  std::fill(any_continued_.begin(), any_continued_.end(), 0);
  for (size_t lane = 0; lane < sets.size(); ++lane) {
    for (uint32_t move : sets[lane]) chosen[move] = 1;
    for (size_t i = 0; i < program_.class_moves.size(); ++i) {
      for (uint32_t move : program_.class_moves[i]) {
        if (!chosen[move]) continue;
        const Placement placement = program_.placements[move];
        const bool continues = placement == Placement::continuation;
        if (placement == Placement::at_wait || program_.refused[i] ||
            (continues && (program_.takes_locks || program_.refused_coordinators[i]))) {
          refused_.lane[lane] = kAll;
          continue;
        }
        (continues ? continued_ : inlined_)[i].lane[lane] = kAll;
        any_moved_[i] = 1;
        any_continued_[i] |= continues;
      }
    }
    for (uint32_t move : sets[lane]) chosen[move] = 0;
  }
}

void LaneRunner::run(std::span<const std::span<const uint32_t>> sets, std::span<LaneResult> results) {
  CHECK(program_.possible && sets.size() <= program_.lanes && results.size() >= sets.size());
  refused_ = {};
  choose(sets);
  for (LaneRow& row : predicted_) std::fill(std::begin(row.lane), std::end(row.lane), kUnknown);
  std::fill(guessed_.begin(), guessed_.end(), LaneRow{});
  std::fill(turns_.begin(), turns_.end(), 0);
  peaks_.begin(program_.begin_ns, program_.end_ns);
  LaneMemory memory{.loops = program_.loops.data(),
                    .begins = program_.begins.data(),
                    .slots = slots_.data(),
                    .hosts = hosts_.data(),
                    .inlined = inlined_.data(),
                    .continued = continued_.data(),
                    .any_moved = any_moved_.data(),
                    .any_continued = any_continued_.data(),
                    .predicted = predicted_.data(),
                    .guessed = guessed_.data(),
                    .turns = turns_.data(),
                    .places = program_.loop_places.data(),
                    .saved = saved_.data(),
                    .loop_slots = program_.loop_slots.data(),
                    .loop_hosts = program_.loop_hosts.data(),
                    .saved_slots = saved_slots_.data(),
                    .saved_hosts = saved_hosts_.data(),
                    .peaks = &peaks_.memory(),
                    .any_guess = std::find(any_continued_.begin(), any_continued_.end(), 1) != any_continued_.end(),
                    .again_max = kAgainMax * program_.operations()};
  if (program_.narrow_ops.empty())
    machine_.run(program_.ops, memory);
  else
    machine_.run_narrow(program_.narrow_ops, memory);
  again_ = memory.again;
  for (size_t lane = 0; lane < sets.size(); ++lane) {
    LaneResult& result = results[lane];
    result = {};
    result.exact = !memory.bad.lane[lane] && !refused_.lane[lane];
    if (!result.exact) continue;
    result.end_ns = memory.end.lane[lane];
    result.waiting_ns = memory.waiting.lane[lane];
    result.active_ns = memory.occupied.lane[lane] - result.waiting_ns;
    result.response_ns = memory.response.lane[lane];
    result.peak_occupied = peaks_.find(lane);
  }
}

}  // namespace contrafact::graph
