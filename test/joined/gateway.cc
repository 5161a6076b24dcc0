// usage: joined_gateway PORT BACKEND_PORT [BACKEND WORKERS]
//
// A service with a thread for each of its clients' connections, which asks another one for each request, over a connection of its own. With
// the path of that one, it starts it as a process of its own first.
#include <thread>

#include "http.h"

namespace {

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

}  // namespace

int main(int count, char** words) {
  if (count != 3 && count != 5) return 2;
  end_soon();
  const int backend = atoi(words[2]);
  if (count == 5) start_program(words[3], {words[2], words[4]});
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
