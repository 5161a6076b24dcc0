// A gateway before another service, each a process: a thread for each client's connection, which keeps a connection to the other one. That
// is epoll_server, whose two workers are too few. Changed: it has twelve.
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>

#include <thread>

#include "http.h"

namespace {

// Starts epoll_server, from the folder where this program lies; its port. It ends with this process.
int start_backend(const Arguments& options) {
  int words[2];
  check(pipe2(words, O_CLOEXEC), "pipe");
  char self[PATH_MAX] = {};
  check(static_cast<int>(readlink("/proc/self/exe", self, sizeof self - 1)), "readlink");
  start_program(std::string(dirname(self)) + "/truth_services_epoll_server",
                {options.variant, "0", std::to_string(options.seconds)}, words[1]);
  close(words[1]);
  FILE* lines = fdopen(words[0], "r");
  int port = 0;
  if (lines == nullptr || fscanf(lines, "listening on 127.0.0.1:%d", &port) != 1) {
    fprintf(stderr, "the backend did not come up\n");
    exit(1);
  }
  return port;  // the pipe stays open: the backend may write more
}

// The body of the answer; empty if there is none.
std::string ask(int backend, int id) {
  const std::string request = "GET /item?id=" + std::to_string(id) + " HTTP/1.1\r\nHost: backend\r\n\r\n";
  if (send(backend, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return {};
  std::string received;
  char buffer[4096];
  for (;;) {
    const size_t head = received.find("\r\n\r\n"), length = received.find("Content-Length: ");
    if (head != std::string::npos && length < head) {
      const auto bytes = static_cast<size_t>(atoi(received.c_str() + length + strlen("Content-Length: ")));
      if (received.size() >= head + 4 + bytes) return received.substr(head + 4, bytes);
    }
    const ssize_t count = read(backend, buffer, sizeof buffer);
    if (count <= 0) return {};
    received.append(buffer, static_cast<size_t>(count));
  }
}

void serve(int connection, int backend_port) {
  const int backend = check(connect_to(backend_port), "connect");
  std::string received;
  char buffer[4096];
  for (int id;;) {
    if (!take_request(received, id)) {
      const ssize_t count = read(connection, buffer, sizeof buffer);
      if (count <= 0) break;
      received.append(buffer, static_cast<size_t>(count));
      continue;
    }
    const std::string item = ask(backend, id);
    if (item.empty() || !send_answer(connection, summary(page("frame", id, 800)) + " " + item)) break;
  }
  close(backend);
  close(connection);
}

}  // namespace

int main(int count, char** words) {
  const Arguments options = arguments(count, words, {"base", "more-workers"});
  const int backend_port = start_backend(options);
  const int listener = listen_on(options.port);
  for (;;) {
    const int connection = accept_one(listener);
    if (connection >= 0) std::thread(serve, connection, backend_port).detach();
  }
}
