#include "whatif/stream_parts.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "model/finish.h"
#include "model/task_walk.h"
#include "whatif/added_events.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::FrameKind;
using model::TaskId;
using model::TaskRow;
using model::Trace;

constexpr uint32_t kPartsOfWorker = 4;  // AbstractTask.getLeafTarget

struct Block {
  uint32_t begin, end;  // events
};

// What a task of a stream does itself, after it forked its last half.
struct Part {
  uint32_t task;
  uint32_t forks_at;  // the event behind which it would fork more: its last fork, or its start
  std::vector<Block> blocks;
};

// A task and the elements that it begins with, counted in blocks; and what it forks, in order.
struct Piece {
  uint32_t task;
  size_t first;
  std::vector<uint32_t> forks;
};

class Splitter {
 public:
  Splitter(const Trace& trace, std::vector<uint32_t> levels)
      : trace_(trace), levels_(std::move(levels)), is_stream_body_(trace.methods.size()), rows_(trace.tasks.size()) {
    for (size_t i = 0; i < trace.methods.size(); ++i) {
      is_stream_body_[i] = trace.string(trace.methods[i].class_name) == "java.util.stream.AbstractTask";
    }
  }

  std::optional<Trace> run() {
    if (std::ranges::find(is_stream_body_, true) == is_stream_body_.end()) return std::nullopt;
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_thread(i);
    if (rows_ == trace_.tasks.size()) return std::nullopt;
    base::Result<Trace> made = rebuilt();
    return made ? std::optional(*std::move(made)) : std::nullopt;
  }

 private:
  bool is_forked(const TaskRow& row) const {
    return row.spawn.valid() && row.pool.valid() && row.body.valid() && is_stream_body_[row.body.index()];
  }

  void walk_thread(uint32_t thread) {
    std::vector<Part> open;  // of tasks that belong to streams or may do so, innermost last
    uint32_t block_begin = 0;
    for (model::TaskWalk walk(trace_, model::ThreadId(thread)); walk.next();) {
      const uint32_t event = walk.event().value;
      const bool is_own = !open.empty() && walk.task() == TaskId(open.back().task);
      switch (walk.kind()) {
        case EventKind::task_start:
          open.push_back({walk.a(), event, {}});
          break;
        case EventKind::task_spawn:
          if (is_own && walk.a() != TaskId::kNone && is_forked(trace_.tasks[walk.a()])) {
            open.back().forks_at = event;
            open.back().blocks.clear();
          }
          break;
        case EventKind::block_begin:
          block_begin = event;
          break;
        case EventKind::block_end:
          if (is_own && walk.has_closed() && walk.in(FrameKind::task))
            open.back().blocks.push_back({block_begin, event});
          break;
        case EventKind::task_end:
          if (open.empty() || open.back().task != walk.a()) break;
          cut(open.back(), event);
          open.pop_back();
          break;
        default:
          break;
      }
    }
  }

  // The fork that made the part, or else the last fork that the part made: tasks forked in its stead are like that one.
  const TaskRow* fork_of(const Part& part) const {
    const TaskRow& own = trace_.tasks[part.task];
    if (is_forked(own)) return &own;
    if (trace_.kind[part.forks_at] != EventKind::task_spawn) return nullptr;
    const TaskRow& forked = trace_.tasks[trace_.a[part.forks_at]];
    return is_forked(forked) ? &forked : nullptr;
  }

  void cut(const Part& part, uint32_t end) {
    const TaskRow* fork = part.blocks.size() < 2 ? nullptr : fork_of(part);
    if (fork == nullptr || levels_[fork->pool.index()] == 0) return;
    std::vector<Piece> pieces{{part.task, 0, {}}};
    halve(pieces, 0, part.blocks.size(), levels_[fork->pool.index()], *fork);
    const auto fork_all = [&](const Piece& piece, uint32_t before, int64_t time_ns) {
      for (const uint32_t task : piece.forks)
        added_.add({before, EventKind::task_spawn, time_ns, task, fork->spawn_context.value});
    };
    fork_all(pieces[0], part.forks_at + 1, trace_.time_ns[part.forks_at]);
    const bool begins_with_block = begins_with_blocks(part, end);
    for (size_t i = 1; i < pieces.size(); ++i) {
      const size_t first = pieces[i].first;
      const uint32_t before = begins_with_block ? part.blocks[first].begin : part.blocks[first - 1].end + 1;
      const int64_t time_ns = trace_.time_ns[begins_with_block ? before : before - 1];
      added_.add({before, EventKind::task_end, time_ns, pieces[i - 1].task, 0});
      added_.add({before, EventKind::task_start, time_ns, pieces[i].task, UINT32_MAX});
      fork_all(pieces[i], before, time_ns);
    }
    added_.rename(end, pieces.back().task);
  }

  // Whether an element waits first and computes then, as far as one can tell.
  bool begins_with_blocks(const Part& part, uint32_t end) const {
    const int64_t before_ns = trace_.time_ns[part.blocks.front().begin] - trace_.time_ns[part.forks_at];
    const int64_t after_ns = trace_.time_ns[end] - trace_.time_ns[part.blocks.back().end];
    return before_ns <= after_ns;
  }

  // The piece at `at`, up to the block `end`.
  void halve(std::vector<Piece>& pieces, size_t at, size_t end, uint32_t levels, const TaskRow& fork) {
    const size_t first = pieces[at].first;
    if (levels == 0 || end - first < 2) return;
    const size_t middle = first + (end - first) / 2;
    const auto task = static_cast<uint32_t>(rows_++);
    forks_.push_back(&fork);
    pieces[at].forks.push_back(task);
    pieces.insert(pieces.begin() + static_cast<ptrdiff_t>(at) + 1, Piece{task, middle, {}});
    halve(pieces, at + 1, end, levels - 1, fork);
    halve(pieces, at, middle, levels - 1, fork);
  }

  base::Result<Trace> rebuilt() {
    Trace made = trace_;
    added_.put_into(made, trace_, [&] { return [&](const AddedEvent& event, bool) { append(made, event); }; });
    for (TaskRow& row : made.tasks) row = model::bare_row(row);
    for (const TaskRow* fork : forks_) made.tasks.push_back(model::bare_row(*fork));
    return model::finish(std::move(made));
  }

  const Trace& trace_;
  const std::vector<uint32_t> levels_;  // by pool: how often more a part is halved
  std::vector<bool> is_stream_body_;    // by method
  size_t rows_;                         // tasks
  std::vector<const TaskRow*> forks_;   // by further task: the recorded one that it is like
  AddedEvents added_;
};

uint32_t halvings(uint32_t workers) {
  return static_cast<uint32_t>(std::bit_width(uint64_t{workers} * kPartsOfWorker - 1));
}

}  // namespace

uint32_t more_halvings(uint32_t before, uint32_t after) {
  return halvings(after) > halvings(before) ? halvings(after) - halvings(before) : 0;
}

std::optional<model::Trace> with_stream_parts(const model::Trace& trace, std::span<const PoolSize> sizes) {
  std::vector<uint32_t> levels(trace.pools.size());
  bool any = false;
  for (const PoolSize& size : sizes) {
    if (size.pool.index() >= levels.size() || size.workers == 0) continue;
    const format::PoolRow& pool = trace.pools[size.pool.index()];
    if (pool.kind != format::PoolKind::fork_join || pool.core_size == 0) continue;
    levels[size.pool.index()] = more_halvings(pool.core_size, size.workers);
    any |= levels[size.pool.index()] > 0;
  }
  return any ? Splitter(trace, std::move(levels)).run() : std::nullopt;
}

}  // namespace contrafact::whatif
