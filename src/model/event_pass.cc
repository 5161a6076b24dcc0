#include "model/event_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "model/repair.h"

namespace contrafact::model {
namespace {

constexpr bool is_of_task_life(EventKind kind) {
  return kind >= EventKind::task_create && kind <= EventKind::task_complete;
}

constexpr void limit(uint32_t& value, uint32_t last) {
  value = std::min(value, last);
}

class EventPass {
 public:
  EventPass(Trace& parts, const FileParts* file, const TimeWindow& window)
      : parts_(parts),
        file_(file),
        window_(window),
        row_of_(file && !file->row_of.empty() ? file->row_of.data() : nullptr),
        rows_(file ? file->rows : rows_of(parts)),
        tasks_(parts.tasks.size()),
        repair_(parts) {}

  // True if events were moved.
  bool run();

 private:
  void scan_thread(uint32_t thread);
  void scan(EventRange range);
  void task_event(uint32_t position, EventKind kind);
  void take_outer_operands(EventKind kind, uint32_t a, uint32_t b);
  void other_event(uint32_t position, EventKind kind);
  void lock_event(uint32_t position, EventKind kind);
  void note_in_row(uint32_t position, EventKind kind, uint32_t a, uint32_t b);
  void note_again();
  void finish_rows();
  void check_tables();

  static TableRows rows_of(const Trace& parts) {
    return {IdRows(parts.strings.size()),     IdRows(parts.methods.size()),     IdRows(parts.contexts.size()),
            IdRows(parts.pools.size()),       IdRows(parts.threads.size()),     IdRows(parts.locks.size()),
            IdRows(parts.access_sets.size()), IdRows(parts.connections.size()), IdRows(parts.endpoints.size())};
  }

  // An id becomes its row's number; one that has no row becomes none.
  void fix(uint32_t& id, const IdRows& rows) {
    if (id == UINT32_MAX) return;
    id = rows.row_of(id);
    if (id == UINT32_MAX) [[unlikely]]
      ++fixed_;
  }
  // A task's id in the file, or already its row's number.
  void fix_task(uint32_t& id) {
    if (id == UINT32_MAX) return;
    if (row_of_ != nullptr) id = row_of_[id];
    if (id < tasks_) return;
    id = UINT32_MAX;
    ++fixed_;
  }
  void fix_lock(uint32_t& id);

  void raise_time(int64_t& time_ns) {
    if (time_ns < last_ns_) [[unlikely]] {
      time_ns = last_ns_;
      repair_.raised_time();
    }
    last_ns_ = time_ns;
  }

