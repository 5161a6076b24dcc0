// Mailboxes by name, each a list of strings whose nodes and text the allocator hands from one thread to another; one
// mutex. Twin: each mailbox has a mutex of its own.
#include <list>
#include <map>
#include <mutex>
#include <string>

#include "work.h"

namespace {

struct Mailbox {
  std::mutex own;
  std::list<std::string> letters;
  size_t delivered = 0;
};

class PostOffice {
 public:
  explicit PostOffice(int boxes) {
    for (int i = 0; i < boxes; ++i) boxes_["inhabitant number " + std::to_string(i)];
  }
  size_t deliver(const std::string& to, std::string text) {
    std::unique_lock all(mutex_, std::defer_lock);
    if (!twin) all.lock();
    Mailbox& box = boxes_.find(to)->second;
    std::unique_lock one(box.own, std::defer_lock);
    if (twin) one.lock();
    box.letters.push_back(std::move(text));
    if (box.letters.size() > 40) box.letters.pop_front();
    ++box.delivered;
    size_t same = 0;
    for (const std::string& letter : box.letters) same += letter.compare(0, 30, box.letters.back(), 0, 30) == 0;
    for (int again = 0; again < 6; ++again) {
      for (const std::string& letter : box.letters)
        same += static_cast<unsigned char>(letter[static_cast<size_t>(again) * 5]) & 1;
    }
    return same;
  }
  size_t delivered() const {
    size_t sum = 0;
    for (const auto& [name, box] : boxes_) sum += box.delivered;
    return sum;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Mailbox> boxes_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    PostOffice office(48);
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 77;
      for (int i = 0; i < 40000; ++i) {
        const uint64_t to = next_random(random) % 48;
        std::string text =
            "dear all, this is letter " + std::to_string(i % 97) + " of many from " + std::to_string(number);
        if (office.deliver("inhabitant number " + std::to_string(to), std::move(text)) == 12345) puts("?");
        if (compute(random, 2) == 0) return;
      }
    });
    return office.delivered();
  });
}
