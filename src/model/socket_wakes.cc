#include "model/socket_wakes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "model/task_walk.h"

namespace contrafact::model {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// One end of a connection, and when it was first used.
struct End {
  uint32_t connection;
  int64_t first_ns = INT64_MAX;
};

bool is_transfer(EventKind kind) {
  return kind == EventKind::send || kind == EventKind::receive;
}

// Those that were used and of which both ports are known, by time.
std::vector<End> ends_with_ports(const Trace& trace) {
  std::vector<End> ends(trace.connections.size());
  for (uint32_t i = 0; i < ends.size(); ++i) ends[i].connection = i;
  for (uint32_t i = 0; i < trace.event_count(); ++i) {
    if (!is_transfer(trace.kind[i]) || trace.a[i] >= ends.size()) continue;
    End& end = ends[trace.a[i]];
    end.first_ns = std::min(end.first_ns, trace.time_ns[i]);
  }
  std::erase_if(ends, [&](const End& end) {
    const format::ConnectionRow& row = trace.connections[end.connection];
    return row.local_port == 0 || row.remote_port == 0 || end.first_ns == INT64_MAX;
  });
  std::ranges::stable_sort(ends, {}, &End::first_ns);
  return ends;
}

// One direction of one connection: where in the stream of bytes each transfer ends.
struct Piece {
  uint32_t event;
  uint64_t until;  // bytes of this direction up to here
};
struct Direction {
  std::vector<Piece> sent, received;
};

class SenderFinder {
 public:
  explicit SenderFinder(const Trace& trace) : trace_(trace), peers_(peers_in_program(trace)) {}

  // By event that receives the one that sent.
  std::map<uint32_t, uint32_t> run() {
    if (std::ranges::any_of(peers_, [](uint32_t peer) { return peer != kNone; })) {
      gather();
      find();
    }
    return std::move(sender_of_);
  }

 private:
  // By the end that receives.
  void gather() {
    std::vector<uint32_t> transfers;
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      if (is_transfer(trace_.kind[i]) && trace_.a[i] < peers_.size() && peers_[trace_.a[i]] != kNone)
        transfers.push_back(i);
    }
    std::ranges::stable_sort(transfers, {}, [&](uint32_t event) { return trace_.time_ns[event]; });
    for (const uint32_t event : transfers) {
      const bool is_send = trace_.kind[event] == EventKind::send;
      Direction& direction = directions_[is_send ? peers_[trace_.a[event]] : trace_.a[event]];
      std::vector<Piece>& pieces = is_send ? direction.sent : direction.received;
      pieces.push_back({event, (pieces.empty() ? 0 : pieces.back().until) + trace_.b[event]});
    }
  }

  // A peer may close, or the recording end, before all is received. More cannot be.
  static bool agrees(const Direction& direction) {
    const uint64_t sent = direction.sent.empty() ? 0 : direction.sent.back().until;
    return direction.received.empty() || direction.received.back().until <= sent;
  }

  void find() {
    for (const auto& [connection, direction] : directions_) {
      if (!agrees(direction)) continue;
      uint64_t begin = 0;
      for (const Piece& piece : direction.received) {
        const auto sent = std::ranges::upper_bound(direction.sent, begin, {}, &Piece::until);
        const bool is_known = piece.until > begin && sent != direction.sent.end();
        if (is_known && trace_.time_ns[sent->event] <= trace_.time_ns[piece.event])
          sender_of_[piece.event] = sent->event;
        begin = piece.until;
      }
    }
  }

  const Trace& trace_;
  const std::vector<uint32_t> peers_;
  std::map<uint32_t, Direction> directions_;  // by the connection that receives
  std::map<uint32_t, uint32_t> sender_of_;
};

class WakeFinder {
 public:
  explicit WakeFinder(const Trace& trace) : trace_(trace), sender_of_(SenderFinder(trace).run()) {}

  std::vector<SocketWake> run() {
    if (sender_of_.empty()) return {};
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk(ThreadId(i));
    std::ranges::sort(found_, {}, &SocketWake::send);
    const auto twice = std::ranges::unique(found_, {}, &SocketWake::send);
    found_.erase(twice.begin(), twice.end());
    std::ranges::sort(found_, {}, &SocketWake::block_end);
    return std::move(found_);
  }

