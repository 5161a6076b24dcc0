#include "cli/program_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/file.h"

namespace contrafact::cli {
namespace {

ProgramFile closed(std::string why) {
  return {ProgramKind::closed, std::move(why), {}};
}

template <typename Struct>
bool read_at(const std::vector<uint8_t>& bytes, uint64_t at, Struct& out) {
  if (at > bytes.size() || bytes.size() - at < sizeof out) return false;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return true;
}

// Text at an offset of the file, up to a zero.
std::string text_at(const std::vector<uint8_t>& bytes, uint64_t at) {
  std::string text;
  for (; at < bytes.size() && bytes[at] != 0 && text.size() < 4096; ++at) text += static_cast<char>(bytes[at]);
  return text;
}

struct Segments {
  std::string interpreter;
  bool dynamic = false;
  std::vector<Elf64_Phdr> loads;
  Elf64_Phdr dynamic_segment{};
};

Segments segments_of(const std::vector<uint8_t>& bytes, const Elf64_Ehdr& header) {
  Segments out;
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(bytes, header.e_phoff + uint64_t{i} * header.e_phentsize, segment)) break;
    if (segment.p_type == PT_INTERP) out.interpreter = text_at(bytes, segment.p_offset);
    if (segment.p_type == PT_LOAD) out.loads.push_back(segment);
    if (segment.p_type == PT_DYNAMIC) {
      out.dynamic = true;
      out.dynamic_segment = segment;
    }
  }
  return out;
}

// The libraries that it names (DT_NEEDED).
std::vector<std::string> needed(const std::vector<uint8_t>& bytes, const Segments& segments) {
  std::vector<uint64_t> names;
  uint64_t strings_address = 0;
  Elf64_Dyn entry;
  for (uint64_t at = 0; at < segments.dynamic_segment.p_filesz; at += sizeof entry) {
    if (!read_at(bytes, segments.dynamic_segment.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) strings_address = entry.d_un.d_ptr;
  }
  std::vector<std::string> libraries;
  for (const Elf64_Phdr& load : segments.loads) {
    if (strings_address < load.p_vaddr || strings_address >= load.p_vaddr + load.p_filesz) continue;
    const uint64_t strings = strings_address - load.p_vaddr + load.p_offset;
    for (const uint64_t name : names) libraries.push_back(text_at(bytes, strings + name));
  }
  return libraries;
}

// Programs that run with more rights than their user's: the loader ignores preloads in them.
bool gains_rights(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  const bool set_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid();
  const bool set_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getegid();
  const bool capable = getxattr(path.c_str(), "security.capability", nullptr, 0) > 0 && geteuid() != 0;
  return set_user || set_group || capable;
}

ProgramFile inspect_elf(const std::string& path, const std::vector<uint8_t>& bytes) {
  Elf64_Ehdr header;
  if (!read_at(bytes, 0, header)) return {ProgramKind::no_program, "its ELF header is cut off", {}};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
    return closed("it is no program for 64-bit x86 (x86-64); build it for that");
  }
  const Segments segments = segments_of(bytes, header);
  if (segments.interpreter.empty()) {
    return closed(
        "it is statically linked: no agent can be preloaded, and its locks are its own; link it without -static");
  }
  if (segments.interpreter.find("ld-linux-x86-64") == std::string::npos) {
    return closed(fmt::format("its loader is {}, not the GNU C library's", segments.interpreter));
  }
  if (gains_rights(path)) {
    return closed(
        "it runs with other rights than yours (set-user-ID, set-group-ID or file capabilities), so the system's "
        "loader ignores preloaded agents; record it as that user");
  }
  for (const std::string& library : needed(bytes, segments)) {
    if (library.starts_with("libjli") || library.starts_with("libjvm")) return {ProgramKind::jvm, {}, {}};
  }
  return {};
}

std::string first_word(std::string_view line) {
  size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(line.substr(begin, line.find_first_of(" \t\r\n", begin) - begin));
}

}  // namespace

base::Result<ProgramFile> inspect_program(const std::string& path) {
  base::Result<std::vector<uint8_t>> bytes = base::read_file(path);
  if (!bytes) return bytes.error();
  if (bytes->size() >= 4 && std::memcmp(bytes->data(), ELFMAG, SELFMAG) == 0) return inspect_elf(path, *bytes);
  if (bytes->size() >= 2 && (*bytes)[0] == '#' && (*bytes)[1] == '!') {
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()) + 2,
                                std::min<size_t>(bytes->size() - 2, 4096));
    return ProgramFile{ProgramKind::script, {}, first_word(text.substr(0, text.find('\n')))};
  }
  return ProgramFile{ProgramKind::no_program, "it is neither an ELF program nor a script with #!", {}};
}

std::string why_not_executable(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return "it is a folder; name the program in it";
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  const base::Result<ProgramFile> file = inspect_program(path);
  if (file && file->kind == ProgramKind::no_program) return "it is no program: " + file->why;
  return fmt::format("it may not be executed; chmod +x {} allows it", path);
}

}  // namespace contrafact::cli
