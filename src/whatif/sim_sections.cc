#include "whatif/sim_sections.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "whatif/section_locks.h"
#include "whatif/sim_moves.h"

namespace contrafact::whatif {
namespace {

using Mode = SectionEdit::Mode;
using model::CriticalSection;

// Rewrites one fiber's operations.
class FiberEditor {
 public:
  FiberEditor(std::span<const SectionEdit> edits, const SectionLocks& locks, std::span<const float> cpu_scales,
              const WakeCost& wake_cost, base::Column<Op>& out)
      : edits_(edits), locks_(locks), cpu_scales_(cpu_scales), wake_cost_(wake_cost), out_(out) {}

  void run(std::span<const Op> ops) {
    open_.clear();
    scaled_.clear();
    spared_ns_ = 0;
    for (const Op& op : ops) {
      switch (op.code) {
        case OpCode::take:
          take(op);
          break;
        case OpCode::give:
          give(op);
          break;
        case OpCode::cpu:
        case OpCode::pause:
          timed(op);
          break;
        default:
          out_.push_back(op);
          break;
      }
    }
  }

 private:
  struct Scaled {
    uint32_t section;
    double scale;
  };
  struct Open {
    uint32_t section;
    size_t take_at;  // in `out_`; what went before it stands at take_at - 2 (CPU) and take_at - 1 (pauses)
    int64_t head_left_ns;
  };

  static constexpr Op kNothing{0, UINT32_MAX, OpCode::emit};

  const SectionEdit& edit_of(const Op& op) const { return edits_[section_of(op.value)]; }

  // Pushes the operation for each lock that the section has now; only the first has the event.
  void push_edited(const Op& op, const SectionEdit& edit) {
    Op result = op;
    locks_.each(section_of(op.value), [&](uint32_t lock) {
      result.value = lock_value(section_of(op.value), lock, edit.mode == Mode::shared);
      out_.push_back(result);
      result.event = UINT32_MAX;
    });
  }

  void take(const Op& op) {
    const SectionEdit& edit = edit_of(op);
    if (!cpu_scales_.empty()) scaled_.push_back({section_of(op.value), cpu_scales_[section_of(op.value)]});
    if (edit.look_ns > 0) out_.push_back({static_cast<uint64_t>(edit.look_ns), UINT32_MAX, OpCode::cpu});
    if (edit.mode == Mode::none) return;
    if (edit.head_outside_ns > 0) out_.insert(out_.end(), 2, kNothing);
    if (edit.head_outside_ns > 0 || edit.tail_outside_ns > 0)
      open_.push_back({section_of(op.value), out_.size(), edit.head_outside_ns});
    push_edited(op, edit);
  }

  // Of nested sections the outermost one counts: the time by which it was made longer contains that of the others.
  double scale() const { return scaled_.empty() ? 1 : scaled_.front().scale; }

  static uint64_t scaled_ns(int64_t time_ns, double scale) {
    return scale == 1 ? static_cast<uint64_t>(time_ns)
                      : static_cast<uint64_t>(std::llround(static_cast<double>(time_ns) * scale));
  }

  // Time that is hoisted out of the head goes to the places kept before the acquisition.
  void timed(const Op& op) {
    const double scale = op.code == OpCode::cpu ? this->scale() : 1;
    Op rest = op;
    if (op.code == OpCode::cpu) rest.value -= std::min(rest.value, std::exchange(spared_ns_, 0));
    for (Open& open : open_) {
      const int64_t moved_ns = std::min(open.head_left_ns, static_cast<int64_t>(rest.value));
      if (moved_ns <= 0) continue;
      open.head_left_ns -= moved_ns;
      rest.value -= static_cast<uint64_t>(moved_ns);
      Op& before = out_[open.take_at - (op.code == OpCode::cpu ? 2 : 1)];
      before.code = op.code;
      before.value += scaled_ns(moved_ns, scale);
    }
    rest.value = scaled_ns(static_cast<int64_t>(rest.value), scale);
    if (rest.value > 0) out_.push_back(rest);
  }

