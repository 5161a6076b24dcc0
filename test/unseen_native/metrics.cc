// The metrics of a service, of three classes with a common base that locks and calls the virtual function of each; all
// use the mutex of their registry. Twin: each has a mutex of its own.
#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "work.h"

namespace {

constexpr int kThreads = 4, kRequests = 24'000, kRoutes = 18;

class Metric {
 public:
  explicit Metric(std::mutex& all) : mutex_(twin ? own_ : all) {}
  virtual ~Metric() = default;
  void observe(double value) {
    const std::lock_guard lock(mutex_);
    ++observed_;
    update(value);
  }
  uint64_t observed() const { return observed_; }
  virtual double value() const = 0;

 protected:
  virtual void update(double value) = 0;
  uint64_t observed_ = 0;

 private:
  std::mutex own_;
  std::mutex& mutex_;
};

// The median of the last, which are also kept in order.
class Quantile final : public Metric {
 public:
  using Metric::Metric;
  double value() const override { return median_ + trimmed_; }

 private:
  void update(double value) override {
    if (last_.size() < kKept) {
      last_.push_back(value);
    } else {
      double& oldest = last_[observed_ % kKept];
      sorted_.erase(std::ranges::lower_bound(sorted_, oldest));
      oldest = value;
    }
    sorted_.insert(std::ranges::upper_bound(sorted_, value), value);
    median_ = sorted_[sorted_.size() / 2];
    trimmed_ = 0;
    for (size_t i = sorted_.size() / 20; i < sorted_.size() - sorted_.size() / 20; ++i) trimmed_ += sorted_[i];
  }
  static constexpr size_t kKept = 1000;
  std::vector<double> last_, sorted_;
  double median_ = 0, trimmed_ = 0;
};

// Buckets whose contents fade.
class Histogram final : public Metric {
 public:
  using Metric::Metric;
  double value() const override { return buckets_[kBuckets / 2]; }

 private:
  void update(double value) override {
    for (double& bucket : buckets_) bucket *= 0.999;
    const int at = static_cast<int>(std::log2(1 + value) * 16);
    double share = 1;
    for (int i = 0; i < kBuckets; ++i) {
      share = std::exp(-0.1 * (i - at) * (i - at));
      buckets_[static_cast<size_t>(i)] += share;
    }
  }
  static constexpr int kBuckets = 160;
  std::vector<double> buckets_ = std::vector<double>(kBuckets);
};

class Counter final : public Metric {
 public:
  using Metric::Metric;
  double value() const override { return sum_; }

 private:
  void update(double value) override { sum_ += value; }
  double sum_ = 0;
};

class Registry {
 public:
  template <typename Kind>
  void add(const std::string& name) {
    metrics_.emplace(name, std::make_unique<Kind>(mutex_));
  }
  Metric& at(const std::string& name) const { return *metrics_.at(name); }
  uint64_t observed() const {
    uint64_t sum = 0;
    for (const auto& [name, metric] : metrics_) sum += metric->observed() + std::isnan(metric->value());
    return sum;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Metric>> metrics_;  // all are added before threads start
};

void serve(const Registry& registry, int thread) {
  uint64_t random = 1000 + static_cast<uint64_t>(thread);
  for (int i = 0; i < kRequests; ++i) {
    const uint64_t page = compute(next_random(random), 2);
    const std::string route = "/shop/route" + std::to_string(random % kRoutes);
    registry.at(route + "/latency").observe(static_cast<double>(page >> 50));
    registry.at(route + "/bytes").observe(static_cast<double>(page >> 54));
    registry.at(route + "/requests").observe(1);
  }
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Registry registry;
    for (int i = 0; i < kRoutes; ++i) {
      const std::string route = "/shop/route" + std::to_string(i);
      registry.add<Quantile>(route + "/latency");
      registry.add<Histogram>(route + "/bytes");
      registry.add<Counter>(route + "/requests");
    }
    std::vector<std::future<void>> serving;
    for (int i = 0; i < kThreads; ++i) serving.push_back(std::async(std::launch::async, serve, std::cref(registry), i));
    for (auto& each : serving) each.get();
    return registry.observed();
  });
}
