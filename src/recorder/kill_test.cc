// A recorded program that is killed loses at most what it appended in the last 100 ms, and what the file holds is
// valid.
//
// The program is a forked child whose threads append through the plain C layout, as injected Java code does, and
// publish in shared memory what they have appended. On a busy machine nothing runs on time: a thread of the child that
// only sleeps measures how late it wakes, and the test allows for that.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <thread>

#include "base/clock.h"
#include "format/testing.h"
#include "recorder/recorder.h"

namespace contrafact::recorder {
namespace {

using format::Collected;
using format::PlainEvent;

constexpr uint32_t kThreads = 3;
constexpr int64_t kPromisedNs = 100'000'000;

struct Published {
  struct alignas(64) PerThread {
    std::atomic<uint32_t> thread;
    std::atomic<uint32_t> appended;
    std::atomic<int64_t> first_ns;
    std::atomic<int64_t> last_ns;
  } threads[kThreads];
  std::atomic<int64_t> late_ns;  // how late a sleeper woke at worst
};

// Word by word what the injected Java does.
void append_like_java(contrafact_buffer*& buffer, uint32_t own_thread, uint32_t logical, uint16_t kind, int64_t time_ns,
                      uint32_t operand) {
  uint32_t n = buffer->committed;
  if (n >= buffer->capacity) {
    contrafact_buffer* next = Recorder::swap(reinterpret_cast<Client*>(buffer->owner));
    if (!next) return;
    buffer = next;
    n = buffer->committed;
    if (buffer->logical_thread != own_thread) abort();
  }
  auto* ids = reinterpret_cast<uint16_t*>(buffer->ids);
  auto* words = reinterpret_cast<uint32_t*>(buffer->column[1]);
  if (buffer->logical_thread != logical) {
    ids[n++] = CONTRAFACT_CALL_SWITCH_THREAD;
    words[buffer->cursor[1]++] = logical;
    buffer->logical_thread = logical;
  }
  ids[n++] = kind;
  reinterpret_cast<int64_t*>(buffer->column[0])[buffer->cursor[0]++] = time_ns;
  words[buffer->cursor[1]++] = operand;
  __atomic_store_n(&buffer->committed, n, __ATOMIC_RELEASE);
}

void produce(Recorder& recorder, uint32_t t, Published::PerThread& published) {
  Client* client = recorder.attach({.name = recorder.intern("worker"), .os_tid = static_cast<uint64_t>(gettid())});
  const uint32_t own = Recorder::thread_of(client).value;
  const uint32_t logical = t == 0 ? recorder.add_thread({.kind = format::ThreadKind::virtual_thread}).value : own;
  published.thread = logical;
  contrafact_buffer* buffer = client->buffer();
  std::mt19937 random(t);
  for (uint32_t i = 0;;) {
    for (const uint32_t burst = i + random() % 100; i < burst; ++i) {
      const int64_t now_ns = base::monotonic_ns();
      append_like_java(buffer, own, logical, static_cast<uint16_t>(EventKind::method_enter), now_ns, i);
      if (i == 0) published.first_ns.store(now_ns, std::memory_order_relaxed);
      published.last_ns.store(now_ns, std::memory_order_relaxed);
      published.appended.store(i + 1, std::memory_order_release);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 1500));
  }
}

[[noreturn]] void child(const std::string& path, Published& published) {
  auto recorder = Recorder::start({.output_path = path});
  if (!recorder) _exit(1);
  for (uint32_t t = 0; t < kThreads; ++t) {
    std::thread([&, t] { produce(**recorder, t, published.threads[t]); }).detach();
  }
  for (;;) {
    constexpr int64_t kSleepNs = 10'000'000;
    const int64_t before_ns = base::monotonic_ns();
    std::this_thread::sleep_for(std::chrono::nanoseconds(kSleepNs));
    const int64_t late_ns = base::monotonic_ns() - before_ns - kSleepNs;
    if (late_ns > published.late_ns) published.late_ns = late_ns;
  }
}

// How much of the end of `thread`'s events is missing, in time.
int64_t lost_ns(const Collected& got, const Published::PerThread& published) {
  const uint32_t appended = published.appended;
  uint32_t next = 0;
  int64_t last_ns = published.first_ns;
  for (const PlainEvent& event : got.events) {
    if (event.thread.value != published.thread || event.source != format::RunSource::program) continue;
    EXPECT_EQ(event.kind, EventKind::method_enter);
    EXPECT_EQ(event.operands[0], next) << "a hole";
    EXPECT_GE(event.time_ns, last_ns);
    last_ns = event.time_ns;
    ++next;
  }
  // The thread may have appended one event more than it published.
  EXPECT_LE(next, appended + 1);
  if (next >= appended) return 0;
  return published.last_ns - last_ns;
}

TEST(KilledProgram, LosesAtMostTheLastMomentsAndLeavesAValidFile) {
  const std::string path = testing::TempDir() + "/kill_test." + std::to_string(getpid()) + ".cft";
  void* memory = mmap(nullptr, sizeof(Published), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::mt19937 random(11);
  int64_t worst_ns = 0, worst_late_ns = 0;
  uint64_t events = 0;
  for (int round = 0; round < 12; ++round) {
    auto& published = *new (memory) Published{};
    const pid_t pid = fork();
    if (pid == 0) child(path, published);
    while (published.threads[0].appended < 10 || published.threads[1].appended < 10 ||
           published.threads[2].appended < 10) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 250'000));
    kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    auto reader = format::Reader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    Collected got;
    const format::ReadLoss loss = reader->read(got);
    EXPECT_TRUE(loss.cut_off);
    EXPECT_EQ(loss.blocks_damaged + loss.blocks_missing, 0u);
    // Between an event and its place in the file the drainer waits for a core up to three times: pass, pass, write.
    const int64_t allowed_ns = kPromisedNs + 3 * published.late_ns;
    for (const auto& thread : published.threads) {
      // Nothing of the thread at all: it had not been running for long.
      if (!got.threads.contains(thread.thread)) continue;
      const int64_t lost = lost_ns(got, thread);
      EXPECT_LE(lost, allowed_ns);
      worst_ns = std::max(worst_ns, lost);
    }
    worst_late_ns = std::max<int64_t>(worst_late_ns, published.late_ns);
    events += got.events.size();
  }
  fmt::print("12 kills, {} events read: at most {:.1f} ms lost (a sleeper was up to {:.1f} ms late)\n", events,
             static_cast<double>(worst_ns) / 1e6, static_cast<double>(worst_late_ns) / 1e6);
  EXPECT_GT(events, 1000u);
  munmap(memory, sizeof(Published));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace contrafact::recorder
