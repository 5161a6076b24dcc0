// Bounded resources that a native program made itself: a semaphore that whoever waits for it posts again; or objects that are handed out
// under a mutex, where threads wait at a condition while there is none.
//
// What gives a condition's objects back is a critical section from whose place the condition is signalled; what takes one is a section
// from whose place threads come to wait there, whether they had to or not. Such a place is a function and line. It is a resource if the
// threads that take are those that give: else it is a queue, whose elements one thread hands to another. There are as many as were out
// when a thread waited. Where none ever waited the number is not known, and nothing is found.
//
// Pure; linear in the events but for sorts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/facts.h"

namespace contrafact::whatif {

struct OwnResource {
  std::string name;           // the function that takes
  model::ContextId taken_at;  // where, of the longest wait
  uint32_t size = 0;          // how many there are
  uint64_t waits = 0;
};

struct ResourceUse {
  enum class What : uint8_t {
    take,        // before the event; of one
    give,        // behind the event
    wait_begin,  // for it, before the event; by no more than `take` or `wait_begin` followed on that thread
    wait_end,    // before the event
  };
  uint32_t event;
  What what;
  uint32_t resource;  // position in OwnResources::all
};

struct OwnResources {
  std::vector<OwnResource> all;
  std::vector<ResourceUse> uses;   // sorted by event, and in the order of what happened
  std::vector<uint32_t> left_out;  // events that are these uses, and nothing else; sorted
};

// Empty of a JVM's recording.
OwnResources own_resources(const model::Facts& facts);

}  // namespace contrafact::whatif
