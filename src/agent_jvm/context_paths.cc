#include "agent_jvm/context_paths.h"

#include <utility>

namespace contrafact::agent_jvm {
namespace {

constexpr size_t kFramesMax = 128;            // physical ones of one stack
constexpr size_t kSlotsMin = 2 * kFramesMax;  // at least half of the slots stay free
constexpr size_t kSlotsMax = 1 << 14;         // 768 KiB a thread

uint64_t mix(uint32_t from, const FrameWalk::Key& key) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  uint64_t hash = (key.at ^ key.method * kOdd ^ from) * kOdd;
  return hash ^ hash >> 32;
}

}  // namespace

ContextPaths::Edge* ContextPaths::slot(uint32_t from, const FrameWalk::Key& key) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = mix(from, key) & mask;; i = (i + 1) & mask) {
    Edge& edge = slots_[i];
    if (edge.from == 0 || (edge.from == from && edge.key == key)) return &edge;
  }
}

std::optional<uint32_t> ContextPaths::find(const FrameWalk& walk, JNIEnv* jni, bool trust_interpreted) {
  FrameWalk::Position position;
  if (slots_.empty() || !walk.begin(jni, position)) return std::nullopt;
  for (uint32_t node = kRoot;;) {
    const FrameWalk::Kind kind = walk.classify(position);
    if (kind == FrameWalk::Kind::unknown) return std::nullopt;
    if (kind == FrameWalk::Kind::interpreted && !trust_interpreted) return std::nullopt;
    const Edge* edge = slot(node, FrameWalk::key(kind, position));
    if (edge->from == 0) return std::nullopt;
    if (kind == FrameWalk::Kind::compiled && !edge->code.is_valid()) return std::nullopt;
    if (edge->decides) return edge->to;
    const bool left = kind == FrameWalk::Kind::compiled ? FrameWalk::leave_compiled(position, edge->code.frame_words)
                                                        : FrameWalk::leave_interpreted(position);
    if (!left) return std::nullopt;
    node = edge->to;
  }
}

void ContextPaths::learn(const FrameWalk& walk, JNIEnv* jni, bool trust_interpreted, size_t frames, uint32_t context) {
  FrameWalk::Position position;
  if (!walk.begin(jni, position)) return;
  Edge path[kFramesMax];
  size_t length = 0;
  while (length < frames) {
    if (length == kFramesMax) return;
    Edge& edge = path[length++];
    const FrameWalk::Kind kind = walk.classify(position);
    if (kind == FrameWalk::Kind::unknown) return;
    if (kind == FrameWalk::Kind::interpreted && !trust_interpreted) return;
    edge.key = FrameWalk::key(kind, position);
    if (kind == FrameWalk::Kind::bottom) break;
    if (kind == FrameWalk::Kind::compiled && !walk.find_code(position.pc, edge.code)) return;
    if (length == frames) break;
    const bool left = kind == FrameWalk::Kind::compiled ? FrameWalk::leave_compiled(position, edge.code.frame_words)
                                                        : FrameWalk::leave_interpreted(position);
    if (!left) return;
  }
  if (length == 0) return;
  if ((used_ + length) * 2 > slots_.size()) grow();
  path[0].from = kRoot;
  for (size_t i = 0; i + 1 < length; ++i) {
    add(path[i]);
    path[i + 1].from = slot(path[i].from, path[i].key)->to;
  }
  path[length - 1].to = context;
  path[length - 1].decides = true;
  add(path[length - 1]);
}

// An edge that is there stays, unless its code was replaced or it decided something else.
void ContextPaths::add(const Edge& edge) {
  Edge* at = slot(edge.from, edge.key);
  const bool known = at->from != 0;
  const bool same_code =
      at->code.compile_id_at == edge.code.compile_id_at && at->code.compile_id == edge.code.compile_id;
  if (known && same_code && !at->decides && !edge.decides) return;
  used_ += !known;
  *at = edge;
  if (!edge.decides) at->to = ++nodes_;
}

void ContextPaths::grow() {
  if (slots_.size() >= kSlotsMax) return clear();
  std::vector<Edge> before = std::exchange(slots_, std::vector<Edge>(slots_.empty() ? kSlotsMin : slots_.size() * 2));
  for (const Edge& edge : before) {
    if (edge.from != 0) *slot(edge.from, edge.key) = edge;
  }
}

void ContextPaths::clear() {
  slots_.assign(slots_.size(), Edge{});
  used_ = 0;
  nodes_ = kRoot;
}

}  // namespace contrafact::agent_jvm
