#include "online/processing.h"

#include "deferred/drainer.h"

namespace contrafact::online {
namespace {

class Drained : public Processing, deferred::Consumer {
 public:
  explicit Drained(Analysis& analysis) : analysis_(analysis) {}
  base::Status start(const ProcessingOptions& options) {
    deferred::Drainer::Options drainer;
    drainer.layout = EventCalls::layout();
    drainer.memory_bytes_max = options.memory_bytes_max;
    auto started = deferred::Drainer::start(drainer, *this);
    if (!started) return started.error();
    drainer_ = std::move(*started);
    return {};
  }
  deferred::Client* attach() override { return drainer_->attach(0); }
  void detach(deferred::Client* client) override { drainer_->detach(client); }
  void stop() override { drainer_->stop(); }
  uint64_t lost() const override { return lost_; }

  void take(deferred::Batch& batch) override {
    lost_ += batch.dropped_before;
    Events events(analysis_);
    EventCalls::run(events, batch);
  }

 private:
  Analysis& analysis_;
  uint64_t lost_ = 0;
  std::unique_ptr<deferred::Drainer> drainer_;
};

}  // namespace

base::Status check(const ProcessingOptions& options) {
  const std::string& processor = options.processor;
  if (processor != "sync" && processor != "pool" && processor != "adaptive") {
    return base::Error{"--processor " + processor + ": there are sync, pool and adaptive"};
  }
  if (options.capacity == 0) return base::Error{"--capacity 0: a buffer must hold at least one event; try 4096"};
  if (options.queue == 0) return base::Error{"--queue 0: the queue must hold at least one buffer; try 16"};
  return {};
}

base::Result<std::unique_ptr<Processing>> Processing::start(const ProcessingOptions& options, Analysis& analysis) {
  auto drained = std::make_unique<Drained>(analysis);
  if (base::Status started = drained->start(options); !started) return started.error();
  return std::unique_ptr<Processing>(std::move(drained));
}

}  // namespace contrafact::online
