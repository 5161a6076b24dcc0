#include "table/value_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/utf8.h"

namespace contrafact::table {
namespace {

using base::utf8_length;

// Enough for names: the East Asian blocks are two columns wide, combining accents none.
size_t columns_of(char32_t c) {
  if (c >= 0x300 && c < 0x370) return 0;
  bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xac00 && c < 0xd7a4) ||
              (c >= 0xf900 && c < 0xfb00) || (c >= 0xfe30 && c < 0xfe70) || (c >= 0xff00 && c < 0xff61) ||
              (c >= 0x1f300 && c < 0x1faff) || (c >= 0x20000 && c < 0x3fffe);
  return wide ? 2 : 1;
}

std::string significant(double value) {
  double magnitude = std::fabs(value);
  int decimals = magnitude >= 100 || magnitude == 0 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3;
  while (magnitude > 0 && magnitude < 0.1 && decimals < 9) ++decimals, magnitude *= 10;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string scaled(double value, const std::pair<double, const char*>* scale, size_t steps) {
  double magnitude = std::fabs(value);
  size_t step = 0;
  // 999.5 rounds to 1000, which reads better as 1 of the next unit.
  while (step + 1 < steps && magnitude >= scale[step + 1].first * 0.9995) ++step;
  return significant(value / scale[step].first) + " " + scale[step].second;
}

std::string in_unit(double value, Unit unit) {
  switch (unit) {
    case Unit::ns:
      return duration_text(value);
    case Unit::ratio:
      return percent_text(value);
    case Unit::bytes:
      return bytes_text(value);
    default:
      return number_text(value);
  }
}

// Bytes up to the second part of a qualified name, whose arguments are no parts of it; 0 if there is one part only.
size_t next_part(std::string_view name) {
  const size_t arguments = name.find_first_of("<(", 1);
  const size_t dot = name.find('.'), colons = name.find("::");
  const size_t at = std::min(dot, colons);
  if (at == std::string_view::npos || at > arguments || at == 0) return 0;
  return at + (at == dot ? 1 : 2);
}

// "Guarded<Map>::use<shop::main()::{lambda()#1}>" as "Guarded::use<..>": that it is a template's function says enough
// where there is no room for its arguments.
std::string without_arguments(std::string_view name) {
  if (name.find("operator") != std::string_view::npos) return std::string(name);
  std::string out;
  int depth = 0;
  for (const char c : name) {
    depth += c == '<';
    if (depth == 0) out += c;
    depth -= c == '>';
    if (depth < 0) return std::string(name);
  }
  if (depth != 0) return std::string(name);
  return name.ends_with('>') ? out + "<..>" : out;
}

// A place in `width`, without as many of its name's first parts as that takes; empty if it does not fit.
std::string without_first_parts(std::string_view name, std::string_view position, std::string_view owner,
                                size_t width) {
  for (size_t at = next_part(name);; at = next_part(name)) {
    if (display_width(name) + display_width(position) + display_width(owner) <= width)
      return fmt::format("{}{}{}", name, position, owner);
    if (at == 0) return {};
    name.remove_prefix(at);
  }
}
std::string_view last_part(std::string_view name) {
  for (size_t at = next_part(name); at > 0; at = next_part(name)) name.remove_prefix(at);
  return name;
}

// Of a language of the JVM, whose places tools know in the form of a stack trace.
bool is_of_jvm(std::string_view file) {
  constexpr std::string_view kEndings[] = {".java", ".kt", ".kts", ".scala", ".groovy", ".clj", ".cljc"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return file.ends_with(ending); });
}

constexpr std::string_view kAt = "at ";

std::string place_text(const Location& at) {
  const std::string& file = at.path.empty() || is_of_jvm(at.file) ? at.file : at.path;
  if (file.empty()) return at.method.empty() ? "?" : at.method;
  const std::string position = at.line == 0 ? file : fmt::format("{}:{}", file, at.line);
  if (at.method.empty()) return position;
  if (!is_of_jvm(file)) return fmt::format("{} ({})", at.method, position);
  return fmt::format("{}{}({})", at.line == 0 ? "" : kAt, at.method, position);
}

std::string location_text(const Location& at) {
  std::string text = place_text(at);
  if (!at.owner.empty()) {
    text += " in " + at.owner;
  } else if (!at.via.empty()) {
    text += " via " + at.via;
  }
  return at.apart.empty() ? text : text + ", " + at.apart;
}

// The parts of a place: "shop.Feed.load", "(Feed.java:41)" with what is between them, " via Reactor".
struct PlaceParts {
  std::string_view name, position, owner;
};

// None if the text is no place with a position.
bool take_apart(std::string_view text, PlaceParts& parts) {
  const size_t close = text.rfind(')');
  const size_t open = close == std::string_view::npos ? close : text.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return false;
  const size_t name_end = text[open - 1] == ' ' ? open - 1 : open;
  parts = {text.substr(0, name_end), text.substr(name_end, close + 1 - name_end), text.substr(close + 1)};
  if (parts.name.starts_with(kAt)) parts.name.remove_prefix(kAt.size());
  return true;
}

// "(src/shop/table.cc:41)" -> "(table.cc:41)"
std::string without_folders(std::string_view position) {
  const size_t slash = position.rfind('/');
  if (slash == std::string_view::npos) return std::string(position);
  const size_t open = position.find('(');
  return std::string(position.substr(0, open + 1)) + std::string(position.substr(slash + 1));
}

// ", from Feed.load:41" of what stands behind a place: two rows of a table differ in nothing else.
std::string_view apart_of(std::string_view owner) {
  const size_t comma = owner.find(", ");
  return comma == std::string_view::npos ? std::string_view() : owner.substr(comma);
}

// ":41" of "(Feed.java:41)"; empty if there is no line.
std::string line_of(std::string_view position) {
  const size_t colon = position.rfind(':');
  return colon == std::string_view::npos ? "" : std::string(position.substr(colon, position.size() - colon - 1));
}

}  // namespace

