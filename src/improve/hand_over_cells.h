// Cells that one thread hands on to another: as a block of memory, which a thread takes out of a pool under the lock,
// uses, and puts back under the lock, from where another thread takes it. Different threads touch its bytes, and yet
// only one thread at a time uses it.
//
// What a section touches of it at its end, as a pool that clears the block it gives out, may as well be touched after
// the release: until a later section of the same thread gives it back, nobody else comes to it. That this is no
// accident of the recorded run shows in what is read: whoever touches the cell next has read what a later section of
// the last one wrote. So that section comes first in every run, and with it all that its thread did before.
#pragma once

#include <span>
#include <vector>

#include "analysis/section_facts.h"
#include "graph/lock_cells.h"

namespace contrafact::improve {

enum class Passage : uint8_t {
  unknown,    // it was not seen to go from one thread to another often enough to tell
  handed_on,  // each time that it did, a later section of the first one wrote what the other's section read
  taken,      // once at least none did: only the lock, or chance, orders the two
};

// By cell. Pure. Linear in the cells of the observed sections.
std::vector<Passage> cell_passages(const graph::LockCells& cells, std::span<const analysis::ObservedSection> order);

}  // namespace contrafact::improve
