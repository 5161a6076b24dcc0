#include "blueprint/arrangement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace contrafact::blueprint {
namespace {

// A column is about three times as wide as a row is high.
constexpr double kColumnsSquaredOfANode = 2.0 / 3;

// Nodes that calls join, however.
struct Piece {
  std::vector<uint32_t> first;  // nobody in the piece calls them; one of a piece where all are called
  uint32_t last = 0;            // one of the farthest from these
  size_t columns = 0;
};

class Pieces {
 public:
  explicit Pieces(const Graph& graph)
      : parent_(graph.nodes.size()), callees_(parent_.size()), called_(parent_.size()), seen_(parent_.size()) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (const Edge& edge : graph.edges) {
      if (edge.from == edge.to) continue;
      parent_[root(edge.from)] = root(edge.to);
      callees_[edge.from].push_back(edge.to);
      called_[edge.to] = true;
    }
  }

  std::vector<Piece> all() {
    std::vector<std::vector<uint32_t>> members(parent_.size());
    std::vector<uint32_t> roots;  // in the order of their first members
    for (uint32_t node = 0; node < parent_.size(); ++node) {
      if (members[root(node)].empty()) roots.push_back(root(node));
      members[root(node)].push_back(node);
    }
    std::vector<Piece> pieces;
    for (const uint32_t root : roots) pieces.push_back(piece_of(members[root]));
    return pieces;
  }

 private:
  uint32_t root(uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  Piece piece_of(const std::vector<uint32_t>& members) {
    Piece piece;
    for (const uint32_t node : members) {
      if (!called_[node]) piece.first.push_back(node);
    }
    if (piece.first.empty()) piece.first.push_back(members.front());
    std::vector<uint32_t> column = piece.first;
    for (const uint32_t node : column) seen_[node] = true;
    for (; !column.empty(); ++piece.columns) {
      piece.last = column.front();
      std::vector<uint32_t> next;
      for (const uint32_t node : column) {
        for (const uint32_t callee : callees_[node]) {
          if (!seen_[callee]) next.push_back(callee);
          seen_[callee] = true;
        }
      }
      column = std::move(next);
    }
    return piece;
  }

  std::vector<uint32_t> parent_;
  std::vector<std::vector<uint32_t>> callees_;
  std::vector<bool> called_, seen_;
};

}  // namespace

size_t row_columns(const Graph& graph) {
  return static_cast<size_t>(std::ceil(std::sqrt(kColumnsSquaredOfANode * static_cast<double>(graph.nodes.size()))));
}

std::vector<std::pair<uint32_t, uint32_t>> rows_of_pieces(const Graph& graph) {
  std::vector<Piece> pieces = Pieces(graph).all();
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.columns > b.columns; });
  size_t columns = row_columns(graph);
  if (!pieces.empty()) columns = std::max(columns, pieces.front().columns);
  std::vector<std::pair<uint32_t, uint32_t>> behind;
  size_t taken = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && taken + pieces[i].columns <= columns) {
      for (const uint32_t first : pieces[i].first) behind.emplace_back(pieces[i - 1].last, first);
      taken += pieces[i].columns;
    } else {
      taken = pieces[i].columns;
    }
  }
  return behind;
}

}  // namespace contrafact::blueprint
