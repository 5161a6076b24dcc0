// What the program's user says of its methods. Which get function events: include and exclude patterns over "package.Class" and "package.Class.method", where
// `*` stands for any characters, dots included. A method is chosen if its class or itself matches an include pattern
// and neither matches an exclude pattern. Which begin to handle a request, so that it has a name. And which take objects
// of a pool that has only so many, and give them back.
// docs/tracing.md has the file's syntax.
//
// Immutable once made; thread-safe.
#pragma once

#include <optional>
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

// A class whose objects are pools: threads take something from them and give it back.
struct ResourceRule {
  std::string pattern;                    // of the class
  std::vector<std::string> takes, gives;  // its methods
  std::string size;                       // a number, or an int field or getter of the pool; empty: not known
};

class TraceConfig {
 public:
  // Lines `include PATTERN`, `exclude PATTERN`, `endpoint PATTERN [method=N[.GETTER]] [path=N[.GETTER]]` and
  // `resource CLASS take=METHOD,... give=METHOD,... [size=N|FIELD|GETTER]`; `#` begins a comment. Errors name the line.
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

  const std::vector<ResourceRule>& resources() const { return resources_; }
  // The first rule for the class, which stays where it is; null: none.
  const ResourceRule* resource(std::string_view class_name) const;

 private:
  base::Status add_endpoint(std::string_view words);
  base::Status add_resource(std::string_view words);
  // What a line of this verb adds; nothing: a line of another verb.
  std::optional<base::Status> add_rule(std::string_view verb, std::string_view words);

  std::vector<std::string> include_;
  std::vector<std::string> exclude_;
  // Stay where they are once the lines are read.
  std::vector<EndpointRule> endpoints_;
  std::vector<ResourceRule> resources_;
};

}  // namespace contrafact::agent_jvm
