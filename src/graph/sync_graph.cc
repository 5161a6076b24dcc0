#include "graph/sync_graph.h"

#include <algorithm>
#include <tuple>

#include "graph/none.h"

namespace contrafact::graph {
namespace {

using model::CriticalSection;
using model::EventIndex;
using model::EventKind;
using model::Outcome;
using model::TaskId;
using model::ThreadId;
using model::Trace;

bool is_vertex(EventKind kind) {
  switch (kind) {
    case EventKind::task_spawn:
    case EventKind::task_end:
    case EventKind::task_complete:
    case EventKind::wait_begin:
    case EventKind::wait_end:
      return true;
    default:
      return kind >= EventKind::lock_acquire && kind <= EventKind::sync_broadcast && kind != EventKind::lock_busy;
  }
}

// True for events that may end a wait of their own: at one time, the causes of waits come before them.
bool comes_late(EventKind kind) {
  return model::closes(kind) || kind == EventKind::lock_acquire || kind == EventKind::lock_acquire_shared;
}

// The vertex's time, by the rule at the head of sync_graph.h.
int64_t time_of(const SyncVertex& vertex, int64_t ready_ns, int64_t cause_ns) {
  if (cause_ns > ready_ns) return vertex.slept ? std::max(cause_ns + vertex.way_ns, ready_ns) : cause_ns;
  return vertex.slept ? ready_ns : ready_ns + vertex.way_ns;
}

class SyncGraphBuilder {
 public:
  SyncGraphBuilder(const model::Facts& facts, const SectionOrder& recorded)
      : facts_(facts), trace_(facts.trace()), sections_(facts.sections()), wakes_(facts.wakes()), recorded_(recorded) {}

  SyncGraph run() {
    graph_.trace = &trace_;
    graph_.begin_ns = trace_.begin_ns();
    list_vertices();
    note_sections();
    note_wakes();
    note_spawns();
    set_edges();
    set_end();
    return std::move(graph_);
  }

 private:
  struct Item {
    int64_t time_ns;
    uint32_t event;
    uint32_t thread;
    uint32_t rank;    // among the events of one instant, see rank_of
    uint32_t opener;  // the event that began the wait which this one ends
  };

  // Orders the events of one instant: each thread's events stay in order, and as far as possible a wait's cause is
  // before the wait's end. An event behind k of its thread's that come late has 2k; the k-th of those itself has 2k -
  // 1.
  uint32_t rank_of(uint32_t event, int64_t& instant_ns, uint32_t& late) const {
    if (trace_.time_ns[event] != instant_ns) late = 0;
    instant_ns = trace_.time_ns[event];
    if (!comes_late(trace_.kind[event])) return 2 * late;
    return 2 * ++late - 1;
  }

  // The most vertices that there can be: a thread's first and last event count twice if they are vertices themselves.
  size_t count_vertices() const {
    const auto of_kind = std::count_if(trace_.kind.begin(), trace_.kind.end(), is_vertex);
    return static_cast<size_t>(of_kind) + 2 * trace_.threads.size();
  }

  void list_vertices() {
    std::vector<Item> items;
    items.reserve(count_vertices());
    std::vector<uint32_t> open;
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const model::EventRange range = trace_.thread_events(ThreadId(t));
      open.clear();
      int64_t instant_ns = INT64_MIN;
      uint32_t late = 0;
      for (uint32_t i = range.begin; i < range.end; ++i) {
        const EventKind kind = trace_.kind[i];
        const uint32_t rank = rank_of(i, instant_ns, late);
        uint32_t opener = kNone;
        if (model::opens(kind)) open.push_back(i);
        if (model::closes(kind)) {
          opener = open.back();
          open.pop_back();
        }
        if (is_vertex(kind) || i == range.begin || i + 1 == range.end) {
          const bool ends_wait = is_vertex(kind) || kind == EventKind::block_end;
          items.push_back({trace_.time_ns[i], i, t, rank, ends_wait ? opener : kNone});
        }
      }
    }
    std::sort(items.begin(), items.end(), [](const Item& x, const Item& y) {
      return std::tuple(x.time_ns, x.rank, x.event) < std::tuple(y.time_ns, y.rank, y.event);
    });
    graph_.vertices.resize(items.size());
    openers_.reserve(items.size());
    threads_.reserve(items.size());
    graph_.last_vertex.assign(trace_.threads.size(), kNoVertex);
    vertex_of_event_.assign(trace_.event_count(), kNoVertex);
    for (uint32_t v = 0; v < items.size(); ++v) {
      SyncVertex& vertex = graph_.vertices[v];
      vertex.event = items[v].event;
      vertex.previous = graph_.last_vertex[items[v].thread];
      graph_.last_vertex[items[v].thread] = v;
      vertex_of_event_[vertex.event] = v;
      openers_.push_back(items[v].opener);
      threads_.push_back(items[v].thread);
    }
  }

