#include "table/prose.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "table/value_text.h"

namespace contrafact::table {
namespace {

constexpr size_t kHang = 2;          // further lines stand by so many columns to the right
constexpr size_t kRoomMinimum = 20;  // less is no text

bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 12> kUnits{"%", "ns", "us", "ms", "s",  "min",
                                                    "h", "B",  "kB", "MB", "GB", "TB"};
  const size_t end = word.find_last_not_of(".,;:)");
  return end != std::string_view::npos && std::ranges::find(kUnits, word.substr(0, end + 1)) != kUnits.end();
}

bool is_figure(std::string_view word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.back())) != 0;
}

// The first word, with the units that belong to it, is taken from `text`.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  size_t end = std::min(text.find(' '), text.size());
  if (end < text.size() && is_figure(text.substr(0, end))) {
    const size_t next = end + 1;
    const size_t next_end = std::min(text.find(' ', next), text.size());
    if (is_unit(text.substr(next, next_end - next))) end = next_end;
  }
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// A row of a table, or a command to copy.
bool stays_whole(std::string_view line, size_t indent) {
  constexpr size_t kIndentOfCommands = 4;
  return indent >= kIndentOfCommands || line.find("  ", indent) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> broken_into_lines(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  size_t used = 0;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    const size_t word_width = display_width(word);
    if (!lines.empty() && used + 1 + word_width <= width) {
      lines.back().append(" ").append(word);
      used += 1 + word_width;
    } else {
      lines.emplace_back(word);
      used = word_width;
    }
  }
  return lines;
}

std::string wrap_prose(std::string_view text, size_t width) {
  if (width == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (display_width(line) <= width || stays_whole(line, indent)) {
      out += line;
    } else {
      const size_t room = width - std::min(width, indent + kHang);
      bool first = true;
      for (const std::string& part : broken_into_lines(line.substr(indent), std::max(room, kRoomMinimum))) {
        if (!first) out += '\n';
        out.append(indent + (first ? 0 : kHang), ' ').append(part);
        first = false;
      }
    }
    if (end != std::string_view::npos) out += '\n';
  }
  return out;
}

std::string explained(std::string_view left, std::string_view right, size_t left_width, size_t width) {
  if (width == 0) width = SIZE_MAX;
  constexpr size_t kIndent = 2, kGap = 2, kRightMinimum = 40, kBelowIndent = 8;
  const bool is_beside = kIndent + left_width + kGap + kRightMinimum <= width;
  const size_t column = is_beside ? kIndent + left_width + kGap : kBelowIndent;
  std::string text = std::string(kIndent, ' ').append(left);
  bool on_line = is_beside && display_width(left) <= left_width;
  for (const std::string& line : broken_into_lines(right, width - std::min(width, column))) {
    text +=
        on_line ? std::string(column - std::min(column, display_width(text)), ' ') : "\n" + std::string(column, ' ');
    text += line;
    on_line = false;
  }
  return text + "\n";
}

}  // namespace contrafact::table
