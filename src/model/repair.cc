#include "model/repair.h"

#include <fmt/format.h>

#include <algorithm>

namespace contrafact::model {

bool Repair::begin_thread(uint32_t thread, const LeftOut& left_out) {
  const EventRange range = parts_.thread_ranges[thread];
  thread_ = thread;
  if (range.size() == 0) {
    holes_ |= room_behind() > 0;
    return false;
  }
  open_.clear();
  late_starts_.clear();
  thread_edits_ = edits_.size();
  left_out_ = left_out;
  const bool begins = parts_.kind[range.begin] == EventKind::thread_begin && left_out.position != range.begin;
  floor_ = range.begin + (begins ? 1 : 0);
  return true;
}

void Repair::end_thread() {
  const EventRange range = parts_.thread_ranges[thread_];
  const bool ended = parts_.kind[range.end - 1] == EventKind::thread_end;
  const uint32_t position = ended ? range.end - 1 : range.end;
  // Times that had to be raised may lie beyond the end of the trace as it was recorded.
  const int64_t last_ns = parts_.time_ns[range.end - 1];
  const int64_t time_ns = ended ? last_ns : std::max(last_ns, end_ns_);
  if (edits_.size() == thread_edits_ && late_starts_.empty() && room_behind() == open_.size()) {
    close_in_place(position, time_ns);
    return;
  }
  if (room_behind() > 0) holes_ = true;
  close_above(0, position, time_ns);
  edits_.insert(edits_.end(), late_starts_.rbegin(), late_starts_.rend());
}

// Positions between this thread's events and the next one's.
uint32_t Repair::room_behind() const {
  const bool last = thread_ + 1 == parts_.thread_ranges.size();
  const size_t end = last ? parts_.kind.size() : parts_.thread_ranges[thread_ + 1].begin;
  return static_cast<uint32_t>(end) - parts_.thread_ranges[thread_].end;
}

// REQUIRES: room behind the thread's events for as many as are open, none of them in vain.
void Repair::close_in_place(uint32_t position, int64_t time_ns) {
  uint32_t& end = parts_.thread_ranges[thread_].end;
  const bool ended = position < end;
  end += static_cast<uint32_t>(open_.size());
  auto write = [&](uint32_t to, EventKind kind, int64_t at_ns, uint32_t a, uint32_t b) {
    parts_.kind[to] = kind;
    parts_.time_ns[to] = at_ns;
    parts_.a[to] = a;
    parts_.b[to] = b;
  };
  if (ended) write(end - 1, EventKind::thread_end, time_ns, parts_.a[position], parts_.b[position]);
  while (!open_.empty()) {
    const Edit edit = closing_of(open_.back(), position, time_ns);
    open_.pop_back();
    if (edit.kind == EventKind::task_end) parts_.tasks[edit.a].end = EventIndex(position);
    write(position++, edit.kind, edit.time_ns, edit.a, edit.b);
  }
}

void Repair::open_in_vain(uint32_t position, EventKind kind, uint32_t a) {
  leave_out(position);
  open_.push_back({kind, a, true});
}

bool Repair::close_other(uint32_t position, EventKind kind, uint32_t a) {
  const EventKind opener = opener_of(kind);
  size_t depth = open_.size();
  while (depth > 0) {
    const Open& candidate = open_[depth - 1];
    if (candidate.kind == opener && (!exact(kind) || candidate.a == a)) break;
    // What lies outside a task can only be closed after it.
    if (candidate.kind == EventKind::task_start && kind != EventKind::task_end) depth = 1;
    --depth;
  }
  if (depth == 0) {
    if (kind == EventKind::task_end && open_.empty() && a != UINT32_MAX && begin_late(position, a)) return true;
    drop(position);
    // A new worker that got its first task with it was never idle.
    if (kind != EventKind::worker_busy) ++dropped_;
    return false;
  }
  close_above(depth, position, parts_.time_ns[position]);
  const bool dropped = open_.back().dropped;
  if (dropped) drop(position);
  open_.pop_back();
  if (open_.empty() && kind == EventKind::task_end) floor_ = position + 1;
  return !dropped;
}

// Adds closings for all brackets that lie deeper than `depth`.
void Repair::close_above(size_t depth, uint32_t position, int64_t time_ns) {
  while (open_.size() > depth) {
    const Open bracket = open_.back();
    open_.pop_back();
    if (!bracket.dropped) add(closing_of(bracket, position, time_ns));
  }
}

// The closing that a bracket lacks, counted.
Repair::Edit Repair::closing_of(const Open& bracket, uint32_t position, int64_t time_ns) {
  const auto interrupted = static_cast<uint32_t>(Outcome::interrupted);
  Edit edit{position, false, closer_of(bracket.kind), time_ns, bracket.a, interrupted};
  switch (bracket.kind) {
    case EventKind::task_start:
      parts_.tasks[bracket.a].truncated = true;
      ended_.push_back(bracket.a);
      break;
    case EventKind::worker_idle:
    case EventKind::block_begin:
      edit.b = 0;  // a worker that ended while idle, a thread parked to the end: usual
      break;
    case EventKind::wait_begin:
      edit.a = UINT32_MAX;
      ++closed_;
      break;
    case EventKind::lock_request:
    case EventKind::lock_request_shared:
    case EventKind::sync_wait:
      break;  // it never got what it waited for: usual at the end
    default:
      ++closed_;
      break;
  }
  return edit;
}

// False if the task has a start already.
bool Repair::begin_late(uint32_t position, uint32_t task) {
  TaskRow& row = parts_.tasks[task];
  if (row.start.valid()) return false;
  row.start = EventIndex(position);  // until the edits are applied
  row.truncated = true;
  ++began_late_;
  const int64_t time_ns = floor_ == left_out_.position ? left_out_.time_ns : parts_.time_ns[floor_];
  late_starts_.push_back({floor_, false, EventKind::task_start, time_ns, task, 0});
  return true;
}

bool Repair::apply() {
  if (edits_.empty() && !holes_) return false;
  rewrite();
  return true;
}

// Rewrites the columns once. Edits at one position keep their order; insertions come before the event there.
void Repair::rewrite() {
  const auto is_before = [](const Edit& x, const Edit& y) { return x.position < y.position; };
  if (!std::is_sorted(edits_.begin(), edits_.end(), is_before)) {
    std::stable_sort(edits_.begin(), edits_.end(), is_before);
  }
  Trace old;
  std::swap(old.kind, parts_.kind);
  std::swap(old.time_ns, parts_.time_ns);
  std::swap(old.a, parts_.a);
  std::swap(old.b, parts_.b);
  const size_t size_max = old.kind.size() + edits_.size();
  parts_.kind.reserve(size_max);
  parts_.time_ns.reserve(size_max);
  parts_.a.reserve(size_max);
  parts_.b.reserve(size_max);
  auto copy = [&](uint32_t begin, uint32_t end) {
    auto append = [&](auto& to, const auto& from) {
      const size_t at = to.size();
      to.resize(at + (end - begin));
      std::copy(from.begin() + begin, from.begin() + end, to.begin() + static_cast<ptrdiff_t>(at));
    };
    append(parts_.kind, old.kind);
    append(parts_.time_ns, old.time_ns);
    append(parts_.a, old.a);
    append(parts_.b, old.b);
  };
  size_t next = 0;
  for (EventRange& range : parts_.thread_ranges) {
    const auto begin = static_cast<uint32_t>(parts_.kind.size());
    uint32_t position = range.begin;
    // An insertion at range.end belongs to this thread unless the next thread's edits begin there: edits of a thread
    // were appended thread by thread, so closings at its end come before the next one's by the stable sort.
    while (next < edits_.size() && edits_[next].position <= range.end) {
      const Edit& edit = edits_[next];
      if (edit.position == range.end && (edit.drop || opens(edit.kind))) break;
      if (edit.position > position) {
        copy(position, edit.position);
        position = edit.position;
      }
      if (edit.drop) {
        ++position;
      } else {
        parts_.kind.push_back(edit.kind);
        parts_.time_ns.push_back(edit.time_ns);
        parts_.a.push_back(edit.a);
        parts_.b.push_back(edit.b);
      }
      ++next;
    }
    copy(position, range.end);
    range = {begin, static_cast<uint32_t>(parts_.kind.size())};
  }
}

void Repair::add_notes() {
  auto note = [&](uint64_t count, const char* one, const char* more) {
    if (count > 0) parts_.loss.notes.push_back(fmt::format("{} {}", count, count == 1 ? one : more));
  };
  note(began_late_, "task had started before the recording began", "tasks had started before the recording began");
  // A thread's own run that outlives the recording is nothing unusual.
  const auto cut_off =
      std::count_if(ended_.begin(), ended_.end(), [&](uint32_t task) { return parts_.tasks[task].pool.valid(); });
  note(static_cast<uint64_t>(cut_off), "task had not ended when the recording did",
       "tasks had not ended when the recording did");
  note(closed_, "wait or call has no recorded end", "waits or calls have no recorded end");
  note(dropped_, "event that matches no other was left out", "events that match no other were left out");
  note(clamped_, "event had a time before its predecessor's", "events had times before their predecessor's");
}

}  // namespace contrafact::model
