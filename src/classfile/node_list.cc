#include "classfile/node_list.h"

namespace contrafact::classfile {

Node label_node(LabelId label) {
  Node node;
  node.label = label;
  return node;
}

void append_plain(Code& code, std::vector<Node>& nodes, Opcode opcode) {
  Node node;
  node.kind = Node::kPlain;
  node.opcode = opcode;
  node.offset = static_cast<uint32_t>(code.bytes.size());
  node.length = 1;
  code.bytes.push_back(opcode);
  nodes.push_back(node);
}

void define_in_frames(Code& code, size_t first, uint32_t slot, std::string_view descriptor) {
  std::vector<VerificationType> type;
  push_type(type, *parse_field_descriptor(descriptor));
  for (size_t i = first; i < code.nodes.size(); i++) {
    if (code.nodes[i].kind != Node::kLabel) continue;
    const auto found = code.frames.find(code.nodes[i].label);
    if (found != code.frames.end()) set_local(found->second.locals, slot, type[0]);
  }
}

}  // namespace contrafact::classfile
