// exec, which ends this image of the process: a new image of the recorded process is recorded in its place. vfork,
// whose child is another process. And _exit, which runs no destructor.
//
// All of it may be called in a signal's handler, on a small stack, in a vforked child: nothing here allocates, locks or
// needs more of the stack than the C library does.
#include <alloca.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstring>
#include <string_view>

#include "agent_native/agent.h"
#include "agent_native/exec_target.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "translate/raw_system_call.h"

extern "C" {
thread_local constinit uint32_t contrafact_vfork_depth = 0;
}

// The child adds 1 to the depth. The parent, which runs again when the child has ended or become another program, puts
// the old depth back. Like the C library's vfork, this one keeps its return address in a register: the child overwrites
// the stack.
__asm__(
    ".pushsection .text\n"
    ".globl vfork, __vfork\n"
    ".type vfork, @function\n"
    ".type __vfork, @function\n"
    "vfork:\n"
    "__vfork:\n"
    ".cfi_startproc\n"
    "  endbr64\n"
    "  popq %rdi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  .cfi_register %rip, %rdi\n"
    "  movq contrafact_vfork_depth@gottpoff(%rip), %rdx\n"
    "  movl %fs:(%rdx), %esi\n"
    "  movl $58, %eax\n"  // SYS_vfork
    "  syscall\n"
    "  pushq %rdi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset %rip, -8\n"
    "  testq %rax, %rax\n"
    "  js 1f\n"
    "  leal 1(%rsi), %ecx\n"
    "  cmovnzl %esi, %ecx\n"  // the parent; leal leaves the flags
    "  movl %ecx, %fs:(%rdx)\n"
    "  ret\n"
    "1:\n"
    "  negl %eax\n"
    "  pushq %rax\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call __errno_location@PLT\n"
    "  popq %rcx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  movl %ecx, (%rax)\n"
    "  movl $-1, %eax\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size vfork, . - vfork\n"
    ".size __vfork, . - __vfork\n"
    ".popsection");
static_assert(SYS_vfork == 58);

namespace contrafact::agent_native {
namespace {

constexpr std::string_view kPreload = "LD_PRELOAD=";

bool begins_with(const char* entry, std::string_view name) {
  return std::strncmp(entry, name.data(), name.size()) == 0;
}

// Whether the program's memory can be read, where that is in doubt. The kernel is asked once for each page, by a call
// that reads eight bytes and then fails for a bad argument. Where system calls are restricted, all counts as readable.
class Readable {
 public:
  bool operator()(const void* address) {
    constexpr uint64_t kPageBytes = 4096, kWordBytes = 8;
    constexpr long kNoChange = -1;
    const auto at = reinterpret_cast<uint64_t>(address);
    if (at / kPageBytes == page_ || is_restricted()) return true;
    const auto word = static_cast<long>(at / kWordBytes * kWordBytes);
    if (translate::raw_system_call(SYS_rt_sigprocmask, kNoChange, word, 0, kWordBytes) == -EFAULT) return false;
    page_ = at / kPageBytes;
    return true;
  }
  // Of all bytes up to the zero, and that one.
  bool is_text(const char* text) {
    while ((*this)(text)) {
      if (*text++ == 0) return true;
    }
    return false;
  }

 private:
  uint64_t page_ = UINT64_MAX;  // the latest that is readable
};

// The kernel refuses an environment that is not readable.
bool is_readable(char* const* environment) {
  if (!environment) return true;
  Readable entries, texts;
  constexpr size_t kLast = sizeof(char*) - 1;  // it need not be aligned
  for (; entries(environment) && entries(reinterpret_cast<const char*>(environment) + kLast); ++environment) {
    if (!*environment) return true;
    if (!texts.is_text(*environment)) return false;
  }
  return false;
}

// Mapped before `main`, because the program may restrict its system calls afterwards, in ways that we do not notice.
// Null while an exec uses it: each gives it back, except in children that share our memory (vfork).
constinit std::atomic<char*> g_reserve{nullptr};
constinit size_t g_reserve_bytes = 0;

// Memory for what an exec needs, until it has failed.
class ExecMemory {
 public:
  explicit ExecMemory(size_t bytes) : bytes_(bytes) {
    if (bytes <= g_reserve_bytes) at_ = g_reserve.exchange(nullptr, std::memory_order_acquire);
    is_mapped_ = !at_ && !is_restricted();
    if (!is_mapped_) return;
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at_ = memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
  }
  ~ExecMemory() {
    const int error = errno;
    if (is_mapped_ && at_) {
      munmap(at_, bytes_);
    } else if (at_) {
      g_reserve.store(at_, std::memory_order_release);
    }
    errno = error;
  }
  ExecMemory(const ExecMemory&) = delete;
  ExecMemory& operator=(const ExecMemory&) = delete;
  char* at() const { return at_; }  // null: there is none

