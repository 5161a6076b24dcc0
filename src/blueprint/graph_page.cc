#include "blueprint/graph_page.h"

#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "table/markup.h"
#include "table/value_text.h"

namespace contrafact::blueprint {

// Of src/blueprint/CMakeLists.txt: the files of web/.
extern const std::string_view blueprint_html, blueprint_css, blueprint_js;

namespace {

bool is_left(table::Type type) {
  return type == table::Type::text || type == table::Type::places || type == table::Type::word ||
         type == table::Type::name;
}

std::string html_table(const table::Table& rows) {
  std::string out = "<table><thead><tr>";
  for (const table::Column& column : rows.schema().columns) {
    out += fmt::format("<th title=\"{}\">{}</th>", table::escape_markup(column.description),
                       table::escape_markup(column.title));
  }
  out += "</tr></thead><tbody>";
  for (const auto& row : rows.rows()) {
    out += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const table::Column& column = rows.schema().columns[i];
      out += fmt::format("<td{}>{}</td>", is_left(column.type) ? "" : " class=\"number\"",
                         table::escape_markup(table::cell_text(row[i], column, true)));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>";
}

// Graphviz's text before the element is for files of its own.
std::string svg_element(std::string svg) {
  const size_t begin = svg.find("<svg");
  return begin == std::string::npos ? svg : svg.substr(begin);
}

}  // namespace

std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : table::printable(text, true)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string graph_page(const GraphPage& page, std::string svg) {
  std::string notes, tables;
  for (const std::string& note : page.notes) notes += "<p class=\"note\">" + table::escape_markup(note) + "</p>";
  for (const PageTable& each : page.tables) {
    tables += fmt::format("{}<h2>{}</h2>\n{}", tables.empty() ? "" : "\n", table::escape_markup(each.heading),
                          html_table(each.rows));
  }
  const std::map<std::string, std::string, std::less<>> parts{{"css", std::string(blueprint_css)},
                                                              {"script", std::string(blueprint_js)},
                                                              {"title", table::escape_markup(page.title)},
                                                              {"explain", table::escape_markup(page.explain)},
                                                              {"notes", notes},
                                                              {"tables", tables},
                                                              {"picture", svg_element(std::move(svg))}};
  std::string out;
  std::string_view rest = blueprint_html;
  for (size_t begin; (begin = rest.find("{{")) != std::string_view::npos;) {
    const size_t end = rest.find("}}", begin);
    CHECK(end != std::string_view::npos);
    out += rest.substr(0, begin);
    const auto part = parts.find(rest.substr(begin + 2, end - begin - 2));
    CHECK(part != parts.end());
    out += part->second;
    rest.remove_prefix(end + 2);
  }
  out += rest;
  return out;
}

}  // namespace contrafact::blueprint
