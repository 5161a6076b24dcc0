// The events of a changed run: the recorded ones, some with another task, and others put in between them.
//
// Linear in all events, but for a sort of what is put in. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

struct AddedEvent {
  uint32_t before;  // this recorded one
  model::EventKind kind;
  int64_t time_ns;
  uint32_t a, b;
};

inline void append(model::Trace& trace, const AddedEvent& event) {
  trace.kind.push_back(event.kind);
  trace.time_ns.push_back(event.time_ns);
  trace.a.push_back(event.a);
  trace.b.push_back(event.b);
}

class AddedEvents {
 public:
  // Of those before one event, what is added first comes first.
  void add(const AddedEvent& event) { added_.push_back(event); }
  // The recorded event names this task instead.
  void rename(uint32_t event, uint32_t task) { renamed_.emplace_back(event, task); }

  // Gives the recorded threads of `made` other events: what `begin_thread()` yields, which is called at each thread's beginning, is then
  // called with each event of that thread and whether it is an added one, and appends it to `made` or not.
  template <typename BeginThread>
  void put_into(model::Trace& made, const model::Trace& recorded, BeginThread begin_thread) {
    std::ranges::stable_sort(added_, {}, &AddedEvent::before);
    std::ranges::sort(renamed_);
    made.kind.clear(), made.time_ns.clear(), made.a.clear(), made.b.clear();
    size_t next = 0, next_renamed = 0;
    for (size_t t = 0; t < recorded.thread_ranges.size(); ++t) {
      const model::EventRange range = recorded.thread_ranges[t];
      made.thread_ranges[t].begin = static_cast<uint32_t>(made.kind.size());
      auto put = begin_thread();
      for (uint32_t i = range.begin; i < range.end; ++i) {
        for (; next < added_.size() && added_[next].before == i; ++next) put(added_[next], true);
        const bool is_other = next_renamed < renamed_.size() && renamed_[next_renamed].first == i;
        const uint32_t a = is_other ? renamed_[next_renamed++].second : recorded.a[i];
        put(AddedEvent{i, recorded.kind[i], recorded.time_ns[i], a, recorded.b[i]}, false);
      }
      made.thread_ranges[t].end = static_cast<uint32_t>(made.kind.size());
    }
  }

 private:
  std::vector<AddedEvent> added_;
  std::vector<std::pair<uint32_t, uint32_t>> renamed_;  // event, task
};

}  // namespace contrafact::whatif
