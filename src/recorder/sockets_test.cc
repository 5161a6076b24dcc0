#include "recorder/sockets.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "format/testing.h"
#include "recorder/connection_words.h"
#include "recorder/process_sockets.h"
#include "recorder/recorder.h"

namespace contrafact::recorder {
namespace {

using format::ConnectionKind;

uint32_t bound_port(int socket) {
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  EXPECT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  return ntohs(address.sin_port);
}

TEST(Sockets, BothEndsOfAConnectionHaveTheirPorts) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  address.sin_port = htons(static_cast<uint16_t>(bound_port(listener)));
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const int server = accept(listener, nullptr, nullptr);
  const auto accepted = connection_of(server, ConnectionKind::accepted);
  const auto connected = connection_of(client, ConnectionKind::connected);
  ASSERT_TRUE(accepted && connected);
  EXPECT_EQ(accepted->kind, ConnectionKind::accepted);
  EXPECT_EQ(accepted->local_port, bound_port(listener));
  EXPECT_EQ(accepted->remote_port, bound_port(client));
  EXPECT_EQ(connected->local_port, accepted->remote_port);
  EXPECT_EQ(connected->remote_port, accepted->local_port);
  for (const int descriptor : {listener, client, server}) close(descriptor);
}

TEST(Sockets, APairHasNoPortsAndAPipeIsNone) {
  int pair[2], pipe_ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  ASSERT_EQ(pipe(pipe_ends), 0);
  const auto row = connection_of(pair[0], ConnectionKind::other);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->local_port, 0u);
  EXPECT_EQ(row->remote_port, 0u);
  errno = 7;
  EXPECT_FALSE(connection_of(pipe_ends[0], ConnectionKind::other));
  EXPECT_FALSE(connection_of(-1, ConnectionKind::other));
  EXPECT_EQ(errno, 7);
  for (const int descriptor : {pair[0], pair[1], pipe_ends[0], pipe_ends[1]}) close(descriptor);
}

TEST(Sockets, APortNeedsAllOfItsAddress) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(443);
  const auto* const any = reinterpret_cast<const sockaddr*>(&address);
  EXPECT_EQ(port_of(any, sizeof address), 443u);
  EXPECT_EQ(port_of(any, sizeof(sa_family_t)), 0u);
  EXPECT_EQ(port_of(any, 0), 0u);
}

TEST(Sockets, WhoeverRecordsFindsThePortThatTheKernelChose) {
  for (const int family : {AF_INET, AF_INET6}) {
    const int listener = socket(family, SOCK_STREAM, 0);
    if (listener < 0) continue;
    sockaddr_storage address{};
    socklen_t bytes = sizeof address;
    ASSERT_EQ(listen(listener, 1), 0);
    ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    const int client = socket(family, SOCK_STREAM, 0);
    ProcessSockets sockets(getpid());
    const uint32_t port = bound_port(listener);
    EXPECT_EQ(sockets.local_port(static_cast<uint32_t>(client), port), 0u);
    if (connect(client, reinterpret_cast<sockaddr*>(&address), bytes) == 0) {
      ProcessSockets after(getpid());
      EXPECT_EQ(after.local_port(static_cast<uint32_t>(client), port), bound_port(client));
      EXPECT_EQ(after.local_port(static_cast<uint32_t>(client), port + 1), 0u);
    }
    close(client);
    EXPECT_EQ(sockets.local_port(static_cast<uint32_t>(client), port), 0u);
    close(listener);
  }
}

// Whichever thread's event is written first makes the connection's row, and all name that one.
TEST(Sockets, AConnectionHasOneRowWhoeverNamesItFirst) {
  std::vector<uint8_t> bytes;
  auto recorder = *Recorder::start({.sink = std::make_unique<format::MemorySink>(bytes), .cpu_switches = false});
  const uint64_t asked = with_number(connection_word(ConnectionKind::connected, 0, 5432), 2);
  const uint64_t answered = with_number(connection_word(ConnectionKind::accepted, 5432, 40'000), kConnectionNumberMask);
  const uint64_t strange = ~uint64_t{0};  // as a program that writes into our memory may leave it
  for (const uint64_t word : {asked, answered, strange}) {
    Client* const client = recorder->attach({});
    for (const uint64_t each : {word, asked, uint64_t{0}}) {
      Recorder::append_addressed(client, addressed_call(EventKind::send), 10, each, each >> 32, 7u);
    }
  }
  recorder->stop("exit");
  format::Collected got;
  format::Reader::from_bytes(bytes, "test")->read(got);
  ASSERT_EQ(got.connections.size(), 3u);
  std::map<uint32_t, std::vector<uint32_t>> named;  // by thread
  for (const format::PlainEvent& event : got.events) {
    if (event.kind == EventKind::send) named[event.thread.value].push_back(event.operands[0]);
  }
  ASSERT_EQ(named.size(), 3u);
  const uint32_t first = named[0][0];
  for (const auto& [thread, connections] : named) {
    EXPECT_EQ(connections[1], first);
    EXPECT_EQ(connections[2], UINT32_MAX);
  }
  EXPECT_EQ(got.connections.at(first).kind, ConnectionKind::connected);
  EXPECT_EQ(got.connections.at(first).remote_port, 5432u);
  const format::ConnectionRow& second = got.connections.at(named[1][0]);
  EXPECT_EQ(second.kind, ConnectionKind::accepted);
  EXPECT_EQ(second.local_port, 5432u);
  EXPECT_EQ(second.remote_port, 40'000u);
  EXPECT_EQ(got.connections.at(named[2][0]).local_port, 0u);
}

}  // namespace
}  // namespace contrafact::recorder
