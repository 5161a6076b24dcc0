// Hostile blueprint profiles. Beyond not crashing: rolling up and folding lose no objects and no calls.
#include <string>

#include "base/check.h"
#include "blueprint/graph.h"
#include "blueprint/views.h"

namespace {

using namespace contrafact::blueprint;

uint64_t objects(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) sum += node.objects;
  return sum;
}

uint64_t calls_made(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) sum += node.calls_made;
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto profile = read_profile({reinterpret_cast<const char*>(data), size});
  if (!profile) {
    CHECK(!profile.error().message.empty());
    return 0;
  }
  const Graph methods = roll_up(*profile, Level::method);
  for (const Level level : {Level::method, Level::class_, Level::package}) {
    const Graph graph = roll_up(*profile, level);
    CHECK(objects(graph) == objects(methods) && calls_made(graph) == calls_made(methods));
    const Graph part = focus(graph, {.nodes_max = 2, .edges_max = 3});
    CHECK(objects(part) == objects(graph) && calls_made(part) == calls_made(graph));
    CHECK(!dot_view(part, {.level = level}).empty());
    CHECK(!page_view(part, {.level = level}, *profile, "<svg></svg>").empty());
    CHECK(node_table(part).rows().size() == part.nodes.size());
  }
  return 0;
}
