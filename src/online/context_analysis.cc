#include "online/context_analysis.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "online/context_table.h"
#include "online/gathered.h"
#include "online/result_file.h"

namespace contrafact::online {
namespace {

// Of 64 bytes each; a table is at most four times as large as its nodes.
constexpr int64_t kNodesDefault = 1'000'000;

// One thread at a time.
struct Tree {
  explicit Tree(ContextBudget& budget) : budget(&budget) {}

  void call(uint64_t parent, uint64_t context, uint32_t method) {
    ContextNode* node = nodes.at(context, *budget);
    if (!node) return void(++beyond.calls);
    node->parent = parent;
    node->method = method;
    ++node->calls;
  }
  void allocate(uint64_t context, uint64_t bytes) {
    ContextNode* node = nodes.at(context, *budget);
    ContextNode& sum = node ? *node : beyond;
    ++sum.objects;
    sum.bytes += bytes;
  }
  void add(const ContextNode& more) {
    ContextNode* node = nodes.at(more.context, *budget);
    if (!node) return add_to(beyond, more);
    if (is_known(more)) node->parent = more.parent, node->method = more.method;
    add_to(*node, more);
  }
  void add(const Tree& other) {
    other.nodes.for_each([&](const ContextNode& more) {
      budget->fetch_add(1, std::memory_order_relaxed);  // it will be gone
      add(more);
    });
    add_to(beyond, other.beyond);
  }
  size_t size() const { return nodes.size(); }
  // False for a context whose call had no room: it is not known which one it is.
  static bool is_known(const ContextNode& node) {
    return node.calls != 0 || node.context == CONTRAFACT_CONTEXT_OUTSIDE;
  }
  // The counts of `beyond`, and of nodes that are not known.
  ContextNode all_beyond() const {
    ContextNode sum = beyond;
    nodes.for_each([&](const ContextNode& node) {
      if (!is_known(node)) add_to(sum, node);
    });
    return sum;
  }

  static void add_to(ContextNode& sum, const ContextNode& more) {
    sum.calls += more.calls;
    sum.objects += more.objects;
    sum.bytes += more.bytes;
  }

  ContextBudget* budget;
  ContextTable nodes;
  ContextNode beyond;  // counts of contexts that got no node, for want of memory
};

// A node's row in the file; a parent's comes first.
class Rows {
 public:
  Rows(std::FILE* file, const contrafact_host& host, const Tree& tree) : file_(file), host_(host), tree_(tree) {}

  void write_methods() {
    method_row(CONTRAFACT_OUTSIDE);
    tree_.nodes.for_each([&](const ContextNode& node) { method_row(node.method); });
  }
  void write_contexts() {
    separator_ = "\n";
    const ContextNode* outside = tree_.nodes.find(CONTRAFACT_CONTEXT_OUTSIDE);
    context_row(CONTRAFACT_CONTEXT_OUTSIDE, 0, outside ? *outside : ContextNode());
    tree_.nodes.for_each([&](const ContextNode& node) {
      if (Tree::is_known(node)) with_ancestors(node);
    });
  }

 private:
  void method_row(uint32_t id) {
    if (!methods_.try_emplace(id, methods_.size()).second) return;
    std::fprintf(file_, "%s[%s]", separator_, method_fields(host_, id).c_str());
    separator_ = ",\n";
  }
  void context_row(uint64_t context, uint64_t parent_row, const ContextNode& node) {
    const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
    rows_.emplace(context, rows_.size());
    std::fprintf(file_, "%s[%llu,%llu,%llu,%llu,%llu]", separator_, number(parent_row),
                 number(methods_.at(node.method)), number(node.calls), number(node.objects), number(node.bytes));
    separator_ = ",\n";
  }
  void with_ancestors(const ContextNode& node) {
    path_.clear();
    for (const ContextNode* at = &node; at && Tree::is_known(*at) && !rows_.contains(at->context);
         at = tree_.nodes.find(at->parent)) {
      path_.push_back(at);
    }
    for (; !path_.empty(); path_.pop_back()) {
      // A parent that is no node, for want of memory or because its event was lost: its tree begins outside.
      const auto parent = rows_.find(path_.back()->parent);
      context_row(path_.back()->context, parent == rows_.end() ? 0 : parent->second, *path_.back());
    }
  }

  std::FILE* file_;
  const contrafact_host& host_;
  const Tree& tree_;
  const char* separator_ = "\n";
  std::unordered_map<uint32_t, uint64_t> methods_;
  std::unordered_map<uint64_t, uint64_t> rows_;
  std::vector<const ContextNode*> path_;
};

// Thread-safe but for the destructor.
class Contexts {
 public:
  Contexts(const contrafact_host& host, int64_t nodes_max, std::unique_ptr<SharedContexts> shared = nullptr)
      : host_(host), budget_(nodes_max), gathered_(budget_), shared_(std::move(shared)) {}

  Tree* begin() {
    return gathered_.begin([this] { return new Tree(budget_); });
  }
  void merge(Tree* tree) { gathered_.merge(tree); }
  SharedContexts* shared() { return shared_.get(); }
  SharedContexts::Shard& shard_of_this_thread() {
    thread_local SharedContexts::Shard* own = nullptr;  // there is one such analysis in a process
    if (!own) own = &shared_->next_shard();
    return *own;
  }

