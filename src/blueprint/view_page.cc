#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "blueprint/views.h"
#include "table/markup.h"
#include "table/value_text.h"

namespace contrafact::blueprint {

// Of src/blueprint/CMakeLists.txt: the files of web/.
extern const std::string_view blueprint_html, blueprint_css, blueprint_js;

namespace {

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
      out += fmt::format("<td{}>{}</td>", column.type == table::Type::text ? "" : " class=\"number\"",
                         table::escape_markup(table::cell_text(row[i], column, true)));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>";
}

std::string notes(const Graph& graph, const Profile& profile) {
  std::string out;
  const auto add = [&](const std::string& text) { out += "<p class=\"note\">" + table::escape_markup(text) + "</p>"; };
  if (graph.edges_left_out != 0) {
    add(fmt::format("{} not drawn, for few calls: {} in all.",
                    table::counted_text(graph.edges_left_out, "edge is", "edges are"),
                    table::counted_text(graph.calls_left_out, "call", "calls")));
  }
  if (graph.calls_of_folded != 0) {
    add(table::counted_text(graph.calls_of_folded, "call from or to what was folded is",
                            "calls from or to what was folded are") +
        " not drawn.");
  }
  if (profile.lost != 0) {
    add(table::counted_text(profile.lost, "event was", "events were") +
        " lost for want of memory: all counts are too small.");
  }
  if (profile.refused != 0) {
    add(table::counted_text(profile.refused, "method", "methods") +
        " could not be given probes: what they do is missing.");
  }
  if (profile.unseen_sites != 0) {
    add(fmt::format("Objects made in {} of classes older than Java 5 are missing.",
                    table::counted_text(profile.unseen_sites, "place", "places")));
  }
  return out;
}

// Graphviz's text before the element is for files of its own.
std::string svg_element(std::string svg) {
  const size_t begin = svg.find("<svg");
  return begin == std::string::npos ? svg : svg.substr(begin);
}

}  // namespace

std::string page_view(const Graph& graph, const View& view, const Profile& profile, std::string svg) {
  const std::map<std::string, std::string, std::less<>> parts{
      {"css", std::string(blueprint_css)},
      {"script", std::string(blueprint_js)},
      {"title", table::escape_markup(view.title)},
      {"width", table::escape_markup(title_of(view.width))},
      {"height", table::escape_markup(title_of(view.height))},
      {"level", view.level == Level::method   ? "method"
                : view.level == Level::class_ ? "class"
                                              : "package"},
      {"scale", view.scale == Scale::linear ? "proportional" : "proportional to the square root"},
      {"notes", notes(graph, profile)},
      {"table", html_table(node_table(graph))},
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
