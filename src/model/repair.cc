#include "model/repair.h"

#include <fmt/format.h>

#include <algorithm>

namespace contrafact::model {

void Repair::run() {
  started_.assign(parts_.tasks.size(), false);
  end_ns_ = parts_.end_ns();
  for (uint32_t thread = 0; thread < parts_.thread_ranges.size(); ++thread) scan_thread(thread);
  if (!edits_.empty()) apply();
  add_notes();
}

void Repair::scan_thread(uint32_t thread) {
  const EventRange range = parts_.thread_ranges[thread];
  if (range.size() == 0) return;
  open_.clear();
  late_starts_.clear();
  floor_ = range.begin + (parts_.kind[range.begin] == EventKind::thread_begin ? 1 : 0);
  int64_t last_ns = parts_.time_ns[range.begin];
  for (uint32_t position = range.begin; position < range.end; ++position) {
    int64_t& time_ns = parts_.time_ns[position];
    if (time_ns < last_ns) {
      time_ns = last_ns;
      ++clamped_;
    }
    last_ns = time_ns;
    const EventKind kind = parts_.kind[position];
    if (opens(kind)) {
      open(position);
    } else if (closes(kind)) {
      close(position);
    } else if (kind >= EventKind::task_create && kind <= EventKind::task_complete && parts_.a[position] == UINT32_MAX) {
      drop(position);
      ++dropped_;
    }
  }
  bool ended = parts_.kind[range.end - 1] == EventKind::thread_end;
  close_above(0, ended ? range.end - 1 : range.end, ended ? last_ns : end_ns_);
  edits_.insert(edits_.end(), late_starts_.rbegin(), late_starts_.rend());
}

void Repair::open(uint32_t position) {
  const EventKind kind = parts_.kind[position];
  const uint32_t a = parts_.a[position];
  bool bad = false;
  if (kind == EventKind::task_start) {
    bad = a == UINT32_MAX || started_[a];
    if (!bad) started_[a] = true;
    if (bad) {
      drop(position);
      ++dropped_;
    }
  }
  open_.push_back({kind, a, bad});
}

void Repair::close(uint32_t position) {
  const EventKind kind = parts_.kind[position];
  const EventKind opener = opener_of(kind);
  const uint32_t a = parts_.a[position];
  const bool exact = kind == EventKind::task_end || kind == EventKind::method_exit;
  size_t depth = open_.size();
  while (depth > 0) {
    const Open& candidate = open_[depth - 1];
    if (candidate.kind == opener && (!exact || candidate.a == a)) break;
    // What lies outside a task can only be closed after it.
    if (candidate.kind == EventKind::task_start && kind != EventKind::task_end) depth = 1;
    --depth;
  }
  if (depth == 0) {
    if (kind == EventKind::task_end && open_.empty() && a != UINT32_MAX && !started_[a]) {
      begin_late(position);
    } else {
      drop(position);
      // A new worker that got its first task with it was never idle.
      if (kind != EventKind::worker_busy) ++dropped_;
    }
    return;
  }
  close_above(depth, position, parts_.time_ns[position]);
  if (open_.back().dropped) drop(position);
  open_.pop_back();
  if (open_.empty() && kind == EventKind::task_end) floor_ = position + 1;
}

// Adds closings for all brackets that lie deeper than `depth`.
void Repair::close_above(size_t depth, uint32_t position, int64_t time_ns) {
  while (open_.size() > depth) {
    const Open bracket = open_.back();
    open_.pop_back();
    if (bracket.dropped) continue;
    Edit edit{position, false, closer_of(bracket.kind), time_ns, bracket.a, 0};
    if (bracket.kind == EventKind::task_start) {
      edit.b = static_cast<uint32_t>(Outcome::interrupted);
      parts_.tasks[bracket.a].truncated = true;
      // A thread's own run that outlives the recording is nothing unusual.
      if (parts_.tasks[bracket.a].pool.valid()) ++cut_off_;
    } else if (bracket.kind == EventKind::wait_begin) {
      edit.a = UINT32_MAX;
      edit.b = static_cast<uint32_t>(Outcome::interrupted);
      ++closed_;
    } else if (bracket.kind == EventKind::worker_idle || bracket.kind == EventKind::block_begin) {
      edit.b = 0;  // a worker that ended while idle, a thread parked to the end: usual
    } else {
      edit.b = static_cast<uint32_t>(Outcome::interrupted);
      ++closed_;
    }
    edits_.push_back(edit);
  }
}

void Repair::begin_late(uint32_t position) {
  const uint32_t task = parts_.a[position];
  started_[task] = true;
  parts_.tasks[task].truncated = true;
  ++began_late_;
  late_starts_.push_back({floor_, false, EventKind::task_start, parts_.time_ns[floor_], task, 0});
}

// Rewrites the columns once. Edits at one position keep their order; insertions come before the event there.
void Repair::apply() {
  std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& x, const Edit& y) { return x.position < y.position; });
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
    auto append = [&](auto& to, const auto& from) { to.insert(to.end(), from.begin() + begin, from.begin() + end); };
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
  note(cut_off_, "task had not ended when the recording did", "tasks had not ended when the recording did");
  note(closed_, "wait or call has no recorded end", "waits or calls have no recorded end");
  note(dropped_, "event that matches no other was left out", "events that match no other were left out");
  note(clamped_, "event had a time before its predecessor's", "events had times before their predecessor's");
}

}  // namespace contrafact::model
