#include "online/names.h"

#include <optional>

namespace contrafact::online {
namespace {

constexpr uint32_t kHighFirst = 0xD800, kLowFirst = 0xDC00, kLowLast = 0xDFFF;

// The surrogate of three bytes that begins at `at`, if one does.
std::optional<uint32_t> surrogate_at(std::string_view text, size_t at) {
  if (at + 3 > text.size() || static_cast<uint8_t>(text[at]) != 0xED) return std::nullopt;
  const auto second = static_cast<uint8_t>(text[at + 1]), third = static_cast<uint8_t>(text[at + 2]);
  if (second < 0xA0 || second > 0xBF || third < 0x80 || third > 0xBF) return std::nullopt;
  return 0xD000u | uint32_t{second & 0x3Fu} << 6 | (third & 0x3Fu);
}

void append_four_bytes(std::string& out, uint32_t character) {
  out += static_cast<char>(0xF0 | character >> 18);
  for (const int shift : {12, 6, 0}) out += static_cast<char>(0x80 | (character >> shift & 0x3F));
}

}  // namespace

std::string utf8_of_modified(std::string_view name) {
  if (name.find_first_of("\xED\xC0") == std::string_view::npos) return std::string(name);
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const std::optional<uint32_t> high = surrogate_at(name, at);
    if (!high) {
      const bool zero = name.substr(at, 2) == "\xC0\x80";
      out += zero ? '\0' : name[at];
      at += zero ? 2 : 1;
      continue;
    }
    const std::optional<uint32_t> low = surrogate_at(name, at + 3);
    const bool pair = *high < kLowFirst && low && *low >= kLowFirst && *low <= kLowLast;
    if (pair) {
      append_four_bytes(out, 0x10000 + ((*high - kHighFirst) << 10) + (*low - kLowFirst));
    } else {
      out += "\uFFFD";
    }
    at += pair ? 6 : 3;
  }
  return out;
}

MethodId MethodNames::add(MethodName method) {
  std::string key = method.class_name + '.' + method.name + method.descriptor;
  std::lock_guard lock(mutex_);
  if (auto found = ids_.find(key); found != ids_.end()) return found->second;
  MethodName* slot = methods_.add();
  if (!slot) return MethodId::none();
  *slot = {utf8_of_modified(method.class_name), utf8_of_modified(method.name), utf8_of_modified(method.descriptor),
           utf8_of_modified(method.file), method.line};
  const MethodId id(methods_.publish() + 1);
  ids_.emplace(std::move(key), id);
  return id;
}

const MethodName* MethodNames::find(MethodId id) const {
  return id.valid() && id.value > 0 ? methods_.at(id.value - 1) : nullptr;
}

ClassId ClassTable::add(ClassInfo info) {
  std::lock_guard lock(mutex_);
  ClassInfo* slot = classes_.add();
  if (!slot) return ClassId::none();
  info.name = utf8_of_modified(info.name);
  *slot = std::move(info);
  return ClassId(classes_.publish() + 1);
}

const ClassInfo* ClassTable::find(ClassId id) const {
  return id.valid() && id.value > 0 ? classes_.at(id.value - 1) : nullptr;
}

}  // namespace contrafact::online
