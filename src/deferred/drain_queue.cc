#include "deferred/drain_queue.h"

#include <algorithm>

namespace contrafact::deferred {
namespace {

// A buffer that lasted less than two passes was too small, one that lasted over 32 is larger than it need be.
constexpr uint64_t kGrowPasses = 2;
constexpr uint64_t kShrinkPasses = 32;

}  // namespace

void DrainState::add(Client& client) {
  client.pass_of_current_ = pass.load(std::memory_order_relaxed) - kGrowPasses;  // the first buffer is a small one
  Client* first = new_clients.load(std::memory_order_relaxed);
  do {
    client.next_new_ = first;
  } while (!new_clients.compare_exchange_weak(first, &client, std::memory_order_release, std::memory_order_relaxed));
}

namespace {

// Makes the buffer empty. The reader does not look at it now: it is new, or drained.
contrafact_buffer* hand_out(Buffer& buffer, Client& client, uint32_t stream, uint32_t dropped) {
  contrafact_buffer& header = buffer.header;
  header.owner = reinterpret_cast<uint64_t>(&client);
  header.logical_thread = stream;
  header.dropped = dropped;
  std::fill_n(header.cursor, kColumnsMax, 0u);
  std::atomic_ref(header.committed).store(0, std::memory_order_relaxed);
  buffer.drained.store(false, std::memory_order_release);
  return &header;
}

}  // namespace

Swapped swap_buffer(Client& client, BufferPool& pool, DrainState& state) {
  Buffer& old = *client.current_;
  const bool full = old.header.committed >= old.header.capacity;
  if (state.stopped.load(std::memory_order_relaxed)) return {full ? nullptr : &old.header, Urge::none};
  const uint64_t pass = state.pass.load(std::memory_order_relaxed);
  const uint64_t lasted = pass - client.pass_of_current_;
  if (lasted < kGrowPasses && client.size_class_ + 1 < kDrainCapacities.size()) ++client.size_class_;
  if (lasted > kShrinkPasses && client.size_class_ > 0 && old.header.capacity > 0) --client.size_class_;
  client.pass_of_current_ = pass;

  const auto take_dropped = [&] { return client.dropped_.exchange(0, std::memory_order_relaxed); };
  Buffer* fresh = pool.take(client.size_class_);
  if (!fresh) {
    if (!full) return {&old.header, Urge::none};
    // Whether the reader has given the full buffer back.
    if (old.drained.load(std::memory_order_acquire)) {
      return {hand_out(old, client, client.stream_, take_dropped()), Urge::no_memory};
    }
    client.dropped_.fetch_add(1, std::memory_order_relaxed);
    return {nullptr, Urge::no_memory};
  }
  fresh->next.store(nullptr, std::memory_order_relaxed);
  fresh->drained.store(false, std::memory_order_relaxed);
  fresh->begun = false;
  fresh->taken = 0;
  fresh->taken_cursor.fill(0);
  hand_out(*fresh, client, client.stream_, take_dropped());
  client.current_ = fresh;
  old.next.store(fresh, std::memory_order_release);
  const bool enough = state.waiting.fetch_add(1, std::memory_order_relaxed) + 1 == kBuffersWorthAPass;
  return {&fresh->header, enough ? Urge::pass : Urge::none};
}

// ---- the reader's side

bool QueueReader::take(Client& client, uint32_t stream, bool last) {
  // More than a client can have: then they form a ring.
  constexpr uint32_t kBuffersMax = 1 << 22;
  for (uint32_t i = 0; i < kBuffersMax; ++i) {
    Buffer* const head = mapping_.here(client.head_);
    if (!head) return false;
    const Step step = take_buffer(client, stream, *head);
    if (step == Step::broken) return false;
    if (step == Step::more) continue;
    if (!last) return true;
    // Calls that were lost with no later one to say so.
    const bool unsaid = !head->begun && !head->drained.load(std::memory_order_acquire);
    const uint32_t dropped = client.dropped_.exchange(0, std::memory_order_relaxed) + client.unsaid_dropped_ +
                             (unsaid ? head->header.dropped : 0);
    client.unsaid_dropped_ = 0;
    if (dropped == 0) return true;
    std::array<uint32_t, kColumnsMax> cursor{};
    Batch batch{stream, dropped, false, 0, nullptr, {}, cursor, client.memo_};
    consumer_.take(batch);
    return true;
  }
  return false;
}

void QueueReader::give_back(Client& client) {
  Buffer* const head = mapping_.here(client.head_);
  if (head && !is_stub(client, *head) && pool_.holds(*head)) pool_.put(head);
}

// `done` when the producer's current buffer has been reached and taken as far as it goes.
QueueReader::Step QueueReader::take_buffer(Client& client, uint32_t stream, Buffer& buffer) {
  if (!is_stub(client, buffer) && !pool_.holds(buffer)) return Step::broken;
  // An address in the producers' process. Read before anything else: once there is a next buffer, this one does not
  // change.
  Buffer* const next = buffer.next.load(std::memory_order_acquire);
  if (!buffer.drained.load(std::memory_order_acquire)) {
    if (!show(client, stream, buffer, buffer.committed())) return Step::broken;
    if (!next && buffer.taken >= buffer.header.capacity && !is_stub(client, buffer)) {
      buffer.begun = false;
      buffer.taken = 0;
      buffer.taken_cursor.fill(0);
      buffer.drained.store(true, std::memory_order_release);
    }
  }
  if (!next) return Step::done;
  if (!buffer.begun && !buffer.drained.load(std::memory_order_relaxed)) client.unsaid_dropped_ += buffer.header.dropped;
  if (!mapping_.here(next)) return Step::broken;
  client.head_ = next;
  if (!is_stub(client, buffer)) pool_.put(&buffer);
  return Step::more;
}

bool QueueReader::show(Client& client, uint32_t stream, Buffer& buffer, uint32_t committed) {
  if (committed == buffer.taken) return true;
  const bool begins = !buffer.begun;
  Batch batch{stream,
              client.unsaid_dropped_ + (begins ? buffer.header.dropped : 0),
              begins,
              committed - buffer.taken,
              nullptr,
              {},
              buffer.taken_cursor,
              client.memo_};
  const BufferPool::Columns columns = pool_.columns_of(buffer);
  if (committed < buffer.taken || committed > columns.calls_max) return false;
  batch.ids = columns.ids + buffer.taken;
  batch.column = columns.column;
  client.unsaid_dropped_ = 0;
  consumer_.take(batch);
  buffer.begun = true;
  buffer.taken = committed;
  return true;
}

}  // namespace contrafact::deferred
