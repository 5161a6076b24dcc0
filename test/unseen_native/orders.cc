// usage: unseen_orders [base|twin]
// Orders are matched between books of an exchange; each match also gets the next number of the one journal. Nothing is
// to be changed: what all sections touch keeps them in one order. Twin: the same program.
#include <mutex>
#include <vector>

#include "work.h"

namespace {

constexpr uint32_t kBooks = 24, kThreads = 4, kMatches = 40'000;

struct Book {
  int64_t volume = 0;
  uint64_t last = 0;
  std::vector<uint64_t> recent = std::vector<uint64_t>(32);
};

class Exchange {
 public:
  Exchange() : books_(kBooks), journal_(256) {}

  void match(uint32_t buy, uint32_t sell, uint64_t amount) {
    const std::lock_guard guard(lock_);
    digest_ = digest_ * 31 + books_[buy].last + books_[sell].last;
    journal_[number_++ % journal_.size()] = digest_ ^ amount;
    enter(books_[buy], static_cast<int64_t>(amount));
    enter(books_[sell], -static_cast<int64_t>(amount));
  }
  int64_t volume() const {
    int64_t sum = 0;
    for (const Book& book : books_) sum += book.volume;
    return sum;
  }

 private:
  void enter(Book& book, int64_t amount) {
    book.volume += amount;
    book.recent[number_ % book.recent.size()] = number_ ^ digest_;
    for (int i = 0; i < 20; ++i) {
      for (const uint64_t one : book.recent) book.last = book.last * 33 + one;
    }
  }

  std::mutex lock_;
  std::vector<Book> books_;
  std::vector<uint64_t> journal_;
  uint64_t number_ = 0, digest_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Exchange exchange;
    run_threads(kThreads, [&](int thread) {
      uint64_t random = 1181783497276652981u + static_cast<uint64_t>(thread);
      for (uint32_t i = 0; i < kMatches; ++i) {
        const uint64_t x = compute(next_random(random), 4);
        const auto buy = static_cast<uint32_t>(random >> 11) % kBooks;
        exchange.match(buy, (buy + 1 + static_cast<uint32_t>(random >> 39) % (kBooks - 1)) % kBooks, x % 500);
      }
    });
    return static_cast<uint64_t>(exchange.volume());
  });
}
