// Readers copy a pointer to settings under a mutex and read them afterwards; changes make new settings. Nothing is to
// be changed.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "work.h"

namespace {

using Settings = std::map<std::string, std::string>;

class Store {
 public:
  Store() : now_(std::make_shared<Settings>()) {}
  std::shared_ptr<const Settings> get() {
    std::lock_guard lock(mutex_);
    return now_;
  }
  void set(const std::string& name, const std::string& value) {
    auto made = std::make_shared<Settings>(*get());
    (*made)[name] = value;
    std::lock_guard lock(mutex_);
    now_ = std::move(made);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const Settings> now_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Store store;
    for (int i = 0; i < 100; ++i) store.set("name " + std::to_string(i), std::to_string(i * i));
    std::atomic<uint64_t> sum = 0;
    run_threads(4, [&](int number) {
      uint64_t mine = 0;
      for (int i = 0; i < 25000; ++i) {
        const auto settings = store.get();
        mine += settings->find("name " + std::to_string(i % 100))->second.size() + (compute(mine, 8) == 0);
        if (i % 1000 == 500 && number == 0)
          store.set("name " + std::to_string(i % 7), std::to_string((i % 7) * (i % 7)));
      }
      sum += mine;
    });
    return sum.load();
  });
}
