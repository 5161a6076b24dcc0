// Processor: decides on which thread, and when, a filled buffer's calls are made. Those of the library are made by
// processors.h; an author of an analysis may write another:
//
//   class OnAThreadOfItsOwn : public Processor {
//     void process(FilledBuffer buffer) override {
//       std::thread([buffer = std::move(buffer)]() mutable { buffer.run(); }).detach();
//     }
//   };
//
// Thread safety: process() and help() are called from many threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "deferred/buffer.h"
#include "deferred/progress.h"

namespace contrafact::deferred {

class Client;

// The threads that may wait for a buffer.
class Waiters {
 public:
  Waiters(std::shared_ptr<Progress> progress, std::shared_ptr<Unfinished> unfinished)
      : progress_(std::move(progress)), unfinished_(std::move(unfinished)) {}
  // They look again whether there is something to help with.
  void nudge() {
    progress_->nudge();
    unfinished_->nudge();
  }

 private:
  std::shared_ptr<Progress> progress_;
  std::shared_ptr<Unfinished> unfinished_;
};

// The right, and the duty, to make a buffer's calls. Only moved; one thread at a time.
class FilledBuffer {
 public:
  // Made by the engine. REQUIRES: the buffer is numbered and nobody appends to it.
  explicit FilledBuffer(Buffer& buffer) : buffer_(&buffer) {}
  FilledBuffer(FilledBuffer&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  FilledBuffer& operator=(FilledBuffer&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  // A processor may forget a buffer, but its calls are made.
  ~FilledBuffer() { run(); }

  // Makes the calls and gives the buffer back. What they throw is counted. Nothing on later calls.
  void run();
  // As run(), but stops between two calls, after kCallsOfAPart at most, once a thread waits for this buffer's producer:
  // then false, and the rest is still to be run. For consumers of low priority, which other threads may keep from the
  // cores: such a consumer puts the buffer where help() finds it, and then nudges the waiters.
  [[nodiscard]] bool run_unless_awaited();
  // REQUIRES: it was not run.
  Waiters waiters() const;

  // 0 once it was run.
  uint32_t calls() const { return buffer_ ? buffer_->calls : 0; }
  // Which of the engine's clients filled it. Null once it was run.
  const Client* producer() const { return buffer_ ? buffer_->client : nullptr; }

  // For queues through Buffer::next_queued.
  Buffer* release() { return std::exchange(buffer_, nullptr); }

 private:
  Buffer* buffer_;
};

inline constexpr uint32_t kCallsOfAPart = 1024;

class Processor {
 public:
  // All buffers have been run. Ends the processor's threads.
  virtual ~Processor() = default;

  // Takes over a filled buffer, on its producer's thread. May wait for room, if the processor says so, but not when
  // inside_a_deferred_method(): the threads that could make room may be waiting for that method's thread.
  virtual void process(FilledBuffer buffer) = 0;
  // Runs one buffer that waits to be run, on the calling thread: one of `producer`, or of any if null. False if there
  // is none. Waiters call it, so that no checkpoint depends on another thread's turn on a core.
  virtual bool help(const Client* /*producer*/) { return false; }
  // Whether process() has always run the buffer when it returns. Then a producer needs no second buffer, and calls that
  // deferred methods defer are made after the buffer that is being run.
  virtual bool in_place() const { return false; }
  // CPU time that threads of its own have used so far.
  virtual uint64_t consumers_cpu_ns() const { return 0; }
};

// Whether the calling thread is running a buffer, of whatever environment.
bool inside_a_deferred_method();

}  // namespace contrafact::deferred
