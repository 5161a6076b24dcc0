#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "table/render.h"
#include "table/value_text.h"

namespace contrafact::table {
namespace {

constexpr size_t kGap = 2;  // spaces between columns
// Cells are not cut below these widths: less would tell nothing.
constexpr size_t kTextMinimum = 22;
constexpr size_t kLocationMinimum = 20;  // a file name and a line

size_t minimum_of(Type type) {
  return type == Type::location ? kLocationMinimum : kTextMinimum;
}

bool is_elidable(Type type) {
  return type == Type::text || type == Type::name || type == Type::places || type == Type::location;
}

std::string elided(const std::string& text, Type type, size_t width, bool unicode) {
  if (type == Type::location) return elide_location(text, width, unicode);
  if (type == Type::places) return elide_places(text, width, unicode);
  return type == Type::name ? elide_name(text, width, unicode) : elide_middle(text, width, unicode);
}

struct Layout {
  std::vector<std::vector<std::string>> cells;  // heading first
  std::vector<size_t> widths;
  std::vector<bool> hidden;
};

size_t total_width(const Layout& layout) {
  size_t total = 0;
  for (size_t c = 0; c < layout.widths.size(); ++c) {
    if (!layout.hidden[c]) total += layout.widths[c] + (total == 0 ? 0 : kGap);
  }
  return total;
}

// Takes columns from the widest elidable one, until the table fits or all are at their minimum.
void shrink(Layout& layout, const Schema& schema, size_t width) {
  while (total_width(layout) > width) {
    size_t widest = layout.widths.size();
    for (size_t c = 0; c < layout.widths.size(); ++c) {
      if (layout.hidden[c] || !is_elidable(schema.columns[c].type) ||
          layout.widths[c] <= minimum_of(schema.columns[c].type))
        continue;
      if (widest == layout.widths.size() || layout.widths[c] > layout.widths[widest]) widest = c;
    }
    if (widest == layout.widths.size()) return;
    --layout.widths[widest];
  }
}

// Whether no row has anything in the column.
bool is_blank(const Table& table, size_t column) {
  return std::ranges::all_of(table.rows(), [&](const auto& row) { return row[column].is_empty(); });
}

// Hides the column that is to go first: one that says nothing, or else that of the highest order. False if all that are
// left must stay.
bool hide_one(Layout& layout, const Table& table) {
  const Schema& schema = table.schema();
  const auto order = [&](size_t column) {
    return is_blank(table, column) ? UINT_MAX : unsigned{schema.columns[column].hide_order};
  };
  size_t first = schema.columns.size();
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    if (layout.hidden[c] || schema.columns[c].hide_order == 0) continue;
    if (first == schema.columns.size() || order(c) >= order(first)) first = c;
  }
  if (first == schema.columns.size()) return false;
  layout.hidden[first] = true;
  return true;
}

Layout lay_out(const Table& table, const TextStyle& style) {
  const Schema& schema = table.schema();
  Layout layout;
  layout.hidden.assign(schema.columns.size(), false);
  std::vector<std::string> heading;
  for (const Column& column : schema.columns) heading.emplace_back(column.title);
  layout.cells.push_back(std::move(heading));
  for (const auto& row : table.rows()) {
    std::vector<std::string> texts;
    for (size_t c = 0; c < row.size(); ++c) texts.push_back(cell_text(row[c], schema.columns[c], style.unicode));
    layout.cells.push_back(std::move(texts));
  }
  layout.widths.assign(schema.columns.size(), 0);
  for (const auto& row : layout.cells) {
    for (size_t c = 0; c < row.size(); ++c) layout.widths[c] = std::max(layout.widths[c], display_width(row[c]));
  }
  if (style.width == 0) return layout;
  const std::vector<size_t> natural = layout.widths;
  for (;;) {
    layout.widths = natural;
    shrink(layout, schema, style.width);
    if (total_width(layout) <= style.width || !hide_one(layout, table)) return layout;
  }
}

void append_row(std::string& out, const Layout& layout, const Schema& schema, size_t row, const TextStyle& style) {
  std::string line;
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    if (layout.hidden[c]) continue;
    if (!line.empty()) line.append(kGap, ' ');
    const Type type = schema.columns[c].type;
    std::string text = elided(layout.cells[row][c], type, layout.widths[c], style.unicode);
    size_t padding = layout.widths[c] - std::min(layout.widths[c], display_width(text));
    bool right = !is_elidable(type) && type != Type::word;
    line += right ? std::string(padding, ' ') + text : text + std::string(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += row == 0 && style.colour ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
}

}  // namespace

std::string render_text(const Table& table, const TextStyle& style) {
  const Schema& schema = table.schema();
  std::string out;
  if (table.empty()) {
    out = fmt::format("{}: nothing to show{}{}\n", schema.name, table.empty_reason().empty() ? "" : ": ",
                      printable(table.empty_reason(), style.unicode));
  } else {
    Layout layout = lay_out(table, style);
    for (size_t row = 0; row < layout.cells.size(); ++row) append_row(out, layout, schema, row, style);
    std::string hidden;
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      if (layout.hidden[c]) hidden += fmt::format("{}{}", hidden.empty() ? "" : ", ", schema.columns[c].title);
    }
    if (!hidden.empty()) out += fmt::format("(no room in {} columns for: {})\n", style.width, hidden);
  }
  for (const std::string& note : table.notes()) out += printable(note, style.unicode) + "\n";
  return out;
}

std::string describe(const Schema& schema) {
  std::string out = fmt::format("{}: {}\n", schema.name, schema.description);
  size_t width = 0;
  for (const Column& column : schema.columns) width = std::max(width, column.name.size());
  for (const Column& column : schema.columns) {
    out += fmt::format("  {:{}}  {}\n", column.name, width, column.description);
  }
  return out;
}

}  // namespace contrafact::table
