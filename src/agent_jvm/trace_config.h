// Which methods get function events: include and exclude patterns over "package.Class" and "package.Class.method", where
// `*` stands for any characters, dots included. A method is chosen if its class or itself matches an include pattern
// and neither matches an exclude pattern. docs/tracing.md has the file's syntax.
//
// Immutable once made; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace contrafact::agent_jvm {

class TraceConfig {
 public:
  // Lines `include PATTERN` and `exclude PATTERN`; `#` begins a comment. Errors name the line.
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

 private:
  std::vector<std::string> include_;
  std::vector<std::string> exclude_;
};

}  // namespace contrafact::agent_jvm
