#include "recorder/loaded_libraries.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "base/file.h"
#include "base/hex.h"
#include "recorder/elf_file.h"

namespace contrafact::recorder {
namespace {

// A number in hexadecimal and the blank behind it.
std::optional<uint64_t> take_hex(std::string_view& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return number;
}

// A line of /proc/PID/maps: 7f1c-7f1d r-xp 00026000 08:01 123 /usr/lib/x86_64-linux-gnu/libc.so.6
struct Mapped {
  uint64_t begin, end, offset;
  std::string path;
};

std::optional<Mapped> code_of_line(const std::string& line) {
  std::string_view rest = line;
  const auto begin = take_hex(rest), end = take_hex(rest);
  if (!begin || !end || rest.size() < 5 || rest[2] != 'x') return {};
  rest.remove_prefix(5);
  const auto offset = take_hex(rest);
  const size_t path = rest.find('/');
  if (!offset || path == std::string_view::npos) return {};
  return Mapped{*begin, *end, *offset, std::string(rest.substr(path))};
}

// "BIAS BEGIN END BUILD_ID PATH" of the ELF file that is mapped there; empty if it is none.
std::string describe(const Mapped& mapped, const std::string& file_path, uint64_t& begin, uint64_t& end) {
  std::optional<ElfFile> file = ElfFile::open(file_path);
  if (!file) return {};
  std::optional<uint64_t> bias;
  std::vector<Elf64_Phdr> code;
  for (const Elf64_Phdr& segment : file->segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    code.push_back(segment);
    constexpr uint64_t kPageMask = 4095;
    const uint64_t page = segment.p_offset & ~kPageMask;
    if (mapped.offset >= page && mapped.offset < segment.p_offset + segment.p_filesz) {
      bias = mapped.begin - mapped.offset - (segment.p_vaddr - segment.p_offset);
    }
  }
  if (!bias) return {};
  begin = UINT64_MAX, end = 0;
  for (const Elf64_Phdr& segment : code) {
    begin = std::min(begin, *bias + segment.p_vaddr);
    end = std::max(end, *bias + segment.p_vaddr + segment.p_memsz);
  }
  const std::string id = file->build_id();
  return base::hex(*bias) + " " + base::hex(begin) + " " + base::hex(end) + " " + (id.empty() ? "-" : id) + " " +
         mapped.path;
}

// "BEGIN END" of each part of the file that the program's threads need not protect from each other; blanks between
// them. The C library protects its own data. Empty unless the file is of that build.
std::string constants(const std::string& file_path, uint64_t bias, std::string_view of_build) {
  std::optional<ElfFile> file = ElfFile::open(file_path);
  if (!file || file->build_id() != of_build) return {};
  std::string text;
  for (const auto& [begin, end] : is_of_c_library(file_path) ? file->all_data() : file->constants())
    text += (text.empty() ? "" : " ") + base::hex(bias + begin) + " " + base::hex(bias + end);
  return text;
}

// Of two descriptions: whether they lie at the same place and are of one build. The kernel's map may name a file
// otherwise than the loader does; without a build id the place has to do.
bool is_same_code(std::string_view a, std::string_view b) {
  const auto before_path = [](std::string_view text) {
    size_t end = 0;
    for (int field = 0; field < 4 && end != std::string_view::npos; ++field) end = text.find(' ', end + 1);
    return text.substr(0, end);
  };
  return before_path(a) == before_path(b);
}

}  // namespace

bool is_of_c_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libc.so.") || name.starts_with("libm.so.") || name.starts_with("libpthread.so.") ||
         name.starts_with("ld-linux-") || name.starts_with("ld-musl-");
}

void LoadedLibraries::tell(const Library& library, int64_t unloaded_ns) {
  tables_.fact("module." + std::to_string(library.number),
               std::to_string(library.loaded_ns) + " " + std::to_string(unloaded_ns) + " " + library.text);
}

void LoadedLibraries::add(uint64_t begin, uint64_t end, std::string text, int64_t now_ns) {
  Library library{count_++, std::move(text), end, now_ns, true};
  if (const auto former = loaded_.find(begin); former != loaded_.end()) tell(former->second, now_ns);
  tell(library, 0);
  std::string_view rest = library.text;
  const uint64_t bias = take_hex(rest).value_or(0);
  for (int i = 0; i < 2; ++i) take_hex(rest);  // begin and end
  const size_t path = rest.find(' ');
  if (path != std::string_view::npos) {
    const std::string file = "/proc/" + std::to_string(pid_) + "/root" + std::string(rest.substr(path + 1));
    const std::string ranges = constants(file, bias, rest.substr(0, path));
    if (!ranges.empty()) tables_.fact("constants." + std::to_string(library.number), ranges);
  }
  loaded_.insert_or_assign(begin, std::move(library));
}

void LoadedLibraries::list(std::string_view library) {
  constexpr std::string_view kProgram = " /proc/self/exe";
  std::string text(library);
  char path[4096];
  if (text.ends_with(kProgram)) {
    const ssize_t n = readlink(("/proc/" + std::to_string(pid_) + "/exe").c_str(), path, sizeof path);
    if (n > 0) text.replace(text.size() - kProgram.size() + 1, kProgram.size() - 1, path, static_cast<size_t>(n));
  }
  listed_.push_back(std::move(text));
}

void LoadedLibraries::end_list(int64_t now_ns) {
  for (auto& [begin, library] : loaded_) library.seen = false;
  for (std::string& text : listed_) {
    std::string_view rest = text;
    const auto bias = take_hex(rest), begin = take_hex(rest), end = take_hex(rest);
    if (!bias || !begin || !end) continue;
    const auto known = loaded_.find(*begin);
    if (known != loaded_.end() && is_same_code(known->second.text, text)) {
      known->second.seen = true;
    } else {
      add(*begin, *end, std::move(text), now_ns);
    }
  }
  listed_.clear();
  std::erase_if(loaded_, [&](const auto& entry) {
    if (!entry.second.seen) tell(entry.second, now_ns);
    return !entry.second.seen;
  });
}

std::vector<std::string> LoadedLibraries::loaded() const {
  std::vector<std::string> texts;
  for (const auto& [begin, library] : loaded_) texts.push_back(library.text);
  return texts;
}

bool LoadedLibraries::knows(uint64_t address) const {
  auto behind = loaded_.upper_bound(address);
  return behind != loaded_.begin() && address <= (--behind)->second.end;
}

std::string_view LoadedLibraries::path_at(uint64_t address) const {
  const auto behind = loaded_.upper_bound(address);
  if (behind == loaded_.begin() || address > std::prev(behind)->second.end) return {};
  std::string_view path = std::prev(behind)->second.text;
  for (int field = 0; field < 4; ++field) path.remove_prefix(std::min(path.find(' '), path.size() - 1) + 1);
  return path;
}

void LoadedLibraries::find(const std::vector<uint64_t>& addresses, int64_t now_ns) {
  if (std::ranges::any_of(addresses, [this](uint64_t address) { return !knows(address); })) read_map(now_ns);
}

void LoadedLibraries::read_map(int64_t now_ns) {
  const std::string process = "/proc/" + std::to_string(pid_);
  const auto map = base::read_text_file(process + "/maps");
  if (!map) return;
  std::istringstream lines(*map);
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Mapped> mapped = code_of_line(line);
    if (!mapped || knows(mapped->begin)) continue;
    uint64_t begin = 0, end = 0;
    std::string text = describe(*mapped, process + "/root" + mapped->path, begin, end);
    if (!text.empty()) add(begin, end, std::move(text), now_ns);
  }
}

}  // namespace contrafact::recorder
