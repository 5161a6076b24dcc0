#include "improve/spec_frames.h"

#include <fmt/format.h>

#include <vector>

#include "improve/source_places.h"

namespace contrafact::improve {

using model::ContextId;
using model::MethodId;
using model::Trace;

Json method_json(const Trace& trace, MethodId id) {
  if (!id.valid()) return nullptr;
  const format::MethodRow& row = trace.methods[id.index()];
  Json json{{"class", trace.string(row.class_name)}, {"method", trace.string(row.name)}};
  if (row.file.valid()) json["file"] = trace.string(row.file);
  if (row.line > 0) json["line"] = row.line;
  return json;
}

Json frames_json(const Trace& trace, ContextId id) {
  Json frames = Json::array();
  for (; id.valid(); id = trace.contexts[id.index()].parent) {
    const format::ContextRow& row = trace.contexts[id.index()];
    Json frame = method_json(trace, row.method);
    if (frame.is_null()) frame = Json::object();
    frame.erase("line");
    if (row.line > 0) frame["line"] = row.line;
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::string frames_key(const Json& frames, const ProgramClasses& program) {
  if (!frames.is_array()) return "";
  std::vector<FrameText> texts;
  for (const Json& frame : frames) {
    if (!frame.is_object()) continue;
    std::string name = frame.value("class", "");
    const bool own = program.has(name);
    texts.push_back({std::move(name), frame.value("method", ""), frame.value("line", 0u), own});
  }
  return place_key(texts);
}

std::string body_key(const Json& body) {
  return body.is_object() ? fmt::format("{}.{}", body.value("class", ""), body.value("method", "")) : "";
}

}  // namespace contrafact::improve
