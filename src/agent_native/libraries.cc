#include "agent_native/libraries.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <string_view>

#include "agent_native/loaded_code.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "recorder/texts.h"

namespace contrafact::agent_native {
namespace {

// A line of the list while it is written. There is one: lists are made one at a time.
class Line {
 public:
  void clear() { used_ = 0; }
  void put(std::string_view text) {
    const size_t bytes = std::min(text.size(), sizeof text_ - used_);
    std::memcpy(text_ + used_, text.data(), bytes);
    used_ += bytes;
  }
  void put_hex(uint64_t number, size_t digits_min = 1) {
    char digits[17];
    const auto end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
    const auto count = static_cast<size_t>(end - digits);
    for (size_t i = count; i < digits_min; ++i) put("0");
    put({digits, count});
  }
  std::string_view text() const { return {text_, used_}; }

 private:
  char text_[8192] = {};
  size_t used_ = 0;
};
constinit std::atomic<bool> g_listing{false};
constinit Line g_line;
constinit std::atomic<unsigned long long> g_adds{0}, g_subs{0};

// The loader's lock that is held during walks along its list; null: not found, and nothing is listed. Neither exit()
// nor a dlclose() that unloads nothing acquires it, and a walk may last for ever. So we must not wait for it, but no
// function of the C library tries it. It lies in _rtld_global: the recursive mutex that a thread holds during a walk
// only.
constinit pthread_mutex_t* g_walk_lock = nullptr;

struct Search {
  char* begin;
  size_t bytes;
  int thread;
  pthread_mutex_t* found;
  size_t count;
};

bool is_held_once(const pthread_mutex_t& mutex, int thread) {
  const auto& data = mutex.__data;
  return data.__owner == thread && data.__count == 1 && data.__lock != 0 && data.__kind == PTHREAD_MUTEX_RECURSIVE_NP;
}

int search(dl_phdr_info*, size_t, void* argument) {
  auto& in = *static_cast<Search*>(argument);
  in.count = 0;
  for (size_t at = 0; at + sizeof(pthread_mutex_t) <= in.bytes; at += alignof(pthread_mutex_t)) {
    auto* const mutex = reinterpret_cast<pthread_mutex_t*>(in.begin + at);
    if (!is_held_once(*mutex, in.thread)) continue;
    in.found = mutex;
    ++in.count;
  }
  return 1;
}

// The right to walk, if no other thread walks. A walk that ends takes some microseconds.
class Walk {
 public:
  Walk() {
    constexpr int kTries = 1000;  // 20 to 100 us in sum
    for (int i = 0; g_walk_lock && !may_walk_ && i < kTries; ++i) {
      may_walk_ = real().pthread_mutex_trylock(g_walk_lock) == 0;
      if (!may_walk_) __builtin_ia32_pause();
    }
  }
  ~Walk() {
    if (may_walk_) real().pthread_mutex_unlock(g_walk_lock);
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;
  explicit operator bool() const { return may_walk_; }

 private:
  bool may_walk_ = false;
};

// The note's descriptor as hexadecimal digits; "-" if there is none.
void put_build_id(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const uint8_t*>(info.dlpi_addr + segment.p_vaddr);
    const uint8_t* end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const uint8_t* name = at + sizeof *note;
      const uint8_t* descriptor = name + ((note->n_namesz + 3) & ~3u);
      if (descriptor + note->n_descsz > end) break;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4) {
        for (uint32_t digit = 0; digit < note->n_descsz; ++digit) g_line.put_hex(descriptor[digit], 2);
        return;
      }
      at = descriptor + ((note->n_descsz + 3) & ~3u);
    }
  }
  g_line.put("-");
}

// The first in the loader's list is the program itself, and has no name. A process that may not ask for the program's
// path leaves that to the recording process.
std::string_view path_of(const dl_phdr_info& info) {
  constexpr std::string_view kProgram = "/proc/self/exe";
  if (info.dlpi_name && info.dlpi_name[0] != 0) return info.dlpi_name;
  static constinit char own[4096] = {};
  if (own[0] == 0) {
    if (is_restricted()) return kProgram;
    const ssize_t n = readlink(kProgram.data(), own, sizeof own - 1);  // once, before main
    if (n <= 0) return kProgram;
  }
  return own;
}

int list(dl_phdr_info* info, size_t, void* argument) {
  const auto [begin, end] = code_of(*info);
  const std::string_view path = path_of(*info);
  if (begin >= end || path.empty() || path[0] != '/') return 0;
  g_line.clear();
  for (const uint64_t number : {static_cast<uint64_t>(info->dlpi_addr), begin, end}) {
    g_line.put_hex(number);
    g_line.put(" ");
  }
  put_build_id(*info);
  g_line.put(" ");
  g_line.put(path);
  recorder::append_text(static_cast<recorder::Client*>(argument), recorder::TextKind::library, 0, {}, g_line.text());
  return 0;
}

struct Counts {
  unsigned long long adds, subs;
};

int count(dl_phdr_info* info, size_t, void* argument) {
  *static_cast<Counts*>(argument) = {info->dlpi_adds, info->dlpi_subs};
  return 1;
}

void list_if_changed(recorder::Client* client) {
  const Walk walk;
  if (!walk) return;
  Counts now{};
  real().dl_iterate_phdr(count, &now);
  if (now.adds == g_adds.load(std::memory_order_relaxed) && now.subs == g_subs.load(std::memory_order_relaxed)) return;
  g_adds.store(now.adds, std::memory_order_relaxed);
  g_subs.store(now.subs, std::memory_order_relaxed);
  real().dl_iterate_phdr(list, client);
  recorder::append_text(client, recorder::TextKind::libraries, 0, {}, {});
}

}  // namespace

void prepare_to_list_libraries() {
  Dl_info place;
  void* entry = nullptr;
  void* const loader = dlsym(RTLD_DEFAULT, "_rtld_global");
  if (!loader || dladdr1(loader, &place, &entry, RTLD_DL_SYMENT) == 0 || !entry) return;
  const auto bytes = static_cast<size_t>(static_cast<const ElfW(Sym)*>(entry)->st_size);
  Search in{static_cast<char*>(loader), bytes, static_cast<int>(own_thread_id()), nullptr, 0};
  search(nullptr, 0, &in);
  if (in.count != 0) return;
  real().dl_iterate_phdr(search, &in);
  if (in.count == 1) g_walk_lock = in.found;
}

void list_libraries(recorder::Client* client) {
  if (g_listing.exchange(true, std::memory_order_acquire)) return;  // another thread, or a handler that interrupted it
  list_if_changed(client);
  g_listing.store(false, std::memory_order_release);
}

void never_list_libraries() {
  g_listing.store(true, std::memory_order_relaxed);
}

}  // namespace contrafact::agent_native
