// answer serve seen|unseen: answers HTTP requests on a port of the loopback that it prints, a thread for each connection, each after some
// 10 us of computing; ends at SIGTERM. `unseen`: connections are accepted by a bare system call, so that a recorder that interposes the C
// library's functions takes them for files: it records all else as ever, but neither connections nor what is received and sent over them.
// For "GET /mark" it prints what it has computed so far: "cpu USER_NS SYSTEM_NS".
//
// answer ask PORT CONNECTIONS WARM REQUESTS: asks one request after the other, on its connections in turn: some that warm the server up, then
// /mark, the requests, and /mark again.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int kSteps = 4000;  // of a random number generator: some 10 us

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "answer: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

void mark() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& time) {
    return time.tv_sec * INT64_C(1'000'000'000) + time.tv_usec * INT64_C(1000);
  };
  std::printf("cpu %" PRId64 " %" PRId64 "\n", ns(used.ru_utime), ns(used.ru_stime));
  std::fflush(stdout);
}

void serve(int connection) {
  char request[4096];
  size_t filled = 0;
  uint64_t random = 1;
  for (;;) {
    const ssize_t got = read(connection, request + filled, sizeof request - filled);
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
    if (!std::string_view(request, filled).ends_with("\r\n\r\n")) continue;
    if (std::string_view(request, filled).starts_with("GET /mark ")) mark();
    filled = 0;
    for (int i = 0; i < kSteps; ++i) random = random * UINT64_C(6364136223846793005) + 1;
    char answer[200];
    const int body = 20;
    const int bytes = std::snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%0*" PRIu64,
                                    body, body, random);
    if (write(connection, answer, static_cast<size_t>(bytes)) != bytes) break;
  }
  close(connection);
}

int listening(uint16_t& port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      listen(listener, 64) != 0 || getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) != 0)
    fail("listen");
  port = ntohs(address.sin_port);
  return listener;
}

int serve_all(bool is_seen) {
  uint16_t port = 0;
  const int listener = listening(port);
  std::printf("serving on %u\n", port);
  std::fflush(stdout);
  for (;;) {
    const int connection = is_seen ? accept4(listener, nullptr, nullptr, 0)
                                   : static_cast<int>(syscall(SYS_accept4, listener, nullptr, nullptr, 0));
    if (connection < 0) fail("accept");
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::thread(serve, connection).detach();
  }
}

int connect_to(uint16_t port) {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

// Whether the bytes so far are a whole answer, with a body of the length that its header says.
bool is_whole(std::string_view answer) {
  const size_t head = answer.find("\r\n\r\n");
  if (head == std::string_view::npos) return false;
  size_t at = answer.find("Content-Length: ");
  if (at == std::string_view::npos) at = answer.find("Content-length: ");
  if (at == std::string_view::npos || at > head) return true;
  return answer.size() >= head + 4 + static_cast<size_t>(std::atol(answer.data() + at + 16));
}

void ask(int connection, std::string_view path) {
  const std::string request = "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  if (send(connection, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    fail("send");
  char bytes[4096];
  std::string answer;
  while (!is_whole(answer)) {
    const ssize_t got = recv(connection, bytes, sizeof bytes, 0);
    if (got <= 0) fail("no answer");
    answer.append(bytes, static_cast<size_t>(got));
  }
  if (!answer.starts_with("HTTP/1.1 200")) fail(answer.c_str());
}

int ask_all(uint16_t port, int count, int warm, int requests) {
  std::vector<int> connections;
  for (int i = 0; i < count; ++i) connections.push_back(connect_to(port));
  const auto in_turn = [&](int number) { return connections[static_cast<size_t>(number % count)]; };
  for (int i = 0; i < warm; ++i) ask(in_turn(i), "/item");
  ask(connections[0], "/mark");
  for (int i = 0; i < requests; ++i) ask(in_turn(i), "/item");
  ask(connections[0], "/mark");
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "serve") return serve_all(std::string_view(words[2]) == "seen");
  if (count == 6 && std::string_view(words[1]) == "ask")
    return ask_all(static_cast<uint16_t>(std::atoi(words[2])), std::atoi(words[3]), std::atoi(words[4]),
                   std::atoi(words[5]));
  std::fprintf(stderr, "usage: answer serve seen|unseen\n       answer ask PORT CONNECTIONS WARM REQUESTS\n");
  return 2;
}
