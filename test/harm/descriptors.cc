// Programs that do as they please with their descriptors: the low numbers are theirs, and whatever they close or
// overwrite, they overwrite nothing but their own.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harm.h"

using namespace harm;

namespace {

constexpr int kLow = 3, kHigh = 1024;

// The numbers of the open descriptors, but for the one that lists them.
std::vector<int> open_descriptors() {
  std::vector<int> found;
  DIR* folder = opendir("/proc/self/fd");
  expect(folder != nullptr, "/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    const int number = atoi(entry->d_name);
    if (number != dirfd(folder)) found.push_back(number);
  }
  closedir(folder);
  std::sort(found.begin(), found.end());
  return found;
}

int listing() {
  for (const int number : open_descriptors()) dprintf(1, "open at start: %d\n", number);
  sections(100'000);
  for (const int number : open_descriptors()) dprintf(1, "open later: %d\n", number);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(1000L)), nullptr);
  for (const int number : open_descriptors()) dprintf(1, "open after a thread: %d\n", number);
  return 0;
}

int lowest() {
  dprintf(1, "first: %d\n", open("/dev/null", O_RDONLY));
  dprintf(1, "second: %d\n", open("/dev/null", O_RDONLY));
  int ends[2];
  expect(pipe(ends) == 0, "pipe");
  dprintf(1, "pipe: %d %d\n", ends[0], ends[1]);
  return 0;
}

// Its own file at every free number, then as many events as it takes for a recorder to write: the file holds what was
// written here.
int overwrite_all() {
  const int own = open("own", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  expect(own >= 0, "own");
  for (int number = kLow; number < kHigh; ++number) {
    if (number != own) expect(dup2(own, number) == number, "dup2");
  }
  for (int round = 0; round < 50; ++round) {
    sections(20'000);
    dprintf(own, "line %d\n", round);
  }
  return 0;
}

int close_each() {
  for (int number = kLow; number < kHigh; ++number) close(number);
  sections(300'000);
  dprintf(1, "opened: %d\n", open("own", O_WRONLY | O_CREAT, 0600));
  sections(300'000);
  return 4;
}

int close_from() {
  closefrom(kLow);
  sections(300'000);
  dprintf(1, "opened: %d\n", open("own", O_WRONLY | O_CREAT, 0600));
  sections(300'000);
  return 5;
}

int close_all() {
  expect(close_range(kLow, ~0U, 0) == 0, "close_range");
  sections(300'000);
  dprintf(1, "opened: %d\n", open("own", O_WRONLY | O_CREAT, 0600));
  sections(300'000);
  return 6;
}

int close_all_bare() {
  expect(bare_call(SYS_close_range, kLow, ~0U, 0) == 0, "close_range");
  sections(300'000);
  dprintf(1, "opened: %d\n", open("own", O_WRONLY | O_CREAT, 0600));
  return 7;
}

volatile bool g_stop = false;

void* record_events(void*) {
  while (!g_stop) sections(100);
  return nullptr;
}

// Other threads record while each low number becomes the program's own file and is closed again, over and over.
int overwrite_in_a_loop() {
  pthread_t threads[2];
  for (pthread_t& thread : threads) thread = start(record_events);
  const int own = open("own", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  expect(own >= 0, "own");
  for (int round = 0; round < 4000; ++round) {
    for (int number = own + 1; number < 16; ++number) expect(dup2(own, number) == number, "dup2");
    expect(write(own, "x", 1) == 1, "write");
    for (int number = own + 1; number < 16; ++number) close(number);
  }
  g_stop = true;
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return 0;
}

// The same with some milliseconds between them.
int overwrite_slowly() {
  pthread_t thread = start(record_events);
  const int own = open("own", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  expect(own >= 0, "own");
  const timespec while_open{0, 30'000'000};
  for (int round = 0; round < 30; ++round) {
    for (int number = own + 1; number < 16; ++number) expect(dup2(own, number) == number, "dup2");
    for (int number = kLow; number < own; ++number) expect(dup2(own, number) == number, "dup2");
    expect(write(own, "x", 1) == 1, "write");
    nanosleep(&while_open, nullptr);
  }
  g_stop = true;
  pthread_join(thread, nullptr);
  return 0;
}

// As many files as may be open: those of a recorder would be too many.
int few(rlim_t most) {
  const rlimit limit{most, most};
  expect(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  int opened = 0;
  while (open("/dev/null", O_RDONLY) >= 0) ++opened;
  dprintf(1, "%d files could be opened: %s\n", opened, strerror(errno));
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(300'000L)), nullptr);
  sections(300'000);
  return 0;
}

// The standard descriptors closed: the next ones opened take their numbers.
int close_standard() {
  close(0);
  close(2);
  dprintf(1, "first: %d\n", open("own", O_RDWR | O_CREAT, 0600));
  dprintf(1, "second: %d\n", open("own2", O_RDWR | O_CREAT, 0600));
  sections(300'000);
  return write(2, "own2", 4) == 4 ? 0 : 1;
}

constexpr Case kCases[] = {
    {"listing", listing},
    {"lowest", lowest},
    {"overwrite_all", overwrite_all},
    {"close_each", close_each},
    {"close_from", close_from},
    {"close_all", close_all},
    {"close_all_bare", close_all_bare},
    {"overwrite_in_a_loop", overwrite_in_a_loop},
    {"overwrite_slowly", overwrite_slowly},
    {"four", [] { return few(4); }},
    {"three", [] { return few(3); }},
    {"close_standard", close_standard},
};

}  // namespace

int main(int count, char** arguments) {
  return run_case(kCases, std::size(kCases), count > 1 ? arguments[1] : "");
}
