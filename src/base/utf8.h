// Characters of UTF-8 text that comes from somewhere else. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace contrafact::base {

// Bytes of the character at the front of `text`, 0 if it is none. REQUIRES: `text` is not empty.
size_t utf8_length(std::string_view text);

// REQUIRES: `character` is utf8_length() bytes of a character, or one byte.
char32_t decode_utf8(std::string_view character);

// Characters that act on a terminal, or disguise the text around them: controls, direction marks, invisible ones; and
// what is no character.
bool is_harmful(char32_t character);

}  // namespace contrafact::base
