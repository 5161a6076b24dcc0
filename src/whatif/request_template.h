// What one recorded request consists of, ready to be copied. A part of load.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "whatif/sim_program.h"

namespace contrafact::whatif {

// Numbers are fibers of the recorded program.
struct RequestTemplate {
  uint32_t request = UINT32_MAX;  // position in model::Requests::all
  uint32_t connection = UINT32_MAX;
  int64_t received_ns = INT64_MIN;    // INT64_MIN: not known
  std::vector<uint32_t> tasks;        // the root is the first
  std::vector<uint32_t> threads;      // that it starts
  uint32_t answer_mark = UINT32_MAX;  // the operation that answers; UINT32_MAX: the root's completion
};

inline std::span<const Op> recorded_ops(const SimProgram& program, uint32_t fiber) {
  const Fiber& code = program.fibers[fiber];
  return std::span<const Op>(program.ops).subspan(code.begin, code.end - code.begin);
}

// Calls `visit(fiber)` for each of its tasks, then for each of its threads.
template <typename Visit>
void each_fiber(const SimProgram& program, const RequestTemplate& one, Visit visit) {
  for (const uint32_t task : one.tasks) visit(task);
  for (const uint32_t thread : one.threads) visit(program.thread_fiber(thread));
}

// Calls `visit(op)` for each of its operations, as recorded.
template <typename Visit>
void each_op(const SimProgram& program, const RequestTemplate& one, Visit visit) {
  each_fiber(program, one, [&](uint32_t fiber) {
    for (const Op& op : recorded_ops(program, fiber)) visit(op);
  });
}

// Whether its value is time on a core that a request needs whatever the load.
constexpr bool computes(OpCode code) {
  return code == OpCode::cpu || code == OpCode::around;
}

}  // namespace contrafact::whatif
