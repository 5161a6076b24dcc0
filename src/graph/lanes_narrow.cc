// Operations in 32 bytes instead of 56. Delays that do not fit are split over several operations; slots and other times
// rarely are too large.
#include <algorithm>
#include <utility>

#include "graph/lanes.h"

namespace contrafact::graph {
namespace {

constexpr int64_t kTimeMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kPartsMax = 4096;  // of a delay: more than two hours

bool fits(int64_t time_ns) {
  return -kTimeMax <= time_ns && time_ns <= kTimeMax;
}

class Narrower {
 public:
  explicit Narrower(LaneProgram& program) : program_(program), loops_(program.loops) {}

  void run() {
    if (program_.slots >= NarrowLaneOp::kNone || program_.hosts >= NarrowLaneOp::kNone ||
        program_.begins.size() >= NarrowLaneOp::kNone)
      return;
    ops_.reserve(program_.ops.size() + kPartsMax);
    for (const LaneOp& op : program_.ops) {
      if (!add(op)) return;
    }
    program_.narrow_ops = std::move(ops_);
    program_.loops = std::move(loops_);
    program_.ops = base::Column<LaneOp>();
  }

 private:
  bool add(LaneOp op) {
    if (std::max(op.delay_ns, op.label_ns) / kTimeMax > kPartsMax) return false;
    if (ops_.size() > 2 * program_.ops.size() + kPartsMax) return false;
    if (op.code == LaneOpCode::fork) loops_[op.result].fork = static_cast<uint32_t>(ops_.size());
    if (op.code == LaneOpCode::join) loops_[op.result].join = static_cast<uint32_t>(ops_.size());
    op.delay_ns = pass_time(op);
    if (op.code == LaneOpCode::sleep) op = sleep_long(op);
    if (!fits(op.delay_ns) || !fits(op.label_ns) || !fits(op.post_ns)) return false;
    ops_.push_back(narrow(op));
    return true;
  }

  // Adds steps until the rest of the delay fits, and returns that rest.
  int64_t pass_time(const LaneOp& op) {
    LaneOp step{LaneOpCode::step};
    step.now = op.now;
    int64_t left_ns = op.delay_ns;
    while (left_ns > kTimeMax) {
      step.delay_ns = kTimeMax;
      left_ns -= kTimeMax;
      ops_.push_back(narrow(step));
    }
    return left_ns;
  }

  // The last part of a long sleep.
  LaneOp sleep_long(LaneOp op) {
    const uint16_t falls = op.flags & kFalls;
    while (op.label_ns > kTimeMax) {
      LaneOp part = op;
      part.flags &= static_cast<uint16_t>(~kFalls);
      part.label_ns = kTimeMax;
      ops_.push_back(narrow(part));
      op.delay_ns = 0;
      op.label_ns -= kTimeMax;
      op.flags = falls;
    }
    return op;
  }

  static uint16_t narrow(uint32_t slot) { return static_cast<uint16_t>(std::min<uint32_t>(slot, NarrowLaneOp::kNone)); }
  static NarrowLaneOp narrow(const LaneOp& op) {
    return {op.code,
            op.unused,
            op.flags,
            op.moves,
            op.host_moves,
            narrow(op.now),
            narrow(op.cause),
            narrow(op.result),
            narrow(op.callee),
            narrow(op.spawner),
            narrow(op.host),
            static_cast<int32_t>(op.delay_ns),
            static_cast<int32_t>(op.label_ns),
            static_cast<int32_t>(op.post_ns)};
  }

  LaneProgram& program_;
  std::vector<LaneLoop> loops_;
  base::Column<NarrowLaneOp> ops_;
};

}  // namespace

void narrow(LaneProgram& program) {
  Narrower(program).run();
}

}  // namespace contrafact::graph
