// Checkpoint: a point among the calls that one producer deferred (Deferred Methods, section 3.6). Made by
// Environment::create_checkpoint() or Engine::create_checkpoint(). It marks the end of the producer's current buffer,
// which is therefore submitted at once, full or not: each one costs a buffer.
//
// Thread safety: everything, by any thread; copies are cheap.
#pragma once

#include <cstdint>
#include <memory>

#include "deferred/forks.h"
#include "deferred/progress.h"

namespace contrafact::deferred {

class Client;
class Processor;

class Checkpoint {
 public:
  // Whether all calls that the producer deferred before it made the checkpoint have been made, and what they did is
  // visible to the caller. Also after the environment's end.
  bool is_processed() const { return progress_->is_processed(number_); }
  // Returns when they have. Meanwhile the calling thread runs the producer's buffers that wait in the processor's
  // queue; other producers' it leaves alone, because the calls in them may want a lock that the caller holds. Blocks
  // forever inside a deferred method whose own buffer is waited for. REQUIRES: the environment does not end meanwhile.
  // In a forked child of the process that made the checkpoint: returns at once.
  void await_processed() const;

 private:
  friend class Engine;
  Checkpoint(Processor& processor, const Client& client, std::shared_ptr<Progress> progress, uint64_t number,
             uint32_t forks_before)
      : processor_(&processor),
        client_(&client),
        progress_(std::move(progress)),
        number_(number),
        forks_before_(forks_before) {}

  Processor* processor_;
  const Client* client_;
  std::shared_ptr<Progress> progress_;
  uint64_t number_;        // of the producer's last buffer before the checkpoint; 0 for none
  uint32_t forks_before_;  // of the engine
};

}  // namespace contrafact::deferred
