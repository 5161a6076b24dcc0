#include "online/blueprint_analysis.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "deferred/background_thread.h"
#include "online/count_table.h"

namespace contrafact::online {
namespace {

// Calls by caller and callee, allocations by method. One thread at a time.
struct Profile {
  void call(uint64_t edge, uint64_t times) { calls.at(edge) += times; }
  void allocate(uint32_t method, const Allocations& more) {
    if (method >= allocations.size()) allocations.resize(std::max<size_t>(method + 1, allocations.size() * 2));
    Allocations& sum = allocations[method];
    sum.objects += more.objects;
    sum.bytes += more.bytes;
  }
  void add(const Profile& other) {
    other.calls.for_each([&](uint64_t edge, uint64_t times) { call(edge, times); });
    for (uint32_t method = 0; method < other.allocations.size(); ++method) {
      if (other.allocations[method].objects != 0) allocate(method, other.allocations[method]);
    }
  }

  CountTable<uint64_t> calls;
  std::vector<Allocations> allocations;
};

// Gathers in private profiles, which go from buffer to buffer: merging after each one would cost an access to what is
// shared for every edge in it. Only at the end are they added up. There are as many as buffers were processed at one
// time; what has no place to wait for the next buffer in is added to the rest at once.
//
// Thread-safe but for the destructor.
class Gathered {
 public:
  ~Gathered() {
    for (auto& place : waiting_) delete place.load();
  }

  Profile* begin() {
    for (size_t i = 0; i < kPlaces; ++i) {
      std::atomic<Profile*>& place = waiting_[(first_place() + i) % kPlaces];
      if (!place.load(std::memory_order_relaxed)) continue;
      if (Profile* profile = place.exchange(nullptr, std::memory_order_acquire)) return profile;
    }
    return new Profile;
  }

  void merge(Profile* profile) {
    accesses_.fetch_add(kAccessesOfABuffer, std::memory_order_relaxed);
    for (size_t i = 0; i < kPlaces; ++i) {
      std::atomic<Profile*>& place = waiting_[(first_place() + i) % kPlaces];
      Profile* none = nullptr;
      if (place.compare_exchange_strong(none, profile, std::memory_order_release)) return;
    }
    const std::unique_ptr<Profile> done(profile);
    std::lock_guard lock(mutex_);
    add_to_rest(*done);
  }

  // REQUIRES: no buffer is being processed.
  Profile& sum() {
    std::lock_guard lock(mutex_);
    for (auto& place : waiting_) {
      const std::unique_ptr<Profile> profile(place.exchange(nullptr));
      if (profile) add_to_rest(*profile);
    }
    return rest_;
  }
  // To memory that threads share: one to take a profile, one to put it back, and one for each sum added to the rest.
  uint64_t accesses() const { return accesses_; }

 private:
  static constexpr size_t kPlaces = 64;  // a few MiB each at most, of which only that of the busy ones is ever made
  static constexpr uint64_t kAccessesOfABuffer = 2;

  // A thread takes the profile that it had last, most of which its core has at hand.
  static size_t first_place() {
    static std::atomic<size_t> threads{0};
    thread_local const size_t own = threads.fetch_add(1, std::memory_order_relaxed) % kPlaces;
    return own;
  }
  void add_to_rest(const Profile& profile) {
    rest_.add(profile);
    accesses_.fetch_add(profile.calls.size() + profile.allocations.size(), std::memory_order_relaxed);
  }

  std::atomic<Profile*> waiting_[kPlaces] = {};
  std::atomic<uint64_t> accesses_{0};
  std::mutex mutex_;
  Profile rest_;
};

// Thread-safe but for the destructor.
class Blueprint {
 public:
  explicit Blueprint(const contrafact_host& host, std::unique_ptr<SharedCounts> shared = nullptr)
      : host_(host), shared_(std::move(shared)) {}

  Profile* begin() { return gathered_.begin(); }
  void merge(Profile* profile) { gathered_.merge(profile); }
  SharedCounts* shared() { return shared_.get(); }
  SharedCounts::Shard& shard_of_this_thread() {
    thread_local SharedCounts::Shard* own = nullptr;  // there is one such analysis in a process
    if (!own) own = &shared_->next_shard();
    return *own;
  }

  bool write(const char* path, const contrafact_run& run);

 private:
  const contrafact_host host_;
  Gathered gathered_;
  const std::unique_ptr<SharedCounts> shared_;  // where nothing is gathered
};

// A string of JSON, of UTF-8.
std::string quoted(const char* text) {
  std::string out = "\"";
  for (; *text; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') out += '\\';
    if (c >= 0x20) {
      out += *text;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    }
  }
  return out + '"';
}

// docs/blueprint.md describes the file.
class Writer {
 public:
  Writer(std::FILE* file, const contrafact_host& host, const Profile& profile)
      : file_(file), host_(host), profile_(profile) {}