  void give(const Op& op) {
    const SectionEdit& edit = edit_of(op);
    const double scale = this->scale();
    std::erase_if(scaled_, [&](const Scaled& each) { return each.section == section_of(op.value); });
    if (edit.mode == Mode::none) {
      spared_ns_ = static_cast<uint64_t>(wake_cost_.recorded_ns[section_of(op.value)]);
      return;
    }
    uint64_t moved_cpu_ns = 0, moved_pause_ns = 0;
    const auto open =
        std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.section == section_of(op.value); });
    if (open != open_.end()) {
      uint64_t left_ns = scaled_ns(std::max<int64_t>(edit.tail_outside_ns, 0), scale);
      for (size_t i = out_.size(); i > open->take_at + 1 && left_ns > 0; --i) {
        Op& inside = out_[i - 1];
        if (inside.code != OpCode::cpu && inside.code != OpCode::pause) continue;
        const uint64_t from_here_ns = std::min(left_ns, inside.value);
        inside.value -= from_here_ns;
        left_ns -= from_here_ns;
        (inside.code == OpCode::cpu ? moved_cpu_ns : moved_pause_ns) += from_here_ns;
        if (inside.value == 0) inside = kNothing;
      }
      open_.erase(open);
    }
    push_edited(op, edit);
    if (moved_cpu_ns > 0) out_.push_back({moved_cpu_ns, UINT32_MAX, OpCode::cpu});
    if (moved_pause_ns > 0) out_.push_back({moved_pause_ns, UINT32_MAX, OpCode::pause});
  }

  std::span<const SectionEdit> edits_;
  const SectionLocks& locks_;
  std::span<const float> cpu_scales_;
  const WakeCost& wake_cost_;
  base::Column<Op>& out_;
  uint64_t spared_ns_ = 0;  // of the next CPU time: the part that went to waking others for a lock that is gone
  std::vector<Open> open_;
  std::vector<Scaled> scaled_;  // the outermost first
};

class Planner {
 public:
  Planner(const SimProgram& program, std::span<const SectionEdit> edits, LockRule rule,
          std::span<const float> cpu_scales)
      : program_(program), sections_(program.sync.sections), edits_(edits), cpu_scales_(cpu_scales), rule_(rule) {
    CHECK(edits.empty() || edits.size() == sections_.size());
    CHECK(cpu_scales.empty() || cpu_scales.size() == sections_.size());
    if (edits.empty() && !cpu_scales.empty()) edits_ = unedited_ = unedited(sections_);
    locks_ = SectionLocks(sections_, edits_);
  }

  SectionPlan run() {
    if (!edits_.empty()) edit_ops();
    make_locks();
    if (rule_ == LockRule::recorded) count_needs();
    return std::move(plan_);
  }

