// What an ELF file for the loader defines and needs, with the versions of its symbols. Reads the file.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace contrafact::cli {

struct ElfSymbols {
  using Name = std::pair<std::string, std::string>;  // symbol and version; the latter may be empty
  std::set<Name> defined;
  std::map<std::string, std::set<Name>> needed;  // by the library that the file expects each of them in
  std::set<std::string> sections;                // their names
};

// Empty where the file cannot be read, or has no tables of sections.
ElfSymbols read_elf_symbols(const std::string& path);

// Whether the file's own names, which only a linker or a debugger reads, contain that text.
bool has_name_with(const std::string& path, std::string_view text);

}  // namespace contrafact::cli
