#include <fmt/format.h>

#include "blueprint/graph_page.h"
#include "blueprint/views.h"
#include "table/value_text.h"

namespace contrafact::blueprint {
namespace {

std::vector<std::string> notes(const Graph& graph, const Profile& profile) {
  std::vector<std::string> out;
  if (graph.edges_left_out != 0) {
    out.push_back(fmt::format("{} not drawn, for few calls: {} in all.",
                              table::counted_text(graph.edges_left_out, "edge is", "edges are"),
                              table::counted_text(graph.calls_left_out, "call", "calls")));
  }
  if (graph.calls_of_folded != 0) {
    out.push_back(table::counted_text(graph.calls_of_folded, "call from or to what was folded is",
                                      "calls from or to what was folded are") +
                  " not drawn.");
  }
  if (profile.lost != 0) {
    out.push_back(table::counted_text(profile.lost, "event was", "events were") +
                  " lost for want of memory: all counts are too small.");
  }
  if (profile.refused != 0) {
    out.push_back(table::counted_text(profile.refused, "method", "methods") +
                  " could not be given probes: what they do is missing.");
  }
  if (profile.unseen_sites != 0) {
    out.push_back(fmt::format("Objects made in {} of classes older than Java 5 are missing.",
                              table::counted_text(profile.unseen_sites, "place", "places")));
  }
  return out;
}

}  // namespace

std::string page_view(const Graph& graph, const View& view, const Profile& profile, std::string svg) {
  const std::string_view level = view.level == Level::method   ? "method"
                                 : view.level == Level::class_ ? "class"
                                                               : "package";
  const std::string_view scale = view.scale == Scale::linear ? "proportional" : "proportional to the square root";
  return graph_page({.title = view.title,
                     .explain = fmt::format("Each rectangle is a {}: its width is {} to the {}, its height to the {}. "
                                            "The width of an edge is proportional to the number of calls. Grey: what "
                                            "was folded into one.",
                                            level, scale, title_of(view.width), title_of(view.height)),
                     .notes = notes(graph, profile),
                     .tables = {{"The same as a table", node_table(graph)}}},
                    std::move(svg));
}

}  // namespace contrafact::blueprint
