// Where control goes in a method's original code, and which of its local variables are read later: what propagate_taints
// (flows.h) knows of a body before it changes it.
//
// Code that an edit inserted is passed over: it has to leave the operand stack and the method's own locals as they are.
//
// Not thread-safe; of one Code, which must not change meanwhile. A *place* is a run of labels with no instruction between them,
// known by its first node.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "classfile/code.h"

namespace contrafact::classfile {

class FlowGraph {
 public:
  // Errors: the exception table or the code is so large that the sets would take too much memory.
  static base::Result<FlowGraph> of(const Code& code);

  // A place where control arrives other than from the node before, or where the method has a stack-map frame.
  bool begins_block(size_t node) const { return begins_block_[node]; }
  // A block that begins an exception handler.
  bool is_handler(size_t node) const { return is_handler_[node]; }
  size_t place_of(LabelId label) const { return place_of_label_[label.index()]; }
  // The places that a branch or switch goes to.
  std::vector<size_t> targets(const Node& node) const;
  // The places of the handlers that see what is thrown at `node`.
  const std::vector<size_t>& handlers(size_t node) const { return handler_sets_[handler_set_of_[node]]; }
  // Equal numbers mean equal handlers.
  uint32_t handler_set(size_t node) const { return handler_set_of_[node]; }

  // Whether the local variable is read on some way from here before it is written. Exceptions are ways.
  // REQUIRES: node <= the number of nodes
  bool is_live(size_t node, uint32_t local) const;
  // The locals that any instruction reads.
  const std::vector<uint32_t>& read_locals() const { return read_locals_; }

 private:
  explicit FlowGraph(const Code& code) : code_(&code) {}

  void find_places();
  void find_blocks();
  base::Status find_handlers();
  base::Status find_live_locals();
  void number_read_locals();
  bool update_live(size_t node, std::vector<uint64_t>& live);
  void unite_live(size_t node, std::vector<uint64_t>& live) const;

  const Code* code_;
  std::vector<size_t> place_of_label_;
  std::vector<bool> begins_block_, is_handler_;  // by node
  std::vector<uint32_t> handler_set_of_;         // by node
  std::vector<std::vector<size_t>> handler_sets_;
  std::vector<uint32_t> read_locals_;
  std::vector<uint32_t> bit_of_local_;  // by local; UINT32_MAX: never read
  size_t words_ = 0;                    // of one row of live_
  std::vector<uint64_t> live_;          // by node and the end: a row with a bit for each local that is read
};

// A load or store of a local variable of the original code.
std::optional<LocalAccess> own_local_access(const Code& code, const Node& node);

}  // namespace contrafact::classfile
