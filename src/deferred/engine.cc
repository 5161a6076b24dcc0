#include "deferred/engine.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace contrafact::deferred {
namespace {

// Powers of two: a buffer's memory is at most twice what its capacity needs, and only what is touched becomes resident.
constexpr auto kCapacities = [] {
  std::array<uint32_t, kSizeClassesMax> capacities{};
  for (uint32_t i = 0; i < capacities.size(); ++i) capacities[i] = 16u << i;
  return capacities;
}();
static_assert(kCapacities.back() == Engine::kCapacityMax);

uint32_t size_class_of(uint32_t calls) {
  return calls <= kCapacities[0] ? 0 : std::bit_width(calls - 1) - std::bit_width(kCapacities[0] - 1);
}

base::Status check_capacity(uint32_t calls) {
  if (calls >= 1 && calls <= Engine::kCapacityMax) return {};
  return base::Error{"a buffer cannot hold " + std::to_string(calls) + " calls; choose from 1 to " +
                     std::to_string(Engine::kCapacityMax)};
}

std::atomic<uint64_t> next_serial{1};

thread_local uint32_t buffers_being_run = 0;

class BeingRun {
 public:
  BeingRun() { ++buffers_being_run; }
  ~BeingRun() { --buffers_being_run; }
};

}  // namespace

bool inside_a_deferred_method() {
  return buffers_being_run > 0;
}

// ---- what processors hold

void FilledBuffer::run() {
  if (Buffer* buffer = release()) buffer->client->engine_->run(*buffer, false);
}

bool FilledBuffer::run_unless_awaited() {
  if (!buffer_) return true;
  if (!buffer_->client->engine_->run(*buffer_, true)) return false;
  release();
  return true;
}

Waiters FilledBuffer::waiters() const {
  return {buffer_->client->progress_, buffer_->client->engine_->unfinished_};
}

void Checkpoint::await_processed() const {
  if (forks_before() != forks_before_) return;
  progress_->await(number_, [&] { return processor_->help(client_); });
}

// ---- beginning and end

base::Result<std::unique_ptr<Engine>> Engine::create(const Layout& layout, BatchRunner& runner,
                                                     std::unique_ptr<Processor> processor, const Options& options) {
  if (base::Status fine = check_capacity(options.capacity); !fine) return fine.error();
  auto pool = BufferPool::create(layout, {.capacities = kCapacities,
                                          .memory_bytes_max = options.memory_bytes_max,
                                          .address_space_factor = kSizeClassesMax});
  if (!pool) return pool.error();
  return std::unique_ptr<Engine>(new Engine(runner, std::move(processor), std::move(*pool), options));
}

Engine::Engine(BatchRunner& runner, std::unique_ptr<Processor> processor, std::unique_ptr<BufferPool> pool,
               const Options& options)
    : runner_(runner),
      pool_(std::move(pool)),
      serial_(next_serial.fetch_add(1, std::memory_order_relaxed)),
      link_(std::make_shared<ThreadLink>(*this)),
      capacity_(options.capacity),
      processor_(std::move(processor)) {}

Engine::~Engine() {
  stop();
  if (in_forked_child()) (void)processor_.release();  // its destructor would wait for threads that the parent has
}

void Engine::stop() {
  if (in_forked_child() || stopping_.exchange(true)) return;
  link_->cut();
  for (Client* client : clients_.all()) {
    if (client->foreign_) stop_foreign(*client);
  }
  do {
    unfinished_->await_all([&] { return processor_->help(nullptr); });
  } while (submit_of_threads());
  stopped_.store(true);
  for (Client* client : clients_.all()) {
    std::lock_guard lock(client->mutex_);
    client->closed_ = true;
  }
}

// A foreign producer may be in the middle of appending: what it has committed is taken, and the buffer left to it.
void Engine::stop_foreign(Client& client) {
  Buffer* buffer;
  {
    std::lock_guard lock(client.mutex_);
    client.closed_ = true;
    buffer = client.current_;
    if (buffer == &client.stub_) return;
    runner_.settle(buffer->header);
    if (buffer->committed() == 0) return;
    buffer->kept = true;
    number(client, *buffer);
  }
  processor_->process(FilledBuffer(*buffer));
}

