// Where nothing can go on, the variants' needs contradict each other: bodies wait for each other in a circle that no
// variant has by itself. One of the circle's threads forks, and goes on as far as the next body of the circle needs. It
// is a thread on which some lanes would run a task or host a coordinator. If there are too many forks, a class of tasks
// has no coordinators, or does not move at all: no lane that makes or moves them is exact.
#include <algorithm>

#include "graph/lane_compiler.h"

namespace contrafact::graph {
namespace {

constexpr size_t kLoopsMax = 65'536;  // some 260 bytes each in every runner
constexpr size_t kLoopsOpenMax = 64;  // every operation is looked at once for each loop that it is in

}  // namespace

bool LaneCompiler::relax() {
  const uint32_t first = first_held();
  if (first == kNone) return false;
  std::vector<uint32_t> circle;
  std::unordered_map<uint32_t, size_t> seen;
  uint32_t body = first;
  while (body != kNone && seen.emplace(body, circle.size()).second) {
    circle.push_back(body);
    body = waits_for(body);
  }
  if (body == kNone) return false;
  circle.erase(circle.begin(), circle.begin() + static_cast<ptrdiff_t>(seen[body]));
  const auto follower = [&](size_t i) { return circle[i == 0 ? circle.size() - 1 : i - 1]; };
  for (size_t i = 0; i < circle.size(); ++i) {
    if (fork_host(circle[i], follower(i))) return true;
  }
  for (size_t i = 0; i < circle.size(); ++i) {
    if (fork_spawner(circle[i], follower(i))) return true;
  }
  for (const Hold hold : {Hold::coordinator, Hold::spawned}) {
    for (uint32_t each : circle) {
      if (actors_[each].hold == hold && refuse(each)) return true;
    }
  }
  return false;
}

uint32_t LaneCompiler::first_held() {
  while (!held_.empty()) {
    const auto [time_ns, body] = held_.top();
    const Hold why = actors_[body].hold;
    if ((why == Hold::spawned || why == Hold::coordinator) && recorded_ns(body) == time_ns) return body;
    held_.pop();
  }
  return kNone;
}

uint32_t LaneCompiler::waits_for(uint32_t body) {
  index_places();
  const Actor& actor = actors_[body];
  switch (actor.hold) {
    case Hold::nothing:
      return kNone;
    case Hold::available:
      return running(spawned_in_[actor.held_by]);
    case Hold::completed:
      return running(completed_in_[actor.held_by]);
    case Hold::linked:
      return running(woken_in_[actor.held_by]);
    case Hold::callee:
    case Hold::spawned:
      return running(actor.held_by);
    case Hold::coordinator:
      return running(coordinator_[actor.held_by]);
  }
  return kNone;
}

uint32_t LaneCompiler::running(uint32_t body) const {
  while (body != kNone && actors_[body].slot == kNone) body = is_task(body) ? called_in_[body] : kNone;
  return body;
}

void LaneCompiler::index_places() {
  if (!spawned_in_.empty()) return;
  spawned_in_.assign(tasks_, kNone);
  called_in_.assign(tasks_, kNone);
  completed_in_.assign(tasks_, kNone);
  woken_in_.assign(dag_.link_count, kNone);
  for (uint32_t task = 0; task < tasks_; ++task) completed_in_[task] = task;
  for (uint32_t body = 0; body < dag_.bodies.size(); ++body) {
    for (uint32_t at = dag_.bodies[body].begin; at < dag_.bodies[body].end; ++at) {
      const Vertex& vertex = dag_.vertices[at];
      if (vertex.vertex_kind() == VertexKind::spawn) spawned_in_[vertex.id] = body;
      if (vertex.vertex_kind() == VertexKind::call) called_in_[vertex.id] = body;
      if (vertex.vertex_kind() == VertexKind::complete) completed_in_[vertex.id] = body;
      if (vertex.vertex_kind() == VertexKind::wake) woken_in_[vertex.id] = body;
    }
  }
}

void LaneCompiler::free_spawner(uint32_t task) {
  Actor& actor = actors_[task];
  actor.holds_spawner = false;
  if (actor.spawner_fork.loop != kNone) close_loop(actor.spawner_fork);
  const Actor& spawner = actors_[actor.spawner];
  if (spawner.hold == Hold::spawned && spawner.held_by == task) go_on(actor.spawner);
}

bool LaneCompiler::too_many_loops() const {
  return program_.loops.size() >= kLoopsMax || open_loops_ >= kLoopsOpenMax;
}

bool LaneCompiler::fork_spawner(uint32_t body, uint32_t follower) {
  const Actor& actor = actors_[body];
  if (actor.hold != Hold::spawned || too_many_loops()) return false;
  Fork& fork = actors_[actor.held_by].spawner_fork;
  if (fork.loop == kNone) fork = open_loop(body, class_[actor.held_by], 0);
  go_ahead(body, follower);
  return true;
}

bool LaneCompiler::fork_host(uint32_t body, uint32_t follower) {
  const Actor& actor = actors_[body];
  if (actor.hold != Hold::coordinator || too_many_loops()) return false;
  const uint32_t task = actor.held_by;
  if (!host_forks_.contains(task)) host_forks_[task] = open_loop(body, class_[coordinator_[task]], kCoordinatedOnly);
  go_ahead(body, follower);
  return true;
}

void LaneCompiler::go_ahead(uint32_t body, uint32_t follower) {
  const Actor& actor = actors_[body];
  ahead_[body].push_back({actor.hold, actor.held_by, wanted_by(follower)});
  go_on(body);
}

const Value* LaneCompiler::wanted_by(uint32_t body) const {
  const Actor& actor = actors_[body];
  if (actor.hold == Hold::available) return &available_[actor.held_by];
  if (actor.hold == Hold::completed) return &completed_[actor.held_by];
  if (actor.hold == Hold::linked) return &linked_[actor.held_by];
  return nullptr;
}

bool LaneCompiler::far_enough(uint32_t body) {
  auto found = ahead_.find(body);
  if (found == ahead_.end()) return false;
  std::vector<Ahead>& aheads = found->second;
  for (size_t i = aheads.size(); i-- > 0;) {
    if (aheads[i].wanted == nullptr || !aheads[i].wanted->known) continue;
    const Ahead ahead = aheads[i];
    aheads.erase(aheads.begin() + static_cast<ptrdiff_t>(i));
    const bool spawned = ahead.hold == Hold::spawned;
    if (spawned ? !actors_[ahead.held_by].holds_spawner : !host_forks_.contains(ahead.held_by)) continue;
    hold(body, ahead.hold, ahead.held_by);
    return true;
  }
  if (aheads.empty()) ahead_.erase(found);
  return false;
}

bool LaneCompiler::refuse(uint32_t body) {
  const Actor& actor = actors_[body];
  if (actor.hold == Hold::spawned) {
    program_.refused[class_[actor.held_by]] = true;
    free_spawner(actor.held_by);
    return true;
  }
  if (actor.hold != Hold::coordinator) return false;
  const uint32_t task = actor.held_by, coordinator = coordinator_[task];
  refuse_coordinators(class_[coordinator]);
  if (std::exchange(stander_[task], kNone) == body)
    let_host_go(body, task);
  else
    let_hosts_go(coordinator);
  close_refused();
  return true;
}

void LaneCompiler::refuse_coordinators(uint16_t moves) {
  program_.refused_coordinators[moves] = true;
  continues_[moves] = false;
  if (!inlines_[moves]) program_.refused[moves] = true;
}

// Nobody needs the loops of coordinators that no exact lane makes: others may be open instead.
void LaneCompiler::close_refused() {
  std::vector<uint32_t> closed;
  for (const auto& [task, fork] : host_forks_) {
    if (!continues_[class_[coordinator_[task]]]) closed.push_back(task);
  }
  std::sort(closed.begin(), closed.end());
  for (uint32_t task : closed) {
    const uint32_t body = host_forks_[task].body;
    if (stander_[task] == body) stander_[task] = kNone;
    let_host_go(body, task);
  }
}

}  // namespace contrafact::graph
