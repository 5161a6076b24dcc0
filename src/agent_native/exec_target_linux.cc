#include "agent_native/exec_target.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "translate/raw_system_call.h"

namespace contrafact::agent_native {
namespace {

using translate::raw_system_call;

constexpr size_t kPathBytes = 4096;
static_assert(kLookBytes == 2 * kPathBytes);
constexpr int kScriptsMax = 5;  // that name each other, as the kernel has it

long address_of(const void* at) {
  return reinterpret_cast<long>(at);
}

bool read_at(int file, uint64_t at, void* to, size_t bytes) {
  return raw_system_call(SYS_pread64, file, address_of(to), static_cast<long>(bytes), static_cast<long>(at)) ==
         static_cast<long>(bytes);
}

// The kernel's stat, whose layout on this platform is the C library's.
bool gains_rights(int file) {
  struct stat status{};
  if (raw_system_call(SYS_fstat, file, address_of(&status)) != 0) return false;
  const auto is_own_user = status.st_uid == static_cast<uid_t>(raw_system_call(SYS_geteuid));
  const auto is_own_group = status.st_gid == static_cast<gid_t>(raw_system_call(SYS_getegid));
  if ((status.st_mode & S_ISUID) != 0 && !is_own_user) return true;
  if ((status.st_mode & S_ISGID) != 0 && !is_own_group) return true;
  return raw_system_call(SYS_fgetxattr, file, address_of("security.capability"), 0, 0) > 0 &&
         raw_system_call(SYS_geteuid) != 0;
}

// `buffer`: kPathBytes.
bool elf_can_load_agent(int file, char* buffer) {
  Elf64_Ehdr header{};
  if (!read_at(file, 0, &header, sizeof header)) return true;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return false;
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, header.e_phoff + uint64_t{i} * header.e_phentsize, &segment, sizeof segment)) return true;
    if (segment.p_type != PT_INTERP) continue;
    const size_t bytes = std::min<size_t>(segment.p_filesz, kPathBytes);
    if (!read_at(file, segment.p_offset, buffer, bytes)) return true;
    const std::string_view loader(buffer, strnlen(buffer, bytes));
    return loader.find("ld-linux-x86-64") != std::string_view::npos && !gains_rights(file);
  }
  return false;
}

// The path after "#!", ended by a zero in its place; null if there is none.
const char* interpreter_in(char* line, size_t bytes) {
  const std::string_view text(line, bytes);
  const size_t begin = text.find_first_not_of(" \t", 2);
  if (begin == std::string_view::npos) return nullptr;
  const size_t end = text.find_first_of(std::string_view(" \t\n\0", 4), begin);
  if (end == std::string_view::npos || end == begin) return nullptr;
  line[end] = 0;
  return line + begin;
}

enum class Kind { other, can, cannot, script };

// `buffer`: kPathBytes; of a script it has the interpreter's path afterwards, at `interpreter`.
Kind look_at(int file, char* buffer, const char*& interpreter) {
  constexpr size_t kFirstBytes = 256;  // of a script's first line, as the kernel has it
  const long bytes = raw_system_call(SYS_pread64, file, address_of(buffer), kFirstBytes, 0);
  if (bytes >= SELFMAG && std::memcmp(buffer, ELFMAG, SELFMAG) == 0)
    return elf_can_load_agent(file, buffer) ? Kind::can : Kind::cannot;
  if (bytes < 2 || buffer[0] != '#' || buffer[1] != '!') return Kind::other;
  interpreter = interpreter_in(buffer, static_cast<size_t>(bytes));
  return interpreter ? Kind::script : Kind::other;
}

bool path_can_load_agent(const char* path, char* buffer) {
  for (int scripts = 0; scripts < kScriptsMax; ++scripts) {
    struct stat status{};
    if (raw_system_call(SYS_newfstatat, AT_FDCWD, address_of(path), address_of(&status), 0) != 0) return true;
    if (!S_ISREG(status.st_mode)) return true;  // opening any other kind may have an effect
    const long file = raw_system_call(SYS_openat, AT_FDCWD, address_of(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return true;
    const Kind kind = look_at(static_cast<int>(file), buffer, path);
    raw_system_call(SYS_close, file);
    if (kind != Kind::script) return kind != Kind::cannot;
  }
  return true;
}

// The first file along PATH that may be executed, written to `path`; false if there is none, or a path is too long.
bool find_along_path(std::string_view name, char* path) {
  constexpr std::string_view kVariable = "PATH=", kDefault = "/bin:/usr/bin";
  std::string_view folders = kDefault;
  for (char** entry = environ; entry && *entry; ++entry) {
    if (std::strncmp(*entry, kVariable.data(), kVariable.size()) == 0) folders = *entry + kVariable.size();
  }
  for (bool last = false; !last;) {
    const size_t colon = folders.find(':');
    last = colon == std::string_view::npos;
    const std::string_view folder = folders.substr(0, colon);
    folders.remove_prefix(last ? folders.size() : colon + 1);
    if (folder.size() + 1 + name.size() >= kPathBytes) return false;
    char* end = path + folder.copy(path, folder.size());
    if (!folder.empty()) *end++ = '/';
    end += name.copy(end, name.size());
    *end = 0;
    if (raw_system_call(SYS_faccessat, AT_FDCWD, address_of(path), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

bool can_load_agent(const ExecTarget& target, char* memory) {
  if (!__libc_single_threaded) return true;
  char* const path = memory;
  char* const buffer = memory + kPathBytes;
  const char* interpreter = nullptr;
  switch (target.by) {
    case ExecTarget::By::descriptor: {
      const Kind kind = look_at(target.descriptor, buffer, interpreter);
      return kind == Kind::script ? path_can_load_agent(interpreter, path) : kind != Kind::cannot;
    }
    case ExecTarget::By::search:
      if (std::strchr(target.name, '/') == nullptr)
        return !find_along_path(target.name, path) || path_can_load_agent(path, buffer);
      [[fallthrough]];
    case ExecTarget::By::path:
      return path_can_load_agent(target.name, buffer);
  }
  return true;
}

}  // namespace contrafact::agent_native
