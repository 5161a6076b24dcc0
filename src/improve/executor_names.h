// The name of an executor in a Java expression: the one in the program's source at that place, where the recording knows
// it, or where only one name fits. Not thread-safe. Private to this folder.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace contrafact::improve {

class ExecutorNames {
 public:
  // For an expression within `user`, a class by its name with dots. The trace must outlive this.
  ExecutorNames(const model::Trace& trace, std::string_view user) : trace_(trace), user_(user) {}

  // The last argument of supplyAsync for a task of `pool`, with its comma, in code at `place`: ", POOL" for a static
  // field, ", pool" for a field of the class or for a variable that has a value there; nothing for the pool that is
  // taken by default. If no name is known, or several fit, a placeholder: ", executor", ", executor2" for the next
  // pool.
  std::string argument(model::PoolId pool, model::ContextId place);

 private:
  std::string name_of(model::PoolId pool, model::ContextId place);
  std::string static_field(model::PoolId pool) const;
  std::string member(model::PoolId pool) const;
  std::vector<std::string> variables(model::PoolId pool, model::ContextId place) const;

  const model::Trace& trace_;
  std::string_view user_;
  std::vector<model::PoolId> unnamed_;
  std::map<std::string, model::PoolId> guessed_;  // members and variables, with the pool that each was taken for
};

}  // namespace contrafact::improve
