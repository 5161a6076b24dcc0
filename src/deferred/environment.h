// Environment: what an analysis's author uses. A plain class's methods become deferred: a call through the environment
// only appends the method's number and its arguments to a buffer of the calling thread; the processor has the calls
// made later.
//
//   struct Profile { void call(uint32_t caller, uint32_t callee); void allocate(uint32_t method, uint64_t bytes); };
//   using ProfileEnvironment = Environment<&Profile::call, &Profile::allocate>;
//
//   auto environment = ProfileEnvironment::create(profile, synchronous());     // Result<std::unique_ptr<...>>
//   (*environment)->defer<&Profile::call>(1, 2);                               // from any thread
//
// Coalescing (Deferred Methods, section 3.5): a class with before_processing() or after_processing() has an object for
// each buffer that is being run at one time, used again later. The hooks are called before and after the calls of each
// buffer; after_processing() merges what the object gathered into what is shared.
//
// docs/deferred.md says more. Foreign producers attach to engine(): engine.h.
//
// Thread safety: everything but the end of the environment, which waits for all calls and during which none may be
// deferred.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "deferred/calls.h"
#include "deferred/engine.h"
#include "deferred/processors.h"

namespace contrafact::deferred {

template <typename T>
concept HasBeforeProcessing = requires(T& target) { target.before_processing(); };
template <typename T>
concept HasAfterProcessing = requires(T& target) { target.after_processing(); };

template <auto First, auto... Rest>
class Environment final : private BatchRunner {
 public:
  using Calls = deferred::Calls<First, Rest...>;
  using Target = typename Calls::Target;
  using Options = Engine::Options;
  using Maker = std::function<std::unique_ptr<Target>()>;

  // All calls are made on `target`, which must outlive the environment; by several threads at once where several
  // threads run buffers, so its methods must be thread-safe then.
  static base::Result<std::unique_ptr<Environment>> create(Target& target, std::unique_ptr<Processor> processor,
                                                           const Options& options = {}) {
    static_assert(!HasBeforeProcessing<Target> && !HasAfterProcessing<Target>,
                  "a class with before_processing or after_processing gathers in itself, so that each buffer needs an "
                  "object of its own: use create_coalescing");
    return finish(std::unique_ptr<Environment>(new Environment(&target, nullptr)), std::move(processor), options);
  }
  // Each buffer is run on an object that no other buffer uses meanwhile. `make` is called when there are too few, by
  // the thread that needs one.
  static base::Result<std::unique_ptr<Environment>> create_coalescing(Maker make, std::unique_ptr<Processor> processor,
                                                                      const Options& options = {}) {
    return finish(std::unique_ptr<Environment>(new Environment(nullptr, std::move(make))), std::move(processor),
                  options);
  }

  // Submits what every thread deferred, and returns when it has been processed.
  ~Environment() override {
    if (engine_) engine_->stop();
  }

  // Defers target.Method(values...). Costs about the stores of the values, but for a call that fills the buffer: that
  // costs what the processor does. False if the call was dropped: after stop(), or without address space.
  template <auto Method, typename... Values>
  bool defer(Values... values) {
    return Calls::template defer<Method>(of_this_thread(), values...);
  }

  // Calls in a buffer, and the same for those begun later. Fails for 0 and beyond Engine::kCapacityMax.
  uint32_t capacity() const { return engine_->capacity(); }
  base::Status set_capacity(uint32_t calls) { return engine_->set_capacity(calls); }

  // Submits the calling thread's buffer, full or not. REQUIRED before waiting for anything that a deferred call of this
  // thread is to do, other than through a checkpoint.
  void process_current_buffer() { engine_->process_current_buffer(of_this_thread()); }
  // Of the calls that the calling thread has deferred so far.
  Checkpoint create_checkpoint() { return engine_->create_checkpoint(of_this_thread()); }

  // As the environment's end. Calls deferred later are dropped, and counted.
  void stop() { engine_->stop(); }

  // What deferred methods and hooks threw: how many exceptions, and what the first one said.
  const Failures& failures() const { return engine_->failures(); }
  Engine::Statistics statistics() const { return engine_->statistics(); }
  Engine& engine() { return *engine_; }

 private:
  Environment(Target* shared, Maker make) : shared_(shared), make_(std::move(make)) {}

  static base::Result<std::unique_ptr<Environment>> finish(std::unique_ptr<Environment> environment,
                                                           std::unique_ptr<Processor> processor,
                                                           const Options& options) {
    auto engine = Engine::create(Calls::layout(), *environment, std::move(processor), options);
    if (!engine) return engine.error();
    environment->engine_ = std::move(*engine);
    environment->engine_serial_ = environment->engine_->serial();
    environment->cached_at_ = environment->engine_serial_ % kCachedClients;
    return environment;
  }

  // Engine::of_this_thread(), with one indirection less.
  Client& of_this_thread() {
    const CachedClient& cached = cached_clients[cached_at_];
    if (cached.engine_serial == engine_serial_) [[likely]]
      return *cached.client;
    return engine_->of_this_thread();
  }

  void* begin(const Client& /*producer*/) override {
    if (shared_) return shared_;
    std::unique_ptr<Target> target = take();
    if constexpr (HasBeforeProcessing<Target>) target->before_processing();
    return target.release();
  }
  void run(void* target, Batch& batch, Failures& failures) override {
    Calls::run(*static_cast<Target*>(target), batch, failures);
  }
  void end(void* target) override {
    if (shared_) return;
    std::unique_ptr<Target> used(static_cast<Target*>(target));
    if constexpr (HasAfterProcessing<Target>) used->after_processing();
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(used));
  }
  std::unique_ptr<Target> take() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Target> target = std::move(idle_.back());
        idle_.pop_back();
        return target;
      }
    }
    return make_();
  }

  uint64_t engine_serial_ = 0;
  size_t cached_at_ = 0;
  Target* const shared_;
  const Maker make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Target>> idle_;
  std::unique_ptr<Engine> engine_;  // last: it ends first
};

}  // namespace contrafact::deferred