  void note_sections() {
    graph_.release_vertex.assign(sections_.size(), kNoVertex);
    waits_of_vertex_.assign(graph_.vertices.size(), kNone);
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      const CriticalSection& section = sections_[s];
      const uint32_t acquire = vertex_of_event_[section.acquire.index()];
      waits_of_vertex_[acquire] = s;
      if (section.outcome == Outcome::normal && model::is_held(trace_.locks[section.lock.index()].kind) &&
          trace_.kind[section.acquire.index()] != EventKind::sync_woken) {
        graph_.vertices[acquire].section = s;
      }
      if (section.release.valid()) graph_.release_vertex[s] = vertex_of_event_[section.release.index()];
    }
  }

  void note_wakes() {
    wake_of_section_.assign(sections_.size(), kNoVertex);
    for (const model::SyncWake& wake : wakes_) {
      wake_of_section_[wake.wait] = vertex_of_event_[wake.cause.index()];
    }
  }

  void note_spawns() {
    spawn_of_thread_.assign(trace_.threads.size(), kNoVertex);
    for (const model::TaskRow& row : trace_.tasks) {
      if (row.kind != model::TaskKind::thread || !row.spawn.valid() || !row.start.valid()) continue;
      spawn_of_thread_[trace_.thread_of(row.start).index()] = vertex_of_event_[row.spawn.index()];
    }
  }

  int64_t now(uint32_t vertex) const { return trace_.time_ns[graph_.vertices[vertex].event]; }

  // The latest recorded time of what may have ended the vertex's wait; INT64_MIN if there is nothing.
  int64_t find_causes(uint32_t v) {
    uint32_t cause = kNoVertex;
    const SyncVertex& vertex = graph_.vertices[v];
    if (vertex.previous == kNoVertex) {
      cause = spawn_of_thread_[threads_[v]];
    } else if (trace_.kind[vertex.event] == EventKind::wait_end) {
      cause = completion(vertex.event, openers_[v]);
    } else if (const uint32_t s = waits_of_vertex_[v]; s != kNone) {
      cause = wake_of_section_[s];
    }
    int64_t cause_ns = INT64_MIN;
    if (cause != kNoVertex && cause < v) {
      graph_.causes.push_back(cause);
      cause_ns = std::max(cause_ns, now(cause));
    }
    if (vertex.section == kNone) return cause_ns;
    for (const uint32_t before : recorded_.of(vertex.section)) {
      const uint32_t release = graph_.release_vertex[before];
      if (release < v) cause_ns = std::max(cause_ns, now(release));
    }
    return cause_ns;
  }

  // The completion of the task whose result a wait got.
  uint32_t completion(uint32_t event, uint32_t opener) const {
    const uint32_t task = trace_.a[event] != kNone || opener == kNone ? trace_.a[event] : trace_.a[opener];
    if (task == kNone) return kNoVertex;
    const model::TaskRow& row = trace_.tasks[task];
    const EventIndex done = row.complete.valid() ? row.complete : row.end;
    return done.valid() ? vertex_of_event_[done.index()] : kNoVertex;
  }