  Trace& parts_;
  const FileParts* file_;
  const TimeWindow window_;
  const uint32_t* row_of_;  // by the task id in the file; null: the ids are the rows' already
  const TableRows rows_;
  const size_t tasks_;                                 // rows
  std::unordered_map<uint32_t, uint32_t> lost_locks_;  // by id: the row that stands for the lost one
  Repair repair_;
  const uint32_t* extras_ = nullptr;  // of the thread, the next ones
  int64_t last_ns_ = 0;               // of the thread
  uint64_t fixed_ = 0;
  uint64_t gaps_ = 0;
};

bool EventPass::run() {
  for (uint32_t thread = 0; thread < parts_.thread_ranges.size(); ++thread) scan_thread(thread);
  parts_.loss.events_dropped = std::max(parts_.loss.events_dropped, gaps_);
  const bool moved = repair_.apply();
  if (moved) note_again();
  finish_rows();
  check_tables();
  repair_.add_notes();
  return moved;
}

void EventPass::scan_thread(uint32_t thread) {
  const EventRange range = parts_.thread_ranges[thread];
  LeftOut left_out = file_ ? file_->left_out[thread] : LeftOut();
  left_out.time_ns = std::clamp(left_out.time_ns, window_.low_ns, window_.high_ns);
  if (!repair_.begin_thread(thread, left_out)) return;
  extras_ = file_ ? file_->extras.data() + file_->extras_begin[thread] : nullptr;
  last_ns_ = INT64_MIN;
  if (left_out.position > range.end) {
    scan({range.begin, range.end});
  } else {
    scan({range.begin, left_out.position});
    int64_t time_ns = left_out.time_ns;
    uint32_t pool = left_out.pool.value;
    raise_time(time_ns);
    fix(pool, rows_.pools);
    scan({left_out.position, range.end});
  }
  repair_.end_thread();
}

void EventPass::scan(EventRange range) {
  const EventKind* kinds = parts_.kind.data();
  int64_t* times_ns = parts_.time_ns.data();
  uint32_t* as = parts_.a.data();
  for (uint32_t i = range.begin; i < range.end; ++i) {
    raise_time(times_ns[i]);
    const EventKind kind = kinds[i];
    if (kind == EventKind::method_enter) {
      fix(as[i], rows_.methods);
      repair_.open(kind, as[i]);
    } else if (kind == EventKind::method_exit) {
      fix(as[i], rows_.methods);
      repair_.close(i, kind, as[i]);
    } else if (names_task(kind)) {
      task_event(i, kind);
    } else {
      other_event(i, kind);
    }
  }
}

void EventPass::task_event(uint32_t position, EventKind kind) {
  uint32_t& a = parts_.a[position];
  uint32_t& b = parts_.b[position];
  fix_task(a);
  switch (kind) {
    case EventKind::wait_begin:
      fix(b, rows_.contexts);
      return repair_.open(kind, a);
    case EventKind::wait_end:
      limit(b, static_cast<uint32_t>(Outcome::blocked));
      repair_.close(position, kind, a);
      return;
    case EventKind::task_start:
      if (a == UINT32_MAX || parts_.tasks[a].start.valid()) return repair_.open_in_vain(position, kind, a);
      repair_.open(kind, a);
      return note_in_row(position, kind, a, b);
    case EventKind::task_end:
      limit(b, static_cast<uint32_t>(Outcome::blocked));
      if (repair_.close(position, kind, a)) note_in_row(position, kind, a, b);
      return;
    case EventKind::task_complete:
      limit(b, static_cast<uint32_t>(Outcome::blocked));
      break;
    case EventKind::task_depends:
      fix_task(b);
      take_outer_operands(kind, a, b);
      break;
    case EventKind::task_create:
    case EventKind::task_spawn:
      take_outer_operands(kind, a, b);
      fix(b, rows_.contexts);
      break;
    default:
      take_outer_operands(kind, a, b);
      break;
  }
  if (a == UINT32_MAX) return repair_.leave_out(position);
  note_in_row(position, kind, a, b);
}

// Puts into a task's row what the file says about the task beyond the columns.
void EventPass::take_outer_operands(EventKind kind, uint32_t a, uint32_t b) {
  if (!file_) return;
  const uint32_t operands[format::kOperandsMax] = {a, b, extras_[0], extras_[1]};
  extras_ += extra_operands(kind);
  if (a != UINT32_MAX) set_outer_operands(parts_, kind, a, operands);
}

void EventPass::other_event(uint32_t position, EventKind kind) {
  uint32_t& a = parts_.a[position];
  switch (kind) {
    case EventKind::worker_idle:
      fix(a, rows_.pools);
      return repair_.open(kind, a);
    case EventKind::worker_busy:
      fix(a, rows_.pools);
      repair_.close(position, kind, a);
      return;
    case EventKind::pool_size:
    case EventKind::pool_close:
    case EventKind::pool_closed:
    case EventKind::permit_take:
    case EventKind::permit_give:
      return fix(a, rows_.pools);
    case EventKind::block_begin:
      limit(a, static_cast<uint32_t>(BlockReason::signal));
      fix(parts_.b[position], rows_.contexts);
      return repair_.open(kind, a);
    case EventKind::block_end:
      limit(a, static_cast<uint32_t>(BlockReason::signal));
      repair_.close(position, kind, a);
      return;
    case EventKind::wake:
      return fix(a, rows_.threads);
    case EventKind::accesses:
      return fix(a, rows_.access_sets);
    case EventKind::receive:
    case EventKind::send:
      return fix(a, rows_.connections);
    case EventKind::endpoint:
      limit(parts_.b[position], static_cast<uint32_t>(format::NamedBy::configuration));
      return fix(a, rows_.endpoints);
    case EventKind::accesses_cut:
      limit(a, 1);
      return fix(parts_.b[position], rows_.contexts);
    case EventKind::section_taint:
    case EventKind::flow_into:
      return;
    case EventKind::flow_from:
      return limit(parts_.b[position], static_cast<uint32_t>(format::FlowKind::control));
    case EventKind::gap:
      gaps_ += a;
      return;
    case EventKind::task_handed:
      a = UINT32_MAX;
      return;
    default:
      return lock_event(position, kind);
  }
}

// A lock whose row was lost is still one lock: a new row stands for it, for at most kRowsLostMax locks.
void EventPass::fix_lock(uint32_t& id) {
  if (id == UINT32_MAX) return;
  const uint32_t row = rows_.locks.row_of(id);
  if (row != UINT32_MAX) [[likely]] {
    id = row;
    return;
  }
  ++fixed_;
  const auto known = lost_locks_.find(id);
  if (known != lost_locks_.end()) {
    id = known->second;
  } else if (file_ == nullptr || lost_locks_.size() >= kRowsLostMax) {
    id = UINT32_MAX;
  } else {
    lost_locks_.emplace(id, static_cast<uint32_t>(parts_.locks.size()));
    id = static_cast<uint32_t>(parts_.locks.size());
    parts_.locks.emplace_back();
  }
}

void EventPass::lock_event(uint32_t position, EventKind kind) {
  if (kind < EventKind::lock_acquire) return;
  uint32_t& lock = parts_.a[position];
  uint32_t& b = parts_.b[position];
  fix_lock(lock);
  if (closes(kind)) {
    limit(b, static_cast<uint32_t>(Outcome::blocked));
    repair_.close(position, kind, lock);
    return;
  }
  fix(b, rows_.contexts);
  if (opens(kind)) repair_.open(kind, lock);
}

// REQUIRES: `a` is a row.
void EventPass::note_in_row(uint32_t position, EventKind kind, uint32_t a, uint32_t b) {
  auto set_once = [position](EventIndex& place) {
    if (!place.valid()) place = EventIndex(position);
  };
  TaskRow& row = parts_.tasks[a];
  switch (kind) {
    case EventKind::task_create:
      set_once(row.create);
      if (!row.create_context.valid()) row.create_context = ContextId(b);
      break;
    case EventKind::task_spawn:
      set_once(row.spawn);
      if (!row.spawn_context.valid()) row.spawn_context = ContextId(b);
      break;
    case EventKind::task_drop:
      row.dropped = true;
      break;
    case EventKind::task_start:
      set_once(row.start);
      break;
    case EventKind::task_end:
      set_once(row.end);
      break;
    case EventKind::task_complete:
      set_once(row.complete);
      break;
    default:
      break;
  }
}

// Fills the rows anew from events that have been moved.
void EventPass::note_again() {
  for (TaskRow& row : parts_.tasks) {
    row.create = row.spawn = row.start = row.end = row.complete = EventIndex::none();
    row.create_context = row.spawn_context = ContextId::none();
  }
  for (uint32_t i = 0; i < parts_.kind.size(); ++i) {
    const EventKind kind = parts_.kind[i];
    if (is_of_task_life(kind)) note_in_row(i, kind, parts_.a[i], parts_.b[i]);
  }
}

void EventPass::finish_rows() {
  for (TaskRow& row : parts_.tasks) {
    fix(row.pool.value, rows_.pools);
    fix(row.body.value, rows_.methods);
    if (!row.create_context.valid()) row.create_context = row.spawn_context;
    if (!row.spawn_context.valid()) row.spawn_context = row.create_context;
    row.kind = row.spawn.valid()   ? (row.pool.valid() ? TaskKind::pooled : TaskKind::thread)
               : row.start.valid() ? TaskKind::stage
                                   : TaskKind::future;
  }
}

void EventPass::check_tables() {
  auto fix_strings = [&](auto&... ids) { (fix(ids.value, rows_.strings), ...); };
  for (format::ContextRow& row : parts_.contexts) fix(row.method.value, rows_.methods);
  for (size_t i = 0; i < parts_.contexts.size(); ++i) {
    uint32_t& parent = parts_.contexts[i].parent.value;
    fix(parent, rows_.contexts);
    if (parent == UINT32_MAX || parent < i) continue;
    parent = UINT32_MAX;  // parents come first
    ++fixed_;
  }
  for (format::MethodRow& row : parts_.methods) fix_strings(row.class_name, row.name, row.file);
  for (format::ThreadRow& row : parts_.threads) fix_strings(row.name);
  for (format::PoolRow& row : parts_.pools) fix_strings(row.name);
  for (format::LockRow& row : parts_.locks) fix_strings(row.name);
  for (format::EndpointRow& row : parts_.endpoints) fix_strings(row.name);
  for (BlockedOn& block : parts_.blocked_on) {
    fix(block.lock.value, rows_.locks);
    fix(block.holder.value, rows_.threads);
    fix(block.holder_at.value, rows_.contexts);
  }
  for (format::MethodAddressRow& row : parts_.method_addresses) fix(row.method.value, rows_.methods);
  if (fixed_ > 0) {
    parts_.loss.notes.push_back(fmt::format("{} to table rows that are not in the file",
                                            fixed_ == 1 ? "1 reference" : fmt::format("{} references", fixed_)));
  }
}

}  // namespace

bool pass_over_events(Trace& parts, const FileParts* file, const TimeWindow& window) {
  return EventPass(parts, file, window).run();
}

}  // namespace contrafact::model
