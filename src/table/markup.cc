#include "table/markup.h"

#include "table/value_text.h"

namespace contrafact::table {

std::string escape_markup(std::string_view text) {
  std::string out;
  for (char c : printable(text, true)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace contrafact::table
