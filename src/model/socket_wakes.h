// Which send ended which wait for a socket, where both ends of a connection are in the recorded program: a load
// generator and its server in one process, or a service that asks itself; or in several recorded processes (join.h).
//
// The two ends of a connection have each other's ports. Between two processes, a port that the recorder did not learn is
// made up for by the order in which connections began and by how many bytes went over each. Bytes keep their order, so
// the send that a receive waited for is the one that sent the first byte of what it got. It ended the block before the
// receive if it came while that lasted.
// Of a poll, the first bytes to come are the cause, whichever connection they came on. Transfers that were not recorded
// shift the bytes of one direction: it has no causes if its ends do not agree on what went over it.
//
// Pure; O(n log n) in the transfers over such connections, linear in all events.
#pragma once

#include <utility>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

struct SocketWake {
  uint32_t send;         // the event by which the waiting thread goes on
  uint32_t block_begin;  // the wait, for input or in a poll ...
  uint32_t block_end;    // ... is over here
};

// By connection the other end of it; UINT32_MAX where that is not in the program. Of connections with the same ports,
// one after another, each has the peer that was first used nearest to it.
std::vector<uint32_t> peers_in_program(const Trace& trace);

// Each event `receive` on a connection whose other end is in the program, with the event `send` of its first byte; sorted.
std::vector<std::pair<uint32_t, uint32_t>> senders_in_program(const Trace& trace);

// Sorted by block_end. A send ends one wait at most, and a wait is ended by one send.
std::vector<SocketWake> socket_wakes(const Trace& trace);

}  // namespace contrafact::model
