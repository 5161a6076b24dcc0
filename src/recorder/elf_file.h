// What an ELF file says of itself, as its loader reads it: which parts it has, of which build it is, and what nobody
// writes to. Errors: what cannot be read is absent.
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
  // Addresses as in the file: what is loaded lies a bias further.
  using Range = std::pair<uint64_t, uint64_t>;

  // Empty if there is none, or it is damaged.
  static std::optional<ElfFile> open(const std::string& path);

  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  // In hexadecimal; empty if it has none.
  std::string build_id();
  // What other threads do not change while the program's own code runs: what is read-only, what the loader seals, and
  // the procedure linkage table's addresses, where the loader writes only what any thread would.
  std::vector<Range> constants();
  // What it keeps for itself, too.
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
