#include "classfile/descriptor.h"

namespace contrafact::classfile {

namespace {

// Takes one type off the front of `rest`; `V` counts as a type here.
std::optional<TypeDescriptor> take_type(std::string_view& rest) {
  size_t length = 0;
  while (length < rest.size() && rest[length] == '[') length++;
  if (length == rest.size() || length > 255) return std::nullopt;
  const char element = rest[length++];
  if (element == 'L') {
    const size_t end = rest.find(';', length);
    if (end == std::string_view::npos || end == length) return std::nullopt;
    length = end + 1;
  } else if (std::string_view("BCDFIJSZ").find(element) == std::string_view::npos && !(element == 'V' && length == 1)) {
    return std::nullopt;
  }
  const TypeDescriptor type{rest[0], rest.substr(0, length)};
  rest.remove_prefix(length);
  return type;
}

}  // namespace

int MethodDescriptor::argument_slots() const {
  int slots = 0;
  for (const TypeDescriptor& argument : arguments) slots += argument.slots();
  return slots;
}

std::optional<TypeDescriptor> parse_field_descriptor(std::string_view text) {
  const auto type = take_type(text);
  if (!type || type->kind == 'V' || !text.empty()) return std::nullopt;
  return type;
}

std::optional<MethodDescriptor> parse_method_descriptor(std::string_view text) {
  if (text.empty() || text[0] != '(') return std::nullopt;
  text.remove_prefix(1);
  MethodDescriptor method;
  while (!text.empty() && text[0] != ')') {
    const auto argument = take_type(text);
    if (!argument || argument->kind == 'V') return std::nullopt;
    method.arguments.push_back(*argument);
  }
  if (text.empty()) return std::nullopt;
  text.remove_prefix(1);
  const auto result = take_type(text);
  if (!result || !text.empty()) return std::nullopt;
  method.result = *result;
  return method;
}

}  // namespace contrafact::classfile
