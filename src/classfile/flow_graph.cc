#include "classfile/flow_graph.h"

#include <algorithm>
#include <map>

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

// Bounds what hostile code can cost. Real methods stay far below.
constexpr size_t kMaxLiveWords = size_t{4} << 20;
constexpr size_t kMaxHandlersInSets = size_t{1} << 20;

}  // namespace

std::optional<LocalAccess> own_local_access(const Code& code, const Node& node) {
  if (node.kind != Node::kPlain || !node.is_original()) return std::nullopt;
  return local_access(code.bytes_of(node));
}

Result<FlowGraph> FlowGraph::of(const Code& code) {
  FlowGraph graph(code);
  graph.find_places();
  graph.find_blocks();
  Status status = graph.find_handlers();
  if (status) status = graph.find_live_locals();
  if (!status) return status.error();
  return graph;
}

void FlowGraph::find_places() {
  place_of_label_.assign(code_->label_count, code_->nodes.size());
  size_t place = 0;
  bool in_run = false;
  for (size_t i = 0; i < code_->nodes.size(); ++i) {
    const Node& node = code_->nodes[i];
    if (node.kind == Node::kLabel) {
      if (!in_run) place = i;
      place_of_label_[node.label.index()] = place;
    }
    in_run = node.kind == Node::kLabel;
  }
}

std::vector<size_t> FlowGraph::targets(const Node& node) const {
  std::vector<size_t> places;
  if (node.kind == Node::kBranch) places.push_back(place_of(node.label));
  if (node.kind == Node::kSwitch) {
    const SwitchTable& table = code_->switches[node.offset];
    places.push_back(place_of(table.default_target));
    for (const LabelId target : table.targets) places.push_back(place_of(target));
    std::ranges::sort(places);
    const auto repeated = std::ranges::unique(places);
    places.erase(repeated.begin(), repeated.end());
  }
  return places;
}

void FlowGraph::find_blocks() {
  const std::vector<Node>& nodes = code_->nodes;
  begins_block_.assign(nodes.size() + 1, false);
  begins_block_[0] = true;
  is_handler_.assign(nodes.size() + 1, false);
  for (const Node& node : nodes) {
    if (!node.is_original()) continue;
    for (const size_t place : targets(node)) begins_block_[place] = true;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == Node::kLabel && code_->frames.contains(nodes[i].label)) {
      begins_block_[place_of(nodes[i].label)] = true;
    }
  }
  for (const ExceptionEntry& entry : code_->exceptions) {
    size_t first = place_of(entry.handler);
    const size_t place = first;
    while (first < nodes.size() && !nodes[first].is_instruction()) ++first;
    if (first < nodes.size() && nodes[first].is_original()) begins_block_[place] = is_handler_[place] = true;
  }
}

Status FlowGraph::find_handlers() {
  const size_t count = code_->nodes.size();
  std::map<size_t, std::vector<std::pair<size_t, int>>> changes;  // by node: a handler, and +1 or -1
  for (const ExceptionEntry& entry : code_->exceptions) {
    const size_t start = place_of(entry.start), end = place_of(entry.end), handler = place_of(entry.handler);
    if (start >= end || !is_handler_[handler]) continue;
    changes[start].emplace_back(handler, 1);
    changes[end].emplace_back(handler, -1);
  }
  handler_set_of_.assign(count + 1, 0);
  handler_sets_.assign(1, {});
  std::map<size_t, int> active;
  size_t kept = 0, at = 0;
  for (const auto& [node, changed] : changes) {
    std::fill(handler_set_of_.begin() + static_cast<ptrdiff_t>(at),
              handler_set_of_.begin() + static_cast<ptrdiff_t>(node), static_cast<uint32_t>(handler_sets_.size() - 1));
    at = node;
    for (const auto& [handler, more] : changed) {
      if ((active[handler] += more) == 0) active.erase(handler);
    }
    handler_sets_.emplace_back();
    for (const auto& [handler, times] : active) handler_sets_.back().push_back(handler);
    kept += active.size();
    if (kept > kMaxHandlersInSets) return Error{"the exception table is too large"};
  }
  std::fill(handler_set_of_.begin() + static_cast<ptrdiff_t>(at), handler_set_of_.end(),
            static_cast<uint32_t>(handler_sets_.size() - 1));
  return {};
}

void FlowGraph::number_read_locals() {
  bit_of_local_.assign(code_->max_locals, UINT32_MAX);
  for (const Node& node : code_->nodes) {
    const auto access = own_local_access(*code_, node);
    if (!access || access->is_store || access->slot >= code_->max_locals) continue;
    uint32_t& bit = bit_of_local_[access->slot];
    if (bit != UINT32_MAX) continue;
    bit = static_cast<uint32_t>(read_locals_.size());
    read_locals_.push_back(access->slot);
  }
}

Status FlowGraph::find_live_locals() {
  number_read_locals();
  words_ = (read_locals_.size() + 63) / 64;
  const size_t rows = code_->nodes.size() + 1;
  if (rows * words_ > kMaxLiveWords) return Error{"the method is too large, with too many local variables"};
  live_.assign(rows * words_, 0);
  if (words_ == 0) return {};
  std::vector<uint64_t> live(words_);
  // Backwards, again for as long as some jump back brings more: about once for each loop around another one.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = rows - 1; i-- > 0;) changed |= update_live(i, live);
  }
  return {};
}

void FlowGraph::unite_live(size_t node, std::vector<uint64_t>& live) const {
  for (size_t w = 0; w < words_; ++w) live[w] |= live_[node * words_ + w];
}

bool FlowGraph::update_live(size_t i, std::vector<uint64_t>& live) {
  const Node& node = code_->nodes[i];
  std::ranges::fill(live, 0);
  const bool is_own = node.is_instruction() && node.is_original();
  if (!is_own || !ends_flow(code_->effective_opcode(node))) unite_live(i + 1, live);
  if (is_own) {
    if (node.kind == Node::kBranch) unite_live(place_of(node.label), live);
    if (node.kind == Node::kSwitch) {
      for (const size_t place : targets(node)) unite_live(place, live);
    }
    const auto access = own_local_access(*code_, node);
    const bool counts = access && access->kind != 'N' && access->slot < code_->max_locals;
    if (counts && bit_of_local_[access->slot] != UINT32_MAX) {
      const uint32_t bit = bit_of_local_[access->slot];
      const uint64_t mask = uint64_t{1} << bit % 64;
      live[bit / 64] = access->is_store ? live[bit / 64] & ~mask : live[bit / 64] | mask;
    }
    for (const size_t handler : handlers(i)) unite_live(handler, live);
  }
  const auto row = live_.begin() + static_cast<ptrdiff_t>(i * words_);
  if (std::equal(live.begin(), live.end(), row)) return false;
  std::ranges::copy(live, row);
  return true;
}

bool FlowGraph::is_live(size_t node, uint32_t local) const {
  if (local >= bit_of_local_.size() || bit_of_local_[local] == UINT32_MAX) return false;
  const uint32_t bit = bit_of_local_[local];
  return (live_[node * words_ + bit / 64] >> bit % 64 & 1) != 0;
}

}  // namespace contrafact::classfile