  void write(const contrafact_run& run, uint64_t accesses) {
    std::fputs("{\"format\":\"contrafact blueprint\",\"version\":1,\n\"run\":{", file_);
    separator_ = "";
    number("events", run.events);
    number("lost", run.lost);
    number("methods", run.methods);
    number("refused", run.refused);
    number("unseen_sites", run.unseen_sites);
    number("buffers", run.buffers);
    number("buffer_bytes_max", run.buffer_bytes_max);
    number("consumers_cpu_ns", run.consumers_cpu_ns);
    number("rest_ns", run.rest_ns);
    number("shared_accesses", accesses);
    std::fputs("},\n\"methods\":[", file_);
    separator_ = "\n";
    for (uint32_t method = 0; method < profile_.allocations.size(); ++method) {
      if (profile_.allocations[method].objects != 0) row(method, profile_.allocations[method]);
    }
    profile_.calls.for_each([&](uint64_t key, uint64_t) {
      for (const uint32_t method : {static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)}) {
        if (!rows_.contains(method)) row(method, {});
      }
    });
    std::fputs("\n],\n\"calls\":[", file_);
    separator_ = "\n";
    profile_.calls.for_each([&](uint64_t key, uint64_t count) {
      std::fprintf(file_, "%s[%u,%u,%llu]", separator_, rows_[static_cast<uint32_t>(key >> 32)],
                   rows_[static_cast<uint32_t>(key)], static_cast<unsigned long long>(count));
      separator_ = ",\n";
    });
    std::fputs("\n]}\n", file_);
  }

 private:
  void number(const char* name, uint64_t value) {
    std::fprintf(file_, "%s\"%s\":%llu", separator_, name, static_cast<unsigned long long>(value));
    separator_ = ",";
  }
  void row(uint32_t id, const Allocations& sum) {
    contrafact_method method{"", "(outside)", "", "", 0};
    if (id != CONTRAFACT_OUTSIDE && !host_.method(host_.context, id, &method)) method.name = "(unknown)";
    std::fprintf(file_, "%s[%s,%s,%s,%s,%u,%llu,%llu]", separator_, quoted(method.class_name).c_str(),
                 quoted(method.name).c_str(), quoted(method.descriptor).c_str(), quoted(method.file).c_str(),
                 method.line, static_cast<unsigned long long>(sum.objects), static_cast<unsigned long long>(sum.bytes));
    separator_ = ",\n";
    rows_.emplace(id, static_cast<uint32_t>(rows_.size()));
  }

  std::FILE* file_;
  const contrafact_host& host_;
  const Profile& profile_;
  const char* separator_ = "\n";
  std::unordered_map<uint32_t, uint32_t> rows_;  // by method, in the order of the file
};

bool Blueprint::write(const char* path, const contrafact_run& run) {
  Profile& sum = gathered_.sum();
  uint64_t accesses = gathered_.accesses();
  if (shared_) {
    shared_->for_each(
        [&](uint64_t edge, uint64_t times) {
          sum.call(edge, times);
          accesses += times;
        },
        [&](uint32_t method, const Allocations& more) {
          sum.allocate(method, more);
          accesses += 2 * more.objects;
        });
  }
  std::FILE* file = std::fopen(path, "we");
  if (!file) return false;
  Writer(file, host_, sum).write(run, accesses);
  const bool good = std::ferror(file) == 0;
  return std::fclose(file) == 0 && good;
}

Blueprint& self(void* analysis) {
  return *static_cast<Blueprint*>(analysis);
}
Profile& data(void* data) {
  return *static_cast<Profile*>(data);
}
int finish(void* analysis, const char* path, const contrafact_run* run) {
  return self(analysis).write(path, *run) ? 0 : -1;
}
void destroy(void* analysis) {
  delete &self(analysis);
}

// Threads take shards in turn: with one for each core, two busy threads would often meet in one.
constexpr unsigned kShardsOfACore = 4;

void* create_shared(const contrafact_host* host, const char*) {
  auto shared = SharedCounts::create(kShardsOfACore * deferred::usable_cores());
  if (shared) return new Blueprint(*host, std::move(*shared));
  host->say(host->context, shared.error().message.c_str());
  return nullptr;
}

}  // namespace

const contrafact_analysis kBlueprintAnalysis = {
    .version = CONTRAFACT_ANALYSIS_VERSION,
    .name = "blueprint",
    .create = [](const contrafact_host* host, const char*) -> void* { return new Blueprint(*host); },
    .begin = [](void* analysis) -> void* { return self(analysis).begin(); },
    .merge = [](void* analysis, void* private_data) { self(analysis).merge(&data(private_data)); },
    .on_call = [](void* private_data, uint32_t caller,
                  uint32_t callee) { data(private_data).call(uint64_t{caller} << 32 | callee, 1); },
    .on_exit = nullptr,
    .on_allocation = [](void* private_data, uint32_t method, uint32_t,
                        uint64_t bytes) { data(private_data).allocate(method, {1, bytes}); },
    .finish = finish,
    .destroy = destroy,
};

const contrafact_analysis kBlueprintWithoutCoalescing = {
    .version = CONTRAFACT_ANALYSIS_VERSION,
    .name = "blueprint",
    .create = create_shared,
    .begin = nullptr,
    .merge = nullptr,
    .on_call =
        [](void* analysis, uint32_t caller, uint32_t callee) {
          self(analysis).shared()->call(self(analysis).shard_of_this_thread(), caller, callee);
        },
    .on_exit = nullptr,
    .on_allocation =
        [](void* analysis, uint32_t method, uint32_t, uint64_t bytes) {
          self(analysis).shared()->allocate(self(analysis).shard_of_this_thread(), method, {1, bytes});
        },
    .finish = finish,
    .destroy = destroy,
};

SharedCounts& shared_counts(void* blueprint_without_coalescing) {
  return *self(blueprint_without_coalescing).shared();
}

}  // namespace contrafact::online
