#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "improve/path_keys.h"
#include "improve/spec.h"
#include "model/library_calls.h"

namespace contrafact::improve {
namespace {

using Key = PathKey;
using whatif::PathCondition;

PathCondition condition(const Key& key, bool holds) {
  PathCondition result;
  result.kind = key.first;
  if (key.first == PathCondition::Kind::enters_method)
    result.method = model::MethodId(key.second);
  else
    result.context = model::ContextId(key.second);
  result.holds = holds;
  return result;
}

}  // namespace

std::set<PathKey> path_keys(const model::Trace& trace, model::TaskId task) {
  std::set<PathKey> keys;
  const model::TaskRow& row = trace.tasks[task.index()];
  if (!row.start.valid()) return keys;
  uint32_t depth = 0;
  for (uint32_t i = row.start.value + 1; i < row.end.value; ++i) {
    const model::EventKind kind = trace.kind[i];
    if (kind == model::EventKind::task_start) ++depth;
    if (kind == model::EventKind::task_end) --depth;
    if (depth > 0) continue;
    if (kind == model::EventKind::method_enter) keys.emplace(PathCondition::Kind::enters_method, trace.a[i]);
    if (kind == model::EventKind::task_spawn && !model::is_worker_run(trace, trace.tasks[trace.a[i]]))
      keys.emplace(PathCondition::Kind::spawns_at, trace.b[i]);
    if (kind == model::EventKind::wait_begin) keys.emplace(PathCondition::Kind::waits_at, trace.b[i]);
  }
  return keys;
}

std::vector<PathCondition> branch_conditions(const graph::TraceDag& dag, const std::vector<model::TaskId>& branch,
                                             const std::vector<model::TaskId>& others) {
  const model::Trace& trace = *dag.trace;
  std::map<Key, size_t> in_branch, in_others;
  std::vector<std::set<Key>> other_keys;
  for (model::TaskId task : branch) {
    for (const Key& key : path_keys(trace, task)) ++in_branch[key];
  }
  for (model::TaskId task : others) {
    other_keys.push_back(path_keys(trace, task));
    for (const Key& key : other_keys.back()) ++in_others[key];
  }
  // Candidates hold for the whole branch; each rules out some of the others. Greedily take what rules out most.
  std::vector<std::pair<Key, bool>> candidates;
  for (const auto& [key, count] : in_branch) {
    if (count == branch.size() && in_others[key] < others.size()) candidates.emplace_back(key, true);
  }
  for (const auto& [key, count] : in_others) {
    if (count > 0 && !in_branch.contains(key)) candidates.emplace_back(key, false);
  }
  std::vector<PathCondition> conditions;
  std::vector<bool> ruled_out(others.size(), false);
  size_t left = others.size();
  while (left > 0) {
    size_t best_count = 0;
    std::pair<Key, bool> best;
    for (const auto& [key, holds] : candidates) {
      size_t count = 0;
      for (size_t i = 0; i < others.size(); ++i) count += !ruled_out[i] && other_keys[i].contains(key) != holds;
      if (count > best_count) {
        best_count = count;
        best = {key, holds};
      }
    }
    if (best_count == 0) return {};
    for (size_t i = 0; i < others.size(); ++i) {
      if (other_keys[i].contains(best.first) != best.second) ruled_out[i] = true;
    }
    left -= best_count;
    conditions.push_back(condition(best.first, best.second));
  }
  return conditions;
}

}  // namespace contrafact::improve
