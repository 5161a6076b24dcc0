#include "agent_jvm/contexts.h"

#include <xxhash.h>

#include <algorithm>
#include <vector>

namespace contrafact::agent_jvm {
namespace {

constexpr uint32_t kInjectedFramesMax = 8;    // above the program's: the probe and what it calls
constexpr size_t kCacheEntriesMax = 1 << 16;  // per thread; then it starts anew
constexpr jint kShortWalk = 16;               // frames that the first, cheap walk takes
constexpr size_t kWalks = 2;                  // a short one, then one of the full depth
// In the cache, for the key of a short walk: the context does not follow from it alone.
constexpr uint32_t kDeeper = UINT32_MAX - 1;
constexpr size_t kAllFrames = SIZE_MAX;  // as a number of frames used

// `walk` distinguishes a stack of just so many frames from the beginning of a deeper one.
template <typename Key, typename Frame>
Key key_of(const Frame* frames, jint count, size_t walk) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(frames, sizeof(Frame) * static_cast<size_t>(count), walk);
  return {hash.low64, hash.high64};
}

bool same(const CallFrame* cheap, const jvmtiFrameInfo* exact, jint count) {
  for (jint i = 0; i < count; ++i) {
    if (cheap[i].method != exact[i].method || (cheap[i].bci >= 0 && cheap[i].bci != exact[i].location)) return false;
  }
  return true;
}

// A thread whose innermost frame is the program's waits for a monitor: at all other events that frame is one of ours or a
// native method's. The interpreter has gone on to the instruction behind `monitorenter` by then, which may be of the next
// line.
jlocation at_monitor(jlocation location) {
  return location > 0 ? location - 1 : location;
}

}  // namespace

ContextTable::ContextTable(jvmtiEnv* jvmti, JavaVM* vm, MethodTable& methods, recorder::Recorder& recorder,
                           uint32_t depth_max, bool compare)
    : jvmti_(jvmti),
      vm_(vm),
      call_trace_(vm),
      methods_(methods),
      recorder_(recorder),
      depth_max_(depth_max),
      compare_(compare) {}

void ContextTable::resolve(JNIEnv* jni, jthread thread) {
  walk_missing_ = walk_.resolve(vm_, jni, thread);
}

ContextTable::Facts ContextTable::facts() const {
  return {walk_missing_, compared_.load(), different_.load()};
}

format::ContextId ContextTable::current(JNIEnv* jni, Cache& cache) {
  const bool trust_interpreted = trust_interpreted_.load(std::memory_order_relaxed);
  if (auto found = cache.paths.find(walk_, jni, trust_interpreted)) {
    if (compare_) [[unlikely]]
      compare_with_exact(cache, *found);
    return format::ContextId(*found);
  }
  bool may_learn = false;
  const Cache::Known known = by_call_trace(jni, cache, may_learn);
  if (may_learn) cache.paths.learn(walk_, jni, trust_interpreted && known.lasting, known.frames_used, known.context);
  return format::ContextId(known.context);
}

// `may_learn`: the stack was met before. No paths are learnt from stacks that come only once.
ContextTable::Cache::Known ContextTable::by_call_trace(JNIEnv* jni, Cache& cache, bool& may_learn) {
  const jint full = static_cast<jint>(depth_max_ + kInjectedFramesMax);
  cache.frames.resize(static_cast<size_t>(full));
  const jint wanted[kWalks] = {std::min(kShortWalk, full), full};
  Cache::Key keys[kWalks] = {};
  jint counts[kWalks] = {};
  for (size_t walk = 0; walk < kWalks; ++walk) {
    counts[walk] = call_trace_.walk(jni, cache.frames.data(), wanted[walk]);
    if (counts[walk] <= 0) break;
    keys[walk] = key_of<Cache::Key>(cache.frames.data(), counts[walk], walk);
    auto found = cache.contexts.find(keys[walk]);
    if (found == cache.contexts.end() || found->second.context == kDeeper) continue;
    may_learn = true;
    return found->second;
  }
  return exact(cache, keys, counts);
}

