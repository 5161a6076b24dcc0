// usage: joined_backend PORT WORKERS
//
// A service behind another one. Each of its workers takes a connection, waits for another machine for 10 ms, answers, and closes the
// connection: it serves 100 requests a second for each worker.
#include <thread>
#include <vector>

#include "http.h"

namespace {

void work(int listener) {
  char buffer[4096];
  for (;;) {
    const int connection = accept_one(listener);
    if (connection < 0) continue;
    std::string received;
    int id = 0;
    for (ssize_t count; !take_request(received, id) && (count = read(connection, buffer, sizeof buffer)) > 0;)
      received.append(buffer, static_cast<size_t>(count));
    remote_call(10);
    send_answer(connection, summary(page("row", id, 100)));
    close(connection);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  end_soon();
  const int listener = listen_on(atoi(words[1]));
  std::vector<std::thread> workers;
  for (int i = 0; i < atoi(words[2]); ++i) workers.emplace_back(work, listener);
  for (std::thread& worker : workers) worker.join();
}
