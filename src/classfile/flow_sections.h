// The code by which a method whose own code begins and ends critical sections (flows.h) finds that one has: it keeps in a local
// variable how many the thread was in, and asks the tracker again.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "classfile/flow_code.h"
#include "classfile/flow_graph.h"
#include "classfile/flow_stack.h"

namespace contrafact::classfile {

class FlowSections {
 public:
  // `asks_depth`: sections may begin or end in the method. `keeps_this`: local 0 is always `this`.
  FlowSections(const FlowGraph& graph, FlowCode& out, FlowStack& stack, bool asks_depth, bool keeps_this)
      : graph_(graph), out_(out), stack_(stack), asks_depth_(asks_depth), keeps_this_(keeps_this) {}

  // At the method's entry. `inputs`: the locals that are inputs of the section that the whole method is, if it is one.
  void begin_method(const std::vector<uint32_t>& inputs, Sequence& entry);
  // Behind a monitorenter, of the value of this number; behind a monitorexit.
  void entered(size_t node, uint32_t locked, Beside& beside);
  void left(size_t node, Beside& beside);
  // Behind a call in which a section may have begun or ended.
  void called(size_t node, Sequence& after);
  // At the first instruction of an exception handler: one may have ended.
  void caught(size_t node, Sequence& sequence);

 private:
  std::vector<uint32_t> inputs_behind(size_t node, uint32_t locked) const;
  std::vector<Taint> outputs_at(size_t node) const;
  void join_inputs(const std::vector<uint32_t>& locals, Sequence& sequence);
  void tell_outputs(const std::vector<Taint>& outputs, Sequence& sequence);
  void cross(const std::vector<uint32_t>& inputs, const std::vector<Taint>& outputs, Sequence& sequence);

  const FlowGraph& graph_;
  FlowCode& out_;
  FlowStack& stack_;
  const bool asks_depth_;
  const bool keeps_this_;
};

}  // namespace contrafact::classfile
