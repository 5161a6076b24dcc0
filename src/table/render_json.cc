#include "table/render.h"

namespace contrafact::table {
namespace {

using Json = nlohmann::ordered_json;

Json cell_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&cell)) return *whole;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* range = std::get_if<Interval>(&cell)) return {{"low", range->low}, {"high", range->high}};
  if (const auto* change = std::get_if<Change>(&cell)) return {{"before", change->before}, {"after", change->after}};
  if (const auto* at = std::get_if<Location>(&cell)) {
    return {{"method", at->method}, {"file", at->file}, {"line", at->line}};
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

std::string json_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace contrafact::table
