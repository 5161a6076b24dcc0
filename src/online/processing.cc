#include "online/processing.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "deferred/processors.h"

namespace contrafact::online {
namespace {

constexpr uint32_t kConsumersMax = 256;
constexpr uint32_t kQueueMax = 1 << 20;
// A thread with events has a buffer of its own, and another while that one is processed.
constexpr uint64_t kMemoryBytesMin = 1 << 20;

uint32_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

base::Result<std::unique_ptr<deferred::Processor>> make_processor(const ProcessingOptions& options) {
  if (options.processor == "sync" || options.processor == "direct") return deferred::synchronous();
  if (options.processor == "pool") {
    return deferred::pool({.consumers = options.consumers == 0 ? cores() : options.consumers, .queue = options.queue});
  }
  return deferred::adaptive({.consumers = options.consumers, .queue = options.queue});
}

base::Error bad(const char* option, uint64_t value, const std::string& why) {
  return base::Error{std::string(option) + " " + std::to_string(value) + ": " + why};
}

}  // namespace

base::Status check(const ProcessingOptions& options) {
  const std::string& processor = options.processor;
  const uint32_t capacity_max = deferred::Engine::kCapacityMax;
  if (processor != "sync" && processor != "pool" && processor != "adaptive" && processor != "direct") {
    return base::Error{"--processor " + processor + ": there are sync, pool, adaptive and direct"};
  }
  if (options.capacity == 0)
    return bad("--capacity", 0,
               "a buffer must hold at least one event; try " + std::to_string(deferred::kCapacityDefault));
  if (options.capacity > capacity_max) {
    return bad("--capacity", options.capacity, "a buffer holds at most " + std::to_string(capacity_max) + " events");
  }
  if (options.queue == 0)
    return bad("--queue", 0, "the queue must hold at least one buffer; try " + std::to_string(deferred::kQueueDefault));
  if (options.queue > kQueueMax) {
    return bad("--queue", options.queue, "the queue holds at most " + std::to_string(kQueueMax) + " buffers");
  }
  if (options.consumers > kConsumersMax) {
    return bad("--consumers", options.consumers, "at most " + std::to_string(kConsumersMax));
  }
  if (options.memory_bytes_max < kMemoryBytesMin) {
    return bad("--memory", options.memory_bytes_max, "too little for the buffers; give at least 1M");
  }
  return {};
}

base::Result<std::unique_ptr<Processing>> Processing::start(const ProcessingOptions& options,
                                                            const Analysis& analysis) {
  if (base::Status good = check(options); !good) return good.error();
  auto processor = make_processor(options);
  if (!processor) return processor.error();
  std::unique_ptr<Processing> processing(new Processing(analysis));
  auto engine = deferred::Engine::create(Events::layout(), processing->events_, std::move(*processor),
                                         {.capacity = options.capacity, .memory_bytes_max = options.memory_bytes_max});
  if (!engine) return engine.error();
  processing->engine_ = std::move(*engine);
  return processing;
}

deferred::Client* Processing::attach() {
  std::shared_lock lock(stopping_);
  return stopped_ ? nullptr : engine_->attach(0);
}

void Processing::detach(deferred::Client* client) {
  std::shared_lock lock(stopping_);
  if (!stopped_) engine_->detach(client);
}

void Processing::stop() {
  std::lock_guard lock(stopping_);
  if (stopped_) return;
  stopped_ = true;
  lost_ = engine_->statistics().calls_dropped;
  engine_->stop();
}

Processing::Statistics Processing::statistics() const {
  const deferred::Engine::Statistics engine = engine_->statistics();
  const deferred::Failures& failures = engine_->failures();
  return {.events = events_.delivered(),
          .lost = lost_,
          .failed = failures.count() + failures.calls_not_made(),
          .buffers = engine.buffers,
          .buffer_bytes_max = engine.memory_bytes_max,
          .consumers_cpu_ns = engine.consumers_cpu_ns,
          .first_failure = failures.first()};
}

}  // namespace contrafact::online
