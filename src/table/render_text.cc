#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <functional>
#include <unordered_map>

#include "table/prose.h"
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
  std::vector<std::vector<std::string>> links;  // of the rows, where there are any: "file:///src/feed.cc", or nothing
  std::vector<size_t> natural;                  // widths of the columns as they are
  std::vector<size_t> readable;                 // below which names lose more than their packages
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

// Takes columns from the widest elidable one, until the table fits or all are as narrow as they may be.
template <typename Least>
void shrink(Layout& layout, const Schema& schema, size_t width, Least least) {
  while (total_width(layout) > width) {
    size_t widest = layout.widths.size();
    for (size_t c = 0; c < layout.widths.size(); ++c) {
      if (layout.hidden[c] || !is_elidable(schema.columns[c].type) || layout.widths[c] <= least(c)) continue;
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

// The columns that may be hidden, in the order in which room is given to them: those that say nothing come last.
std::vector<size_t> hideable(const Table& table) {
  const std::vector<Column>& columns = table.schema().columns;
  std::vector<size_t> order;
  for (size_t c = 0; c < columns.size(); ++c) {
    const bool has_nothing = columns[c].hide_order == 0 && !is_elidable(columns[c].type) && is_blank(table, c);
    if ((columns[c].hide_order > 0 || has_nothing) && !columns[c].below) order.push_back(c);
  }
  const auto key = [&](size_t c) { return is_blank(table, c) ? UINT_MAX : unsigned{columns[c].hide_order}; };
  std::ranges::stable_sort(order, {}, key);
  return order;
}

// "" where a cell has no file that is known by its whole path.
std::string link_of(const Cell& cell) {
  const auto* at = std::get_if<Location>(&cell.value());
  if (at == nullptr || !at->path.starts_with('/')) return "";
  std::string link = "file://";
  for (const char c : at->path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-+").find(c) != std::string_view::npos;
    link += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return link;
}

void measure(Layout& layout, const Table& table, const TextStyle& style) {
  const Schema& schema = table.schema();
  std::vector<std::string> heading;
  for (const Column& column : schema.columns) heading.emplace_back(column.title);
  layout.cells.push_back(std::move(heading));
  for (const auto& row : table.rows()) {
    std::vector<std::string> texts;
    for (size_t c = 0; c < row.size(); ++c) texts.push_back(cell_text(row[c], schema.columns[c], style.unicode));
    layout.cells.push_back(std::move(texts));
    if (!style.links) continue;
    std::vector<std::string>& links = layout.links.emplace_back();
    for (const Cell& cell : row) links.push_back(link_of(cell));
  }
  layout.natural.assign(schema.columns.size(), 0);
  layout.readable.assign(schema.columns.size(), 0);
  for (size_t r = 0; r < layout.cells.size(); ++r) {
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      const std::string& text = layout.cells[r][c];
      const bool whole = r == 0 || !is_elidable(schema.columns[c].type);
      layout.natural[c] = std::max(layout.natural[c], display_width(text));
      layout.readable[c] =
          std::max(layout.readable[c], whole ? display_width(text) : readable_width(text, schema.columns[c].type));
    }
  }
}

// Where names are as short as they may be, whole columns go: counts first, then from the right. The first stays, for it
// says what a row is of, and so do names.
void hide_more(Layout& layout, const Schema& schema, size_t width) {
  for (const bool counts_only : {true, false}) {
    for (size_t c = schema.columns.size(); c-- > 1 && total_width(layout) > width;) {
      const Type type = schema.columns[c].type;
      if (!is_elidable(type) && (type == Type::integer || !counts_only)) layout.hidden[c] = true;
    }
  }
}

// Names come first, so that a wider terminal never shows less of a name. They get the width that makes them readable.
// Then figures get room, one after the other. Once no figure is hidden, names get the rest.
Layout lay_out(const Table& table, const TextStyle& style) {
  const Schema& schema = table.schema();
  Layout layout;
  measure(layout, table, style);
  layout.hidden.clear();
  for (const Column& column : schema.columns) layout.hidden.push_back(column.below);
  layout.widths = layout.natural;
  if (style.width == 0 || total_width(layout) <= style.width) return layout;
  const std::vector<size_t> order = hideable(table);
  for (size_t c : order) layout.hidden[c] = true;
  layout.widths = layout.readable;
  for (size_t c : order) {
    layout.hidden[c] = false;
    if (total_width(layout) <= style.width) continue;
    layout.hidden[c] = true;
    break;
  }
  if (std::ranges::none_of(order, [&](size_t c) { return bool{layout.hidden[c]}; })) {
    layout.widths = layout.natural;
    const auto packages = [&](size_t c) {  // before a sentence is cut
      return schema.columns[c].type == Type::text ? layout.natural[c] : layout.readable[c];
    };
    shrink(layout, schema, style.width, packages);
    shrink(layout, schema, style.width, [&](size_t c) { return layout.readable[c]; });
  }
  shrink(layout, schema, style.width,
         [&](size_t c) { return std::min(layout.readable[c], minimum_of(schema.columns[c].type)); });
  hide_more(layout, schema, style.width);
  return layout;
}

// As far as the texts are equal, up to a word.
size_t common_prefix(std::string_view text, std::string_view other) {
  const auto [end, other_end] = std::ranges::mismatch(text, other);
  const auto equal = static_cast<size_t>(end - text.begin());
  const size_t space = text.substr(0, equal).rfind(' ');
  return space == std::string_view::npos ? 0 : space + 1;
}

// A column's texts as they are shown. Where two are equal only because they were cut, what they begin with goes first.
std::vector<std::string> shown_texts(const Layout& layout, const Schema& schema, size_t column, bool unicode) {
  const Type type = schema.columns[column].type;
  const size_t width = layout.widths[column];
  const std::string_view mark = unicode ? "…" : "..";
  std::vector<std::string> texts;
  std::unordered_map<std::string, size_t> first;
  for (size_t row = 0; row < layout.cells.size(); ++row) {
    const std::string& whole = layout.cells[row][column];
    texts.push_back(elided(whole, type, width, unicode));
    const auto [at, is_new] = first.try_emplace(texts.back(), row);
    if (is_new || type != Type::text || whole == layout.cells[at->second][column]) continue;
    const size_t skipped = common_prefix(whole, layout.cells[at->second][column]);
    for (const size_t each : {at->second, row}) {
      const std::string rest = std::string(mark) + layout.cells[each][column].substr(skipped);
      if (skipped > 0) texts[each] = elided(rest, type, width, unicode);
    }
  }
  return texts;
}

std::string linked(const std::string& text, const std::string& link) {
  return link.empty() ? text : fmt::format("\x1b]8;;{}\x1b\\{}\x1b]8;;\x1b\\", link, text);
}

// A sentence in the last column goes on in further lines where it has no room in one.
bool goes_on(const Layout& layout, const Schema& schema, size_t row, size_t column) {
  for (size_t c = column + 1; c < schema.columns.size(); ++c)
    if (!layout.hidden[c]) return false;
  return row > 0 && schema.columns[column].type == Type::text &&
         display_width(layout.cells[row][column]) > layout.widths[column];
}

void append_row(std::string& out, const Layout& layout, const Schema& schema,
                const std::vector<std::vector<std::string>>& shown, size_t row, const TextStyle& style) {
  std::string line, further;
  size_t begin = 0;  // of the column
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    if (layout.hidden[c]) continue;
    if (!line.empty()) line.append(kGap, ' ');
    const Type type = schema.columns[c].type;
    const size_t width = layout.widths[c];
    std::string text = shown[c][row];
    if (goes_on(layout, schema, row, c)) {
      const std::vector<std::string> lines = broken_into_lines(layout.cells[row][c], width);
      text = elided(lines[0], type, width, style.unicode);
      for (size_t i = 1; i < lines.size(); ++i)
        further += std::string(begin, ' ') + elided(lines[i], type, width, style.unicode) + "\n";
    }
    size_t padding = width - std::min(width, display_width(text));
    bool right = !is_elidable(type) && type != Type::word;
    if (row > 0 && style.links) text = linked(text, layout.links[row - 1][c]);
    line += right ? std::string(padding, ' ') + text : text + std::string(padding, ' ');
    begin += width + kGap;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += row == 0 && style.colour ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
  out += further;
}

// A row is named by its first column; rows of equal text have one line.
std::string lines_below(const Table& table, const Layout& layout) {
  const std::vector<Column>& columns = table.schema().columns;
  const std::string_view sign = columns[0].title == "#" ? "#" : "";
  std::string out;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].below) continue;
    std::vector<std::pair<std::string, std::string>> lines;  // the rows' names, and the text
    for (size_t row = 0; row < table.rows().size(); ++row) {
      if (table.rows()[row][c].is_empty()) continue;
      const std::vector<std::string>& texts = layout.cells[row + 1];
      const auto known = std::ranges::find(lines, texts[c], &std::pair<std::string, std::string>::second);
      if (known == lines.end()) {
        lines.emplace_back(fmt::format("{}{}", sign, texts[0]), texts[c]);
      } else {
        known->first += fmt::format(", {}{}", sign, texts[0]);
      }
    }
    for (const auto& [rows, text] : lines) out += fmt::format("{} {}: {}\n", rows, columns[c].title, text);
  }
  return out;
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
    std::vector<std::vector<std::string>> shown(schema.columns.size());  // by column
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      if (!layout.hidden[c]) shown[c] = shown_texts(layout, schema, c, style.unicode);
    }
    for (size_t row = 0; row < layout.cells.size(); ++row) append_row(out, layout, schema, shown, row, style);
    std::string hidden;
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      if (layout.hidden[c] && !schema.columns[c].below)
        hidden += fmt::format("{}{}", hidden.empty() ? "" : ", ", schema.columns[c].title);
    }
    if (!hidden.empty()) out += fmt::format("(no room in {} columns for: {})\n", style.width, hidden);
    out += lines_below(table, layout);
  }
  for (const std::string& note : table.notes()) out += printable(note, style.unicode) + "\n";
  return out;
}

std::string describe(const Schema& schema, size_t width) {
  std::string out = wrap_prose(fmt::format("{}: {}\n", schema.name, schema.description), width);
  size_t name_width = 0;
  for (const Column& column : schema.columns) name_width = std::max(name_width, column.name.size());
  for (const Column& column : schema.columns) out += explained(column.name, column.description, name_width, width);
  return out;
}

}  // namespace contrafact::table
