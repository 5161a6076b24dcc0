#include "model/request_turns.h"

#include <algorithm>
#include <iterator>

#include "model/sends.h"

namespace contrafact::model {
namespace {

// A receive or send of bytes.
struct Touch {
  uint32_t connection;
  int64_t time_ns;
  uint32_t event;
  bool is_send;
};

// By connection, then in order of time.
std::vector<Touch> touches_of(const Trace& trace) {
  std::vector<Touch> touches;
  for (uint32_t i = 0; i < trace.event_count(); ++i) {
    const bool is_send = trace.kind[i] == EventKind::send;
    if (!is_send && trace.kind[i] != EventKind::receive) continue;
    const uint32_t connection = trace.a[i];
    if (connection >= trace.connections.size() || trace.b[i] == 0) continue;
    if (trace.connections[connection].kind == format::ConnectionKind::connected) continue;
    touches.push_back({connection, trace.time_ns[i], i, is_send});
  }
  std::ranges::stable_sort(touches, [](const Touch& x, const Touch& y) {
    return x.connection != y.connection ? x.connection < y.connection : x.time_ns < y.time_ns;
  });
  return touches;
}

}  // namespace

Requests requests_in_turn(const Trace& trace) {
  Requests found;
  Request open;
  const auto close = [&] {
    if (open.received == UINT32_MAX) return;
    if (open.answered == UINT32_MAX) {
      ++found.unanswered;
    } else {
      if (found.all.empty() || found.all.back().connection != open.connection) ++found.connections;
      found.all.push_back(open);
    }
    open = {};
  };
  for (const Touch& touch : touches_of(trace)) {
    const bool is_other = open.received != UINT32_MAX && open.connection != touch.connection;
    if (is_other || (!touch.is_send && open.answered != UINT32_MAX)) close();
    if (touch.is_send) {
      if (open.received == UINT32_MAX) continue;  // the program speaks first
      open.answered = touch.event;
      open.answered_ns = trace.time_ns[end_of_send(trace, touch.event)];
    } else if (open.received == UINT32_MAX) {
      open.connection = touch.connection;
      open.received = touch.event;
    }
  }
  close();
  return found;
}

TurnEvents::TurnEvents(const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    begins_.push_back(request.received);
    answers_.push_back(request.answered);
  }
  std::ranges::sort(begins_);
  std::ranges::sort(answers_);
}

bool TurnEvents::begins(uint32_t event) const {
  return std::ranges::binary_search(begins_, event);
}
bool TurnEvents::answers(uint32_t event) const {
  return std::ranges::binary_search(answers_, event);
}

size_t TurnEvents::begin_within(uint32_t first, uint32_t until) const {
  const auto from = std::ranges::lower_bound(begins_, first);
  return static_cast<size_t>(std::max<ptrdiff_t>(0, std::distance(from, std::ranges::lower_bound(begins_, until))));
}

bool TurnEvents::any_between(uint32_t event, uint32_t other) const {
  const auto has_between = [&](const std::vector<uint32_t>& events) {
    return std::ranges::upper_bound(events, event) != std::ranges::lower_bound(events, other);
  };
  return has_between(begins_) || has_between(answers_);
}

}  // namespace contrafact::model
