// A thread for each connection, and a journal of what was asked for, kept by another machine. One mutex guards the journal and the
// counts: whoever has it formats the entry and sends it. Changed: only the counts are under the mutex.
#include <map>
#include <mutex>
#include <thread>

#include "http.h"

namespace {

class Journal {
 public:
  explicit Journal(bool short_section) : short_section_(short_section) {}

  std::string enter(int id) {
    std::unique_lock<std::mutex> lock(mutex_);
    ++counts_[id % kCounts];
    if (short_section_) lock.unlock();
    return send_entry(id);
  }

 private:
  static constexpr int kCounts = 64;

  static std::string send_entry(int id) {
    std::string entry = summary(page("entry", id, 1200 + id % 7 * 100));
    remote_call(3);
    return entry;
  }

  const bool short_section_;
  std::mutex mutex_;
  std::map<int, long> counts_;
};

void serve(int connection, Journal& journal) {
  std::string received;
  char buffer[4096];
  for (int id;;) {
    if (!take_request(received, id)) {
      const ssize_t count = read(connection, buffer, sizeof buffer);
      if (count <= 0) break;
      received.append(buffer, static_cast<size_t>(count));
      continue;
    }
    const std::string entry = journal.enter(id);
    if (!send_answer(connection, summary(page("item", id, 3000 + id % 5 * 500)) + " " + entry)) break;
  }
  close(connection);
}

}  // namespace

int main(int count, char** words) {
  const Arguments options = arguments(count, words, {"base", "short-section"});
  Journal journal(options.variant == "short-section");
  const int listener = listen_on(options.port);
  for (;;) {
    const int connection = accept_one(listener);
    if (connection < 0) continue;
    std::thread(serve, connection, std::ref(journal)).detach();
  }
}
