// An analysis of one's own that knows the path of calls: the heap that each one allocates, as folded stacks
// ("main;work;parse 4711"), which flame graph programs read.
//
//   c++ -std=c++20 -shared -fPIC -I include -o contexts.so examples/analysis/contexts.cc
//   contrafact profile --analysis ./contexts.so -o bytes.folded -- java -jar service.jar
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "contrafact/analysis.h"

namespace {

struct Node {
  uint64_t parent = CONTRAFACT_CONTEXT_OUTSIDE;
  uint32_t method = CONTRAFACT_OUTSIDE;
  uint64_t bytes = 0;
};
using Tree = std::unordered_map<uint64_t, Node>;  // by context

class Contexts {
 public:
  explicit Contexts(const contrafact_host& host) : host_(host) {}

  // A buffer's tree goes into the whole one: its contexts have the same numbers there, whatever order the buffers come in.
  void merge(const Tree& tree) {
    const std::lock_guard lock(mutex_);
    for (const auto& [context, node] : tree) {
      Node& sum = whole_[context];
      if (node.method != CONTRAFACT_OUTSIDE) sum.parent = node.parent, sum.method = node.method;
      sum.bytes += node.bytes;
    }
  }

  int write(const char* path) const {
    std::FILE* file = std::fopen(path, "w");
    if (!file) return -1;
    for (const auto& [context, node] : whole_) {
      if (node.bytes != 0) std::fprintf(file, "%s %llu\n", stack(context).c_str(), static_cast<unsigned long long>(node.bytes));
    }
    return std::fclose(file);
  }

 private:
  std::string stack(uint64_t context) const {
    std::string text;
    while (context != CONTRAFACT_CONTEXT_OUTSIDE) {
      const auto node = whole_.find(context);
      if (node == whole_.end()) break;
      contrafact_method method;
      const bool known = host_.method(host_.context, node->second.method, &method) != 0;
      const std::string name = known ? std::string(method.class_name) + '.' + method.name : "(unknown)";
      text = text.empty() ? name : name + ';' + text;
      context = node->second.parent;
    }
    return text.empty() ? "(outside)" : text;
  }

  const contrafact_host host_;
  std::mutex mutex_;
  Tree whole_;
};

Contexts& self(void* analysis) { return *static_cast<Contexts*>(analysis); }
Tree& tree(void* data) { return *static_cast<Tree*>(data); }

const contrafact_analysis kAnalysis = {
    .version = CONTRAFACT_ANALYSIS_VERSION,
    .name = "contexts of a plug-in",
    .create = [](const contrafact_host* host, const char*) -> void* { return new Contexts(*host); },
    .begin = [](void*) -> void* { return new Tree; },
    .merge =
        [](void* analysis, void* data) {
          const std::unique_ptr<Tree> done(&tree(data));
          self(analysis).merge(*done);
        },
    .on_call = nullptr,
    .on_exit = nullptr,
    .on_allocation = nullptr,
    .finish = [](void* analysis, const char* path, const contrafact_run*) { return self(analysis).write(path); },
    .destroy = [](void* analysis) { delete &self(analysis); },
    .on_context_call =
        [](void* data, uint64_t parent, uint64_t context, uint32_t method) {
          Node& node = tree(data)[context];
          node.parent = parent;
          node.method = method;
        },
    .on_context_allocation = [](void* data, uint64_t context, uint32_t, uint64_t bytes) { tree(data)[context].bytes += bytes; },
    .on_calls = nullptr,
    .on_allocations = nullptr,
};

}  // namespace

extern "C" const contrafact_analysis* contrafact_analysis_entry() { return &kAnalysis; }
