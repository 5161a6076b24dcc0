#include "whatif/sim_moves.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace contrafact::whatif {
namespace {

using Ops = std::vector<Op>;

// What belongs to handing out the task before it.
bool is_of_hand_out(const Op& op) {
  return op.code == OpCode::handed || op.code == OpCode::around;
}

class Mover {
 public:
  Mover(const SimProgram& program, const Variant& variant)
      : program_(program), variant_(variant), gives_(permit_gives(*program.trace)) {}

  // The fiber's operations in their new order.
  Ops moved(std::span<const Op> ops) const {
    Ops made(ops.begin(), ops.end());
    if (!variant_.waits_later.empty()) made = with_later_waits(made);
    if (!variant_.earlier_gives.empty()) give_earlier(made);
    if (!variant_.blocks_outside.empty()) made = with_blocks_outside(made);
    return made;
  }

 private:
  bool waits_later(const Op& op) const {
    return op.value < variant_.waits_later.size() && variant_.waits_later[op.value];
  }

  // By operation: of a task's spawn, the position of the last spawn of its batch. Of all others, 0.
  std::vector<size_t> last_of_batch(const Ops& ops) const {
    std::vector<size_t> last(ops.size()), batch;
    std::set<uint32_t> places, all_places;
    const auto is_one = [&](const Op& op) { return op.code == OpCode::spawn && waits_later(op); };
    const auto place = [&](const Op& op) { return program_.trace->tasks[op.value].spawn_context.value; };
    const auto close = [&] {
      for (const size_t at : batch) last[at] = batch.back();
      batch.clear();
      places.clear();
    };
    for (const Op& op : ops) {
      if (is_one(op)) all_places.insert(place(op));
    }
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!is_one(ops[i])) continue;
      if (all_places.size() > 1 && places.contains(place(ops[i]))) close();
      places.insert(place(ops[i]));
      batch.push_back(i);
    }
    close();
    return last;
  }

  Ops with_later_waits(const Ops& ops) const {
    const std::vector<size_t> last = last_of_batch(ops);
    std::map<uint64_t, size_t> behind;  // by task that was handed out: the position behind which it is waited for
    std::map<size_t, Ops> waiting;      // by that position
    Ops made;
    made.reserve(ops.size());
    for (size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      if (op.code == OpCode::spawn && last[i] > i) behind[op.value] = last[i];
      const auto found = op.code == OpCode::wait ? behind.find(op.value) : behind.end();
      if (found != behind.end() && found->second > i) {
        Ops& waits = waiting[found->second];
        waits.push_back(op);
        if (i + 1 < ops.size() && ops[i + 1].code == OpCode::wait_done) waits.push_back(ops[++i]);
        continue;
      }
      made.push_back(op);
      const auto due = waiting.begin();
      if (due == waiting.end() || due->first > i) continue;
      if (i + 1 < ops.size() && is_of_hand_out(ops[i + 1])) continue;
      made.insert(made.end(), due->second.begin(), due->second.end());
      waiting.erase(due);
    }
    return made;
  }

  bool blocks_outside(const Op& op) const {
    return section_of(op.value) < variant_.blocks_outside.size() && variant_.blocks_outside[section_of(op.value)];
  }

  Ops with_blocks_outside(const Ops& ops) const {
    Ops made;
    made.reserve(ops.size());
    std::vector<std::pair<uint64_t, size_t>> open;  // what took, and where it stands in `made`
    for (const Op& op : ops) {
      const bool is_lock = op.code == OpCode::take || op.code == OpCode::give;
      if (is_lock && op.code == OpCode::give)
        std::erase_if(open, [&](const auto& one) { return one.first == op.value; });
      if (op.code == OpCode::pause && !open.empty()) {
        made.insert(made.begin() + static_cast<ptrdiff_t>(open.front().second), op);
        for (auto& one : open) ++one.second;
        continue;
      }
      if (op.code == OpCode::take && blocks_outside(op)) open.emplace_back(op.value, made.size());
      made.push_back(op);
    }
    return made;
  }

  static bool takes_time(const Op& op) {
    return op.code == OpCode::cpu || op.code == OpCode::pause || op.code == OpCode::vm_wait ||
           op.code == OpCode::refill || op.code == OpCode::around || op.code == OpCode::start_pause;
  }

  // Each give goes in front of the time by which it comes earlier, to where two operations meet, and stays behind the
  // taking.
  void give_earlier(Ops& ops) const {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].code != OpCode::permit_give) continue;
      const auto number = static_cast<uint32_t>(std::ranges::lower_bound(gives_, ops[i].event) - gives_.begin());
      const auto found = std::ranges::lower_bound(variant_.earlier_gives, number, {}, &EarlierGive::number);
      if (found == variant_.earlier_gives.end() || found->number != number) continue;
      const auto pool = static_cast<uint32_t>(ops[i].value);
      auto left_ns = static_cast<double>(found->by_ns);
      size_t to = i;
      for (size_t at = i; at-- > 0;) {
        const bool takes = ops[at].code == OpCode::permit_take && static_cast<uint32_t>(ops[at].value) == pool;
        if (takes || ops[at].code == OpCode::call) break;
        if (!takes_time(ops[at])) continue;
        if (static_cast<double>(ops[at].value) / 2 > left_ns) break;
        left_ns -= static_cast<double>(ops[at].value);
        to = at;
      }
      std::rotate(ops.begin() + static_cast<ptrdiff_t>(to), ops.begin() + static_cast<ptrdiff_t>(i),
                  ops.begin() + static_cast<ptrdiff_t>(i) + 1);
    }
  }

  const SimProgram& program_;
  const Variant& variant_;
  const std::vector<uint32_t> gives_;
};

}  // namespace

std::vector<uint32_t> permit_gives(const model::Trace& trace) {
  std::vector<uint32_t> events;
  for (uint32_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] == model::EventKind::permit_give) events.push_back(i);
  }
  return events;
}

void move_operations(const SimProgram& program, const Variant& variant, SectionPlan& plan) {
  const bool is_own = plan.ops.empty();
  const base::Column<Op>& from = is_own ? program.ops : plan.ops;
  const std::vector<Fiber>& fibers = is_own ? program.fibers : plan.fibers;
  const Mover mover(program, variant);
  base::Column<Op> ops;
  ops.reserve(from.size());
  std::vector<Fiber> made(fibers.size());
  for (size_t i = 0; i < fibers.size(); ++i) {
    made[i].begin = static_cast<uint32_t>(ops.size());
    const Ops moved = mover.moved({from.data() + fibers[i].begin, from.data() + fibers[i].end});
    ops.insert(ops.end(), moved.begin(), moved.end());
    made[i].end = static_cast<uint32_t>(ops.size());
  }
  plan.ops = std::move(ops);
  plan.fibers = std::move(made);
}

}  // namespace contrafact::whatif
