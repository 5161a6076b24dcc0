#include "online/events.h"

#include <exception>

namespace contrafact::online {

void Analysis::count(uint64_t events, uint64_t failed) {
  events_.fetch_add(events, std::memory_order_relaxed);
  failed_.fetch_add(failed, std::memory_order_relaxed);
}

void Analysis::note_failure(const char* what) {
  std::lock_guard lock(mutex_);
  if (first_failure_.empty()) first_failure_ = what && *what ? what : "an exception without a text";
}

std::string Analysis::first_failure() const {
  std::lock_guard lock(mutex_);
  return first_failure_;
}

template <typename Work>
bool Events::guarded(Work work) {
  try {
    work();
    return true;
  } catch (const std::exception& e) {
    analysis_.note_failure(e.what());
  } catch (...) {
    analysis_.note_failure("an exception that is no std::exception");
  }
  ++failed_;
  return false;
}

Events::Events(Analysis& analysis) : analysis_(analysis) {
  begun_ = guarded([&] { data_ = analysis.methods.begin ? analysis.methods.begin(analysis.self) : analysis.self; });
}

Events::~Events() {
  if (begun_ && analysis_.methods.merge) guarded([&] { analysis_.methods.merge(analysis_.self, data_); });
  analysis_.count(events_, failed_);
}

void Events::call(uint32_t caller, uint32_t callee) {
  if (!analysis_.methods.on_call) return;
  ++events_;
  if (begun_) guarded([&] { analysis_.methods.on_call(data_, caller, callee); });
}

void Events::exit(uint32_t method, uint32_t thrown) {
  if (!analysis_.methods.on_exit) return;
  ++events_;
  if (begun_) guarded([&] { analysis_.methods.on_exit(data_, method, static_cast<int>(thrown)); });
}

void Events::allocated(uint32_t method, uint32_t class_id, uint32_t length) {
  if (!analysis_.methods.on_allocation) return;
  const ClassInfo* info = analysis_.classes.find(ClassId(class_id));
  if (!info) return;
  ++events_;
  if (begun_) guarded([&] { analysis_.methods.on_allocation(data_, method, class_id, info->bytes_of(length)); });
}

void Events::allocate(uint32_t method, uint32_t class_id) {
  allocated(method, class_id, 0);
}

void Events::allocate_array(uint32_t method, uint32_t class_id, uint32_t length) {
  allocated(method, class_id, length);
}

}  // namespace contrafact::online
