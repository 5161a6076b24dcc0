// usage: paced PROTOCOL PORT PER_SECOND SECONDS SEED CONNECTIONS FILE
//
// An open loop over the protocols of servers that no open-loop client speaks: PROTOCOL is memcached, redis, mysql or
// ldap. Requests come at random (a Poisson process by SEED), PER_SECOND of them, whatever becomes of the last ones; each
// goes out on an idle connection, the one that was used last, and waits for one if there is none. Its time is that from when it was to come to
// the last byte of its answer. FILE has a request a line, taken in turn: as the protocol's own text (memcached, redis
// with spaces between words, SQL), or for ldap "BASE<tab>ATTRIBUTE<tab>VALUE". Prints JSON.
//
// It never sleeps: it has a core of its own, and a sleeping client would measure how long it takes to be woken.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "paced: %s\n", what.c_str());
  std::exit(1);
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A protocol: bytes of a request, and whether the bytes so far are a whole answer. An answer that is an error fails.
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual std::string request(const std::string& line) const = 0;
  virtual bool is_whole(std::string_view answer) const = 0;
  // Whether the server speaks first; then the client introduces itself, which is answered as a request is.
  virtual bool greets() const { return false; }
  virtual bool is_greeting(std::string_view) const { return false; }
  virtual std::string introduction() const { return {}; }
};

class Memcached : public Protocol {
 public:
  std::string request(const std::string& line) const override { return line + "\r\n"; }
  bool is_whole(std::string_view answer) const override {
    if (!answer.ends_with("\r\n")) return false;
    if (answer.find("ERROR") == 0) fail("the server answers " + std::string(answer));
    return answer.ends_with("END\r\n") || answer.ends_with("STORED\r\n");
  }
};

class Redis : public Protocol {
 public:
  std::string request(const std::string& line) const override {
    std::vector<std::string> words;
    for (size_t at = 0; at < line.size();) {
      const size_t end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return bytes;
  }
  bool is_whole(std::string_view answer) const override {
    size_t at = 0;
    return skip(answer, at);
  }

 private:
  static bool skip(std::string_view answer, size_t& at) {
    const size_t end = answer.find("\r\n", at);
    if (end == std::string_view::npos) return false;
    const char kind = answer[at];
    if (kind == '-') fail("the server answers " + std::string(answer.substr(at, end - at)));
    const long count = std::atol(std::string(answer.substr(at + 1, end - at - 1)).c_str());
    at = end + 2;
    if (kind == '$' && count >= 0) {
      at += static_cast<size_t>(count) + 2;
      return at <= answer.size();
    }
    for (long i = 0; kind == '*' && i < count; ++i) {
      if (!skip(answer, at)) return false;
    }
    return true;
  }
};

// Text queries, of a server that asks for no password.
class MySql : public Protocol {
 public:
  std::string request(const std::string& line) const override { return packet(0, "\3" + line); }
  bool is_whole(std::string_view answer) const override {
    constexpr size_t kEofMost = 9;
    int ends = 0;
    for (size_t at = 0, number = 0; at + 4 < answer.size() + 1; ++number) {
      const size_t bytes = size_at(answer, at);
      if (at + 4 + bytes > answer.size() || bytes == 0) return false;
      const auto first = static_cast<uint8_t>(answer[at + 4]);
      if (first == 0xff) fail("the server answers " + std::string(answer.substr(at + 7, bytes - 3)));
      if (number == 0 && first == 0) return true;
      if (first == 0xfe && bytes < kEofMost && ++ends == 2) return true;
      at += 4 + bytes;
    }
    return false;
  }
  bool greets() const override { return true; }
  bool is_greeting(std::string_view bytes) const override {
    return bytes.size() >= 4 && bytes.size() >= 4 + size_at(bytes, 0);
  }
  std::string introduction() const override {
    // CLIENT_PROTOCOL_41, CLIENT_CONNECT_WITH_DB, CLIENT_SECURE_CONNECTION, CLIENT_PLUGIN_AUTH
    const uint32_t can = 0x200 | 8 | 0x8000 | 0x80000, most = 1 << 24;
    std::string body(reinterpret_cast<const char*>(&can), 4);
    body.append(reinterpret_cast<const char*>(&most), 4);
    body += '\x21';
    body.append(23, '\0');
    body += std::string("root\0", 5) + std::string(1, '\0') + std::string("sbtest\0", 7);
    body += std::string("mysql_native_password\0", 22);
    return packet(1, body);
  }