// Submits the last calls of threads: those of the program, which defer no more, and those that ran buffers until now.
// Returns whether there were any. REQUIRES: no buffer is unfinished.
bool Engine::submit_of_threads() {
  // All are taken before the first is submitted: the methods in it may defer, on any of these threads.
  std::vector<Buffer*> taken;
  for (Client* client : clients_.all()) {
    Buffer& current = *client->current_;
    if (client->foreign_ || &current == &client->stub_ || current.header.committed == 0) continue;
    if (go_on_with(*client, nullptr)) taken.push_back(&current);
  }
  for (Buffer* buffer : taken) processor_->process(FilledBuffer(*buffer));
  return !taken.empty();
}

base::Status Engine::set_capacity(uint32_t calls) {
  base::Status fine = check_capacity(calls);
  if (fine) capacity_.store(calls, std::memory_order_relaxed);
  return fine;
}

Engine::Statistics Engine::statistics() const {
  return {.buffers = buffers_.load(std::memory_order_relaxed),
          .calls = calls_.load(std::memory_order_relaxed),
          .buffers_run_at_the_bound = run_at_the_bound_.load(std::memory_order_relaxed),
          .calls_dropped = dropped_.load(std::memory_order_relaxed),
          .memory_bytes = pool_->bytes_made(),
          .memory_bytes_max = pool_->bytes_made_max(),
          .consumers_cpu_ns = processor_->consumers_cpu_ns()};
}

// ---- the producers' side

void Engine::attached(Client& client) {
  if (!client.progress_) client.progress_ = std::make_shared<Progress>();
  client.engine_ = this;
  client.closed_ = stopped_.load();
  client.foreign_ = true;
  client.unfinished_.store(1, std::memory_order_relaxed);
}

void Engine::detached(Client& client) {
  if (in_forked_child()) return;
  process_current_buffer(client);
  {
    std::lock_guard lock(client.mutex_);
    if (client.closed_) return;
    if (client.current_ != &client.stub_) pool_->put(client.current_);
    client.current_ = &client.stub_;
  }
  if (client.unfinished_.fetch_sub(1) == 1) clients_.recycle(&client);
}

contrafact_buffer* Engine::swap(Client& client) {
  if (in_forked_child()) return drop(client);
  Buffer& old = *client.current_;
  if (&old != &client.stub_) runner_.settle(old.header);
  if (&old != &client.stub_ && old.header.committed > 0) {
    const bool needs_second = !processor_->in_place() || client.running_;
    Buffer* second = needs_second ? take() : nullptr;
    if (!go_on_with(client, second)) {
      if (second) pool_->put(second);
      return old.header.committed < old.header.capacity ? &old.header : drop(client);
    }
    if (needs_second && !second) {
      run_at_the_bound_.fetch_add(1, std::memory_order_relaxed);
      FilledBuffer(old).run();
    } else {
      submit(client, old);
    }
  }
  if (client.current_ == &client.stub_) {
    Buffer* fresh = take();
    if (!fresh) fresh = pool_->take_small();
    if (!fresh) return drop(client);
    if (!go_on_with(client, fresh)) {
      pool_->put(fresh);
      return drop(client);
    }
  }
  return &client.current_->header;
}

// The current buffer is numbered and will be submitted. False, and nothing done, if the engine has stopped.
bool Engine::go_on_with(Client& client, Buffer* fresh) {
  if (fresh) hand_out(client, *fresh);
  std::lock_guard lock(client.mutex_);
  if (client.closed_) return false;
  if (client.current_ != &client.stub_) number(client, *client.current_);
  client.current_ = fresh ? fresh : &client.stub_;
  return true;
}

// REQUIRES: the client's mutex is held.
void Engine::number(Client& client, Buffer& buffer) {
  buffer.client = &client;
  buffer.number = ++client.submitted_;
  buffer.calls = buffer.committed();
  client.unfinished_.fetch_add(1);
  unfinished_->began();
}

void Engine::submit(Client& client, Buffer& full) {
  if (processor_->in_place()) {
    submit_in_place(client, full);
  } else if (beyond_the_bound(full) && !inside_a_deferred_method()) {
    run_at_the_bound_.fetch_add(1, std::memory_order_relaxed);
    FilledBuffer(full).run();
  } else {
    processor_->process(FilledBuffer(full));
  }
}

// One of take_small(), or as good as one: such a buffer goes into no queue, or a long queue would make ever more.
bool Engine::beyond_the_bound(const Buffer& buffer) const {
  return buffer.size_class == 0 && pool_->beyond_the_bound();
}

