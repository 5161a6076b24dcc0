#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "table/render.h"

namespace contrafact::table {
namespace {

Json cell_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value())) return *text;
  if (const auto* whole = std::get_if<int64_t>(&cell.value())) return *whole;
  if (const auto* number = std::get_if<double>(&cell.value())) return *number;
  if (const auto* range = std::get_if<Interval>(&cell.value())) return {{"low", range->low}, {"high", range->high}};
  if (const auto* change = std::get_if<Change>(&cell.value()))
    return {{"before", change->before}, {"after", change->after}};
  if (const auto* at = std::get_if<Location>(&cell.value())) {
    Json out{{"method", at->method}, {"file", at->file}, {"line", at->line}};
    if (!at->path.empty()) out["path"] = at->path;
    if (!at->via.empty()) out["via"] = at->via;
    if (!at->owner.empty()) out["owner"] = at->owner;
    if (!at->apart.empty()) out["apart"] = at->apart;
    return out;
  }
  return nullptr;
}

}  // namespace

Json row_json(const Schema& schema, const std::vector<Cell>& cells) {
  Json object = Json::object();
  for (size_t c = 0; c < cells.size(); ++c) object[std::string(schema.columns[c].name)] = cell_json(cells[c]);
  return object;
}

Json rows_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows()) rows.push_back(row_json(table.schema(), row));
  return rows;
}

Json render_json(const Table& table) {
  Json out{{"name", std::string(table.schema().name)}, {"rows", rows_json(table)}};
  if (table.empty()) out["empty_reason"] = table.empty_reason();
  if (!table.notes().empty()) out["notes"] = table.notes();
  return out;
}

// They stand in strings alone, so an escape may take their place.
std::string json_text(const Json& value) {
  const std::string text = value.text() + "\n";
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const size_t plain = std::ranges::find_if(rest, [](unsigned char c) { return c >= 0x7f; }) - rest.begin();
    out += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const size_t length = std::max<size_t>(base::utf8_length(rest), 1);
    const char32_t character = base::decode_utf8(rest.substr(0, length));
    if (!base::is_harmful(character)) {
      out += rest.substr(0, length);
    } else if (character < 0x10000) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<uint32_t>(character));
    } else {  // a pair of surrogates
      const auto above = static_cast<uint32_t>(character) - 0x10000;
      fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff));
    }
    rest.remove_prefix(length);
  }
  return out;
}

}  // namespace contrafact::table
