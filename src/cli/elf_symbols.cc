#include "cli/elf_symbols.h"

#include <elf.h>

#include <cstring>
#include <vector>

#include "base/file.h"

namespace contrafact::cli {
namespace {

// The sections of a file in memory. Whatever lies outside of the file reads as nothing.
class Sections {
 public:
  explicit Sections(const std::vector<uint8_t>& bytes) : bytes_(bytes) {
    Elf64_Ehdr header;
    if (!get(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) return;
    for (uint32_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!get(header.e_shoff + uint64_t{i} * sizeof section, section)) return;
      all_.push_back(section);
    }
    names_ = header.e_shstrndx;
  }

  const std::vector<Elf64_Shdr>& all() const { return all_; }
  std::string name(const Elf64_Shdr& section) const { return text(names_, section.sh_name); }
  const Elf64_Shdr* of_type(uint32_t type) const {
    for (const Elf64_Shdr& section : all_) {
      if (section.sh_type == type) return &section;
    }
    return nullptr;
  }
  std::string_view content(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size()) return {};
    const uint64_t size = std::min<uint64_t>(section.sh_size, bytes_.size() - section.sh_offset);
    return {reinterpret_cast<const char*>(bytes_.data()) + section.sh_offset, size};
  }
  // A text of the table of texts of that number.
  std::string text(uint32_t table, uint64_t at) const {
    if (table >= all_.size()) return {};
    const std::string_view texts = content(all_[table]);
    if (at >= texts.size()) return {};
    const std::string_view rest = texts.substr(at);
    return std::string(rest.substr(0, rest.find('\0')));
  }
  template <typename Record>
  bool get_in(const Elf64_Shdr& section, uint64_t at, Record& record) const {
    const std::string_view bytes = content(section);
    if (at > bytes.size() || bytes.size() - at < sizeof record) return false;
    std::memcpy(&record, bytes.data() + at, sizeof record);
    return true;
  }

 private:
  template <typename Record>
  bool get(uint64_t at, Record& record) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof record) return false;
    std::memcpy(&record, bytes_.data() + at, sizeof record);
    return true;
  }

  const std::vector<uint8_t>& bytes_;
  std::vector<Elf64_Shdr> all_;
  uint32_t names_ = 0;
};

struct VersionOf {
  std::string name, library;  // the library: where it is needed from; empty where the file defines it
};

using Versions = std::map<uint16_t, VersionOf>;

void read_needed_versions(const Sections& sections, Versions& versions) {
  const Elf64_Shdr* const section = sections.of_type(SHT_GNU_verneed);
  Elf64_Verneed library;
  for (uint64_t at = 0; section && sections.get_in(*section, at, library);) {
    const std::string file = sections.text(section->sh_link, library.vn_file);
    Elf64_Vernaux version;
    uint64_t version_at = at + library.vn_aux;
    for (uint32_t i = 0; i < library.vn_cnt && sections.get_in(*section, version_at, version); ++i) {
      versions[version.vna_other & 0x7fff] = {sections.text(section->sh_link, version.vna_name), file};
      version_at += version.vna_next;
    }
    if (library.vn_next == 0) return;
    at += library.vn_next;
  }
}

void read_defined_versions(const Sections& sections, Versions& versions) {
  const Elf64_Shdr* const section = sections.of_type(SHT_GNU_verdef);
  Elf64_Verdef version;
  for (uint64_t at = 0; section && sections.get_in(*section, at, version);) {
    Elf64_Verdaux name;
    if (sections.get_in(*section, at + version.vd_aux, name))
      versions[version.vd_ndx & 0x7fff] = {sections.text(section->sh_link, name.vda_name), {}};
    if (version.vd_next == 0) return;
    at += version.vd_next;
  }
}

}  // namespace

ElfSymbols read_elf_symbols(const std::string& path) {
  ElfSymbols out;
  const base::Result<std::vector<uint8_t>> bytes = base::read_file(path);
  if (!bytes) return out;
  const Sections sections(*bytes);
  for (const Elf64_Shdr& section : sections.all()) out.sections.insert(sections.name(section));
  const Elf64_Shdr* const symbols = sections.of_type(SHT_DYNSYM);
  if (!symbols) return out;
  Versions versions;
  read_needed_versions(sections, versions);
  read_defined_versions(sections, versions);
  const Elf64_Shdr* const numbers = sections.of_type(SHT_GNU_versym);
  Elf64_Sym symbol;
  for (uint64_t i = 1; sections.get_in(*symbols, i * sizeof symbol, symbol); ++i) {
    uint16_t number = 0;
    if (numbers) sections.get_in(*numbers, i * sizeof number, number);
    const auto version = versions.find(number & 0x7fff);
    const VersionOf of = version == versions.end() ? VersionOf() : version->second;
    ElfSymbols::Name name{sections.text(symbols->sh_link, symbol.st_name), of.name};
    if (symbol.st_shndx != SHN_UNDEF) {
      out.defined.insert(std::move(name));
    } else if (!of.library.empty()) {
      out.needed[of.library].insert(std::move(name));
    }
  }
  return out;
}

bool has_name_with(const std::string& path, std::string_view text) {
  const base::Result<std::vector<uint8_t>> bytes = base::read_file(path);
  if (!bytes) return false;
  const Sections sections(*bytes);
  const Elf64_Shdr* const symbols = sections.of_type(SHT_SYMTAB);
  if (!symbols || symbols->sh_link >= sections.all().size()) return false;
  return sections.content(sections.all()[symbols->sh_link]).find(text) != std::string_view::npos;
}

}  // namespace contrafact::cli
