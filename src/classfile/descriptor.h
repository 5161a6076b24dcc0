// Field and method descriptors: (ILjava/lang/String;[J)V and the like.
//
// Pure functions over the caller's text; the views point into it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace contrafact::classfile {

struct TypeDescriptor {
  char kind = 'V';        // the first character: B C D F I J S Z V, L for a class, [ for an array
  std::string_view text;  // the whole descriptor

  bool is_reference() const { return kind == 'L' || kind == '['; }
  int slots() const { return kind == 'V' ? 0 : kind == 'J' || kind == 'D' ? 2 : 1; }
  // The name as a Class constant holds it: java/lang/String, or [I for an array.
  // REQUIRES: is_reference()
  std::string_view class_name() const { return kind == 'L' ? text.substr(1, text.size() - 2) : text; }
};

struct MethodDescriptor {
  std::vector<TypeDescriptor> arguments;
  TypeDescriptor result;

  // Without the receiver.
  int argument_slots() const;
};

std::optional<TypeDescriptor> parse_field_descriptor(std::string_view text);
std::optional<MethodDescriptor> parse_method_descriptor(std::string_view text);

}  // namespace contrafact::classfile
