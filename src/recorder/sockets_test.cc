#include "recorder/sockets.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace
}  // namespace contrafact::recorder
