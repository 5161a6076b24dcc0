#include "whatif/lock_spec.h"

#include <nlohmann/json.hpp>

#include "whatif/spec.h"

namespace contrafact::whatif {
namespace {

using Json = nlohmann::ordered_json;

Json frame_json(const model::Trace& trace, model::ContextId id) {
  Json frame = Json::object();
  if (!id.valid()) return frame;
  const format::ContextRow& row = trace.contexts[id.index()];
  if (row.method.valid()) {
    const format::MethodRow& method = trace.methods[row.method.index()];
    frame["class"] = trace.string(method.class_name);
    frame["method"] = trace.string(method.name);
    if (method.file.valid()) frame["file"] = trace.string(method.file);
  }
  if (row.line > 0) frame["line"] = row.line;
  return frame;
}

}  // namespace

std::string write_lock_spec(const model::Trace& trace, std::span<const LockSpec> specs) {
  Json list = Json::array();
  for (const LockSpec& spec : specs) {
    Json json;
    json["optimisation"] = name_of(spec.improvement->optimisation);
    json["locks"] = spec.locks;
    json["sites"] = Json::array();
    for (const model::ContextId site : spec.sites) {
      json["sites"].push_back({{"frames", Json::array({frame_json(trace, site)})}});
    }
    json["sections"] = {{"count", spec.improvement->sections.size()}, {"of", spec.of_sections}};
    if (spec.parts > 0) json["parts"] = spec.parts;
    list.push_back(std::move(json));
  }
  const Json document{{"schema", kSpecSchema}, {"improvements", std::move(list)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace contrafact::whatif
