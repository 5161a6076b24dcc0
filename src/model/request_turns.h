// What clients ask and get on a program's connections, in turn: each request with the event that begins to receive it and the
// one that sends the last of its answer. Who works for it meanwhile is left open here.
//
// Pure; O(n log n) in the events that receive and send, linear in all others.
#pragma once

#include <cstdint>
#include <vector>

#include "model/requests.h"
#include "model/trace.h"

namespace contrafact::model {

// Of connections that the program accepted, or whose other end it is not known to be: connection by connection, in order of time. Sets
// `connections` and `unanswered`, and of each request its connection, its two events, and answered_ns.
Requests requests_in_turn(const Trace& trace);

// The events at which requests begin to be received, and at which they are answered. A question is O(log n) in them.
class TurnEvents {
 public:
  explicit TurnEvents(const std::vector<Request>& requests);

  bool begins(uint32_t event) const;
  bool answers(uint32_t event) const;
  // How many requests begin from the first of these events on, before the other.
  size_t begin_within(uint32_t first, uint32_t until) const;
  // Whether any begins or is answered between the two events.
  bool any_between(uint32_t event, uint32_t other) const;

 private:
  std::vector<uint32_t> begins_, answers_;  // sorted
};

}  // namespace contrafact::model
