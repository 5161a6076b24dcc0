#include "blueprint/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace contrafact::blueprint {
namespace {

std::string_view package_of(std::string_view class_name) {
  const size_t dot = class_name.rfind('.');
  return dot == std::string_view::npos ? std::string_view("(no package)") : class_name.substr(0, dot);
}

std::string_view simple_name(std::string_view class_name) {
  return class_name.substr(class_name.rfind('.') + 1);  // npos + 1 is 0
}

Node node_of(const Method& method, Level level) {
  Node node;
  if (method.outside()) {
    node.name = node.label = method.name;
    node.kind = Node::outside;
    return node;
  }
  switch (level) {
    case Level::method:
      node.name = method.class_name + "." + method.name + method.descriptor;
      node.label = fmt::format("{}.{}", simple_name(method.class_name), method.name);
      if (!method.file.empty()) {
        node.place = method.line == 0 ? method.file : fmt::format("{}:{}", method.file, method.line);
      }
      break;
    case Level::class_:
      node.name = method.class_name;
      node.label = simple_name(method.class_name);
      node.place = method.file;
      break;
    case Level::package:
      node.name = node.label = package_of(method.class_name);
      break;
  }
  return node;
}

uint64_t pair_of(uint32_t from, uint32_t to) {
  return uint64_t{from} << 32 | to;
}

// Sums up edges of the same pair, and sets the nodes' counts of callers and callees.
void set_edges(Graph& graph, const std::unordered_map<uint64_t, uint64_t>& calls) {
  graph.edges.reserve(calls.size());
  for (const auto& [pair, count] : calls) {
    graph.edges.push_back({static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(pair), count});
  }
  std::sort(graph.edges.begin(), graph.edges.end(), [](const Edge& a, const Edge& b) {
    return a.calls != b.calls ? a.calls > b.calls : pair_of(a.from, a.to) < pair_of(b.from, b.to);
  });
}

double share(uint64_t value, uint64_t total) {
  return total == 0 ? 0 : static_cast<double>(value) / static_cast<double>(total);
}

// Places of the elements, heaviest first.
std::vector<uint32_t> ranking(const Graph& graph, const Focus& focus) {
  uint64_t width_total = 0, height_total = 0;
  for (const Node& node : graph.nodes) {
    width_total += node.value(focus.width);
    height_total += node.value(focus.height);
  }
  std::vector<double> weight(graph.nodes.size());
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind == Node::outside) continue;
    weight[i] =
        share(graph.nodes[i].value(focus.width), width_total) + share(graph.nodes[i].value(focus.height), height_total);
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return weight[a] != weight[b] ? weight[a] > weight[b] : graph.nodes[a].name < graph.nodes[b].name;
  });
  return order;
}

void add(Node& sum, const Node& node) {
  ++sum.members;
  sum.objects += node.objects;
  sum.bytes += node.bytes;
  sum.calls_made += node.calls_made;
  sum.calls_received += node.calls_received;
}

}  // namespace

std::optional<Metric> metric_of(std::string_view name) {
  for (const MetricName& entry : kMetrics) {
    if (entry.name == name) return entry.metric;
  }
  return std::nullopt;
}

std::string_view title_of(Metric metric) {
  return kMetrics[static_cast<size_t>(metric)].title;
}

uint64_t Node::value(Metric metric) const {
  switch (metric) {
    case Metric::objects:
      return objects;
    case Metric::bytes:
      return bytes;
    case Metric::calls_made:
      return calls_made;
    case Metric::calls_received:
      return calls_received;
    case Metric::callees:
      return callees;
    case Metric::callers:
      return callers;
  }
  return 0;
}

Graph roll_up(const Profile& profile, Level level) {
  Graph graph;
  std::unordered_map<std::string, uint32_t> places;
  std::vector<uint32_t> place_of_method;
  place_of_method.reserve(profile.methods.size());
  for (const Method& method : profile.methods) {
    Node node = node_of(method, level);
    auto [found, is_new] = places.try_emplace(node.name, static_cast<uint32_t>(graph.nodes.size()));
    if (is_new) graph.nodes.push_back(std::move(node));
    place_of_method.push_back(found->second);
    graph.nodes[found->second].objects += method.objects;
    graph.nodes[found->second].bytes += method.bytes;
  }
  std::unordered_map<uint64_t, uint64_t> calls;
  for (const Call& call : profile.calls) {
    const uint32_t from = place_of_method[call.caller], to = place_of_method[call.callee];
    calls[pair_of(from, to)] += call.count;
    graph.nodes[from].calls_made += call.count;
    graph.nodes[to].calls_received += call.count;
  }
  set_edges(graph, calls);
  for (const Edge& edge : graph.edges) {
    if (edge.from == edge.to) continue;
    ++graph.nodes[edge.from].callees;
    ++graph.nodes[edge.to].callers;
  }
  return graph;
}

Graph focus(const Graph& graph, const Focus& focus) {
  const std::vector<uint32_t> order = ranking(graph, focus);
  const size_t kept = std::min(order.size(), std::max<size_t>(focus.nodes_max, 1));
  Graph out;
  std::vector<uint32_t> place(graph.nodes.size());
  for (size_t i = 0; i < kept; ++i) {
    place[order[i]] = static_cast<uint32_t>(out.nodes.size());
    out.nodes.push_back(graph.nodes[order[i]]);
  }
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind != Node::outside) continue;
    place[i] = static_cast<uint32_t>(out.nodes.size());
    out.nodes.push_back(graph.nodes[i]);
  }
  const auto folded = static_cast<uint32_t>(out.nodes.size());
  if (kept < order.size()) {
    Node rest;
    rest.kind = Node::folded;
    rest.members = 0;
    for (size_t i = kept; i < order.size(); ++i) {
      place[order[i]] = folded;
      add(rest, graph.nodes[order[i]]);
    }
    rest.name = rest.label = fmt::format("{} others", rest.members);
    out.nodes.push_back(std::move(rest));
  }
  std::unordered_map<uint64_t, uint64_t> calls;
  for (const Edge& edge : graph.edges) {
    const uint32_t from = place[edge.from], to = place[edge.to];
    if (from == folded && to == folded) continue;  // within what is folded
    if (!focus.edges_of_folded && (from == folded || to == folded)) {
      out.calls_of_folded += edge.calls;
    } else {
      calls[pair_of(from, to)] += edge.calls;
    }
  }
  set_edges(out, calls);
  for (size_t i = focus.edges_max; i < out.edges.size(); ++i) {
    ++out.edges_left_out;
    out.calls_left_out += out.edges[i].calls;
  }
  out.edges.resize(std::min(out.edges.size(), focus.edges_max));
  return out;
}

}  // namespace contrafact::blueprint
