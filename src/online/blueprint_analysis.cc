#include "online/blueprint_analysis.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unordered_map>
#include <vector>

#include "online/count_table.h"
#include "online/gathered.h"
#include "online/result_file.h"

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
  // Entries, each of which costs an access when it is added to others.
  size_t size() const { return calls.size() + allocations.size(); }
  void add(const Profile& other) {
    other.calls.for_each([&](uint64_t edge, uint64_t times) { call(edge, times); });
    for (uint32_t method = 0; method < other.allocations.size(); ++method) {
      if (other.allocations[method].objects != 0) allocate(method, other.allocations[method]);
    }
  }

  CountTable<uint64_t> calls;
  std::vector<Allocations> allocations;
};

// Thread-safe but for the destructor.
class Blueprint {
 public:
  explicit Blueprint(const contrafact_host& host, std::unique_ptr<SharedCounts> shared = nullptr)
      : host_(host), shared_(std::move(shared)) {}

  Profile* begin() {
    return gathered_.begin([] { return new Profile; });
  }
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
  Gathered<Profile> gathered_;
  const std::unique_ptr<SharedCounts> shared_;  // where nothing is gathered
};

// docs/blueprint.md describes the file.
class Writer {
 public:
  Writer(std::FILE* file, const contrafact_host& host, const Profile& profile)
      : file_(file), host_(host), profile_(profile) {}

  void write(const contrafact_run& run, uint64_t accesses) {
    std::fputs("{\"format\":\"contrafact blueprint\",\"version\":1,\n\"run\":{", file_);
    write_run(file_, run, {{"shared_accesses", accesses}});
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
  void row(uint32_t id, const Allocations& sum) {
    std::fprintf(file_, "%s[%s,%llu,%llu]", separator_, method_fields(host_, id).c_str(),
                 static_cast<unsigned long long>(sum.objects), static_cast<unsigned long long>(sum.bytes));
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

void* create_shared(const contrafact_host* host, const char*) {
  auto shared = SharedCounts::create(shards_for_this_machine());
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
    .on_call = nullptr,
    .on_exit = nullptr,
    .on_allocation = nullptr,
    .finish = finish,
    .destroy = destroy,
    .on_context_call = nullptr,
    .on_context_allocation = nullptr,
    .on_calls =
        [](void* private_data, const contrafact_call* calls, size_t count) {
          Profile& profile = data(private_data);
          for (size_t i = 0; i < count; ++i) profile.call(uint64_t{calls[i].caller} << 32 | calls[i].callee, 1);
        },
    .on_allocations =
        [](void* private_data, const contrafact_allocation* allocations, size_t count) {
          Profile& profile = data(private_data);
          for (size_t i = 0; i < count; ++i) profile.allocate(allocations[i].method, {1, allocations[i].bytes});
        },
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
    .on_context_call = nullptr,
    .on_context_allocation = nullptr,
    .on_calls = nullptr,
    .on_allocations = nullptr,
};

SharedCounts& shared_counts(void* blueprint_without_coalescing) {
  return *self(blueprint_without_coalescing).shared();
}

}  // namespace contrafact::online
