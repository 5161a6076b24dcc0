// Frames and methods in specs of tasks, and text that is equal for equal ones of two recordings. Private to this
// folder, as spec_parts.h is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "model/trace.h"

namespace contrafact::improve {

using Json = nlohmann::ordered_json;

Json method_json(const model::Trace& trace, model::MethodId id);

// Innermost frame first.
Json frames_json(const model::Trace& trace, model::ContextId id);

// The owner of a class, as far as this trace knows it. A class without a method in the trace counts as the program's:
// then its lines count, too.
class ProgramClasses {
 public:
  explicit ProgramClasses(const model::Trace& trace) {
    for (uint32_t i = 0; i < trace.methods.size(); ++i)
      is_program_.try_emplace(std::string(trace.string(trace.methods[i].class_name)),
                              trace.owner_name(model::MethodId(i)).empty());
  }
  bool has(const std::string& name) const {
    const auto found = is_program_.find(name);
    return found == is_program_.end() || found->second;
  }

 private:
  std::unordered_map<std::string, bool> is_program_;
};

// Text that is equal for stacks of one place of the source in two recordings.
std::string frames_key(const Json& frames, const ProgramClasses& program);

// A body is the same where its class and method are: lines of other methods above it may change.
std::string body_key(const Json& body);

}  // namespace contrafact::improve
