#include "recorder/elf_file.h"

#include <algorithm>
#include <cstring>

#include "base/hex.h"

namespace contrafact::recorder {

template <typename Record>
bool ElfFile::read_at(uint64_t at, Record& record) {
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(at));
  return static_cast<bool>(file_.read(reinterpret_cast<char*>(&record), sizeof record));
}

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  ElfFile elf;
  elf.file_.open(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!elf.read_at(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!elf.read_at(header.e_phoff + uint64_t{i} * sizeof segment, segment)) return {};
    elf.segments_.push_back(segment);
  }
  return elf;
}

std::string ElfFile::build_id() {
  constexpr uint64_t kNotesBytesMax = 64 << 10;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_NOTE) continue;
    std::string notes(std::min(segment.p_filesz, kNotesBytesMax), '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(segment.p_offset));
    if (!file_.read(notes.data(), static_cast<std::streamsize>(notes.size()))) continue;
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
      Elf64_Nhdr note;
      std::memcpy(&note, notes.data() + at, sizeof note);
      const uint64_t descriptor = at + sizeof note + ((uint64_t{note.n_namesz} + 3) & ~uint64_t{3});
      if (descriptor + note.n_descsz > notes.size()) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4) {
        std::string text;
        for (uint32_t i = 0; i < note.n_descsz; ++i) text += base::hex(static_cast<uint8_t>(notes[descriptor + i]), 2);
        return text;
      }
      at = descriptor + ((uint64_t{note.n_descsz} + 3) & ~uint64_t{3});
    }
  }
  return {};
}

// Each imported function has an address there, behind three that the loader keeps (System V ABI, AMD64, 5.2).
std::optional<ElfFile::Range> ElfFile::linkage_addresses() {
  constexpr uint64_t kOfLoader = 3;
  uint64_t begin = 0, relocated_bytes = 0;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      if (!read_at(segment.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_PLTGOT) begin = entry.d_un.d_ptr;
      if (entry.d_tag == DT_PLTRELSZ) relocated_bytes = entry.d_un.d_val;
    }
  }
  if (begin == 0 || relocated_bytes == 0) return {};
  return Range{begin, begin + (kOfLoader + relocated_bytes / sizeof(Elf64_Rela)) * sizeof(uint64_t)};
}

std::vector<ElfFile::Range> ElfFile::constants() {
  std::vector<Range> ranges;
  for (const Elf64_Phdr& segment : segments_) {
    const bool is_constant =
        segment.p_type == PT_GNU_RELRO || (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0);
    if (is_constant && segment.p_memsz > 0) ranges.emplace_back(segment.p_vaddr, segment.p_vaddr + segment.p_memsz);
  }
  if (const auto addresses = linkage_addresses()) ranges.push_back(*addresses);
  return ranges;
}

std::vector<ElfFile::Range> ElfFile::all_data() const {
  std::vector<Range> ranges;
  for (const Elf64_Phdr& segment : segments_)
    if (segment.p_type == PT_LOAD) ranges.emplace_back(segment.p_vaddr, segment.p_vaddr + segment.p_memsz);
  return ranges;
}

}  // namespace contrafact::recorder
