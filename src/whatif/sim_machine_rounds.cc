// Which rounds of a loop a thread goes through (sim_rounds.h).
#include <algorithm>

#include "whatif/sim_machine.h"

namespace contrafact::whatif {

void SimMachine::find_rounds() {
  if (program_.rounds.loops.empty()) return;
  loops_.resize(program_.rounds.loops.size());
  for (size_t i = 0; i < loops_.size(); ++i) loops_[i].begins.resize(program_.rounds.loops[i].rounds);
  for (uint32_t fiber = 0; fiber < fibers_.size(); ++fiber) {
    for (uint32_t pc = fibers_[fiber].begin; pc < fibers_[fiber].end; ++pc) {
      if (ops_[pc].code != OpCode::round) continue;
      const RoundLoop& facts = program_.rounds.loops[loop_of(ops_[pc].value)];
      Loop& loop = loops_[loop_of(ops_[pc].value)];
      const uint32_t number = number_of(ops_[pc].value);
      if (number < facts.rounds) {
        loop.begins[number] = pc + 1;
      } else if (facts.kind == RoundLoop::Kind::handed_out || number == 1) {
        loop.ends.emplace_back(fiber, pc + 1);
      }
    }
  }
}

void SimMachine::step_round(uint32_t id, const Op& op) {
  Frame& frame = threads_[id].stack.back();
  ++frame.pc;
  const RoundLoop& facts = program_.rounds.loops[loop_of(op.value)];
  Loop& loop = loops_[loop_of(op.value)];
  if (facts.kind == RoundLoop::Kind::handed_out) {
    // Where locks keep their recorded order, threads keep their work.
    if (options_.lock_rule == LockRule::recorded) return;
    if (loop.next < facts.rounds) {
      frame.pc = loop.begins[loop.next++];
      return;
    }
  } else if (!is_over(facts)) {
    return;
  }
  const auto end =
      std::find_if(loop.ends.begin(), loop.ends.end(), [&](const auto& e) { return e.first == frame.fiber; });
  if (end != loop.ends.end()) frame.pc = end->second;
}

bool SimMachine::is_over(const RoundLoop& loop) const {
  if (loop.run.valid()) return first_waiter_[loop.run.index()] != kNone;
  return std::all_of(loop.others.begin(), loop.others.end(),
                     [&](uint32_t other) { return threads_[other].mode == Mode::finished; });
}

}  // namespace contrafact::whatif
