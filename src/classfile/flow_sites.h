// What propagate_taints (flows.h) has to know of single instructions before it goes through a method, possibly several times.
//
// Plain data; not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "classfile/flows.h"

namespace contrafact::classfile {

struct FlowFieldAccess {
  uint32_t number = 0;  // 0: there is nothing to do
  int slots = 1;        // of the value
};

struct FlowCall {
  int32_t method = 0;  // its hash
  bool has_receiver = false;
  bool is_constructor = false;
  bool may_lock = false;
  std::vector<int> argument_slots;  // of each argument, without the receiver
  int result_slots = 0;
  // Of a constructor's call: where the object is, besides the call's operand.
  std::vector<size_t> stack_holders;  // from the bottom
  std::vector<uint32_t> local_holders;
};

struct FlowSites {
  // Errors: what names no field or method, and code whose types cannot be inferred.
  static base::Result<FlowSites> of(Code& code, const ClassFile& file, const FlowProbe& probe);

  std::unordered_map<size_t, FlowFieldAccess> fields;  // by node
  std::unordered_map<size_t, FlowCall> calls;          // by node
  std::unordered_map<size_t, std::vector<VerificationType>>
      monitors;             // by node: the operand stack below the monitor's object
  bool asks_depth = false;  // with sections: something here may change it
};

}  // namespace contrafact::classfile