 private:
  static size_t size_at(std::string_view bytes, size_t at) {
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[at + i])); };
    return byte(0) | byte(1) << 8 | byte(2) << 16;
  }
  static std::string packet(char number, const std::string& body) {
    const auto bytes = static_cast<uint32_t>(body.size());
    return std::string{static_cast<char>(bytes), static_cast<char>(bytes >> 8), static_cast<char>(bytes >> 16),
                       number} +
           body;
  }
};

// Searches of the whole tree below a base for an attribute's value; of what is found, no attributes are asked for.
class Ldap : public Protocol {
 public:
  std::string request(const std::string& line) const override {
    const size_t one = line.find('\t'), two = line.find('\t', one + 1);
    if (two == std::string::npos) fail("no request: " + line);
    const auto text = [](const std::string& value) { return element('\4', value); };
    const std::string filter = element('\xa3', text(line.substr(one + 1, two - one - 1)) + text(line.substr(two + 1)));
    const std::string search = text(line.substr(0, one)) + element('\x0a', "\2") +
                               element('\x0a', std::string(1, '\0')) + element('\2', std::string(1, '\0')) +
                               element('\2', std::string(1, '\0')) + element('\1', std::string(1, '\0')) + filter +
                               element('\x30', text("1.1"));
    return element('\x30', element('\2', "\1") + element('\x63', search));
  }
  bool is_whole(std::string_view answer) const override {
    constexpr char kDone = '\x65', kReference = '\x73', kEntry = '\x64';
    for (size_t at = 0; at < answer.size();) {
      size_t body = 0, bytes = 0;
      if (!open(answer, at, body, bytes) || body + bytes > answer.size()) return false;
      size_t inner = 0, inner_bytes = 0;
      if (!open(answer, body, inner, inner_bytes)) return false;
      const char kind = answer[inner + inner_bytes];
      if (kind == kDone) return true;
      if (kind != kEntry && kind != kReference) fail("the server answers with what is no search's result");
      at = body + bytes;
    }
    return false;
  }

 private:
  static std::string element(char tag, const std::string& body) {
    const size_t bytes = body.size();
    if (bytes < 128) return std::string{tag, static_cast<char>(bytes)} + body;
    return std::string{tag, '\x82', static_cast<char>(bytes >> 8), static_cast<char>(bytes)} + body;
  }
  static bool open(std::string_view from, size_t at, size_t& body, size_t& bytes) {
    if (at + 2 > from.size()) return false;
    const auto first = static_cast<uint8_t>(from[at + 1]);
    body = at + 2, bytes = first;
    if (first < 128) return true;
    const size_t more = first & 127u;
    if (body + more > from.size()) return false;
    bytes = 0;
    for (size_t i = 0; i < more; ++i) bytes = bytes << 8 | static_cast<uint8_t>(from[body + i]);
    body += more;
    return true;
  }
};

std::unique_ptr<Protocol> protocol_of(std::string_view name) {
  if (name == "memcached") return std::make_unique<Memcached>();
  if (name == "redis") return std::make_unique<Redis>();
  if (name == "mysql") return std::make_unique<MySql>();
  if (name == "ldap") return std::make_unique<Ldap>();
  fail("no such protocol: " + std::string(name));
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) fail(std::string("send: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

template <typename IsWhole>
void receive_until(int socket, IsWhole is_whole) {
  std::string got;
  while (!is_whole(std::string_view(got))) {
    char bytes[4096];
    const ssize_t count = recv(socket, bytes, sizeof bytes, 0);
    if (count <= 0) fail("the server ended the connection");
    got.append(bytes, static_cast<size_t>(count));
  }
}

int connect_to(uint16_t port, const Protocol& protocol) {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail(std::string("connect: ") + std::strerror(errno));
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (protocol.greets()) {
    receive_until(made, [&](std::string_view bytes) { return protocol.is_greeting(bytes); });
    send_all(made, protocol.introduction());
    receive_until(made, [&](std::string_view bytes) { return protocol.is_whole(bytes); });
  }
  return made;
}

struct Connection {
  int socket = -1;
  int64_t due_ns = 0;  // of the request under way
  std::string answer;
};

double percentile_ms(const std::vector<int64_t>& sorted_ns, double share) {
  const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted_ns.size())));
  return static_cast<double>(sorted_ns[std::clamp<size_t>(at, 1, sorted_ns.size()) - 1]) / 1e6;
}

