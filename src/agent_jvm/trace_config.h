// What the program's user says of its methods. Which get function events: include and exclude patterns over "package.Class" and "package.Class.method", where
// `*` stands for any characters, dots included. A method is chosen if its class or itself matches an include pattern
// and neither matches an exclude pattern. And which begin to handle a request, so that it has a name.
// docs/tracing.md has the file's syntax.
//
// Immutable once made; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace contrafact::agent_jvm {

// Part of what an endpoint is called: the text of an argument, or what its getter returns.
struct EndpointPart {
  uint32_t argument = 0;  // the first is 1; 0: there is no such part
  std::string getter;     // empty: the argument itself
};

// Methods that begin to handle a request. Without a path they themselves are the endpoints.
struct EndpointRule {
  std::string pattern;
  EndpointPart method, path;
};

class TraceConfig {
 public:
  // Lines `include PATTERN`, `exclude PATTERN` and `endpoint PATTERN [method=N[.GETTER]] [path=N[.GETTER]]`; `#` begins a
  // comment. Errors name the line.
  base::Status add_lines(std::string_view text);
  void add_include(std::string pattern) { include_.push_back(std::move(pattern)); }
  void add_exclude(std::string pattern) { exclude_.push_back(std::move(pattern)); }

  bool empty() const { return include_.empty(); }
  // Binary class name with dots. May a method of the class be chosen? Cheap first question.
  bool may_choose_from(std::string_view class_name) const;
  // The same by the patterns alone: also of the classes that the tracing probes stand on.
  bool may_match(std::string_view class_name) const;
  bool chooses(std::string_view class_name, std::string_view method) const;
  // Whether a pattern matches the class itself. Never one that the probes stand on.
  bool chooses_class(std::string_view class_name) const;

  const std::vector<EndpointRule>& endpoints() const { return endpoints_; }
  // Cheap first question, as above.
  bool may_have_endpoint(std::string_view class_name) const;
  // The first rule for the method, which stays where it is; null: none.
  const EndpointRule* endpoint(std::string_view class_name, std::string_view method) const;

 private:
  base::Status add_endpoint(std::string_view words);

  std::vector<std::string> include_;
  std::vector<std::string> exclude_;
  std::vector<EndpointRule> endpoints_;  // stay where they are once the lines are read
};

}  // namespace contrafact::agent_jvm
