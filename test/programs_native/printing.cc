// Sections that print floating-point numbers and write them: instructions that are executed apart, and more accesses
// than a log holds.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static long written;

[[gnu::noinline]] static void entry(int file, double value) {
  char line[1024];
  pthread_mutex_lock(&journal);
  int length = 0;
  for (int i = 0; i < 10; ++i) length += snprintf(line + length, 90, "%10.4f %g;", value + i, value / (i + 1));
  written += write(file, line, static_cast<size_t>(length));
  pthread_mutex_unlock(&journal);
}

int main() {
  const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const auto run = [file] {
    for (int i = 0; i < 100; ++i) entry(file, 1.7 * i);
  };
  std::thread other(run);
  run();
  other.join();
  close(file);
  std::printf("%ld\n", written);
  return 0;
}
