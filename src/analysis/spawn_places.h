// Where the program hands tasks out, for whatever groups tasks by that place.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

// A stage of a CompletableFuture is handed out by the thread that completed the one before: its place is where the
// program made it. Remembers what it found of each context; belongs to one thread. `trace` must outlive it.
class SpawnPlaces {
 public:
  explicit SpawnPlaces(const model::Trace& trace) : trace_(trace), is_known_(trace.contexts.size()) {}

  model::ContextId of(const model::TaskRow& task);

 private:
  enum class Known : uint8_t { no, of_program, of_others };

  bool is_of_program(model::ContextId context);

  const model::Trace& trace_;
  std::vector<Known> is_known_;  // by context
};

}  // namespace contrafact::analysis
