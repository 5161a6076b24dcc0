// A journal that prints each entry's fields into its line while it holds the mutex, then writes the line. Twin: prints
// before.
#include <fcntl.h>
#include <unistd.h>

#include <mutex>

#include "work.h"

namespace {

class Journal {
 public:
  explicit Journal(const char* path) : file_(open(path, O_WRONLY | O_CLOEXEC)) {}
  ~Journal() { close(file_); }
  void entry(int id, double x, double y, const char* what) {
    char line[1024];
    if (twin) {
      const int length = print(line, id, x, y, what);
      std::lock_guard lock(mutex_);
      append(line, length);
    } else {
      std::lock_guard lock(mutex_);
      const int length = print(line, id, x, y, what);
      append(line, length);
    }
  }
  uint64_t bytes() const { return bytes_; }

 private:
  static int print(char* line, int id, double x, double y, const char* what) {
    int at = 0;
    for (int i = 0; i < 10; ++i)
      at += snprintf(line + at, 100, "%06d %-9s %10.4f %10.4f %g;", id + i, what, x * i, y + i, x / (i + 1));
    return at;
  }
  void append(const char* line, int length) {
    if (write(file_, line, static_cast<size_t>(length)) != length) return;
    bytes_ += static_cast<uint64_t>(length);
  }
  std::mutex mutex_;
  int file_;
  uint64_t bytes_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Journal journal("/dev/null");
    run_threads(5, [&](int number) {
      for (int i = 0; i < 8000; ++i) {
        if (compute(static_cast<uint64_t>(i), 10) == 0) return;
        journal.entry(i, 1.7 * number, 0.3 * i, number % 2 == 0 ? "arrival" : "departure");
      }
    });
    return journal.bytes();
  });
}
