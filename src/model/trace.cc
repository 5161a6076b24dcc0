#include "model/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace contrafact::model {

void AccessLog::add(const format::AccessChunk& chunk, bool keep) {
  accesses += chunk.accesses;
  lost += chunk.lost;
  gaps += chunk.gap != format::SetGap::complete;
  encoded_bytes += chunk.bytes.size();
  if (!keep) return;
  Chunk row{ThreadId(chunk.thread), chunk.gap, chunk.accesses, chunk.lost, chunk.begin_ns, chunk.end_ns};
  row.bytes_begin = bytes.size();
  bytes.insert(bytes.end(), chunk.bytes.begin(), chunk.bytes.end());
  row.bytes_end = bytes.size();
  chunks.push_back(row);
}

ThreadId Trace::thread_of(EventIndex event) const {
  auto after = std::upper_bound(thread_ranges.begin(), thread_ranges.end(), event.value,
                                [](uint32_t position, const EventRange& range) { return position < range.begin; });
  // Empty ranges share their begin with the next thread's: step back over them.
  while (after != thread_ranges.begin()) {
    --after;
    if (event.value < after->end) return ThreadId(static_cast<uint32_t>(after - thread_ranges.begin()));
  }
  return ThreadId::none();
}

int64_t Trace::begin_ns() const {
  int64_t first = INT64_MAX;
  for (const EventRange& range : thread_ranges) {
    if (range.size() > 0) first = std::min(first, time_ns[range.begin]);
  }
  return first == INT64_MAX ? 0 : first;
}

int64_t Trace::end_ns() const {
  int64_t last = INT64_MIN;
  for (const EventRange& range : thread_ranges) {
    if (range.size() > 0) last = std::max(last, time_ns[range.end - 1]);
  }
  return last == INT64_MIN ? 0 : last;
}

std::string_view Trace::fact(std::string_view key) const {
  for (const Fact& fact : facts) {
    if (fact.key == key) return fact.value;
  }
  return "";
}

std::string Trace::method_name(const format::MethodRow& method, bool short_class) const {
  std::string_view class_name = string(method.class_name);
  if (class_name.empty() || class_name == kNativeRuntime) return std::string(string(method.name));
  if (short_class) class_name = class_name.substr(class_name.rfind('.') + 1);  // npos + 1: all of it
  return fmt::format("{}.{}", class_name, string(method.name));
}

namespace {

std::string label(const Trace& trace, MethodId id, uint32_t line) {
  if (!id.valid() || id.index() >= trace.methods.size()) return "?";
  const format::MethodRow& method = trace.methods[id.index()];
  const std::string text = trace.method_name(method, true);
  std::string_view file = trace.string(method.file);
  if (!file.empty() && line > 0) return fmt::format("{} ({}:{})", text, file, line);
  if (!file.empty()) return fmt::format("{} ({})", text, file);
  return text;
}

// Packages that only the Java platform's own classes may be in, or are in by custom.
bool is_platform(std::string_view class_name) {
  for (std::string_view prefix : {"java.", "javax.", "jdk.", "sun.", "com.sun.", "native.runtime"}) {
    if (class_name.starts_with(prefix)) return true;
  }
  return false;
}

uint32_t owner_of(const Trace& trace, MethodId id) {
  if (!id.valid()) return CodeOwners::kPlatform;
  if (id.index() < trace.owners.of_method.size()) return trace.owners.of_method[id.index()];
  return is_platform(trace.string(trace.methods[id.index()].class_name)) ? CodeOwners::kPlatform : CodeOwners::kProgram;
}

// The innermost frame whose owner fits; none if no owner does.
template <typename Fits>
ContextId innermost(const Trace& trace, ContextId id, Fits fits) {
  while (id.valid() && id.index() < trace.contexts.size() && !fits(owner_of(trace, trace.contexts[id.index()].method)))
    id = trace.contexts[id.index()].parent;
  return id.valid() && id.index() < trace.contexts.size() ? id : ContextId();
}

bool is_program(uint32_t owner) {
  return owner == CodeOwners::kProgram;
}
bool is_library(uint32_t owner) {
  return owner >= CodeOwners::kLibraries;
}

}  // namespace

std::string Trace::method_label(MethodId id) const {
  return label(*this, id, id.valid() && id.index() < methods.size() ? methods[id.index()].line : 0);
}

uint32_t CodeOwners::library(std::string_view name) {
  const auto found = std::ranges::find(libraries, name);
  const auto number = static_cast<uint32_t>(found - libraries.begin());
  if (found == libraries.end()) libraries.emplace_back(name);
  return kLibraries + number;
}

ContextId Trace::program_frame(ContextId id) const {
  if (const ContextId frame = innermost(*this, id, is_program); frame.valid()) return frame;
  const ContextId frame = innermost(*this, id, is_library);
  return frame.valid() ? frame : id;
}

ContextId Trace::code_frame(ContextId id) const {
  const ContextId frame = innermost(*this, id, [](uint32_t owner) { return is_program(owner) || is_library(owner); });
  return frame.valid() ? frame : id;
}

bool Trace::has_program_frame(ContextId id) const {
  return innermost(*this, id, is_program).valid();
}

std::string_view Trace::called_library(ContextId id) const {
  const ContextId frame = innermost(*this, id, [](uint32_t owner) { return is_program(owner) || is_library(owner); });
  if (!frame.valid() || !has_program_frame(frame)) return "";
  const uint32_t owner = owner_of(*this, contexts[frame.index()].method);
  return is_library(owner) ? std::string_view(owners.libraries[owner - CodeOwners::kLibraries]) : "";
}

std::string_view Trace::owner_name(MethodId id) const {
  if (!id.valid()) return "";
  const uint32_t owner = owner_of(*this, id);
  if (is_library(owner)) return owners.libraries[owner - CodeOwners::kLibraries];
  if (owner == CodeOwners::kProgram) return "";
  return fact("agent") == "native" ? "C library" : "JDK";
}

std::string Trace::context_label(ContextId id) const {
  return frame_label(program_frame(id));
}

std::string Trace::frame_label(ContextId id) const {
  if (!id.valid() || id.index() >= contexts.size()) return "?";
  return label(*this, contexts[id.index()].method, contexts[id.index()].line);
}

}  // namespace contrafact::model
