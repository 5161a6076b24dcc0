// The objects that one lock guards, where each critical section touches one or two of them: accounts, nodes of a graph,
// shelves. Then each object may have a lock of its own. A section that touches two objects takes both locks, in one
// order for all.
//
// An object is a cell together with its companions: nearly all sections that touch a companion touch the first cell,
// too. A thread that holds the object's lock excludes all others that touch these cells. The cells that most sections
// change are looked at first. A cell that moves between objects, as an element between lists, belongs to the object
// that contains it at that time: any two consecutive sections that touch it both touch one object.
//
// A cell that many sections read and few change, such as the buckets of a table, is no object. Its readers hold at
// least one lock, and a section that changes it takes all locks. So does a section that touches more than two objects.
//
// Pure function. Cost: linear in the cells of all sections, times the objects of each.
#pragma once

#include <vector>

#include "improve/lock_uses.h"

namespace contrafact::improve {

struct LockObjects {
  static constexpr uint32_t kNone = UINT32_MAX, kAll = UINT32_MAX - 1;
  struct Placed {
    uint32_t section;
    uint32_t object;  // from 0 on, by address
    uint32_t second;  // a second object; equal to `object`: there is none; kAll: the section takes all
  };
  std::vector<Placed> placed;  // by section; of the objects without the shared bytes, if there are only these
  uint32_t count = 0;          // of objects; 0: to separate them gains nothing
  uint64_t taking_two = 0, taking_all = 0;
  bool moves = false;  // something moves between objects
  // Where count is 0: bytes that nearly all sections touch, such as a counter, and how many objects there would be
  // without these bytes.
  uint64_t shared_bytes = 0;
  bool shares_kernel_state = false;  // nearly all touch the same kernel state, which is no memory
  uint32_t count_without = 0;
  // Where count is 0: there may be objects, but the sections touch too many places to look for them.
  bool too_many_uses = false;
};

// REQUIRES: `uses` looks at the lock, and it can be judged.
LockObjects objects_of(const LockUses& uses, model::LockId lock);

}  // namespace contrafact::improve
