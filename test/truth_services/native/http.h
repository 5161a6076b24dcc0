// What the native services share: their arguments, a listening socket of the loopback, as much of HTTP as a client of a benchmark
// speaks, pages to compute, and their end.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <initializer_list>
#include <string>
#include <vector>

struct Arguments {
  std::string variant;
  int port;     // 0: one that is free
  int seconds;  // after which the service ends whatever happens
};

// By SIGTERM, and after so many seconds whatever happens.
inline void end_soon(int seconds = 600) {
  alarm(static_cast<unsigned>(seconds));
  signal(SIGALRM, [](int) { _exit(0); });
  signal(SIGTERM, [](int) { _exit(0); });
}

inline Arguments arguments(int count, char** words, std::initializer_list<const char*> variants) {
  bool known = false;
  for (const char* variant : variants) known = known || (count > 1 && strcmp(words[1], variant) == 0);
  const int seconds = count > 3 ? atoi(words[3]) : 600;
  if (!known || count < 3 || count > 4 || seconds < 1 || seconds > 3600) {
    fprintf(stderr, "usage: %s VARIANT PORT [SECONDS]; variants:", words[0]);
    for (const char* variant : variants) fprintf(stderr, " %s", variant);
    fprintf(stderr, "\n");
    exit(2);
  }
  end_soon(seconds);
  return {words[1], atoi(words[2]), seconds};
}

inline int check(int result, const char* what) {
  if (result < 0) {
    perror(what);
    exit(1);
  }
  return result;
}

inline int listen_on(int port) {
  const int listener = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
  check(listen(listener, 256), "listen");
  socklen_t size = sizeof address;
  check(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

// -1: nobody listens.
inline int connect_to(int port) {
  const int connection = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    close(connection);
    return -1;
  }
  const int yes = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return connection;
}

// A program of its own, the words behind its path, with its standard output where `output` says (-1: where ours goes). It ends with this
// process.
inline void start_program(const std::string& path, std::initializer_list<std::string> words, int output = -1) {
  if (check(fork(), "fork") > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments{const_cast<char*>(path.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  _exit(127);
}

inline int accept_one(int listener, int flags = 0) {
  const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | flags);
  if (connection < 0) return -1;
  const int yes = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return connection;
}

// Takes the first request out of what a connection has sent; false if it is not all there. A request without an id has -1.
inline bool take_request(std::string& received, int& id) {
  const size_t end = received.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const size_t query = received.find("?id=");
  id = query < end ? atoi(received.c_str() + query + 4) : -1;
  received.erase(0, end + 4);
  return true;
}

inline bool send_answer(int connection, const std::string& text) {
  std::string out = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(text.size()) +
                    "\r\n\r\n" + text;
  for (size_t sent = 0; sent < out.size();) {
    const ssize_t count = send(connection, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

// A text about an item with so many rows: about 0.1 us of computing each.
inline std::string page(const char* title, int id, int rows) {
  std::string out;
  char row_text[96];
  for (int row = 0; row < rows; ++row) {
    const unsigned value = static_cast<unsigned>(id * 31 + row * 17) * 2654435u;
    out.append(row_text, static_cast<size_t>(snprintf(row_text, sizeof row_text, "<tr><td>%s %d</td><td>%u</td></tr>\n",
                                                      title, row, value >> 8)));
  }
  return out;
}

// Its length and a checksum.
inline std::string summary(const std::string& text) {
  uint64_t sum = 1469598103934665603u;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char out[48];
  return {out, static_cast<size_t>(
                   snprintf(out, sizeof out, "%zu-%016llx", text.size(), static_cast<unsigned long long>(sum)))};
}

// A service of another machine: the thread waits for its answer.
inline void remote_call(int milliseconds) {
  usleep(static_cast<useconds_t>(milliseconds) * 1000);
}
