#include <fmt/format.h>

#include "graph/trace_dag.h"

namespace contrafact::graph {

base::Status verify(const TraceDag& dag) {
  std::vector<bool> covered(dag.vertices.size());
  std::vector<bool> called(dag.task_count());
  for (size_t i = 0; i < dag.bodies.size(); ++i) {
    const Body& body = dag.bodies[i];
    if (body.end < body.begin || body.end > dag.vertices.size()) {
      return base::Error{fmt::format("body {} reaches beyond the vertices", i)};
    }
    for (uint32_t at = body.begin; at < body.end; ++at) {
      if (covered[at]) return base::Error{fmt::format("vertex {} belongs to two bodies", at)};
      covered[at] = true;
    }
  }
  for (size_t at = 0; at < dag.vertices.size(); ++at) {
    if (!covered[at]) return base::Error{fmt::format("vertex {} belongs to no body", at)};
    const Vertex& vertex = dag.vertices[at];
    const VertexKind kind = vertex.vertex_kind();
    if (kind == VertexKind::wake || kind == VertexKind::block || kind == VertexKind::acquire) {
      if (vertex.id >= dag.link_count) return base::Error{fmt::format("vertex {} names no wake-up", at)};
      continue;
    }
    if (kind == VertexKind::leave || kind == VertexKind::enter || kind == VertexKind::sleep) continue;
    if (vertex.id >= dag.task_count()) return base::Error{fmt::format("vertex {} names no task", at)};
    const uint8_t flags = dag.task_flags[vertex.id];
    if (kind == VertexKind::wait && !(flags & (kHasComplete | kHasBody))) {
      return base::Error{fmt::format("vertex {} waits for task {}, which never completes", at, vertex.id)};
    }
    if (kind != VertexKind::call) continue;
    if (!(flags & kHasBody))
      return base::Error{fmt::format("vertex {} calls task {}, which has no body", at, vertex.id)};
    if (called[vertex.id]) return base::Error{fmt::format("task {} is called twice", vertex.id)};
    called[vertex.id] = true;
  }
  for (size_t i = 0; i < dag.task_count(); ++i) {
    if ((dag.task_flags[i] & kHasBody) && !called[i]) return base::Error{fmt::format("task {} is never called", i)};
  }
  return {};
}

}  // namespace contrafact::graph
