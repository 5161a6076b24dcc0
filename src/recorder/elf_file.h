// What an ELF file says of itself to its loader: its parts, its build, and the data that nobody writes to. Errors:
// parts that cannot be read are absent.
#pragma once

#include <elf.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contrafact::recorder {

class ElfFile {
 public:
  // Addresses as in the file: once loaded, all lies a bias further.
  using Range = std::pair<uint64_t, uint64_t>;

  // Empty if there is none, or it is damaged.
  static std::optional<ElfFile> open(const std::string& path);

  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  // In hexadecimal; empty if it has none.
  std::string build_id();
  // Data that no other thread changes while the program's own code runs: read-only data, data that the loader seals,
  // and the procedure linkage table's addresses, where the loader writes the same on whichever thread it runs.
  std::vector<Range> constants();
  // All that is loaded, the data that it writes to included.
  std::vector<Range> all_data() const;

 private:
  ElfFile() = default;
  template <typename Record>
  bool read_at(uint64_t at, Record& record);
  std::optional<Range> linkage_addresses();

  std::ifstream file_;
  std::vector<Elf64_Phdr> segments_;
};

}  // namespace contrafact::recorder