  // docs/contexts.md describes the file.
  bool write(const char* path, const contrafact_run& run) {
    Tree& tree = gathered_.sum();
    uint64_t accesses = gathered_.accesses();
    if (shared_) {
      shared_->for_each([&](const ContextNode& node) {
        tree.add(node);
        accesses += node.calls + 2 * node.objects;
      });
    }
    std::FILE* file = std::fopen(path, "we");
    if (!file) return false;
    std::fputs("{\"format\":\"contrafact contexts\",\"version\":1,\n\"run\":{", file);
    const ContextNode beyond = tree.all_beyond();
    write_run(file, run,
              {{"shared_accesses", accesses},
               {"calls_beyond", beyond.calls},
               {"objects_beyond", beyond.objects},
               {"bytes_beyond", beyond.bytes}});
    Rows rows(file, host_, tree);
    std::fputs("},\n\"methods\":[", file);
    rows.write_methods();
    std::fputs("\n],\n\"contexts\":[", file);
    rows.write_contexts();
    std::fputs("\n]}\n", file);
    const bool good = std::ferror(file) == 0;
    return std::fclose(file) == 0 && good;
  }

 private:
  const contrafact_host host_;
  ContextBudget budget_;
  Gathered<Tree> gathered_;
  const std::unique_ptr<SharedContexts> shared_;  // where nothing is gathered
};

Contexts& self(void* analysis) {
  return *static_cast<Contexts*>(analysis);
}
Tree& data(void* data) {
  return *static_cast<Tree*>(data);
}

// "" or "max=N"; none: neither, and the host has reported that.
std::optional<int64_t> nodes_max_of(const contrafact_host& host, const char* options) {
  if (*options == '\0') return kNodesDefault;
  char* end = nullptr;
  errno = 0;
  const int64_t nodes_max = std::strncmp(options, "max=", 4) == 0 ? std::strtoll(options + 4, &end, 10) : 0;
  if (nodes_max > 0 && errno == 0 && *end == '\0') return nodes_max;
  host.say(host.context, "contexts: --analysis-options takes max=N, the number of contexts that are told apart");
  return std::nullopt;
}

void* create(const contrafact_host* host, const char* options) {
  const std::optional<int64_t> nodes_max = nodes_max_of(*host, options);
  return nodes_max ? new Contexts(*host, *nodes_max) : nullptr;
}

void* create_shared(const contrafact_host* host, const char* options) {
  const std::optional<int64_t> nodes_max = nodes_max_of(*host, options);
  if (!nodes_max) return nullptr;
  auto shared = SharedContexts::create(shards_for_this_machine());
  if (shared) return new Contexts(*host, *nodes_max, std::move(*shared));
  host->say(host->context, shared.error().message.c_str());
  return nullptr;
}

int finish(void* analysis, const char* path, const contrafact_run* run) {
  return self(analysis).write(path, *run) ? 0 : -1;
}
void destroy(void* analysis) {
  delete &self(analysis);
}

}  // namespace

const contrafact_analysis kContextAnalysis = {
    .version = CONTRAFACT_ANALYSIS_VERSION,
    .name = "contexts",
    .create = create,
    .begin = [](void* analysis) -> void* { return self(analysis).begin(); },
    .merge = [](void* analysis, void* private_data) { self(analysis).merge(&data(private_data)); },
    .on_call = nullptr,
    .on_exit = nullptr,
    .on_allocation = nullptr,
    .finish = finish,
    .destroy = destroy,
    .on_context_call = [](void* private_data, uint64_t parent, uint64_t context,
                          uint32_t method) { data(private_data).call(parent, context, method); },
    .on_context_allocation = [](void* private_data, uint64_t context, uint32_t,
                                uint64_t bytes) { data(private_data).allocate(context, bytes); },
    .on_calls = nullptr,
    .on_allocations = nullptr,
};

const contrafact_analysis kContextsWithoutCoalescing = {
    .version = CONTRAFACT_ANALYSIS_VERSION,
    .name = "contexts",
    .create = create_shared,
    .begin = nullptr,
    .merge = nullptr,
    .on_call = nullptr,
    .on_exit = nullptr,
    .on_allocation = nullptr,
    .finish = finish,
    .destroy = destroy,
    .on_context_call =
        [](void* analysis, uint64_t parent, uint64_t context, uint32_t method) {
          self(analysis).shared()->call(self(analysis).shard_of_this_thread(), parent, context, method);
        },
    .on_context_allocation =
        [](void* analysis, uint64_t context, uint32_t, uint64_t bytes) {
          self(analysis).shared()->allocate(self(analysis).shard_of_this_thread(), context, {1, bytes});
        },
    .on_calls = nullptr,
    .on_allocations = nullptr,
};

SharedContexts& shared_contexts(void* contexts_without_coalescing) {
  return *self(contexts_without_coalescing).shared();
}

}  // namespace contrafact::online