 private:
  const size_t bytes_;
  char* at_ = nullptr;
  bool is_mapped_ = false;
};

// In another root, or among other mounts, the loader would complain that it does not find the agent.
bool agent_is_in_sight() {
  return access(g_agent.shared->agent_file.c_str(), R_OK) == 0;
}

// The environment of the new image, in memory that goes with this one: the program's, its entries of ours replaced or
// left out. If there is no memory it has no entries, and the program's own is to be used.
//
// Another thread may change the program's meanwhile: what has been measured is never exceeded.
class NewEnvironment {
 public:
  NewEnvironment(char* const* environment, const Shared& shared, const ExecTarget& target)
      : count_(count_of(environment)),
        preload_bytes_(preload_bytes(environment)),
        memory_(kLookBytes + bytes_of_entries() + preload_bytes_ + shared.preload_entry.size() + 2) {
    if (!memory_.at()) return;
    const bool restricted = is_restricted();
    with_agent_ = restricted || (agent_is_in_sight() && can_load_agent(target, memory_.at()));
    entries_ = reinterpret_cast<char**>(memory_.at() + kLookBytes);
    char* const preload = memory_.at() + kLookBytes + bytes_of_entries();
    char* end = preload;
    size_t left = preload_bytes_;
    if (with_agent_) {
      end += shared.preload_entry.copy(preload, shared.preload_entry.size());
    } else {
      end += kPreload.copy(preload, kPreload.size());
    }
    const char* const nothing_preloaded = with_agent_ ? nullptr : end;
    size_t n = 0;
    char** place = nullptr;  // of the program's own LD_PRELOAD
    for (size_t i = 0; i < count_ && environment[i]; ++i) {
      char* const entry = environment[i];
      if (begins_with(entry, kPreload)) {
        const size_t bytes = strnlen(entry, left);
        left -= bytes;
        if (bytes < kPreload.size()) continue;
        const size_t colon = end != nothing_preloaded;
        *end = ':';
        const std::string_view value(entry + kPreload.size(), bytes - kPreload.size());
        const size_t added = copy_without(end + colon, value, shared.agent_file);
        if (added == 0) continue;
        end += colon + added;
        if (!place) place = &entries_[n++];
      } else if (!is_ours(entry)) {
        entries_[n++] = entry;
      }
    }
    *end = 0;
    if (place) {
      *place = preload;
    } else if (end != nothing_preloaded) {
      entries_[n++] = preload;
    }
    if (with_agent_) {
      entries_[n++] = const_cast<char*>((restricted ? shared.restricted_options_entry : shared.options_entry).c_str());
      if (place && !shared.options.children) entries_[n++] = const_cast<char*>(kPaddingEntry);
    }
    entries_[n] = nullptr;
  }
  char* const* entries() const { return entries_; }
  bool with_agent() const { return with_agent_; }

 private:
  static bool is_ours(const char* entry) {
    const size_t name = sizeof kOptionsVariable - 1;
    return std::strcmp(entry, kPaddingEntry) == 0 ||
           (std::strncmp(entry, kOptionsVariable, name) == 0 && entry[name] == '=');
  }

  static size_t count_of(char* const* environment) {
    size_t count = 0;
    while (environment && environment[count]) ++count;
    return count;
  }
  size_t preload_bytes(char* const* environment) const {
    size_t bytes = 0;
    for (size_t i = 0; i < count_ && environment[i]; ++i) {
      if (begins_with(environment[i], kPreload)) bytes += std::strlen(environment[i]);
    }
    return bytes;
  }
  size_t bytes_of_entries() const { return (count_ + 4) * sizeof(char*); }  // three of ours, and the end

