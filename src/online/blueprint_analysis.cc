#include "online/blueprint_analysis.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "online/count_table.h"

namespace contrafact::online {
namespace {

struct Allocations {
  uint64_t objects = 0;
  uint64_t bytes = 0;
};

// Calls by caller and callee, allocations by method.
struct Profile {
  static uint64_t edge(uint32_t caller, uint32_t callee) { return uint64_t{caller} << 32 | callee; }

  void add(const Profile& other) {
    other.calls.for_each([&](uint64_t key, uint64_t count) { calls.at(key) += count; });
    other.allocations.for_each([&](uint64_t method, const Allocations& more) {
      Allocations& sum = allocations.at(method);
      sum.objects += more.objects;
      sum.bytes += more.bytes;
    });
  }
  void clear() {
    calls.clear();
    allocations.clear();
  }

  CountTable<uint64_t> calls;
  CountTable<Allocations> allocations;  // by method + 1: it may be 0
};

// Thread-safe but for the destructor.
class Blueprint {
 public:
  explicit Blueprint(const contrafact_host& host) : host_(host) {}

  Profile* begin() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return new Profile;
    Profile* profile = free_.back().release();
    free_.pop_back();
    return profile;
  }

  void merge(Profile* profile) {
    std::unique_ptr<Profile> done(profile);
    {
      std::lock_guard lock(mutex_);
      total_.add(*done);
    }
    done->clear();
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(done));
  }

  bool write(const char* path, const contrafact_run& run);

 private:
  const contrafact_host host_;
  std::mutex mutex_;
  Profile total_;
  std::vector<std::unique_ptr<Profile>> free_;
};

// A string of JSON; the JVM's names are modified UTF-8, of which only what JSON forbids is escaped.
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

  void write(const contrafact_run& run) {
    std::fprintf(file_,
                 "{\"format\":\"contrafact blueprint\",\"version\":1,\n"
                 "\"run\":{\"events\":%llu,\"lost\":%llu,\"methods\":%llu,\"refused\":%llu,\"unseen_sites\":%llu},\n"
                 "\"methods\":[",
                 static_cast<unsigned long long>(run.events), static_cast<unsigned long long>(run.lost),
                 static_cast<unsigned long long>(run.methods), static_cast<unsigned long long>(run.refused),
                 static_cast<unsigned long long>(run.unseen_sites));
    std::unordered_map<uint32_t, Allocations> allocations;
    profile_.allocations.for_each([&](uint64_t key, const Allocations& sum) {
      allocations[static_cast<uint32_t>(key - 1)] = sum;
      row(static_cast<uint32_t>(key - 1), sum);
    });
    profile_.calls.for_each([&](uint64_t key, uint64_t) {
      for (const uint32_t method : {static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)}) {
        if (allocations.try_emplace(method).second) row(method, {});
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
  std::FILE* file = std::fopen(path, "we");
  if (!file) return false;
  std::lock_guard lock(mutex_);
  Writer(file, host_, total_).write(run);
  const bool good = std::ferror(file) == 0;
  return std::fclose(file) == 0 && good;
}

Blueprint& self(void* analysis) {
  return *static_cast<Blueprint*>(analysis);
}
Profile& data(void* data) {
  return *static_cast<Profile*>(data);
}

}  // namespace

const contrafact_analysis kBlueprintAnalysis = {
    .version = CONTRAFACT_ANALYSIS_VERSION,
    .name = "blueprint",
    .create = [](const contrafact_host* host, const char*) -> void* { return new Blueprint(*host); },
    .begin = [](void* analysis) -> void* { return self(analysis).begin(); },
    .merge = [](void* analysis, void* private_data) { self(analysis).merge(&data(private_data)); },
    .on_call = [](void* private_data, uint32_t caller,
                  uint32_t callee) { ++data(private_data).calls.at(Profile::edge(caller, callee)); },
    .on_exit = nullptr,
    .on_allocation =
        [](void* private_data, uint32_t method, uint32_t, uint64_t bytes) {
          Allocations& sum = data(private_data).allocations.at(uint64_t{method} + 1);
          ++sum.objects;
          sum.bytes += bytes;
        },
    .finish = [](void* analysis, const char* path,
                 const contrafact_run* run) { return self(analysis).write(path, *run) ? 0 : -1; },
    .destroy = [](void* analysis) { delete &self(analysis); },
};

}  // namespace contrafact::online
