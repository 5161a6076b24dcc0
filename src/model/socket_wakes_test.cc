#include "model/socket_wakes.h"

#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

// A client and a server in one program; `c1` and `c2` are the server's ends, `o1` and `o2` the client's.
Trace both_ends(const std::string& text) {
  base::Result<Trace> trace = parse_text(
      "thread client\nthread server\nthread other\n"
      "connection c1 accepted 80 5001\nconnection o1 connected 5001 80\n"
      "connection c2 accepted 80 5002\nconnection o2 connected 5002 80\n"
      "connection outside accepted 80 6000\n" +
      text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

int64_t sent_ns(const Trace& trace, const SocketWake& wake) {
  return trace.time_ns[wake.send];
}
int64_t woken_ns(const Trace& trace, const SocketWake& wake) {
  return trace.time_ns[wake.block_end];
}

TEST(SocketWakes, EndsOfOneConnectionFindEachOther) {
  const Trace trace = both_ends(
      "0 client send o1 5\n1 server receive c1 5\n2 client send o2 5\n3 server receive c2 5\n4 server receive outside "
      "9\n");
  EXPECT_EQ(peers_in_program(trace), (std::vector<uint32_t>{1, 0, 3, 2, UINT32_MAX}));
}

TEST(SocketWakes, ABlockEndsByTheSendOfTheFirstByteThatItGot) {
  const Trace trace = both_ends(
      "100 client send o1 4\n150 client send o1 6\n200 client block_begin io -\n900 client block_end io\n"
      "901 client receive o1 7\n"
      "0 server block_begin io -\n110 server block_end io\n160 server receive c1 10\n800 server send c1 7\n");
  const std::vector<SocketWake> wakes = socket_wakes(trace);
  ASSERT_EQ(wakes.size(), 2u);
  EXPECT_EQ(sent_ns(trace, wakes[0]), 800);  // sorted by event: the client's thread is the first
  EXPECT_EQ(woken_ns(trace, wakes[0]), 900);
  EXPECT_EQ(sent_ns(trace, wakes[1]), 100);
  EXPECT_EQ(woken_ns(trace, wakes[1]), 110);
}

// The receive may stand within the block, as of a call that is both.
TEST(SocketWakes, AReceiveWithinItsBlockCounts) {
  const Trace trace =
      both_ends("100 client send o1 4\n0 server block_begin io -\n110 server receive c1 4\n111 server block_end io\n");
  ASSERT_EQ(socket_wakes(trace).size(), 1u);
}

TEST(SocketWakes, WhatWasThereBeforeTheBlockDidNotEndIt) {
  const Trace trace = both_ends(
      "100 client send o1 4\n200 server block_begin poll -\n300 server block_end poll\n310 server receive c1 4\n");
  EXPECT_TRUE(socket_wakes(trace).empty());
}

// A loop polls two connections. The bytes that came first ended the poll, though those of the other are read first.
TEST(SocketWakes, TheFirstToComeEndsAPoll) {
  const Trace trace = both_ends(
      "100 client send o2 4\n120 client send o1 4\n"
      "0 server block_begin poll -\n130 server block_end poll\n140 server receive c1 4\n150 server receive c2 4\n");
  const std::vector<SocketWake> wakes = socket_wakes(trace);
  ASSERT_EQ(wakes.size(), 1u);
  EXPECT_EQ(sent_ns(trace, wakes[0]), 100);
}

TEST(SocketWakes, ADirectionWithMissingSendsHasNoCauses) {
  const Trace trace =
      both_ends("100 client send o1 4\n0 server block_begin io -\n110 server block_end io\n120 server receive c1 9\n");
  EXPECT_TRUE(socket_wakes(trace).empty());
}

// The kernel gave the client's port to another connection later.
TEST(SocketWakes, ConnectionsWithTheSamePortsArePairedInTheirTime) {
  base::Result<Trace> trace = parse_text(
      "thread client\nthread server\nconnection a accepted 80 5001\nconnection b accepted 80 5001\n"
      "connection x connected 5001 80\nconnection y connected 5001 80\n"
      "100 client send x 4\n300 client send y 4\n"
      "110 server receive a 4\n310 server receive b 4\n150 server send a 1\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::vector<uint32_t> peers = peers_in_program(*trace);
  EXPECT_EQ(peers, (std::vector<uint32_t>{2, 3, 0, 1}));
}

}  // namespace
}  // namespace contrafact::model