  const size_t count_, preload_bytes_;
  const ExecMemory memory_;
  bool with_agent_ = false;
  char** entries_ = nullptr;
};

}  // namespace

// Room for much more than there is now; what is never touched costs nothing.
void reserve_for_exec() {
  size_t bytes = size_t{1} << 20;
  for (char* const* entry = environ; entry && *entry; ++entry) bytes += 2 * (sizeof(char*) + std::strlen(*entry));
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (memory == MAP_FAILED) return;
  g_reserve_bytes = bytes;
  g_reserve.store(static_cast<char*>(memory), std::memory_order_release);
}

namespace {

// False for a child made by vfork, which shares our memory: it becomes another process. Where system calls are
// restricted, a child that was made by the bare system call is not recognised.
bool goes_on_recorded() {
  if (!g_agent.live.load(std::memory_order_acquire) || !is_original() || t_local.inside) return false;
  if (contrafact_vfork_depth != 0) return false;
  return is_restricted() || getpid() == g_agent.pid;
}

// Runs `library` with an environment that makes the new image load the agent. It returns only if it failed.
template <typename Library>
int exec(const ExecTarget& target, char* const* environment, Library library) {
  if (!goes_on_recorded()) return library(environment);
  if (!is_readable(environment)) return library(environment);
  const int error = errno;
  const NewEnvironment new_environment(environment, *g_agent.shared, target);
  errno = error;
  if (!new_environment.entries()) return library(environment);
  append_text(recorder::TextKind::fact, 0, "process.exec",
              new_environment.with_agent() ? "the process went on as another program"
                                           : "the process went on as a program that cannot be recorded");
  const int result = library(new_environment.entries());
  // The program's own may be just short enough.
  return result < 0 && errno == E2BIG ? library(environment) : result;
}

// The arguments of execl(path, first, ..., nullptr), their end included.
size_t count_arguments(const char* first, va_list rest) {
  size_t count = 1;
  for (const char* next = first; next; next = va_arg(rest, const char*)) ++count;
  return count;
}
void gather(const char* first, va_list rest, char** arguments, size_t count) {
  arguments[0] = const_cast<char*>(first);
  for (size_t i = 1; i < count; ++i) arguments[i] = va_arg(rest, char*);
}

}  // namespace
}  // namespace contrafact::agent_native

// Makes `char** arguments` on the stack, as long as it has to be, as the C library does. `rest` stands behind them.
#define CONTRAFACT_GATHER(first)                                                         \
  va_list rest, counted;                                                                 \
  va_start(rest, first);                                                                 \
  va_copy(counted, rest);                                                                \
  const size_t count = count_arguments(first, counted);                                  \
  va_end(counted);                                                                       \
  auto** const arguments = static_cast<char**>(__builtin_alloca(count * sizeof(char*))); \
  gather(first, rest, arguments, count)

using namespace contrafact::agent_native;
using By = ExecTarget::By;

CONTRAFACT_INTERPOSE(void, _exit, (int status)) {
  CONTRAFACT_CALLED;
  if (is_original()) count_sets();
  real()._exit(status);
}
CONTRAFACT_INTERPOSE(void, _Exit, (int status)) {
  CONTRAFACT_CALLED;
  if (is_original()) count_sets();
  real()._exit(status);
}

CONTRAFACT_INTERPOSE(int, execve, (const char* path, char* const* arguments, char* const* environment)) {
  CONTRAFACT_CALLED;
  return exec({By::path, path}, environment, [&](char* const* with) { return real().execve(path, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execv, (const char* path, char* const* arguments)) {
  CONTRAFACT_CALLED;
  return exec({By::path, path}, environ, [&](char* const* with) { return real().execve(path, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execvp, (const char* file, char* const* arguments)) {
  CONTRAFACT_CALLED;
  return exec({By::search, file}, environ, [&](char* const* with) { return real().execvpe(file, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execvpe, (const char* file, char* const* arguments, char* const* environment)) {
  CONTRAFACT_CALLED;
  return exec({By::search, file}, environment,
              [&](char* const* with) { return real().execvpe(file, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, fexecve, (int fd, char* const* arguments, char* const* environment)) {
  CONTRAFACT_CALLED;
  return exec({By::descriptor, nullptr, fd}, environment,
              [&](char* const* with) { return real().fexecve(fd, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execl, (const char* path, const char* first, ...)) {
  CONTRAFACT_CALLED;
  CONTRAFACT_GATHER(first);
  va_end(rest);
  return exec({By::path, path}, environ, [&](char* const* with) { return real().execve(path, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execlp, (const char* file, const char* first, ...)) {
  CONTRAFACT_CALLED;
  CONTRAFACT_GATHER(first);
  va_end(rest);
  return exec({By::search, file}, environ, [&](char* const* with) { return real().execvpe(file, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execle, (const char* path, const char* first, ...)) {
  CONTRAFACT_CALLED;
  CONTRAFACT_GATHER(first);
  char* const* environment = va_arg(rest, char* const*);
  va_end(rest);
  return exec({By::path, path}, environment, [&](char* const* with) { return real().execve(path, arguments, with); });
}
