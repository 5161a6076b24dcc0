// How propagate_taints (flows.h) writes down what it knows of taints.
//
// Plain data; not thread-safe. A long or double has its taint in its first slot, the one that lies deeper.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace contrafact::classfile {

// A variable that holds a taint: below the method's max_locals that of this local, above them that of a place of the operand
// stack.
using Shadow = uint32_t;

// A taint: the union of what some variables hold; of none, the empty taint.
class Taint {
 public:
  // Unions of more are put into a variable of their own.
  static constexpr size_t kMaxParts = 4;

  Taint() = default;
  explicit Taint(Shadow part) : parts_{part} {}

  bool empty() const { return parts_.empty(); }
  bool is(Shadow part) const { return parts_.size() == 1 && parts_[0] == part; }
  bool contains(Shadow part) const { return std::ranges::find(parts_, part) != parts_.end(); }
  const std::vector<Shadow>& parts() const { return parts_; }
  void add(const Taint& other) {
    for (const Shadow part : other.parts_) {
      if (!contains(part)) parts_.push_back(part);
    }
  }
  void replace(Shadow part, Shadow by) { std::ranges::replace(parts_, part, by); }

 private:
  std::vector<Shadow> parts_;
};

struct StackSlot {
  Taint taint;
  uint32_t value = 0;  // equal numbers mean the same value; 0: nothing is known
};

// What is known where a block begins, whichever way control gets there.
struct BlockState {
  bool reached = false;
  std::vector<bool> tainted;  // by local
  std::vector<bool> stack;    // by slot: its taint may be other than empty, and is in the slot's own variable
};

}  // namespace contrafact::classfile