// Submits in the order of the calls, including calls that the deferred methods defer.
void Engine::submit_in_place(Client& client, Buffer& full) {
  if (client.running_) {
    full.next_queued = nullptr;
    (client.first_later_ ? client.last_later_->next_queued : client.first_later_) = &full;
    client.last_later_ = &full;
    return;
  }
  client.running_ = true;
  for (Buffer* next = &full; next;) {
    processor_->process(FilledBuffer(*next));
    next = client.first_later_;
    if (next) client.first_later_ = next->next_queued;
  }
  client.running_ = false;
}

Buffer* Engine::take() {
  const uint32_t capacity = capacity_.load(std::memory_order_relaxed);
  Buffer* buffer = pool_->take(size_class_of(capacity));
  if (buffer) buffer->header.capacity = std::min(capacity, kCapacities[buffer->size_class]);
  return buffer;
}

// Makes the buffer empty. Nobody else knows of it.
void Engine::hand_out(Client& client, Buffer& buffer) {
  contrafact_buffer& header = buffer.header;
  header.owner = reinterpret_cast<uint64_t>(&client);
  header.logical_thread = client.stream_;
  header.dropped = 0;
  std::fill_n(header.cursor, kColumnsMax, 0u);
  runner_.clear(header);
  std::atomic_ref(header.committed).store(0, std::memory_order_relaxed);
  buffer.kept = false;
  buffer.begun = false;
  buffer.taken = 0;
  buffer.taken_cursor.fill(0);
}

contrafact_buffer* Engine::drop(Client&) {
  dropped_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

void Engine::process_current_buffer(Client& client) {
  Buffer& current = *client.current_;
  if (&current == &client.stub_ || in_forked_child()) return;
  runner_.settle(current.header);
  if (current.header.committed == 0) return;
  if (go_on_with(client, nullptr)) submit(client, current);
}

Checkpoint Engine::create_checkpoint(Client& client) {
  process_current_buffer(client);
  return {*processor_, client, client.progress_, client.submitted_, forks_before_};
}

// ---- whoever runs buffers

bool Engine::run(Buffer& buffer, bool unless_awaited) {
  const BeingRun being_run;
  if (!buffer.begun && !begin(buffer)) {
    finish(buffer);
    return true;
  }
  while (buffer.taken < buffer.calls) {
    const uint32_t rest = buffer.calls - buffer.taken;
    run_part(buffer, unless_awaited ? std::min(rest, kCallsOfAPart) : rest);
    const bool more = buffer.taken < buffer.calls;
    if (more && unless_awaited && (buffer.client->progress_->awaited() || unfinished_->awaited())) return false;
  }
  try {
    runner_.end(buffer.private_data);
  } catch (...) {
    failures_.add_current_exception();
  }
  finish(buffer);
  return true;
}

bool Engine::begin(Buffer& buffer) {
  buffer.begun = true;
  try {
    buffer.private_data = runner_.begin(*buffer.client);
    return true;
  } catch (...) {
    failures_.add_current_exception();
    failures_.add_calls_not_made(buffer.calls);
    return false;
  }
}

void Engine::run_part(Buffer& buffer, uint32_t calls) {
  uint32_t memo = 0;
  const bool first = buffer.taken == 0;
  Batch batch{buffer.client->stream_,
              first ? buffer.header.dropped : 0,
              first,
              calls,
              reinterpret_cast<const uint16_t*>(buffer.header.ids) + buffer.taken,
              {},
              buffer.taken_cursor,
              memo};
  for (size_t i = 0; i < kColumnsMax; ++i) batch.column[i] = reinterpret_cast<const void*>(buffer.header.column[i]);
  try {
    runner_.run(buffer.private_data, batch, failures_);
  } catch (...) {
    failures_.add_current_exception();
  }
  buffer.taken += calls;
}

// The engine may end as soon as the buffer is no longer counted.
void Engine::finish(Buffer& buffer) {
  Client& client = *buffer.client;
  const uint64_t number = buffer.number;
  const std::shared_ptr<Unfinished> unfinished = unfinished_;
  buffers_.fetch_add(1, std::memory_order_relaxed);
  calls_.fetch_add(buffer.calls, std::memory_order_relaxed);
  if (!buffer.kept) pool_->put(&buffer);
  client.progress_->complete(number);
  if (client.unfinished_.fetch_sub(1) == 1) clients_.recycle(&client);
  unfinished->ended();
}

}  // namespace contrafact::deferred
