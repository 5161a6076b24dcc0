#include "analysis/futex_frames.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace contrafact::analysis {
namespace {

using model::ContextId;
using model::EventKind;

// "std::sync::Mutex::lock", "<std::sync::Mutex<T>>::lock", "core::ops::...".
// Programs have namespaces core and alloc, too: these are Rust's where their file is.
bool is_of_language_library(std::string_view function, std::string_view file) {
  while (function.starts_with('<')) function.remove_prefix(1);
  const bool is_of_rust = file.starts_with("/rustc/") || file.find("/library/") != std::string_view::npos;
  return function.starts_with("std::") ||
         (is_of_rust && (function.starts_with("core::") || function.starts_with("alloc::")));
}

constexpr int kDepthMax = 16;  // six callers are recorded, some with code that was inlined

bool is_at_lock(EventKind kind) {
  return kind == EventKind::sync_wait || kind == EventKind::sync_signal || kind == EventKind::sync_broadcast;
}

}  // namespace

FutexFrames::FutexFrames(const model::Trace& trace) : trace_(trace) {
  const auto is_futex = [](const format::LockRow& lock) { return lock.kind == format::LockKind::futex; };
  if (std::ranges::none_of(trace.locks, is_futex)) return;
  for (int depth = 0; depth < kDepthMax && find_wrappers(); ++depth) {
  }
}

FutexFrames::Code FutexFrames::code_of(ContextId context) const {
  const format::ContextRow& row = trace_.contexts[context.index()];
  if (!row.method.valid()) return {UINT32_MAX, UINT32_MAX, row.line};
  const format::MethodRow& method = trace_.methods[row.method.index()];
  return {method.name.value, method.file.value, row.line};
}

bool FutexFrames::only_locks(ContextId context) const {
  const format::ContextRow& row = trace_.contexts[context.index()];
  if (!row.method.valid()) return false;
  const format::MethodRow& method = trace_.methods[row.method.index()];
  const std::string_view file = trace_.string(method.file);
  return is_of_language_library(trace_.string(method.name), file) ||
         is_of_language_library(trace_.string(method.class_name), file) || wrappers_.contains(code_of(context));
}

ContextId FutexFrames::program_frame(ContextId context) const {
  ContextId at = context;
  for (int depth = 0; depth < kDepthMax && at.valid(); ++depth, at = trace_.contexts[at.index()].parent) {
    if (!only_locks(at)) return at;
  }
  return context;
}

// Looks at the frames that stand innermost behind those already found; true if there are new ones.
bool FutexFrames::find_wrappers() {
  struct Use {
    std::set<uint32_t> locks;
    std::set<Code> callers;  // functions: without their lines
  };
  std::map<Code, Use> uses;
  for (size_t i = 0; i < trace_.event_count(); ++i) {
    const model::LockId lock(trace_.a[i]);
    if (!is_at_lock(trace_.kind[i]) || !lock.valid()) continue;
    if (trace_.locks[lock.index()].kind != format::LockKind::futex) continue;
    const ContextId context(trace_.b[i]);
    if (!context.valid()) continue;
    const ContextId frame = program_frame(context);
    const ContextId caller = trace_.contexts[frame.index()].parent;
    Use& use = uses[code_of(frame)];
    use.locks.insert(lock.value);
    if (!caller.valid()) continue;
    const auto [name, file, line] = code_of(caller);
    use.callers.insert({name, file, 0});
  }
  const size_t before = wrappers_.size();
  for (const auto& [code, use] : uses) {
    if (use.locks.size() > 1 && use.callers.size() > 1) wrappers_.insert(code);
  }
  return wrappers_.size() > before;
}

}  // namespace contrafact::analysis
