// Loops whose rounds would be divided among threads differently in a changed run, or would be fewer.
//
//  - Handed out: several threads come back to one place for the next piece of work, as do the workers of a program's
//    own pool. The next thread to come gets the next piece, whichever piece it got in the recording.
//  - Until awaited: a thread works in rounds, with a sleep in each, until the others are done (it saves, flushes,
//    watches). If they are done sooner, it makes fewer rounds. A thread that hands tasks out meanwhile does not count:
//    all its tasks have to be done.
//
// A trace does not say that a loop is one of these. The shape of the loop does. Threads are handed work at a place in
// either of two cases:
//  - Each thread's last visit to the place comes after all the visits that found work; and the threads wait for work
//    there, or do not all come about equally often, or come there first of all and do nothing after their last visit.
//  - The threads do not come equally often and yet end together, within two rounds. For example, they draw numbers,
//    which no event shows; the place is then one that each piece of work comes to.
// A thread goes on until it is awaited if it has made many rounds, and if one of two things happened within its last
// round: another thread began to wait for its end, or the last of the threads that ended before it ended.
//
// Pure function of the trace; linear but for sorts. Read-only afterwards.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/critical_sections.h"
#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::whatif {

// Where a round begins: the loop, and which round it is. Handed-out rounds are numbered in the order in which they were
// handed out; higher numbers are last visits. For a thread that goes on until it is awaited, 1 is the end of its last
// round, and 0 the end of any other.
constexpr uint64_t round_value(uint32_t loop, uint32_t number) {
  return uint64_t{loop} << 32 | number;
}
constexpr uint32_t loop_of(uint64_t round_value) {
  return static_cast<uint32_t>(round_value >> 32);
}
constexpr uint32_t number_of(uint64_t round_value) {
  return static_cast<uint32_t>(round_value);
}

struct RoundLoop {
  enum class Kind : uint8_t { handed_out, until_awaited };
  Kind kind = Kind::handed_out;
  uint32_t rounds = 0;  // handed out: how many in all
  // Until awaited: it is over when a thread waits for the end of this task, ...
  model::TaskId run;
  // ... or, if there is no such task, when these threads have ended.
  std::vector<uint32_t> others;
};

struct Rounds {
  std::vector<RoundLoop> loops;
  // By event: a round begins right before it (handed out) or has ended right after it (until awaited).
  std::unordered_map<uint32_t, uint64_t> at_event;
  std::vector<std::string> notes;  // what is assumed, one line each

  static constexpr uint64_t kNone = UINT64_MAX;
  uint64_t at(uint32_t event) const {
    if (at_event.empty()) return kNone;
    const auto found = at_event.find(event);
    return found == at_event.end() ? kNone : found->second;
  }
};

// `uses`: by thread. `section_of_event` as in SyncFacts; it and `sections` may be empty: of a trace without locks.
Rounds find_rounds(const model::Trace& trace, std::span<const model::ThreadUse> uses,
                   std::span<const model::CriticalSection> sections, const std::vector<uint32_t>& section_of_event);

}  // namespace contrafact::whatif
