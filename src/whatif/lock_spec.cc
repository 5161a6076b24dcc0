#include "whatif/lock_spec.h"

#include <fmt/format.h>

#include <algorithm>
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

std::string key_of(const Json& frame) {
  const std::string class_name = frame.value("class", "");
  const std::string file = frame.value("file", "");
  std::string key = fmt::format("{}{}{}", class_name, class_name.empty() ? "" : ".", frame.value("method", ""));
  if (frame.contains("line")) key += fmt::format(" ({}:{})", file.empty() ? "?" : file, frame.value("line", 0u));
  return key;
}

base::Result<LockSelector> selector_of(const Json& entry) {
  LockSelector selector;
  const std::string name = entry.is_object() ? entry.value("optimisation", "") : "";
  const auto known = std::ranges::find(kLockOptimisationNames, name);
  if (known == kLockOptimisationNames.end()) {
    return base::Error{
        fmt::format("\"{}\" is no optimisation of locks: {}", name, fmt::join(kLockOptimisationNames, ", "))};
  }
  selector.optimisation = static_cast<LockOptimisation>(known - kLockOptimisationNames.begin());
  for (const Json& site : entry.value("sites", Json::array())) {
    const Json frames = site.is_object() ? site.value("frames", Json::array()) : Json::array();
    if (frames.is_array() && !frames.empty() && frames[0].is_object()) selector.sites.push_back(key_of(frames[0]));
  }
  if (selector.sites.empty()) return base::Error{"it names no \"sites\" with \"frames\""};
  for (const Json& lock : entry.value("locks", Json::array())) {
    if (lock.is_string()) selector.locks.push_back(lock);
  }
  selector.program = entry.value("program", "");
  return selector;
}

}  // namespace

std::string program_of(const model::Trace& trace) {
  const std::string_view command = trace.fact("command");
  const std::string_view path = command.substr(0, command.find(' '));
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string frame_key(const model::Trace& trace, model::ContextId id) {
  return key_of(frame_json(trace, id));
}

base::Result<std::vector<LockSelector>> read_lock_spec(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return base::Error{"the spec is not valid JSON"};
  if (!json.is_object() || json.value("schema", Json()) != Json(kSpecSchema)) {
    return base::Error{fmt::format("the spec's \"schema\" is not \"{}\"", kSpecSchema)};
  }
  if (!json.contains("improvements") || !json["improvements"].is_array() || json["improvements"].empty()) {
    return base::Error{"the spec has no \"improvements\""};
  }
  std::vector<LockSelector> selectors;
  for (const Json& entry : json["improvements"]) {
    base::Result<LockSelector> selector = [&]() -> base::Result<LockSelector> {
      // value() throws where a member has another type than asked for; there is no other way to ask.
      try {
        return selector_of(entry);
      } catch (const nlohmann::json::exception& error) {
        return base::Error{error.what()};
      }
    }();
    if (!selector) {
      return base::Error{fmt::format("improvement {}: {}", selectors.size() + 1, selector.error().message)};
    }
    selectors.push_back(*std::move(selector));
  }
  return selectors;
}

std::string write_lock_spec(const model::Trace& trace, std::span<const LockSpec> specs) {
  Json list = Json::array();
  for (const LockSpec& spec : specs) {
    Json json;
    json["optimisation"] = name_of(spec.improvement->optimisation);
    if (!spec.verdict.empty()) json["verdict"] = spec.verdict;
    if (const std::string program = program_of(trace); !program.empty()) json["program"] = program;
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
