#include "agent_native/sockets.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "recorder/connection_words.h"
#include "recorder/sockets.h"

namespace contrafact::agent_native {
namespace {

using format::ConnectionKind;
using recorder::connection_word;
using recorder::kDatagramBit;
using recorder::kPortMask;

// By descriptor: a connection's word, 0 for what is no socket as far as is known.
constinit std::array<std::atomic<uint64_t>, kDescriptorsMax> g_sockets{};
constinit std::atomic<int> g_descriptors_end{0};   // behind the highest one that ever was a socket
constinit std::atomic<uint32_t> g_connections{0};  // numbers given
constinit std::atomic<uint64_t> g_left_out{0};     // connections that have no number

std::atomic<uint64_t>* socket_at(int fd) {
  return fd >= 0 && fd < kDescriptorsMax ? &g_sockets[static_cast<size_t>(fd)] : nullptr;
}

uint64_t word_of(int fd) {
  const std::atomic<uint64_t>* const entry = socket_at(fd);
  return entry ? entry->load(std::memory_order_relaxed) : 0;
}

void count_left_out() {
  const uint64_t count = g_left_out.fetch_add(1, std::memory_order_relaxed) + 1;
  if (g_agent.live.load(std::memory_order_acquire) && is_original())
    g_agent.shared->log->set_count("connections", ".untold", count);
}

// The descriptor is another socket from now on.
void put(int fd, uint64_t word) {
  if (fd < 0 || contrafact_vfork_depth != 0) return;
  std::atomic<uint64_t>* const entry = socket_at(fd);
  if (!entry) return count_left_out();
  entry->store(word, std::memory_order_relaxed);
  int end = g_descriptors_end.load(std::memory_order_relaxed);
  while (end <= fd && !g_descriptors_end.compare_exchange_weak(end, fd + 1, std::memory_order_relaxed)) continue;
}

// Learns something of a socket that has no number yet: a connection's row does not change.
template <typename Change>
void learn(int fd, Change change) {
  if (contrafact_vfork_depth != 0) return;
  std::atomic<uint64_t>* const entry = socket_at(fd);
  if (!entry) return;
  uint64_t word = entry->load(std::memory_order_relaxed);
  while (recorder::number_of(word) == 0 &&
         !entry->compare_exchange_weak(word, change(word), std::memory_order_relaxed)) {
    continue;
  }
}

// Whoever records can find the port of a descriptor.
uint64_t with_port_or_descriptor(uint64_t word, int fd) {
  const format::ConnectionRow row = recorder::row_of(word);
  const bool is_unknown = row.kind == ConnectionKind::connected && row.local_port == 0 && row.remote_port != 0;
  return is_unknown && fd <= static_cast<int>(kPortMask) ? recorder::with_descriptor(word, static_cast<uint32_t>(fd))
                                                         : word;
}

// The word of the connection that the descriptor is, with a number; 0: nothing is to be recorded.
uint64_t connection_at(int fd, Call call) {
  std::atomic<uint64_t>* const entry = socket_at(fd);
  if (!entry) return 0;
  uint64_t word = entry->load(std::memory_order_relaxed);
  if (recorder::number_of(word) != 0) [[likely]]
    return word;
  if (word == 0) {
    if (call == Call::any || contrafact_vfork_depth != 0) return 0;
    put(fd, connection_word(ConnectionKind::other, 0, 0));  // it came from elsewhere
    word = entry->load(std::memory_order_relaxed);
  }
  if (g_connections.load(std::memory_order_relaxed) >= kConnectionsMax) return count_left_out(), 0;
  const uint32_t number = g_connections.fetch_add(1, std::memory_order_relaxed) + 1;
  while (word != 0 && recorder::number_of(word) == 0) {
    const uint64_t numbered = recorder::with_number(with_port_or_descriptor(word, fd), number);
    if (entry->compare_exchange_weak(word, numbered, std::memory_order_relaxed)) return numbered;
  }
  return word;  // another thread was first, or closed it
}

uint32_t count_operand(int64_t count) {
  return static_cast<uint32_t>(std::min<int64_t>(count, UINT32_MAX));
}

}  // namespace

void socket_made(int fd, int type) {
  const bool is_datagram = (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM;
  put(fd, connection_word(ConnectionKind::other, 0, 0) | (is_datagram ? kDatagramBit : 0));
}

void socket_bound(int fd, const sockaddr* address, socklen_t bytes) {
  const uint64_t port = recorder::port_of(address, bytes);
  if (port == 0) return;
  learn(fd, [port](uint64_t word) {
    return word == 0 ? 0 : (word & ~(kPortMask << recorder::kLocalPortShift)) | port << recorder::kLocalPortShift;
  });
}

void socket_connected(int fd, const sockaddr* peer, socklen_t bytes) {
  const bool has_peer = bytes >= sizeof(sa_family_t) && peer->sa_family != AF_UNSPEC;
  const ConnectionKind kind = has_peer ? ConnectionKind::connected : ConnectionKind::other;
  const uint32_t port = has_peer ? recorder::port_of(peer, bytes) : 0;
  if (word_of(fd) == 0) return put(fd, connection_word(kind, 0, port));
  learn(fd, [kind, port](uint64_t word) {
    return connection_word(kind, recorder::local_port_of(word), port) | (word & kDatagramBit);
  });
}

void socket_accepted(int listener, int fd, const sockaddr* peer, socklen_t bytes) {
  put(fd, connection_word(ConnectionKind::accepted, recorder::local_port_of(word_of(listener)),
                          recorder::port_of(peer, bytes)));
}

// Both are one connection.
void descriptor_copied(int from, int to) {
  if (from == to) return;
  if (const uint64_t word = word_of(from); word != 0) {
    connection_at(from, Call::any);
    put(to, word_of(from));
  } else {
    descriptor_closed(to);
  }
}

void descriptor_closed(int fd) {
  if (contrafact_vfork_depth != 0) return;
  std::atomic<uint64_t>* const entry = socket_at(fd);
  if (entry && entry->load(std::memory_order_relaxed) != 0) entry->store(0, std::memory_order_relaxed);
}

void descriptors_closed(uint32_t first, uint32_t last) {
  const auto end = static_cast<uint32_t>(g_descriptors_end.load(std::memory_order_relaxed));
  for (uint64_t fd = first; fd <= last && fd < end; ++fd) descriptor_closed(static_cast<int>(fd));
}

void renew_connections() {
  const int end = g_descriptors_end.load(std::memory_order_relaxed);
  for (int fd = 0; fd < end; ++fd) {
    std::atomic<uint64_t>& entry = g_sockets[static_cast<size_t>(fd)];
    if (const uint64_t word = entry.load(std::memory_order_relaxed); recorder::number_of(word) != 0)
      entry.store(recorder::with_number(word, 0), std::memory_order_relaxed);
  }
  g_connections.store(0, std::memory_order_relaxed);
  g_left_out.store(0, std::memory_order_relaxed);
}

// No bytes are the end of a stream; a datagram may have none.
void append_receive(Client* client, int fd, Call call, int64_t end_ns, int64_t count) {
  if (count < 0) return;
  const uint64_t connection = connection_at(fd, call);
  if (connection == 0 || (count == 0 && (connection & kDatagramBit) != 0)) return;
  append(client, EventKind::receive, end_ns, connection, connection >> 32, count_operand(count));
}

// A handler may have written events meanwhile.
void append_send(Client* client, int fd, Call call, int64_t begin_ns, int64_t count) {
  if (count <= 0) return;
  const uint64_t connection = connection_at(fd, call);
  if (connection == 0) return;
  const int64_t time_ns = std::max(begin_ns, t_local.last_event_ns);
  append(client, EventKind::send, time_ns, connection, connection >> 32, count_operand(count));
}

}  // namespace contrafact::agent_native
