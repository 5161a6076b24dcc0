#include "agent_jvm/contexts.h"

#include <xxhash.h>

#include <vector>

namespace contrafact::agent_jvm {
namespace {

constexpr uint32_t kInjectedFramesMax = 8;    // above the program's: the probe and what it calls
constexpr size_t kCacheEntriesMax = 1 << 16;  // per thread; then it starts anew
constexpr size_t kStackFrames = 256;          // room for the usual depth without allocation

}  // namespace

format::ContextId ContextTable::current(Cache& cache) {
  const jint wanted = static_cast<jint>(depth_max_ + kInjectedFramesMax);
  jvmtiFrameInfo small[kStackFrames];
  std::vector<jvmtiFrameInfo> large;
  jvmtiFrameInfo* frames = small;
  if (static_cast<size_t>(wanted) > kStackFrames) {
    large.resize(static_cast<size_t>(wanted));
    frames = large.data();
  }
  jint count = 0;
  if (jvmti_->GetStackTrace(nullptr, 0, wanted, frames, &count) != JVMTI_ERROR_NONE || count <= 0) return {};

  const XXH128_hash_t hash = XXH3_128bits(frames, sizeof(jvmtiFrameInfo) * static_cast<size_t>(count));
  const Key key{hash.low64, hash.high64};
  if (auto found = cache.find(key); found != cache.end()) return format::ContextId(found->second);
  const format::ContextId context = intern(frames, static_cast<size_t>(count));
  if (cache.size() >= kCacheEntriesMax) cache.clear();
  cache.emplace(key, context.value);
  return context;
}

format::ContextId ContextTable::intern(const jvmtiFrameInfo* frames, size_t count) {
  std::vector<recorder::Frame> context;
  bool program_seen = false;
  size_t end = SIZE_MAX;  // where the context is cut, if it has a frame of the program
  for (size_t i = 0; i < count && context.size() < depth_max_; ++i) {
    const MethodInfo* info = methods_.info(frames[i].method);
    if (info->skip) continue;
    if (info->boundary && program_seen) {
      end = context.size();
      break;
    }
    program_seen |= !info->library;
    context.push_back({info->id, info->line_at(frames[i].location)});
  }
  if (end < context.size()) context.resize(end);
  return recorder_.intern_context(context);
}

}  // namespace contrafact::agent_jvm
