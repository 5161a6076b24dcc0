// Cells that one thread hands on to another. Example: a block of memory. A thread takes it out of a pool under the
// lock, uses it, and puts it back under the lock; then another thread takes it. Different threads touch its bytes, and
// yet only one thread at a time uses it.
//
// A section may touch such a cell at its end, for example to clear the block that a pool gives out. It may as well do
// so after the release: until a later section of the same thread puts the block back, no other thread comes to it. The
// reads show that this is no accident of the recorded run: the next thread to touch the cell has read a value that a
// later section of the last thread wrote. So that section comes first in every run, and with it all that its thread did
// before.
#pragma once

#include <span>
#include <vector>

#include "analysis/section_facts.h"
#include "graph/lock_cells.h"

namespace contrafact::improve {

enum class Passage : uint8_t {
  unknown,    // it was seldom seen to go from one thread to another
  handed_on,  // each time, the second thread's section read what a later section of the first one wrote
  taken,      // at least once it did not: only the lock, or chance, orders the two
};

// By cell. Pure. Linear in the cells of the observed sections.
std::vector<Passage> cell_passages(const graph::LockCells& cells, std::span<const analysis::ObservedSection> order);

}  // namespace contrafact::improve
