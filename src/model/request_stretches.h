// Where the stretches of threads that work for requests end, and that those of one thread do not overlap.
//
// Pure. A stretch's end takes time linear in its events, keep_apart() O(n log n) in the stretches.
#pragma once

#include <cstdint>
#include <vector>

#include "model/request_moments.h"
#include "model/request_turns.h"
#include "model/requests.h"

namespace contrafact::model {

class StretchEnds {
 public:
  // The arguments but for the requests must outlive it.
  StretchEnds(const RequestMoments& moments, const TurnEvents& turns, const std::vector<Request>& requests);

  // Behind the answer if the thread goes on until then, else where it turns to other things.
  void end_first(Request& request) const;
  // Of a stretch that is at this event: to where the thread next has nothing to do, gets another request, answers another, or leaves
  // its task.
  void end_at(Stretch& stretch, uint32_t event) const;

 private:
  void find_resuming(const std::vector<Request>& requests);
  bool same_work(const Request& request) const;
  void end_at_sleep(Stretch& stretch, uint32_t event, ThreadId thread) const;

  const Trace& trace_;
  const RequestMoments& moments_;
  const TurnEvents& turns_;
  // By thread: it polls, and once dealt with another request before it answered one in a later turn. What it waits for between two turns
  // does not keep it from others. (A thread that polls for one answer of a database is kept.)
  std::vector<bool> resumes_;
};

// Of two stretches of one thread, the one that begins earlier ends where the other begins.
void keep_apart(std::vector<Request>& requests);

}  // namespace contrafact::model
