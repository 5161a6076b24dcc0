#include <fmt/format.h>

#include <algorithm>

#include "table/render.h"
#include "table/value_text.h"

namespace contrafact::table {
namespace {

void append_field(std::string& line, std::string_view field) {
  if (!line.empty()) line += ',';
  line += field;
}

void append_heading(std::string& line, const Column& column) {
  auto add = [&](std::string_view suffix) { append_field(line, fmt::format("{}{}", column.name, suffix)); };
  switch (column.type) {
    case Type::interval:
      add("_low"), add("_high");
      break;
    case Type::change:
      add("_before"), add("_after");
      break;
    case Type::location:
      add("_method"), add("_file"), add("_line");
      break;
    default:
      add("");
  }
}

size_t fields_of(Type type) {
  return type == Type::location ? 3 : type == Type::interval || type == Type::change ? 2 : 1;
}

std::vector<std::string> fields(const Cell& cell, Type type) {
  if (const auto* text = std::get_if<std::string>(&cell.value())) return {csv_field(*text)};
  if (const auto* whole = std::get_if<int64_t>(&cell.value())) return {fmt::format("{}", *whole)};
  if (const auto* number = std::get_if<double>(&cell.value())) return {fmt::format("{}", *number)};
  if (const auto* range = std::get_if<Interval>(&cell.value())) {
    return {fmt::format("{}", range->low), fmt::format("{}", range->high)};
  }
  if (const auto* change = std::get_if<Change>(&cell.value())) {
    return {fmt::format("{}", change->before), fmt::format("{}", change->after)};
  }
  if (const auto* at = std::get_if<Location>(&cell.value())) {
    return {csv_field(at->method), csv_field(at->file), at->line == 0 ? "" : fmt::format("{}", at->line)};
  }
  return std::vector<std::string>(fields_of(type));
}

}  // namespace

namespace {

// A spreadsheet runs a cell that begins like this, whether it is quoted or not.
bool is_formula(std::string_view text) {
  constexpr std::string_view kWide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};  // = + - @ of East Asian keyboards
  if (text.empty()) return false;
  return std::string_view("=+-@\t\r\n").find(text.front()) != std::string_view::npos ||
         std::ranges::any_of(kWide, [&](std::string_view wide) { return text.starts_with(wide); });
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string out = is_formula(text) ? "'" : "";
  for (size_t line = 0; line <= text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size());
    out += printable(text.substr(line, end - line), true);
    if (end < text.size()) out += '\n';
    line = end + 1;
  }
  if (out.find_first_of("\",\n") == std::string::npos) return out;
  std::string quoted = "\"";
  for (char c : out) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_heading(const Schema& schema) {
  std::string out;
  for (const Column& column : schema.columns) append_heading(out, column);
  return out + '\n';
}

std::string csv_line(const Schema& schema, const std::vector<Cell>& cells) {
  std::string out;
  bool first = true;
  for (size_t c = 0; c < cells.size(); ++c) {
    for (const std::string& field : fields(cells[c], schema.columns[c].type)) {
      if (!first) out += ',';
      out += field;
      first = false;
    }
  }
  return out + '\n';
}

std::string render_csv(const Table& table) {
  std::string out = csv_heading(table.schema());
  for (const auto& row : table.rows()) out += csv_line(table.schema(), row);
  return out;
}

}  // namespace contrafact::table