std::string duration_text(double ns) {
  static constexpr std::array<std::pair<double, const char*>, 4> kScale{
      {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  if (!std::isfinite(ns)) return "-";
  double magnitude = std::fabs(ns);
  if (magnitude >= 7200e9) return significant(ns / 3600e9) + " h";
  if (magnitude >= 120e9) return significant(ns / 60e9) + " min";
  return scaled(ns, kScale.data(), kScale.size());
}

std::string bytes_text(double bytes) {
  static constexpr std::array<std::pair<double, const char*>, 5> kScale{
      {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  return std::isfinite(bytes) ? scaled(bytes, kScale.data(), kScale.size()) : "-";
}

std::string number_text(double number) {
  if (!std::isfinite(number)) return "-";
  return std::fabs(number) >= 1e15 ? fmt::format("{:.3g}", number) : significant(number);
}

std::string count_text(int64_t count) {
  std::string digits = fmt::format("{}", count);
  size_t first = digits[0] == '-' ? 1 : 0;
  if (digits.size() - first <= 4) return digits;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, " ");
  }
  return digits;
}

std::string counted_text(uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count_text(static_cast<int64_t>(count)), count == 1 ? one : several);
}

std::string percent_text(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  constexpr double kStepsPerPercent = 100;  // what is finer reads as a figure and is noise
  constexpr double kFineMax = 1;            // from here on three digits are coarser than that
  const double percent = ratio * 100;
  const double shown =
      std::fabs(percent) < kFineMax ? std::round(percent * kStepsPerPercent) / kStepsPerPercent : percent;
  return significant(shown) + " %";
}

std::string cell_text(const Cell& cell, const Column& column, bool unicode) {
  const char* arrow = unicode ? " → " : " -> ";
  if (const auto* text = std::get_if<std::string>(&cell.value())) return printable(*text, unicode);
  if (const auto* whole = std::get_if<int64_t>(&cell.value())) {
    if (column.type == Type::duration) return duration_text(static_cast<double>(*whole));
    return column.unit == Unit::bytes ? bytes_text(static_cast<double>(*whole)) : count_text(*whole);
  }
  if (const auto* number = std::get_if<double>(&cell.value())) {
    return column.type == Type::ratio ? percent_text(*number) : in_unit(*number, column.unit);
  }
  if (const auto* range = std::get_if<Interval>(&cell.value())) {
    std::string low = in_unit(range->low, column.unit), high = in_unit(range->high, column.unit);
    return low == high ? low : low + " .. " + high;
  }
  if (const auto* change = std::get_if<Change>(&cell.value())) {
    return in_unit(change->before, column.unit) + arrow + in_unit(change->after, column.unit);
  }
  if (const auto* at = std::get_if<Location>(&cell.value())) return printable(location_text(*at), unicode);
  return "-";
}

std::string printable(std::string_view text, bool unicode) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    size_t length = utf8_length(text);
    bool keep = length != 0 && !base::is_harmful(base::decode_utf8(text.substr(0, length))) && (unicode || length == 1);
    if (length == 0) length = 1;
    if (keep) {
      out.append(text.substr(0, length));
    } else {
      out.push_back('?');
    }
    text.remove_prefix(length);
  }
  return out;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    size_t length = std::max<size_t>(utf8_length(text), 1);
    width += columns_of(base::decode_utf8(text.substr(0, length)));
    text.remove_prefix(length);
  }
  return width;
}

