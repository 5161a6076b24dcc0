#include "agent_jvm/lock_makers.h"

#include <algorithm>

#include "classfile/bytecode.h"
#include "classfile/bytes.h"

namespace contrafact::agent_jvm {

void LockMakers::note(const classfile::ClassFile& file, const classfile::Code& code, const PlaceOf& place_of) {
  bool is_made = false;  // the instruction before called a constructor
  for (const classfile::Node& node : code.nodes) {
    if (node.kind == classfile::Node::kLabel || node.pc == classfile::Node::kInserted) continue;
    const bool calls = node.kind == classfile::Node::kPlain && node.opcode == classfile::kInvokespecial;
    const bool puts = node.kind == classfile::Node::kPlain &&
                      (node.opcode == classfile::kPutfield || node.opcode == classfile::kPutstatic);
    const auto ref = calls || puts ? file.pool().member_ref(classfile::load_u2(&code.bytes_of(node)[1])) : std::nullopt;
    if (puts && is_made && ref && ref->owner == file.name()) {
      std::string field(ref->owner);
      std::ranges::replace(field, '/', '.');
      field.append(".").append(ref->name);
      const int32_t place = place_of(node.pc);
      std::lock_guard lock(mutex_);
      if (of_field_.size() >= kFieldsMax && !of_field_.contains(field)) return;
      std::vector<int32_t>& places = of_field_[field];
      if (places.size() < kPlacesMax && std::ranges::find(places, place) == places.end()) places.push_back(place);
    }
    is_made = calls && ref && ref->name == "<init>";
  }
}

std::string LockMakers::places(std::string_view lock_name) const {
  std::lock_guard lock(mutex_);
  const auto found = of_field_.find(std::string(lock_name.substr(0, lock_name.find(" ("))));
  std::string text;
  if (found == of_field_.end()) return text;
  for (const int32_t place : found->second) text += (text.empty() ? "" : " ") + std::to_string(place);
  return text;
}

}  // namespace contrafact::agent_jvm
