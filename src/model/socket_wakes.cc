#include "model/socket_wakes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "model/processes.h"
#include "model/task_walk.h"

namespace contrafact::model {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// One end of a connection: when it was used, and how many bytes went over it.
struct End {
  uint32_t connection;
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  uint64_t sent = 0, received = 0;
  uint32_t process = kNoProcess;  // of its last use
};

bool is_transfer(EventKind kind) {
  return kind == EventKind::send || kind == EventKind::receive;
}

// Those that were used, by the time of their first use.
std::vector<End> ends_in_use(const Trace& trace) {
  std::vector<End> ends(trace.connections.size());
  for (uint32_t i = 0; i < ends.size(); ++i) ends[i].connection = i;
  for (uint32_t t = 0; t < trace.thread_ranges.size(); ++t) {
    const uint32_t process = process_of(trace, ThreadId(t));
    for (uint32_t i = trace.thread_ranges[t].begin; i < trace.thread_ranges[t].end; ++i) {
      if (!is_transfer(trace.kind[i]) || trace.a[i] >= ends.size()) continue;
      End& end = ends[trace.a[i]];
      end.first_ns = std::min(end.first_ns, trace.time_ns[i]);
      end.last_ns = std::max(end.last_ns, trace.time_ns[i]);
      (trace.kind[i] == EventKind::send ? end.sent : end.received) += trace.b[i];
      end.process = process;
    }
  }
  std::erase_if(ends, [](const End& end) { return end.first_ns == INT64_MAX; });
  std::ranges::stable_sort(ends, {}, &End::first_ns);
  return ends;
}

class Peers {
 public:
  explicit Peers(const Trace& trace)
      : trace_(trace), ends_(ends_in_use(trace)), peers_(trace.connections.size(), kNone) {}

  std::vector<uint32_t> run() {
    pair_by_ports();
    if (!trace_.processes.empty()) pair_by_bytes();
    return std::move(peers_);
  }

 private:
  const format::ConnectionRow& row(const End& end) const { return trace_.connections[end.connection]; }
  bool is_accepted(const End& end) const { return row(end).kind == format::ConnectionKind::accepted; }

  void pair(const End& x, const End& y) {
    peers_[x.connection] = y.connection;
    peers_[y.connection] = x.connection;
  }

  void pair_by_ports() {
    std::multimap<std::pair<uint32_t, uint32_t>, const End*> accepted;  // by the ports that the peer's row has
    const auto has_ports = [&](const End& end) { return row(end).local_port != 0 && row(end).remote_port != 0; };
    for (const End& end : ends_) {
      if (is_accepted(end) && has_ports(end))
        accepted.emplace(std::pair(row(end).remote_port, row(end).local_port), &end);
    }
    for (const End& end : ends_) {
      if (is_accepted(end) || !has_ports(end)) continue;
      const auto [first, last] = accepted.equal_range({row(end).local_port, row(end).remote_port});
      const auto nearest = std::min_element(first, last, [&](const auto& x, const auto& y) {
        return std::abs(x.second->first_ns - end.first_ns) < std::abs(y.second->first_ns - end.first_ns);
      });
      if (nearest == last) continue;
      pair(end, *nearest->second);
      accepted.erase(nearest);
    }
  }

  // The recorder does not learn the own port of a native program's connection that is over within milliseconds. Between
  // two recorded processes, it is that which the other one got first among those over which as many bytes went.
  void pair_by_bytes() {
    std::map<uint32_t, std::vector<const End*>> accepted;  // by port, in the order of their first bytes
    for (const End& end : ends_) {
      if (is_accepted(end) && peers_[end.connection] == kNone) accepted[row(end).local_port].push_back(&end);
    }
    for (const End& end : ends_) {
      const bool lacks_port = row(end).kind == format::ConnectionKind::connected && row(end).local_port == 0;
      const auto of_port = lacks_port ? accepted.find(row(end).remote_port) : accepted.end();
      if (of_port == accepted.end() || end.process == kNoProcess) continue;
      auto& others = of_port->second;
      auto other = std::ranges::lower_bound(others, end.first_ns, {}, &End::first_ns);
      for (size_t looks = 0; other != others.end() && (*other)->first_ns <= end.last_ns && looks < kLooksMax; ++looks) {
        if (fits(end, **other)) {
          pair(end, **other);
          break;
        }
        ++other;
      }
    }
  }

  bool fits(const End& end, const End& other) const {
    return peers_[other.connection] == kNone && other.process != kNoProcess && other.process != end.process &&
           end.sent > 0 && end.sent == other.received && end.received == other.sent;
  }

  static constexpr size_t kLooksMax = 256;

  const Trace& trace_;
  const std::vector<End> ends_;
  std::vector<uint32_t> peers_;
};

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
  return Peers(trace).run();
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
