// Loops: what runs again in the lanes that a fork was wrong about, and what has to be put back before it does.
#include <algorithm>

#include "base/check.h"
#include "graph/lane_compiler.h"

namespace contrafact::graph {

// The lanes that place tasks of class `moves` otherwise hold the body's thread up.
Fork LaneCompiler::open_loop(uint32_t body, uint16_t moves, uint16_t flags) {
  Actor& actor = actors_[body];
  const Fork fork{static_cast<uint32_t>(program_.loops.size()), body, actor.slot, actor.occupied};
  actor.slot = slots_.take();
  LaneLoop& row = program_.loops.emplace_back();
  row.fork = row.join = static_cast<uint32_t>(program_.ops.size());
  row.place = loop_places_.open(fork.loop);
  program_.loop_places.resize(loop_places_.count());
  LaneOp& op = program_.ops.emplace_back(LaneOp{LaneOpCode::fork});
  op.now = actor.slot;
  op.cause = fork.slot;
  op.result = fork.loop;
  op.moves = moves;
  op.flags = flags;
  ++open_loops_;
  return fork;
}

void LaneCompiler::close_loop(const Fork& closed) {
  LaneLoop& row = program_.loops[closed.loop];
  CHECK(row.join == row.fork);
  row.join = static_cast<uint32_t>(program_.ops.size());
  const LaneOp& fork = program_.ops[row.fork];
  LaneOp join{LaneOpCode::join};
  join.flags = fork.flags;
  join.moves = fork.moves;
  join.cause = closed.slot;
  join.result = closed.loop;
  program_.ops.push_back(join);
  slots_.give_back(closed.slot);
  loop_places_.close(closed.loop);
  --open_loops_;
}

namespace {

// What the operations of an open loop write, each once. Used again for a later loop.
struct Written {
  uint32_t loop = kNone;  // none: is free
  std::vector<uint32_t> slots, hosts;
  std::vector<uint32_t> slot_seen, host_seen;  // the latest loop that it was added to

  void begin(uint32_t number, const LaneProgram& program) {
    loop = number;
    slots.clear();
    hosts.clear();
    slot_seen.resize(program.slots, kNone);
    host_seen.resize(program.hosts, kNone);
  }
  void add_slot(uint32_t slot) {
    if (std::exchange(slot_seen[slot], loop) != loop) slots.push_back(slot);
  }
  void add_host(uint32_t host) {
    if (std::exchange(host_seen[host], loop) != loop) hosts.push_back(host);
  }
};

Written& free_one(std::vector<Written>& open) {
  for (Written& one : open) {
    if (one.loop == kNone) return one;
  }
  return open.emplace_back();
}

// `most`: of all loops with the same place.
void save(const std::vector<uint32_t>& found, std::vector<uint32_t>& all, uint32_t& begin, uint32_t& end,
          uint32_t& most) {
  begin = static_cast<uint32_t>(all.size());
  all.insert(all.end(), found.begin(), found.end());
  end = static_cast<uint32_t>(all.size());
  most = std::max(most, end - begin);
}

void set_begins(std::vector<LanePlace>& places) {
  for (size_t i = 1; i < places.size(); ++i) {
    places[i].slots_begin = places[i - 1].slots_begin + places[i - 1].slots;
    places[i].hosts_begin = places[i - 1].hosts_begin + places[i - 1].hosts;
  }
}

// Calls `slot` with the slots that `op` writes. `hosted_on`: by host, the threads that a coordinator may give back.
template <typename Slot>
void each_written(const LaneOp& op, const std::vector<std::vector<uint32_t>>& hosted_on, Slot slot) {
  const auto all_hosts = [&] {
    for (uint32_t thread : hosted_on[op.host]) slot(thread);
  };
  switch (op.code) {
    case LaneOpCode::host:
    case LaneOpCode::response:
    case LaneOpCode::join:
      return;
    case LaneOpCode::first_cause:
    case LaneOpCode::next_cause:
      slot(op.result);
      return;
    case LaneOpCode::end:
      if (op.callee != kNone) slot(op.callee);
      break;
    case LaneOpCode::end_moved:
      slot(op.callee);
      slot(op.spawner);
      all_hosts();
      break;
    case LaneOpCode::wait_moved:
      slot(op.now);
      if (!(op.flags & kUnhosted)) slot(op.callee);
      all_hosts();
      return;
    case LaneOpCode::call:
    case LaneOpCode::call_moved:
      slot(op.now);
      slot(op.callee);
      if (op.flags & (kAtOnce | kCoordinated) && op.result != kNone) slot(op.result);
      return;
    default:
      slot(op.now);
  }
  if (op.flags & kWrites) slot(op.result);
}

}  // namespace

// Fills in what each loop saves. Linear in the operations inside loops, counted once for each loop that they are in.
void LaneCompiler::find_written() {
  if (program_.loops.empty() || !program_.possible) return;
  std::vector<std::vector<uint32_t>> hosted_on(program_.hosts + 1);
  std::vector<Written> open;
  for (const LaneOp& op : program_.ops) {
    if (op.code == LaneOpCode::host) hosted_on[op.host].assign(1, op.spawner);
    if (op.code == LaneOpCode::wait_moved && !(op.flags & kUnhosted)) hosted_on[op.host].push_back(op.callee);
    if (op.code == LaneOpCode::fork) free_one(open).begin(op.result, program_);
    for (Written& loop : open) {
      if (loop.loop == kNone) continue;
      each_written(op, hosted_on, [&](uint32_t slot) { loop.add_slot(slot); });
      if (op.code == LaneOpCode::host || op.code == LaneOpCode::wait_moved) loop.add_host(op.host);
    }
    if (op.code != LaneOpCode::join) continue;
    const auto closed =
        std::find_if(open.begin(), open.end(), [&](const Written& loop) { return loop.loop == op.result; });
    CHECK(closed != open.end());
    LaneLoop& row = program_.loops[op.result];
    LanePlace& place = program_.loop_places[row.place];
    save(closed->slots, program_.loop_slots, row.slots_begin, row.slots_end, place.slots);
    save(closed->hosts, program_.loop_hosts, row.hosts_begin, row.hosts_end, place.hosts);
    closed->loop = kNone;
  }
  set_begins(program_.loop_places);
}

}  // namespace contrafact::graph
