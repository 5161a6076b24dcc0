// Work that an event loop hands to threads of the program's own while it serves a request, to answer it in a later turn: a pool's thread
// is woken in the request's first turn, and its work takes most of the pause until the turn that answers.
//
// Where such threads are busy, they take what waits for them, and nobody wakes them: then the work is not known. Nothing simulates how many
// such threads there are: a note says so.
//
// Pure; O(n log n) in the events.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "model/facts.h"
#include "model/requests.h"

namespace contrafact::whatif {

struct LoopWork {
  uint32_t handed_before = UINT32_MAX;  // event of the loop: before it the work is handed over
  model::Stretch work;                  // of the thread that does it
};

// By Request::received, of resumed requests. Empty: of less than half of these, or of fewer than ten.
std::unordered_map<uint32_t, LoopWork> loop_work(const model::Facts& facts, const model::Requests& requests);

// Who does it, in words: "keeper-1 (2 of them seen)". Empty: nobody.
std::string loop_workers(const model::Facts& facts, const model::Requests& requests);

}  // namespace contrafact::whatif
