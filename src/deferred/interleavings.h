// Interleavings: runs a few small threads under every order of their accesses to shared state, and fails where one
// order breaks a promise or leaves a thread asleep for ever. For tests of protocols that are written against a `Sync`
// (progress.h).
//
// The threads are fibers. Every access to an Atomic or a Mutex is a point where any fiber that is not asleep may go on;
// a depth-first search replays the test with each next choice. A fiber's own state follows from what it has read so
// far. So these histories and the shared values are the state of the whole; a state that was met before is not searched
// again, which keeps the search complete and makes it small.
//
// Memory is sequentially consistent. That is all there is to search for code whose atomic accesses all are (the default
// of std::atomic) and whose other accesses are under a lock, as ThreadSanitizer checks on the real one. GenMC and
// CDSChecker search weak memory orders, of which there are none here, and do not know std::atomic::wait; relacy neither
// knows it nor takes code that is not written in its own macros. None of them is packaged where this project builds.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace contrafact::deferred {

class Interleavings {
 public:
  struct Found {
    uint64_t executions = 0;
    uint64_t states = 0;
    std::string failure;  // empty: every order keeps the promises
  };
  // What one execution consists of. `threads` share `state`, which lives as long as the execution.
  struct Program {
    std::shared_ptr<void> state;
    std::vector<std::function<void()>> threads;
    std::function<bool()> holds_at_the_end = [] { return true; };
  };

  // Stops at the first failure.
  static Found search(const std::function<Program()>& make) {
    Found found;
    std::unordered_set<std::string> met;
    std::vector<Choice> path;
    do {
      Interleavings execution(path, met);
      current() = &execution;
      execution.run(make());
      current() = nullptr;
      ++found.executions;
      found.failure = execution.failure_;
    } while (found.failure.empty() && next(path));
    found.states = met.size();
    return found;
  }

  // ---- for the fibers

  static Interleavings*& current() {
    static Interleavings* execution = nullptr;
    return execution;
  }
  // Any fiber may go on here. Nothing where no fiber runs: before the first and after the last.
  void point() {
    if (in_fiber_) to_scheduler();
  }
  // The calling fiber goes on only after a wake(object).
  void sleep_on(const void* object) {
    fibers_[running_]->asleep_on = object;
    to_scheduler();
  }
  void wake(const void* object) {
    for (auto& fiber : fibers_) {
      if (fiber->asleep_on == object) fiber->asleep_on = nullptr;
    }
  }
  // What the calling fiber has just read; its state depends on it.
  void note(uint64_t value) {
    if (!in_fiber_) return;
    fibers_[running_]->history.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  // All that the calling fiber's state depends on from here on.
  void forget(uint64_t all_but) {
    fibers_[running_]->history.clear();
    note(all_but);
  }
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  void add_shared(const std::function<uint64_t()>& value) { shared_.push_back(value); }

 private:
  static constexpr size_t kStackBytes = 64 << 10;

  struct Choice {
    size_t taken, options;
  };
  struct Fiber {
    ucontext_t context;
    std::function<void()> body;
    std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    std::string history;
    const void* asleep_on = nullptr;
    bool ended = false;
  };

  Interleavings(std::vector<Choice>& path, std::unordered_set<std::string>& met) : path_(path), met_(met) {}

  static bool next(std::vector<Choice>& path) {
    while (!path.empty() && path.back().taken + 1 == path.back().options) path.pop_back();
    if (path.empty()) return false;
    ++path.back().taken;
    return true;
  }

  void run(Program program) {
    for (auto& body : program.threads) start(std::move(body));
    for (size_t depth = 0; failure_.empty(); ++depth) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < fibers_.size(); ++i) {
        if (!fibers_[i]->ended && !fibers_[i]->asleep_on) ready.push_back(i);
      }
      if (ready.empty()) return finish(program);
      if (depth == path_.size()) {
        if (!met_.insert(state()).second) return;
        path_.push_back({0, ready.size()});
      }
      running_ = ready[path_[depth].taken];
      fibers_[running_]->history.push_back('.');
      in_fiber_ = true;
      swapcontext(&scheduler_, &fibers_[running_]->context);
      in_fiber_ = false;
    }
  }

  void finish(const Program& program) {
    for (const auto& fiber : fibers_) {
      if (!fiber->ended) return fail("a thread sleeps for ever");
    }
    if (!program.holds_at_the_end()) fail("the end is not what it should be");
  }

  void start(std::function<void()> body) {
    auto fiber = std::make_unique<Fiber>();
    fiber->body = std::move(body);
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack.get();
    fiber->context.uc_stack.ss_size = kStackBytes;
    fiber->context.uc_link = &scheduler_;
    makecontext(&fiber->context, fiber_main, 0);
    fibers_.push_back(std::move(fiber));
  }
  static void fiber_main() {
    Interleavings& execution = *current();
    Fiber& fiber = *execution.fibers_[execution.running_];
    fiber.body();
    fiber.ended = true;
  }
  void to_scheduler() { swapcontext(&fibers_[running_]->context, &scheduler_); }

  std::string state() const {
    std::string state;
    for (const auto& fiber : fibers_) {
      state += fiber->history;
      state += fiber->ended ? '!' : fiber->asleep_on ? 'z' : '|';
    }
    for (const auto& value : shared_) {
      const uint64_t now = value();
      state.append(reinterpret_cast<const char*>(&now), sizeof(now));
    }
    return state;
  }

  std::vector<Choice>& path_;
  std::unordered_set<std::string>& met_;
  ucontext_t scheduler_{};
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<std::function<uint64_t()>> shared_;
  size_t running_ = 0;
  bool in_fiber_ = false;
  std::string failure_;
};

// std::mutex and std::atomic of fibers. Made while an execution is current.
struct InterleavedSync {
  class Mutex {
   public:
    Mutex() {
      Interleavings::current()->add_shared([this] { return uint64_t{locked_}; });
    }
    void lock() {
      Interleavings& execution = *Interleavings::current();
      execution.point();
      while (locked_) execution.sleep_on(this);
      locked_ = true;
    }
    void unlock() {
      Interleavings& execution = *Interleavings::current();
      locked_ = false;
      execution.wake(this);
    }

   private:
    bool locked_ = false;
  };

  template <typename T>
  class Atomic {
   public:
    Atomic(T value) : value_(value) {
      Interleavings::current()->add_shared([this] { return static_cast<uint64_t>(value_); });
    }
    T load() const {
      Interleavings::current()->point();
      Interleavings::current()->note(static_cast<uint64_t>(value_));
      return value_;
    }
    void store(T value) {
      Interleavings::current()->point();
      value_ = value;
    }
    // The value before is not returned, so that a fiber's state does not depend on it.
    void fetch_add(T n) {
      Interleavings::current()->point();
      value_ = static_cast<T>(value_ + n);
    }
    void fetch_sub(T n) {
      Interleavings::current()->point();
      value_ = static_cast<T>(value_ - n);
    }
    // In one step; the value before.
    template <typename Change>
    T update(Change change) {
      const T before = load();
      value_ = change(before);
      return before;
    }
    // REQUIRES: one wait in each thread's code, and nothing that was read before it is used after it.
    void wait(T old) const {
      while (load() == old) Interleavings::current()->sleep_on(this);
      Interleavings::current()->forget(UINT64_MAX);
    }
    void notify_all() {
      Interleavings::current()->point();
      Interleavings::current()->wake(this);
    }

   private:
    T value_;
  };
};

}  // namespace contrafact::deferred
