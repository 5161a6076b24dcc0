// Calls that may block, recorded as segments of known length (PerfPlay's selective recording): what happens in them is
// not studied, only how long it takes.
#pragma once

#include "agent_native/recording.h"

namespace contrafact::agent_native {

// Shorter calls did not block; their two events would cost as much as they do.
inline constexpr int64_t kBlockedNsMin = 5'000;

// Waits that may last for ever: the block is written when it begins, so that a thread that never comes back shows it.
// Cancelled there, the thread ends, and the reader closes the block.
template <typename Library>
inline auto block(BlockReason reason, uint64_t site, Library library) {
  Client* client = recording();
  if (!client) return library();
  const int64_t begin_ns = g_clock.now_ns();
  if (sets_are_on()) sets_before_block(client, begin_ns);
  append(client, EventKind::block_begin, begin_ns, static_cast<uint32_t>(reason), site, site >> 32);
  const auto result = library();
  if (!is_own(client)) return result;
  const int error = errno;
  const int64_t end_ns = g_clock.now_ns();
  // The memory that calls other than sleeps read and write is noted after the calls, and belongs to them.
  if (reason == BlockReason::sleep && sets_are_on()) sets_before_block(client, end_ns);
  append(client, EventKind::block_end, end_ns, static_cast<uint32_t>(reason));
  errno = error;
  return result;
}

// Input and output: mostly short, so the block is written afterwards if it was one. Before and behind it, what `before`
// and `after` append: they get the client, the time right before or after the call, and its result.
template <typename Library, typename Before, typename After>
inline auto block_if_long(BlockReason reason, uint64_t site, Library library, Before before, After after) {
  Client* client = recording();
  if (!client) return library();
  const int64_t begin_ns = g_clock.now_ns();
  const auto result = library();
  if (!is_own(client)) return result;
  const int error = errno;
  const int64_t end_ns = g_clock.now_ns();
  before(client, begin_ns, result);
  if (end_ns - begin_ns >= kBlockedNsMin) {
    if (sets_are_on()) sets_before_block(client, begin_ns);
    append(client, EventKind::block_begin, begin_ns, static_cast<uint32_t>(reason), site, site >> 32);
    append(client, EventKind::block_end, end_ns, static_cast<uint32_t>(reason));
  }
  after(client, end_ns, result);
  errno = error;
  return result;
}
template <typename Library>
inline auto block_if_long(BlockReason reason, uint64_t site, Library library) {
  const auto nothing = [](Client*, int64_t, auto) {};
  return block_if_long(reason, site, library, nothing, nothing);
}

}  // namespace contrafact::agent_native
