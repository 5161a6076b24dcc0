// Calls that send: an event `send`, and the block behind it if the call took so long that it is one. Short calls have none.
// Constant.
#pragma once

#include <cstdint>

#include "model/trace.h"

namespace contrafact::model {

// The event with which the call of an event `send` is over: the end of its block, else the send itself.
uint32_t end_of_send(const Trace& trace, uint32_t send);

// Whether the block that begins here is that of a send.
bool is_block_of_send(const Trace& trace, uint32_t block_begin);

}  // namespace contrafact::model
