// What the edits share when they rebuild a body's list of nodes (see code.h). Pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "classfile/code.h"

namespace contrafact::classfile {

Node label_node(LabelId label);

// Appends one instruction without operands; its byte goes to `code`.
void append_plain(Code& code, std::vector<Node>& nodes, Opcode opcode);

// Makes a local variable of this type part of every explicit frame at or after node `first`.
void define_in_frames(Code& code, size_t first, uint32_t slot, std::string_view descriptor);

}  // namespace contrafact::classfile