  void set_edges() {
    graph_.cause_begin.reserve(graph_.vertices.size() + 1);
    for (uint32_t v = 0; v < graph_.vertices.size(); ++v) {
      SyncVertex& vertex = graph_.vertices[v];
      graph_.cause_begin.push_back(static_cast<uint32_t>(graph_.causes.size()));
      const int64_t cause_ns = find_causes(v);
      // The wait's beginning and end. Something that is acquired at once is asked for at the end.
      const int64_t end_ns = now(v);
      const int64_t begin_ns = openers_[v] != kNone ? trace_.time_ns[openers_[v]] : end_ns;
      const bool first = vertex.previous == kNoVertex;
      const int64_t previous_ns = first ? graph_.begin_ns : now(vertex.previous);
      if (cause_ns == INT64_MIN) {
        vertex.delay_ns = end_ns - previous_ns;
      } else {
        vertex.slept = first || cause_ns > begin_ns;
        vertex.delay_ns = first ? 0 : std::max(begin_ns, previous_ns) - previous_ns;
        vertex.way_ns = std::max<int64_t>(0, end_ns - (vertex.slept ? cause_ns : begin_ns));
      }
    }
    graph_.cause_begin.push_back(static_cast<uint32_t>(graph_.causes.size()));
  }

  // A virtual machine's own threads end when the program has ended, daemons and workers of pools do not keep it from that:
  // each of them has events as late as the recording's end, whatever the program's threads do.
  bool keeps_the_run(uint32_t thread) const {
    if (model::is_native(trace_)) return true;
    const model::ThreadRole role = facts_.uses()[thread].role;
    return role == model::ThreadRole::joined || (role == model::ThreadRole::own && !trace_.threads[thread].daemon);
  }

  // A thread that stood in a wait of unknown cause when the recording ended does not show how long the run is: it would
  // have stood there longer.
  void set_end() {
    graph_.counts.assign(trace_.threads.size(), false);
    const int64_t trace_end_ns = trace_.end_ns();
    bool any = false;
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      if (graph_.last_vertex[t] == kNoVertex || !keeps_the_run(t)) continue;
      bool waits = false;
      for (uint32_t v = graph_.last_vertex[t]; v != kNoVertex && now(v) == trace_end_ns;
           v = graph_.vertices[v].previous) {
        const bool ends_wait = trace_.kind[graph_.vertices[v].event] != EventKind::task_end;
        waits |= ends_wait && openers_[v] != kNone && trace_.time_ns[openers_[v]] < trace_end_ns &&
                 graph_.cause_begin[v] == graph_.cause_begin[v + 1] && graph_.vertices[v].section == kNone;
      }
      graph_.counts[t] = !waits;
      any |= !waits;
    }
    graph_.end_ns = graph_.begin_ns;
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      if (!any) graph_.counts[t] = graph_.last_vertex[t] != kNoVertex;
      if (graph_.counts[t]) graph_.end_ns = std::max(graph_.end_ns, now(graph_.last_vertex[t]));
    }
  }

  const model::Facts& facts_;
  const Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const std::span<const model::SyncWake> wakes_;
  const SectionOrder& recorded_;
  SyncGraph graph_;
  std::vector<uint32_t> vertex_of_event_;
  std::vector<uint32_t> openers_;          // by vertex, events
  std::vector<uint32_t> threads_;          // by vertex
  std::vector<uint32_t> waits_of_vertex_;  // by vertex: the section, or wait at a condition or the like, that it ends
  std::vector<uint32_t> wake_of_section_;  // vertices
  std::vector<uint32_t> spawn_of_thread_;  // vertices
};

}  // namespace

SyncGraph build_sync_graph(const model::Facts& facts, const SectionOrder& recorded) {
  return SyncGraphBuilder(facts, recorded).run();
}

