#include "deferred/buffer_queue.h"

namespace contrafact::deferred {
namespace {

// A thread holds the lock for tens of instructions, unless the system has taken its core away.
constexpr int kAttempts = 64;

}  // namespace

bool BufferQueue::push(FilledBuffer& buffer) {
  std::lock_guard lock(mutex_);
  return push_locked(buffer);
}

bool BufferQueue::push_unless_locked(FilledBuffer& buffer) {
  std::unique_lock lock(mutex_, std::defer_lock);
  for (int i = 0; i < kAttempts; ++i) {
    if (lock.try_lock()) return push_locked(buffer);
  }
  return false;
}

bool BufferQueue::push_locked(FilledBuffer& buffer) {
  if (size_ >= room_) return false;
  Buffer* added = buffer.release();
  added->next_queued = nullptr;
  (last_ ? last_->next_queued : first_) = added;
  last_ = added;
  ++size_;
  return true;
}

void BufferQueue::put_back(FilledBuffer buffer) {
  std::lock_guard lock(mutex_);
  Buffer* added = buffer.release();
  added->next_queued = first_;
  first_ = added;
  if (!last_) last_ = added;
  ++size_;
}

std::optional<FilledBuffer> BufferQueue::pop() {
  std::lock_guard lock(mutex_);
  if (!first_) return std::nullopt;
  Buffer* taken = first_;
  first_ = taken->next_queued;
  if (!first_) last_ = nullptr;
  --size_;
  return FilledBuffer(*taken);
}

std::optional<FilledBuffer> BufferQueue::pop_of(const Client& producer) {
  std::lock_guard lock(mutex_);
  Buffer* before = nullptr;
  for (Buffer* buffer = first_; buffer; before = buffer, buffer = buffer->next_queued) {
    if (buffer->client != &producer) continue;
    (before ? before->next_queued : first_) = buffer->next_queued;
    if (last_ == buffer) last_ = before;
    --size_;
    return FilledBuffer(*buffer);
  }
  return std::nullopt;
}

}  // namespace contrafact::deferred
