#include "base/utf8.h"

#include <algorithm>

namespace contrafact::base {

size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = byte(0) < 0x80                      ? 1
                  : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                  : byte(0) >= 0xe0                   ? 3
                  : byte(0) >= 0xc2                   ? 2
                                                      : 0;
  if (byte(0) >= 0xf5 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

char32_t decode_utf8(std::string_view character) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  char32_t value = byte(0) & (0xff >> (character.size() + 1));
  for (size_t i = 1; i < character.size(); ++i) value = (value << 6) | (byte(i) & 0x3f);
  return value;
}

// A control character in more bytes than it needs is one too: it decodes to the same.
bool is_harmful(char32_t character) {
  constexpr struct {
    char32_t first, last;
  } kHarmful[] = {
      {0x0, 0x1f},         // C0
      {0x7f, 0x9f},        // delete, C1
      {0xad, 0xad},        // soft hyphen
      {0x61c, 0x61c},      // Arabic direction mark
      {0x180e, 0x180e},    // invisible separator
      {0x200b, 0x200f},    // of no width; direction marks
      {0x2028, 0x202e},    // line and paragraph; direction overrides
      {0x2060, 0x206f},    // invisible operators; isolates
      {0xd800, 0xdfff},    // surrogates
      {0xfeff, 0xfeff},    // byte order
      {0xfff9, 0xfffb},    // annotations
      {0xe0000, 0xe0fff},  // tags
  };
  const auto holds = [&](const auto& range) { return character >= range.first && character <= range.last; };
  return character > 0x10ffff || std::ranges::any_of(kHarmful, holds);
}

}  // namespace contrafact::base
