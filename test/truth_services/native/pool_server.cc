// A thread for each connection, and four connections to a database on another machine, handed out under a mutex: who finds none waits at
// a condition until one comes back. Changed: ten connections.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "http.h"

namespace {

class DatabaseConnections {
 public:
  explicit DatabaseConnections(int count) {
    for (int i = 0; i < count; ++i) free_.push_back(i);
  }

  int take() {
    std::unique_lock<std::mutex> lock(mutex_);
    some_.wait(lock, [&] { return !free_.empty(); });
    const int connection = free_.front();
    free_.pop_front();
    return connection;
  }

  void give_back(int connection) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      free_.push_back(connection);
    }
    some_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<int> free_;
};

std::string ask(DatabaseConnections& database, int id) {
  const int connection = database.take();
  remote_call(7 + id % 3);
  std::string row = summary(page("row", id, 200));
  database.give_back(connection);
  return row;
}

void serve(int connection, DatabaseConnections& database) {
  std::string received;
  char buffer[4096];
  for (int id;;) {
    if (!take_request(received, id)) {
      const ssize_t count = read(connection, buffer, sizeof buffer);
      if (count <= 0) break;
      received.append(buffer, static_cast<size_t>(count));
      continue;
    }
    const std::string row = ask(database, id);
    if (!send_answer(connection, summary(page("item", id, 1500 + id % 5 * 300)) + " " + row)) break;
  }
  close(connection);
}

}  // namespace

int main(int count, char** words) {
  const Arguments options = arguments(count, words, {"base", "ten-connections"});
  DatabaseConnections database(options.variant == "base" ? 4 : 10);
  const int listener = listen_on(options.port);
  for (;;) {
    const int connection = accept_one(listener);
    if (connection < 0) continue;
    std::thread(serve, connection, std::ref(database)).detach();
  }
}
