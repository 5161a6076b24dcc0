// usage: joined_gateway PORT BACKEND_PORT [BACKEND WORKERS]
//
// A service with a thread for each of its clients' connections, which asks another one for each request, over a connection of its own. With
// the path of that one, it starts it as a process of its own first.
#include <sys/prctl.h>

#include <thread>

#include "http.h"

namespace {

int connect_to(int port) {
  const int connection = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return connection;
  close(connection);
  return -1;
}

// What the backend answers, to its end; empty if it does not.
std::string ask(int port, int id) {
  const int connection = connect_to(port);
  if (connection < 0) return {};
  const std::string request = "GET /row?id=" + std::to_string(id) + " HTTP/1.0\r\n\r\n";
  std::string answer;
  if (send(connection, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    char buffer[4096];
    for (ssize_t count; (count = read(connection, buffer, sizeof buffer)) > 0;)
      answer.append(buffer, static_cast<size_t>(count));
  }
  close(connection);
  return answer;
}

void serve(int connection, int backend) {
  std::string received;
  char buffer[4096];
  for (int id;;) {
    if (!take_request(received, id)) {
      const ssize_t count = read(connection, buffer, sizeof buffer);
      if (count <= 0) break;
      received.append(buffer, static_cast<size_t>(count));
      continue;
    }
    const std::string row = ask(backend, id);
    if (row.empty() || !send_answer(connection, summary(page("item", id, 500)) + " " + summary(row))) break;
  }
  close(connection);
}

// It ends with this process.
void start(char** words, int port) {
  const std::string at = std::to_string(port);
  if (check(fork(), "fork") > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  execl(words[0], words[0], at.c_str(), words[1], nullptr);
  _exit(127);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 && count != 5) return 2;
  end_soon();
  const int backend = atoi(words[2]);
  if (count == 5) start(words + 3, backend);
  for (int tries = 0, connection = -1; connection < 0 && tries < 500; ++tries) {
    usleep(20'000);
    if ((connection = connect_to(backend)) >= 0) close(connection);
  }
  const int listener = listen_on(atoi(words[1]));
  for (;;) {
    const int connection = accept_one(listener);
    if (connection >= 0) std::thread(serve, connection, backend).detach();
  }
}
