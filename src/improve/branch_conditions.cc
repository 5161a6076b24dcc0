#include <algorithm>
#include <map>
#include <tuple>

#include "improve/path_keys.h"
#include "improve/source_places.h"
#include "improve/spec.h"
#include "model/library_calls.h"
#include "model/task_walk.h"

namespace contrafact::improve {
namespace {

using model::EventKind;
using model::TaskId;
using whatif::PathCondition;

PathCondition condition(const PathKey& key, bool holds) {
  PathCondition result;
  result.kind = key.first;
  if (key.first == PathCondition::Kind::enters_method)
    result.method = model::MethodId(key.second);
  else
    result.context = model::ContextId(key.second);
  result.holds = holds;
  return result;
}

uint64_t hash_of(std::span<const PathKey> keys) {
  uint64_t hash = keys.size();
  for (const auto& [kind, id] : keys) {
    hash = (hash ^ (static_cast<uint64_t>(kind) << 32 | id)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

// Tasks that have the same keys.
struct Alike {
  std::span<const PathKey> keys;
  size_t tasks = 0;
  bool ruled_out = false;
  bool has(const PathKey& key) const { return std::ranges::binary_search(keys, key); }
};

std::vector<Alike> alike(const PathKeyIndex& index, std::span<const TaskId> tasks) {
  std::map<uint32_t, size_t> counts;
  for (const TaskId task : tasks) ++counts[index.set_of(task)];
  std::vector<Alike> groups;
  for (const auto& [set, count] : counts) groups.push_back({index.keys(set), count});
  return groups;
}

std::map<PathKey, size_t> tasks_by_key(const std::vector<Alike>& groups) {
  std::map<PathKey, size_t> counts;
  for (const Alike& group : groups) {
    for (const PathKey& key : group.keys) counts[key] += group.tasks;
  }
  return counts;
}

}  // namespace

// Keys that the open tasks of one thread have so far.
class PathKeyIndex::Pass {
 public:
  Pass(PathKeyIndex& index, const model::Trace& trace) : index_(index), trace_(trace), sources_(trace) {
    for (size_t kind = 0; kind < 3; ++kind)
      seen_[kind].resize(kind == 0 ? trace.methods.size() : trace.contexts.size());
  }

  void walk(model::ThreadId thread) {
    depth_ = 0;
    for (model::TaskWalk walk(trace_, thread); walk.next();) {
      switch (walk.kind()) {
        case EventKind::task_start:
          open();
          break;
        case EventKind::task_end:
          if (walk.has_closed() && depth_ > 0) index_.set_of_[walk.a()] = index_.number_of(open_[--depth_].keys);
          break;
        case EventKind::method_enter:
          if (!model::makes_thread_local(trace_, model::MethodId(walk.a())))
            add(PathCondition::Kind::enters_method, walk.a());
          break;
        case EventKind::task_spawn:
          if (!model::is_worker_run(trace_, trace_.tasks[walk.a()]))
            add_place(PathCondition::Kind::spawns_at, walk.b());
          break;
        case EventKind::wait_begin:
          add_place(PathCondition::Kind::waits_at, walk.b());
          break;
        default:
          break;
      }
    }
  }

 private:
  struct Open {
    uint64_t number;  // of this task among all of the pass
    std::vector<PathKey> keys;
  };

  void open() {
    if (depth_ == open_.size()) open_.emplace_back();
    open_[depth_++] = {++opened_, {}};
  }

  void add_place(PathCondition::Kind kind, uint32_t context) {
    add(kind, sources_.of(model::ContextId(context)).value);
  }

  // A key that came up since the latest task began or went on is in its keys already; others may be there twice.
  void add(PathCondition::Kind kind, uint32_t id) {
    if (depth_ == 0) return;
    Open& task = open_[depth_ - 1];
    std::vector<uint64_t>& seen = seen_[static_cast<size_t>(kind)];
    if (id < seen.size() && std::exchange(seen[id], task.number) == task.number) return;
    task.keys.emplace_back(kind, id);
  }

  PathKeyIndex& index_;
  const model::Trace& trace_;
  const SourcePlaces sources_;
  std::vector<Open> open_;
  size_t depth_ = 0;
  uint64_t opened_ = 0;
  std::vector<uint64_t> seen_[3];  // by kind and id: the task that had it last
};

PathKeyIndex::PathKeyIndex(const model::Trace& trace) : set_of_(trace.tasks.size()) {
  by_hash_.emplace(hash_of({}), 0);
  Pass pass(*this, trace);
  for (uint32_t i = 0; i < trace.threads.size(); ++i) pass.walk(model::ThreadId(i));
}

uint32_t PathKeyIndex::number_of(std::vector<PathKey>& keys) {
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  const uint64_t hash = hash_of(keys);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (sets_[known->second] == keys) return known->second;
  }
  const auto number = static_cast<uint32_t>(sets_.size());
  by_hash_.emplace(hash, number);
  sets_.push_back(keys);
  return number;
}

std::vector<PathCondition> branch_conditions(const PathKeyIndex& index, std::span<const TaskId> branch,
                                             std::span<const TaskId> others) {
  std::vector<Alike> others_alike = alike(index, others);
  const std::map<PathKey, size_t> in_branch = tasks_by_key(alike(index, branch));
  const std::map<PathKey, size_t> in_others = tasks_by_key(others_alike);
  // Candidates hold for the whole branch; each rules out some of the others. Greedily take what rules out most.
  std::vector<std::pair<PathKey, bool>> candidates;
  for (const auto& [key, count] : in_branch) {
    const auto other = in_others.find(key);
    const size_t others_count = other == in_others.end() ? 0 : other->second;
    if (count == branch.size() && others_count < others.size()) candidates.emplace_back(key, true);
  }
  for (const auto& [key, count] : in_others) {
    if (!in_branch.contains(key)) candidates.emplace_back(key, false);
  }
  std::vector<PathCondition> conditions;
  size_t left = others.size();
  while (left > 0) {
    size_t best_count = 0;
    std::pair<PathKey, bool> best;
    for (const auto& [key, holds] : candidates) {
      size_t count = 0;
      for (const Alike& group : others_alike) {
        if (!group.ruled_out && group.has(key) != holds) count += group.tasks;
      }
      if (count > best_count) {
        best_count = count;
        best = {key, holds};
      }
    }
    if (best_count == 0) return {};
    for (Alike& group : others_alike) group.ruled_out |= group.has(best.first) != best.second;
    left -= best_count;
    conditions.push_back(condition(best.first, best.second));
  }
  return conditions;
}

std::vector<PathCondition> branch_conditions(const graph::TraceDag& dag, const std::vector<TaskId>& branch,
                                             const std::vector<TaskId>& others) {
  return branch_conditions(PathKeyIndex(*dag.trace), branch, others);
}

}  // namespace contrafact::improve