class OpenLoop {
 public:
  OpenLoop(const Protocol& protocol, std::vector<std::string> requests, uint16_t port, size_t connections)
      : protocol_(protocol), requests_(std::move(requests)), connections_(connections) {
    for (size_t i = 0; i < connections; ++i) {
      connections_[i].socket = connect_to(port, protocol);
      epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
      epoll_ctl(poll_, EPOLL_CTL_ADD, connections_[i].socket, &event);
      idle_.push_back(connections - 1 - i);
    }
  }

  void run(double per_second, double seconds, uint64_t seed) {
    std::mt19937_64 dice(seed);
    std::exponential_distribution<double> gap_s(per_second);
    const int64_t begin_ns = now_ns();
    double due_s = gap_s(dice);
    while (due_s < seconds || first_due_ < due_ns_.size() || idle_.size() < connections_.size()) {
      const int64_t at_ns = now_ns();
      for (; due_s < seconds && begin_ns + static_cast<int64_t>(due_s * 1e9) <= at_ns; due_s += gap_s(dice))
        due_ns_.push_back(begin_ns + static_cast<int64_t>(due_s * 1e9));
      while (first_due_ < due_ns_.size() && !idle_.empty()) ask();
      take_answers();
      if (at_ns - begin_ns > static_cast<int64_t>((seconds + kBeyondS) * 1e9)) fail("answers are missing");
    }
    seconds_ = static_cast<double>(now_ns() - begin_ns) / 1e9;
  }

  void print() {
    if (times_ns_.empty()) fail("no request came");
    std::ranges::sort(times_ns_);
    std::printf("{\"requests\": %zu, \"requests_per_s\": %.1f, \"p50_ms\": %.4f, \"p90_ms\": %.4f, \"p99_ms\": %.4f}\n",
                times_ns_.size(), static_cast<double>(times_ns_.size()) / seconds_, percentile_ms(times_ns_, 0.5),
                percentile_ms(times_ns_, 0.9), percentile_ms(times_ns_, 0.99));
  }

 private:
  static constexpr double kBeyondS = 30;

  void ask() {
    Connection& connection = connections_[idle_.back()];
    idle_.pop_back();
    connection.due_ns = due_ns_[first_due_++];
    send_all(connection.socket, requests_[next_++ % requests_.size()]);
  }

  void take_answers() {
    epoll_event events[64];
    const int count = epoll_wait(poll_, events, 64, 0);
    for (int i = 0; i < count; ++i) {
      const size_t number = events[i].data.u64;
      Connection& connection = connections_[number];
      char bytes[16384];
      const ssize_t got = recv(connection.socket, bytes, sizeof bytes, MSG_DONTWAIT);
      if (got <= 0) fail("the server ended a connection");
      connection.answer.append(bytes, static_cast<size_t>(got));
      if (!protocol_.is_whole(connection.answer)) continue;
      times_ns_.push_back(now_ns() - connection.due_ns);
      connection.answer.clear();
      idle_.push_back(number);
    }
  }

  const Protocol& protocol_;
  const std::vector<std::string> requests_;  // bytes
  std::vector<Connection> connections_;
  const int poll_ = epoll_create1(0);
  std::vector<size_t> idle_;
  std::vector<int64_t> due_ns_, times_ns_;
  size_t first_due_ = 0, next_ = 0;
  double seconds_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count != 8) fail("usage: paced PROTOCOL PORT PER_SECOND SECONDS SEED CONNECTIONS FILE");
  const std::unique_ptr<Protocol> protocol = protocol_of(words[1]);
  std::ifstream file(words[7]);
  std::vector<std::string> requests;
  for (std::string line; std::getline(file, line);) requests.push_back(protocol->request(line));
  if (requests.empty()) fail("no requests in the file");
  OpenLoop loop(*protocol, std::move(requests), static_cast<uint16_t>(std::atoi(words[2])),
                static_cast<size_t>(std::max(1, std::atoi(words[6]))));
  loop.run(std::atof(words[3]), std::atof(words[4]), static_cast<uint64_t>(std::atoll(words[5])));
  loop.print();
}