std::string elide_middle(std::string_view text, size_t width, bool unicode) {
  if (display_width(text) <= width) return std::string(text);
  std::string_view mark = unicode ? "…" : "..";
  size_t mark_width = unicode ? 1 : 2;
  std::vector<std::string_view> characters;
  for (std::string_view rest = text; !rest.empty();) {
    size_t length = std::max<size_t>(utf8_length(rest), 1);
    characters.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (width < mark_width + 2) mark = "", mark_width = 0;
  size_t room = width - mark_width;
  // The end of a name or path says more than its beginning.
  size_t tail_room = mark.empty() ? 0 : (room + 1) / 2;
  std::string head, tail;
  size_t used = 0;
  for (size_t i = 0; i < characters.size(); ++i) {
    size_t w = columns_of(base::decode_utf8(characters[i]));
    if (used + w > room - tail_room) break;
    used += w;
    head += characters[i];
  }
  used = 0;
  for (size_t i = characters.size(); i-- > 0 && tail_room > 0;) {
    size_t w = columns_of(base::decode_utf8(characters[i]));
    if (used + w > tail_room) break;
    used += w;
    tail.insert(0, characters[i]);
  }
  return head + std::string(mark) + tail;
}

std::string elide_name(std::string_view text, size_t width, bool unicode) {
  if (display_width(text) <= width) return std::string(text);
  const std::string mark = unicode ? "…" : "..";
  std::string_view last = text;
  for (size_t at = next_part(last); at > 0; at = next_part(last)) {
    last.remove_prefix(at);
    if (std::string shorter = mark + std::string(last); display_width(shorter) <= width) return shorter;
  }
  return elide_middle(last, width, unicode);
}

std::string elide_location(std::string_view text, size_t width, bool unicode) {
  if (display_width(text) <= width) return std::string(text);
  constexpr size_t kNameMinimum = 8;
  PlaceParts parts;
  if (!take_apart(text, parts)) return elide_name(text, width, unicode);
  const std::string position = without_folders(parts.position), bare = without_arguments(parts.name);
  // Only the owner shows that it is not a place of the program's, so it is dropped after the packages and the class.
  for (const std::string_view whole : {parts.name, std::string_view(bare)}) {
    std::string shorter = without_first_parts(whole, position, parts.owner, width);
    if (!shorter.empty()) return shorter;
  }
  const std::string_view name = last_part(bare);
  if (const std::string_view apart = apart_of(parts.owner); !apart.empty()) {
    const std::string line = line_of(position);
    const size_t room = width - std::min(width, display_width(line) + display_width(apart));
    if (room >= kNameMinimum) return fmt::format("{}{}{}", elide_middle(name, room, unicode), line, apart);
  }
  // The file of a library says less than the function; a line says all.
  if (position.find(':') == std::string::npos) return elide_name(name, width, unicode);
  const size_t position_width = display_width(position);
  if (display_width(name) + position_width <= width) return std::string(name) + position;
  if (position_width + kNameMinimum <= width) return elide_middle(name, width - position_width, unicode) + position;
  const size_t open = position.find('(');
  return elide_middle(std::string_view(position).substr(open + 1, position.size() - open - 2), width, unicode);
}

size_t readable_width(std::string_view text, Type type) {
  constexpr size_t kTextMax = 40;
  const size_t whole = display_width(text);
  if (type == Type::text) return std::min(whole, kTextMax);
  if (type == Type::places) {
    const size_t end = text.find("), ");
    if (end == std::string_view::npos) return readable_width(text, Type::location);
    return readable_width(text.substr(0, end + 1), Type::location) + std::string_view(" and 99 more").size();
  }
  PlaceParts parts{text, "", ""};
  const bool is_place = type == Type::location && take_apart(text, parts);
  const std::string bare = without_arguments(parts.name);
  std::string_view name = bare;
  for (size_t at = next_part(name); at > 0 && next_part(name.substr(at)) > 0; at = next_part(name))
    name.remove_prefix(at);
  if (!is_place) return std::min(whole, display_width(name) + 2);
  const std::string position = without_folders(parts.position);
  const std::string_view apart = apart_of(parts.owner);
  if (!apart.empty())
    return std::min(whole, display_width(name) + display_width(line_of(position)) + display_width(apart));
  return std::min(whole, display_width(name) + display_width(position) + display_width(parts.owner));
}

std::string elide_places(std::string_view text, size_t width, bool unicode) {
  if (display_width(text) <= width) return std::string(text);
  constexpr std::string_view kBetween = "), ", kMore = "and ";
  const size_t end = text.find(kBetween);
  if (end == std::string_view::npos) return elide_location(text, width, unicode);
  uint64_t others = 0;
  for (std::string_view rest = text.substr(end + kBetween.size()); !rest.empty();) {
    uint64_t more = 0;
    if (rest.starts_with(kMore)) std::from_chars(rest.data() + kMore.size(), rest.data() + rest.size(), more);
    others += std::max<uint64_t>(more, 1);
    const size_t next = rest.find(kBetween);
    rest.remove_prefix(next == std::string_view::npos ? rest.size() : next + kBetween.size());
  }
  const std::string more = fmt::format(" and {} more", others);
  const size_t room = width - std::min(width, more.size());
  return elide_location(text.substr(0, end + 1), room, unicode) + more;
}

}  // namespace contrafact::table