  // After run(). REQUIRES: no edits.
  void keep_order(const Variant& variant, SectionPlan& plan) const {
    plan.order = variant.order;
    for (size_t lock = 0; lock < variant.ordered.size(); ++lock) {
      if (variant.ordered[lock] && model::is_held(plan.locks[lock].kind)) plan.locks[lock].rule = LockRule::ordered;
    }
    plan.own_before.assign(sections_.size(), SimLock::kNone);
    plan.never_over.assign(sections_.size(), false);
    std::unordered_map<uint32_t, uint32_t> last;  // by thread
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      if (s > 0 && sections_[s].lock != sections_[s - 1].lock) last.clear();
      plan.never_over[s] = !is_simulated(sections_[s]);
      if (plan.never_over[s] || plan.locks[sections_[s].lock.index()].rule != LockRule::ordered) continue;
      const auto [own, is_first] = last.try_emplace(sections_[s].thread.value, s);
      if (!is_first) plan.own_before[s] = std::exchange(own->second, s);
    }
  }

 private:
  bool is_simulated(const CriticalSection& section) const {
    return section.outcome == model::Outcome::normal && section.release.valid() &&
           model::is_held(program_.trace->locks[section.lock.index()].kind);
  }

  bool takes_lock(size_t section) const {
    return (edits_.empty() || edits_[section].mode != Mode::none) && is_simulated(sections_[section]);
  }
  bool is_shared(size_t section) const {
    return edits_.empty() ? sections_[section].shared : edits_[section].mode == Mode::shared;
  }
  template <typename Visit>
  void each_lock(uint32_t section, Visit visit) const {
    edits_.empty() ? visit(sections_[section].lock.value) : locks_.each(section, visit);
  }

  void edit_ops() {
    plan_.ops.reserve(program_.ops.size() * 3 / 2);  // unused room takes no memory; copying all of it does
    plan_.fibers.resize(program_.fibers.size());
    FiberEditor editor(edits_, locks_, cpu_scales_, program_.sync.wake_cost, plan_.ops);
    for (size_t i = 0; i < program_.fibers.size(); ++i) {
      const Fiber& fiber = program_.fibers[i];
      plan_.fibers[i].begin = static_cast<uint32_t>(plan_.ops.size());
      editor.run({program_.ops.data() + fiber.begin, program_.ops.data() + fiber.end});
      plan_.fibers[i].end = static_cast<uint32_t>(plan_.ops.size());
    }
  }

  bool lingers(uint32_t lock) const {
    const std::vector<bool>& of_lock = program_.sync.lingers.of_lock;
    return !of_lock.empty() && of_lock[lock];
  }

  void set_tries(SimLock& lock, uint32_t recorded) const {
    if (program_.sync.tries.empty()) return;
    lock.tried_ns = program_.sync.tries[recorded].wait_ns;
    lock.try_way_ns = program_.sync.tries[recorded].way_ns;
  }

  void make_locks() {
    const auto& rows = program_.trace->locks;
    plan_.locks.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      SimLock& lock = plan_.locks[i];
      lock.kind = rows[i].kind;
      lock.count = program_.sync.semaphore_counts.empty() ? 0 : program_.sync.semaphore_counts[i];
      lock.lingers = lingers(static_cast<uint32_t>(i));
      set_tries(lock, static_cast<uint32_t>(i));
    }
    for (uint32_t s = 0; s < edits_.size(); ++s) {
      if (!takes_lock(s)) continue;
      each_lock(s, [&](uint32_t number) {
        if (number < plan_.locks.size()) return;
        plan_.locks.resize(number + 1);
        plan_.made_from.resize(number + 1 - rows.size(), sections_[s].lock.value);
      });
    }
    for (SimLock& lock : plan_.locks) lock.rule = rule_;
    for (uint32_t s = 0; s < edits_.size(); ++s) {
      if (!takes_lock(s)) continue;
      each_lock(s, [&](uint32_t number) {
        format::LockKind& kind = plan_.locks[number].kind;
        if (number >= rows.size()) plan_.made_from[number - rows.size()] = sections_[s].lock.value;
        if (is_shared(s)) kind = format::LockKind::rwlock;
        if (number >= rows.size() && kind != format::LockKind::rwlock) kind = rows[sections_[s].lock.index()].kind;
        if (number < rows.size()) return;
        plan_.locks[number].lingers = lingers(sections_[s].lock.value);
        set_tries(plan_.locks[number], sections_[s].lock.value);
      });
    }
    for (uint32_t s = 0; s < edits_.size(); ++s) {
      if (!takes_lock(s) || !is_shared(s)) continue;
      each_lock(s, [&](uint32_t number) {
        plan_.locks[number].lingers = false;
        plan_.locks[number].made_shared |= !sections_[s].shared;
      });
    }
  }

  // Sections are sorted by recorded lock and time. That order fails only where sections of two locks now take one lock.
  std::vector<uint32_t> in_order() const {
    std::vector<uint32_t> order(sections_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto is_anothers = [&](uint32_t s, uint32_t lock) {
      return lock != sections_[s].lock.value && lock < program_.trace->locks.size();
    };
    const auto moved = [&](uint32_t s) { return is_anothers(s, edits_[s].lock) || is_anothers(s, edits_[s].also); };
    if (edits_.empty() || std::none_of(order.begin(), order.end(), moved)) return order;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return sections_[x].acquire_ns < sections_[y].acquire_ns; });
    return order;
  }

  void count_needs() {
    struct Count {
      uint32_t all = 0;
      uint32_t to_exclusive = 0;
    };
    std::vector<Count> counts(plan_.locks.size());
    plan_.need.assign(sections_.size(), 0);
    for (const uint32_t s : in_order()) {
      if (!takes_lock(s)) continue;
      bool is_first = true;
      each_lock(s, [&](uint32_t lock) {
        Count& count = counts[lock];
        const uint32_t need = is_shared(s) ? count.to_exclusive : count.all;
        if (is_first) plan_.need[s] = need;
        if (!is_first) plan_.need_of_further[lock_value(s, lock, false)] = need;
        is_first = false;
        ++count.all;
        if (!is_shared(s)) count.to_exclusive = count.all;
      });
    }
  }

  const SimProgram& program_;
  const std::span<const CriticalSection> sections_;
  std::span<const SectionEdit> edits_;
  std::vector<SectionEdit> unedited_;  // where only times change
  SectionLocks locks_{{}, {}};
  const std::span<const float> cpu_scales_;
  const LockRule rule_;
  SectionPlan plan_;
};

}  // namespace

SectionPlan plan_sections(const SimProgram& program, std::span<const SectionEdit> edits, LockRule rule,
                          std::span<const float> cpu_scales) {
  return Planner(program, edits, rule, cpu_scales).run();
}

SectionPlan plan_sections(const SimProgram& program, const Variant& variant, LockRule rule) {
  Planner planner(program, variant.edits, rule, variant.cpu_scales);
  SectionPlan plan = planner.run();
  if (variant.order) planner.keep_order(variant, plan);
  if (variant.moves()) move_operations(program, variant, plan);
  return plan;
}

}  // namespace contrafact::whatif
