#include "agent_native/libraries.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent_native/real.h"
#include "agent_native/recording.h"

namespace contrafact::agent_native {
namespace {

struct Found {
  uint64_t bias, begin, end;  // of its executable segments
  std::string build_id, path;
};

std::string executable_path() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string();
}

// The note's descriptor as hexadecimal digits; empty if there is none.
std::string build_id(const dl_phdr_info& info, const ElfW(Phdr) & segment) {
  const auto* at = reinterpret_cast<const uint8_t*>(info.dlpi_addr + segment.p_vaddr);
  const uint8_t* end = at + segment.p_memsz;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
    const uint8_t* name = at + sizeof *note;
    const uint8_t* descriptor = name + ((note->n_namesz + 3) & ~3u);
    if (descriptor + note->n_descsz > end) break;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4) {
      std::string text;
      for (uint32_t i = 0; i < note->n_descsz; ++i) text += fmt::format("{:02x}", descriptor[i]);
      return text;
    }
    at = descriptor + ((note->n_descsz + 3) & ~3u);
  }
  return {};
}

int collect(dl_phdr_info* info, size_t, void* argument) {
  Found found{info->dlpi_addr, UINT64_MAX, 0, {}, info->dlpi_name ? info->dlpi_name : ""};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      found.begin = std::min<uint64_t>(found.begin, info->dlpi_addr + segment.p_vaddr);
      found.end = std::max<uint64_t>(found.end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    } else if (segment.p_type == PT_NOTE && found.build_id.empty()) {
      found.build_id = build_id(*info, segment);
    }
  }
  auto& all = *static_cast<std::vector<Found>*>(argument);
  if (found.path.empty()) found.path = executable_path();  // the first is the program itself
  if (found.begin < found.end && found.path[0] == '/') all.push_back(std::move(found));
  return 0;
}

struct Counts {
  unsigned long long adds, subs;
};

int count(dl_phdr_info* info, size_t, void* argument) {
  *static_cast<Counts*>(argument) = {info->dlpi_adds, info->dlpi_subs};
  return 1;
}

}  // namespace

std::string Libraries::fact_of(const Module& module, int64_t unloaded_ns) {
  return fmt::format("{} {} {}", module.loaded_ns, unloaded_ns, module.text);
}

bool Libraries::scan(recorder::Recorder& recorder) {
  Inside inside;
  std::lock_guard lock(mutex_);
  Counts now{};
  dl_iterate_phdr(count, &now);
  if (now.adds == adds_ && now.subs == subs_) return false;
  adds_ = now.adds;
  subs_ = now.subs;
  std::vector<Found> all;
  dl_iterate_phdr(collect, &all);
  const int64_t now_ns = g_clock.now_ns();
  for (auto& [begin, module] : loaded_) module.seen = false;
  for (const Found& found : all) {
    std::string text = fmt::format("{:x} {:x} {:x} {} {}", found.bias, found.begin, found.end,
                                   found.build_id.empty() ? "-" : found.build_id, found.path);
    const auto known = loaded_.find(found.begin);
    if (known != loaded_.end() && known->second.text == text) {
      known->second.seen = true;
      continue;
    }
    Module module{modules_++, std::move(text), now_ns, true};
    recorder.add_fact("module." + std::to_string(module.number), fact_of(module, 0));
    loaded_.insert_or_assign(found.begin, std::move(module));
  }
  std::erase_if(loaded_, [&](const auto& entry) {
    const Module& module = entry.second;
    if (!module.seen) recorder.add_fact("module." + std::to_string(module.number), fact_of(module, now_ns));
    return !module.seen;
  });
  return true;
}

}  // namespace contrafact::agent_native