void ContextTable::compare_with_exact(Cache& cache, uint32_t found) {
  cache.frames.resize(depth_max_ + kInjectedFramesMax);
  const jint none[kWalks] = {};
  const Cache::Key no_keys[kWalks] = {};
  compared_.fetch_add(1, std::memory_order_relaxed);
  if (exact(cache, no_keys, none).context != found) different_.fetch_add(1, std::memory_order_relaxed);
}

format::ContextId ContextTable::of_thread(jthread thread) {
  std::vector<jvmtiFrameInfo> frames(depth_max_ + kInjectedFramesMax);
  jint count = 0;
  if (jvmti_->GetStackTrace(thread, 0, static_cast<jint>(frames.size()), frames.data(), &count) != JVMTI_ERROR_NONE ||
      count <= 0) {
    return {};
  }
  return format::ContextId(intern(frames.data(), static_cast<size_t>(count), false).context);
}

format::ContextId ContextTable::maker() {
  std::vector<jvmtiFrameInfo> frames(depth_max_ + kInjectedFramesMax);
  jint count = 0;
  if (jvmti_->GetStackTrace(nullptr, 0, static_cast<jint>(frames.size()), frames.data(), &count) != JVMTI_ERROR_NONE) {
    return {};
  }
  std::vector<recorder::Frame> context;
  for (jint i = 0; i < count; ++i) {
    const MethodInfo* info = methods_.info(frames[i].method);
    if (info->skip || info->is_call_of_second_body(frames[i].location)) continue;
    context.push_back({info->id, info->line_at(frames[i].location)});
    if (!info->of_library) break;
  }
  return recorder_.intern_context(context);
}

// By JVMTI. `keys` and `counts` are of the cheap walks, the last of which is in the cache's frames.
ContextTable::Cache::Known ContextTable::exact(Cache& cache, const Cache::Key* keys, const jint* counts) {
  std::vector<jvmtiFrameInfo> frames(cache.frames.size());
  jint count = 0;
  if (jvmti_->GetStackTrace(nullptr, 0, static_cast<jint>(frames.size()), frames.data(), &count) != JVMTI_ERROR_NONE ||
      count <= 0) {
    return {format::ContextId().value};
  }
  const Cache::Key key = key_of<Cache::Key>(frames.data(), count, kWalks);
  auto found = cache.contexts.find(key);
  const bool cheap_is_right = counts[kWalks - 1] >= count && same(cache.frames.data(), frames.data(), count);
  if (!cheap_is_right && found != cache.contexts.end()) return found->second;

  const Cache::Known known = intern(frames.data(), static_cast<size_t>(count), true);
  remember(cache, cheap_is_right ? keys[kWalks - 1] : key, known);
  if (cheap_is_right) {
    const bool is_short = known.frames_used <= static_cast<size_t>(counts[0]) || counts[0] < kShortWalk;
    remember(cache, keys[0], is_short ? known : Cache::Known{kDeeper});
  }
  return known;
}

void ContextTable::remember(Cache& cache, const Cache::Key& key, const Cache::Known& value) {
  if (cache.contexts.size() >= kCacheEntriesMax) cache.contexts.clear();
  cache.contexts.insert_or_assign(key, value);
}

ContextTable::Cache::Known ContextTable::intern(const jvmtiFrameInfo* frames, size_t count, bool is_current) {
  std::vector<recorder::Frame> context;
  bool program_seen = false, lasting = true;
  size_t i = 0;
  for (; i < count && context.size() < depth_max_; ++i) {
    const MethodInfo* info = methods_.info(frames[i].method);
    lasting = lasting && !info->may_be_unloaded;
    if (info->skip || info->is_call_of_second_body(frames[i].location)) continue;
    if (info->boundary && program_seen) break;
    program_seen |= !info->of_library;
    context.push_back(
        {info->id, info->line_at(i == 0 && is_current ? at_monitor(frames[i].location) : frames[i].location)});
  }
  const uint32_t id = recorder_.intern_context(context).value;
  if (i < count) return {id, i + 1, lasting};
  const bool whole_stack = count < depth_max_ + kInjectedFramesMax;
  return {id, whole_stack ? kAllFrames : count, lasting};
}

}  // namespace contrafact::agent_jvm
