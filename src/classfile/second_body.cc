#include "classfile/second_body.h"

#include <algorithm>

#include "classfile/instrument.h"
#include "classfile/node_list.h"
#include "classfile/sequence.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

constexpr size_t kMaxArgumentSlots = 255;  // JVMS 4.3.3, `this` included

// A class may have `m(X)` and the static `m(C, X)`.
std::string marker_type(const Member& method, std::string_view observer) {
  return (method.has(kAccStatic) ? "L" : "[L") + std::string(observer) + ";";
}

std::string descriptor_of_second(const Member& method, std::string_view class_name, std::string_view marker) {
  const std::string_view descriptor = method.descriptor;
  const size_t end = descriptor.rfind(')');
  std::string out = "(";
  if (!method.has(kAccStatic)) out.append("L").append(class_name).append(";");
  return out.append(descriptor.substr(1, end - 1)).append(marker).append(descriptor.substr(end));
}

// The test at the entry has a line of its own.
void give_line_to_entry(Code& code) {
  const auto lines = std::ranges::find_if(code.attributes, [](const auto& each) { return !each.lines.empty(); });
  if (lines == code.attributes.end()) return;
  const LabelId begin = code.new_label();
  lines->lines.insert(lines->lines.begin(), {begin, kSecondBodyLine});
  code.nodes.insert(code.nodes.begin(), label_node(begin));
}

}  // namespace

Result<SecondBody> add_second_body(Code& code, Code& second, ClassFile& file, const Member& method,
                                   std::string_view observer) {
  if (method.name.starts_with('<')) return Error{std::string(method.name) + ": cannot have a second body"};
  SecondBody added;
  added.access = kAccPrivate | kAccStatic | kAccSynthetic;
  added.name = method.name;
  const std::string marker = marker_type(method, observer);
  added.descriptor = descriptor_of_second(method, file.name(), marker);

  push_type(second.entry.locals, *parse_field_descriptor(marker));
  if (second.entry.locals.size() > kMaxArgumentSlots) {
    return Error{std::string(method.name) + ": has 255 slots of arguments already, and the second body needs one more"};
  }
  second.max_locals = std::max(second.max_locals, static_cast<uint32_t>(second.entry.locals.size()));
  auto body = second.encode(file.pool());
  if (!body) return body.error();
  added.code = *std::move(body);

  Sequence entry(file.pool());
  const Sequence::Label own = entry.new_label();
  entry.getstatic(observer, "observers", "I").ifeq(own).invokestatic(observer, "observing", "()Z").ifeq(own);
  uint32_t slot = 0;
  if (!method.has(kAccStatic)) entry.aload(slot++);
  for (const TypeDescriptor& argument : code.descriptor.arguments) {
    entry.load(argument, slot);
    slot += static_cast<uint32_t>(argument.slots());
  }
  const bool in_interface = (file.access() & kAccInterface) != 0;
  entry.aconst_null().invokestatic(file.name(), added.name, added.descriptor, in_interface);
  entry.return_value(code.descriptor.result).bind(own);
  if (Status status = instrument_entry_exit(code, file, {.entry = &entry}); !status) return status.error();
  give_line_to_entry(code);
  return added;
}

}  // namespace contrafact::classfile
