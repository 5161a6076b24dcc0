// A saver takes a copy of a table and writes it to a file, all under the table's mutex; others go on changing the
// table. Twin: it writes after the release.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "work.h"

namespace {

class Table {
 public:
  Table() : values_(4000, 1) {}
  void change(uint64_t key, long by) {
    std::lock_guard lock(mutex_);
    long& value = values_[key % values_.size()];
    for (int i = 0; i < 2000; ++i) value = value * 5 + by;
    ++changes_;
  }
  void save(int file) {
    std::string text;
    std::unique_lock lock(mutex_);
    for (const long value : values_) text.append(reinterpret_cast<const char*>(&value), sizeof value);
    if (twin) lock.unlock();
    store(file, text);
  }
  long changes() const { return changes_; }

 private:
  static void store(int file, const std::string& text) {
    for (size_t at = 0; at < text.size(); at += 8000) {
      if (pwrite(file, text.data() + at, std::min<size_t>(8000, text.size() - at), static_cast<off_t>(at)) < 0) abort();
      usleep(300);  // a slow disk
    }
  }
  std::mutex mutex_;
  std::vector<long> values_;
  long changes_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Table table;
    std::atomic<int> running = 3;
    char path[] = "/tmp/unseen-snapshot-XXXXXX";
    const int file = mkstemp(path);
    unlink(path);
    std::thread saver([&] {
      while (running > 0) {
        table.save(file);
        usleep(2000);
      }
    });
    run_threads(3, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 9;
      for (int i = 0; i < 12000; ++i) {
        table.change(next_random(random), i);
        if (compute(random, 20) == 0) return;
      }
      --running;
    });
    saver.join();
    close(file);
    return static_cast<uint64_t>(table.changes());
  });
}
