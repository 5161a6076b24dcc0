// The types of locals and operand stack at every instruction, by one forward pass over a method's body.
//
// Where the method has a stack-map frame, that is taken for granted (the verifier checks it); elsewhere the first
// arrival decides. So the result is exact for methods with frames, and right enough for old ones to tell an
// uninitialized `this`. Linear in the length of the code times the frame size; each instruction is visited at most
// once.
#pragma once

#include <functional>

#include "base/result.h"
#include "classfile/code.h"

namespace contrafact::classfile {

// Called with the index of each reachable node and the types before it.
using TypeVisitor = std::function<void(size_t node, const Frame& before)>;

// Errors: code that does not fit together (it would not verify either). Adds to code.names only.
base::Status infer_types(Code& code, const ConstantPool& pool, const TypeVisitor& visit);

}  // namespace contrafact::classfile