 private:
  // The thread's latest wait for a socket, and the earliest send among those whose bytes it got since.
  struct Wait {
    uint32_t begin = kNone, end = kNone;
    bool is_poll = false;
    uint32_t cause = kNone;
    uint32_t receives = 0;
  };

  void walk(ThreadId thread) {
    Wait wait;
    std::vector<uint32_t> inside;  // received before the block that is open was closed
    for (TaskWalk walk(trace_, thread); walk.next();) {
      const uint32_t event = walk.event().value;
      if (walk.kind() == EventKind::receive) {
        if (walk.in(FrameKind::block)) {
          inside.push_back(event);
        } else {
          received(wait, event);
        }
      }
      if (!closes(walk.kind()) || !walk.has_closed() || walk.closed().kind == FrameKind::task) continue;
      close(wait);
      wait = {};
      if (walk.kind() == EventKind::block_end) {
        const auto reason = static_cast<format::BlockReason>(trace_.a[walk.closed().begin.index()]);
        const bool is_poll = reason == format::BlockReason::poll;
        if (is_poll || reason == format::BlockReason::io)
          wait = {.begin = walk.closed().begin.value, .end = event, .is_poll = is_poll};
      }
      for (const uint32_t early : std::exchange(inside, {})) received(wait, early);
    }
    close(wait);
  }

  void received(Wait& wait, uint32_t event) const {
    if (wait.end == kNone || (wait.receives++ > 0 && !wait.is_poll)) return;
    const auto sender = sender_of_.find(event);
    if (sender == sender_of_.end()) return;
    if (wait.cause == kNone || trace_.time_ns[sender->second] < trace_.time_ns[wait.cause]) wait.cause = sender->second;
  }

  void close(const Wait& wait) {
    if (wait.cause == kNone) return;
    const int64_t sent_ns = trace_.time_ns[wait.cause];
    if (sent_ns < trace_.time_ns[wait.begin] || sent_ns > trace_.time_ns[wait.end]) return;
    found_.push_back({wait.cause, wait.begin, wait.end});
  }

  const Trace& trace_;
  const std::map<uint32_t, uint32_t> sender_of_;
  std::vector<SocketWake> found_;
};

}  // namespace

std::vector<uint32_t> peers_in_program(const Trace& trace) {
  std::vector<uint32_t> peers(trace.connections.size(), kNone);
  std::multimap<std::pair<uint32_t, uint32_t>, End> accepted;  // by the ports that the peer's row has
  const std::vector<End> ends = ends_with_ports(trace);
  for (const End& end : ends) {
    const format::ConnectionRow& row = trace.connections[end.connection];
    if (row.kind == format::ConnectionKind::accepted) accepted.emplace(std::pair(row.remote_port, row.local_port), end);
  }
  for (const End& end : ends) {
    const format::ConnectionRow& row = trace.connections[end.connection];
    if (row.kind == format::ConnectionKind::accepted) continue;
    const auto [first, last] = accepted.equal_range({row.local_port, row.remote_port});
    const auto nearest = std::min_element(first, last, [&](const auto& x, const auto& y) {
      return std::abs(x.second.first_ns - end.first_ns) < std::abs(y.second.first_ns - end.first_ns);
    });
    if (nearest == last) continue;
    peers[end.connection] = nearest->second.connection;
    peers[nearest->second.connection] = end.connection;
    accepted.erase(nearest);
  }
  return peers;
}

std::vector<std::pair<uint32_t, uint32_t>> senders_in_program(const Trace& trace) {
  if (trace.connections.empty()) return {};
  const std::map<uint32_t, uint32_t> senders = SenderFinder(trace).run();
  return {senders.begin(), senders.end()};
}

std::vector<SocketWake> socket_wakes(const Trace& trace) {
  if (trace.connections.empty()) return {};
  return WakeFinder(trace).run();
}

}  // namespace contrafact::model
