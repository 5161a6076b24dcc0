// Every command that reads a trace, on hostile traces: none may crash, hang, do what is undefined, or need more memory
// than 100 MB plus 400 bytes for each row and 60 for each event that the trace really holds (test/bounds holds the
// same against the commands as processes). Which command reads an input follows from the input's bytes.
#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "base/check.h"
#include "cli/command.h"
#include "format/reader.h"
#include "trace_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace contrafact {
namespace {

const std::vector<std::vector<const char*>>& command_lines() {
  static const std::vector<std::vector<const char*>> lines{
      {"info", "--all"},
      {"info", "--json"},
      {"tasks", "--by", "context"},
      {"tasks", "--json"},
      {"locks", "--all"},
      {"locks", "--json"},
      {"ulc", "--all", "--pairs", "--seeds", "1"},
      {"advise", "--budget", "1", "--all"},
      {"advise", "--budget", "1", "--json", "--cores", "2"},
      {"estimate", "--model", "redispatch", "--cores", "3"},
      {"replay", "--no-threads", "--runs", "1", "--json"},
      {"metrics", "--json"},
      {"compare"},
      {"export", "--format", "csv", "--what", "events"},
      {"export", "--format", "csv", "--what", "tasks"},
      {"export", "--format", "csv", "--what", "headroom"},
      {"export", "--format", "json"},
      {"export", "--format", "text"},
      {"export", "--format", "perfetto"},
  };
  return lines;
}

// Rows and events that the file really holds. The ranges of access sets count as rows.
struct Holdings : format::Visitor {
  uint64_t rows = 0, events = 0;
  void on_fact(std::string_view, std::string_view) override { ++rows; }
  void on_strings(format::StringId, std::span<const std::string_view> strings) override { rows += strings.size(); }
  void on_methods(format::MethodId, std::span<const format::MethodRow> methods) override { rows += methods.size(); }
  void on_contexts(format::ContextId, std::span<const format::ContextRow> contexts) override {
    rows += contexts.size();
  }
  void on_pools(format::PoolId, std::span<const format::PoolRow> pools) override { rows += pools.size(); }
  void on_threads(format::ThreadId, std::span<const format::ThreadRow> threads) override { rows += threads.size(); }
  void on_method_addresses(std::span<const format::MethodAddressRow> addresses) override { rows += addresses.size(); }
  void on_locks(format::LockId, std::span<const format::LockRow> locks) override { rows += locks.size(); }
  void on_access_sets(format::AccessSetId, std::span<const format::AccessSetRow> sets) override {
    for (const format::AccessSetRow& set : sets) rows += 1 + set.ranges.size();
  }
  void on_events(const format::EventBlock& block) override { events += block.kind.size(); }
  size_t bytes_max() const { return 100'000'000 + 400 * rows + 60 * events; }
};

size_t live_bytes = 0;
size_t limit_bytes = SIZE_MAX;

void on_allocation(const volatile void* memory, size_t) {
  live_bytes += __sanitizer_get_allocated_size(memory);
  if (live_bytes <= limit_bytes) return;
  limit_bytes = SIZE_MAX;
  std::fprintf(stderr, "more memory than the bound\n");
  std::abort();
}
void on_free(const volatile void* memory) {
  if (memory != nullptr) live_bytes -= std::min(live_bytes, __sanitizer_get_allocated_size(memory));
}

size_t bytes_max(std::span<const uint8_t> file) {
  const auto reader = format::Reader::from_bytes({file.begin(), file.end()}, "fuzz");
  Holdings held;
  if (reader) reader->read(held);
  return held.bytes_max();
}

size_t hash_of(std::span<const uint8_t> file) {
  uint64_t hash = 14695981039346656037u;
  for (const uint8_t byte : file) hash = (hash ^ byte) * 1099511628211u;
  return hash >> 32;
}

}  // namespace
}  // namespace contrafact

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  CHECK(__sanitizer_install_malloc_and_free_hooks(contrafact::on_allocation, contrafact::on_free) != 0);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace contrafact;
  const int memory = memfd_create("fuzz", MFD_CLOEXEC);
  CHECK(memory >= 0 && write(memory, data, size) == static_cast<ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  std::vector<const char*> words{"contrafact"};
  const auto& line = command_lines()[hash_of({data, size}) % command_lines().size()];
  words.insert(words.end(), line.begin(), line.end());
  words.push_back(path.c_str());
  if (words[1] == std::string_view("compare")) words.push_back(path.c_str());
  const size_t traces = words[1] == std::string_view("compare") ? 2 : 1;
  limit_bytes = live_bytes + traces * bytes_max({data, size});
  const int status = cli::run_tool(static_cast<int>(words.size()), words.data());
  limit_bytes = SIZE_MAX;
  CHECK(status == 0 || status == 2 || status == 4);
  close(memory);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (seed % 16 != 0) {
    const std::vector<uint8_t> file = contrafact::format::TraceMutator(seed).mutate({data, size});
    if (!file.empty() && file.size() <= max_size) {
      std::copy(file.begin(), file.end(), data);
      return file.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