namespace {

// `waited`: called with each section and how long it waits.
template <typename Waited>
int64_t propagate(const SyncGraph& graph, const SectionOrder& order, Waited waited) {
  std::vector<int64_t> times_ns(graph.vertices.size());
  for (uint32_t v = 0; v < graph.vertices.size(); ++v) {
    const SyncVertex& vertex = graph.vertices[v];
    const int64_t previous_ns = vertex.previous == kNoVertex ? graph.begin_ns : times_ns[vertex.previous];
    const int64_t ready_ns = previous_ns + vertex.delay_ns;
    int64_t cause_ns = INT64_MIN;
    for (uint32_t c = graph.cause_begin[v]; c < graph.cause_begin[v + 1]; ++c) {
      cause_ns = std::max(cause_ns, times_ns[graph.causes[c]]);
    }
    if (vertex.section != UINT32_MAX) {
      for (const uint32_t before : order.of(vertex.section)) {
        const uint32_t release = graph.release_vertex[before];
        if (release < v) cause_ns = std::max(cause_ns, times_ns[release]);
      }
    }
    times_ns[v] = time_of(vertex, ready_ns, cause_ns);
    if (vertex.section != UINT32_MAX) waited(vertex.section, times_ns[v] - ready_ns);
  }
  int64_t end_ns = graph.begin_ns;
  for (size_t t = 0; t < graph.last_vertex.size(); ++t) {
    if (graph.counts[t]) end_ns = std::max(end_ns, times_ns[graph.last_vertex[t]]);
  }
  return end_ns - graph.begin_ns;
}

}  // namespace

int64_t propagate(const SyncGraph& graph, const SectionOrder& order) {
  return propagate(graph, order, [](uint32_t, int64_t) {});
}

SectionWaits propagate_waits(const SyncGraph& graph, const SectionOrder& order) {
  SectionWaits result{.wait_ns = std::vector<int64_t>(graph.release_vertex.size())};
  result.duration_ns =
      propagate(graph, order, [&](uint32_t section, int64_t wait_ns) { result.wait_ns[section] = wait_ns; });
  return result;
}

namespace {

// A stretch of one thread is one part, however many events lie in it.
void add_before(std::vector<PathPart>& path, const PathPart& part) {
  const auto is_run = [](const PathPart& each) { return each.handed == kNone && !each.woken; };
  if (!path.empty() && is_run(part) && is_run(path.back()) && path.back().thread == part.thread) {
    path.back().begin_ns = part.begin_ns;
  } else {
    path.push_back(part);
  }
}

}  // namespace

std::vector<PathPart> critical_path(const SyncGraph& graph, const SectionOrder& recorded) {
  const Trace& trace = *graph.trace;
  const auto now = [&](uint32_t v) { return trace.time_ns[graph.vertices[v].event]; };
  uint32_t v = kNoVertex;
  for (size_t t = 0; t < graph.last_vertex.size(); ++t) {
    if (graph.counts[t] && now(graph.last_vertex[t]) == graph.end_ns && v == kNoVertex) v = graph.last_vertex[t];
  }
  std::vector<PathPart> path;
  while (v != kNoVertex) {
    const SyncVertex& vertex = graph.vertices[v];
    const ThreadId thread = trace.thread_of(EventIndex(vertex.event));
    uint32_t next = vertex.previous;
    PathPart part{thread, graph.begin_ns, now(v)};
    if (vertex.slept) {
      uint32_t cause = kNoVertex;
      // Vertices of one instant are in the order of threads and, within one, of the program.
      const auto consider = [&](uint32_t candidate) {
        if (cause == kNoVertex || now(candidate) > now(cause) || (now(candidate) == now(cause) && candidate < cause)) {
          cause = candidate;
        }
      };
      for (uint32_t c = graph.cause_begin[v]; c < graph.cause_begin[v + 1]; ++c) consider(graph.causes[c]);
      part.woken = true;
      if (vertex.section != UINT32_MAX) {
        for (const uint32_t before : recorded.of(vertex.section)) {
          if (graph.release_vertex[before] < v) consider(graph.release_vertex[before]);
        }
        part.handed = vertex.section;
        part.woken = false;
      }
      next = cause;
    }
    if (next != kNoVertex) part.begin_ns = now(next);
    if (part.end_ns > part.begin_ns) add_before(path, part);
    v = next;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace contrafact::graph
