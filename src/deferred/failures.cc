#include "deferred/failures.h"

namespace contrafact::deferred {

void Failures::add(const std::exception_ptr& exception) {
  if (count_.fetch_add(1, std::memory_order_relaxed) != 0) return;
  std::string said = "an exception of unknown type";
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    said = e.what();
  } catch (...) {
  }
  std::lock_guard lock(mutex_);
  first_ = std::move(said);
}

std::string Failures::first() const {
  std::lock_guard lock(mutex_);
  return first_;
}

}  // namespace contrafact::deferred
