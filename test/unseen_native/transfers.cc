// usage: unseen_transfers [base|twin]
// Accounts of a bank behind one lock; a transfer books on two of them, and each books its interest anew. Twin: each
// account has a lock, and a transfer takes both.
#include <memory>
#include <mutex>
#include <string>

#include "work.h"

namespace {

constexpr int kAccounts = 48, kThreads = 4, kTransfers = 24'000, kMonths = 90;

struct Booking {
  int64_t cents = 0;
  uint32_t partner = 0;
};

class Account {
 public:
  void book(int64_t cents, uint32_t partner) {
    bookings_[count_++ % bookings_.size()] = {cents, partner};
    balance_ += cents;
    interest_ = 0;
    for (int month = 0; month < kMonths; ++month) {
      for (const Booking& booking : bookings_) interest_ += booking.cents * (month + 3) / 1200 % 97;
    }
  }
  int64_t balance() const { return balance_; }
  std::mutex lock;

 private:
  int64_t balance_ = 100'000;
  int64_t interest_ = 0;
  uint32_t count_ = 0;
  std::vector<Booking> bookings_{24};
};

class Bank {
 public:
  Bank() {
    for (int i = 0; i < kAccounts; ++i) accounts_.push_back(std::make_unique<Account>());
  }

  void transfer(uint32_t from, uint32_t to, int64_t cents) {
    if (twin) {
      const std::scoped_lock both(accounts_[std::min(from, to)]->lock, accounts_[std::max(from, to)]->lock);
      return book(from, to, cents);
    }
    const std::lock_guard guard(lock_);
    book(from, to, cents);
  }

  int64_t sum() const {
    int64_t cents = 0;
    for (const auto& account : accounts_) cents += account->balance();
    return cents;
  }

 private:
  void book(uint32_t from, uint32_t to, int64_t cents) {
    accounts_[from]->book(-cents, to);
    accounts_[to]->book(cents, from);
  }

  std::mutex lock_;
  std::vector<std::unique_ptr<Account>> accounts_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Bank bank;
    run_threads(kThreads, [&](int thread) {
      uint64_t random = 88172645463325252u + static_cast<uint64_t>(thread);
      for (int i = 0; i < kTransfers; ++i) {
        const uint64_t x = compute(next_random(random), 3);
        const auto from = static_cast<uint32_t>(random >> 8) % kAccounts;
        const auto step = 1 + static_cast<uint32_t>(random >> 40) % (kAccounts - 1);
        bank.transfer(from, (from + step) % kAccounts, static_cast<int64_t>(x % 1000));
      }
    });
    return static_cast<uint64_t>(bank.sum());
  });
}
