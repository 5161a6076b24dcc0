#include "translate/loaded_object.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "translate/raw_system_call.h"

namespace contrafact::translate {

// struct dl_find_object of <dlfcn.h>, which older C libraries' headers lack.
struct ObjectFinder::Found {
  uint64_t flags;
  void* begin;
  void* end;
  void* link_map;
  void* unwinding;
  uint64_t reserved[7];
};

void ObjectFinder::prepare() {
  function_ = reinterpret_cast<int (*)(void*, Found*)>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

bool ObjectFinder::find(uint64_t address, LoadedObject& object) const {
  Found found;
  if (!function_ || function_(reinterpret_cast<void*>(address), &found) != 0) return false;
  constexpr uint64_t kPageBytes = 4096;
  const uint64_t end = (reinterpret_cast<uint64_t>(found.end) + kPageBytes - 1) & ~(kPageBytes - 1);
  object = {reinterpret_cast<uint64_t>(found.begin), end, found.link_map, found.unwinding, 0, false};
  return true;
}

FirstPage::Read FirstPage::read(uint64_t address) {
  iovec here{bytes, kBytes}, there{reinterpret_cast<void*>(address), kBytes};
  const long own = raw_system_call(SYS_getpid);
  const long n = raw_system_call(SYS_process_vm_readv, own, reinterpret_cast<long>(&here), 1,
                                 reinterpret_cast<long>(&there), 1, 0);
  if (n == static_cast<long>(kBytes)) return Read::whole;
  return n >= 0 || n == -EFAULT ? Read::no_memory : Read::not_possible;
}

void FirstPage::read_mapped(uint64_t address) {
  std::memcpy(bytes, reinterpret_cast<const void*>(address), kBytes);
}

std::span<const Elf64_Phdr> FirstPage::program_headers() const {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > kBytes || header.e_phoff % 8 != 0) return {};
  if (header.e_phnum > (kBytes - header.e_phoff) / sizeof(Elf64_Phdr)) return {};
  return {reinterpret_cast<const Elf64_Phdr*>(bytes + header.e_phoff), header.e_phnum};
}

uint64_t FirstPage::hash() const {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&](const void* begin, size_t count) {
    for (size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<const uint8_t*>(begin)[i]) * 1099511628211u;
  };
  const std::span<const Elf64_Phdr> headers = program_headers();
  add(bytes, sizeof(Elf64_Ehdr));
  add(headers.data(), headers.size_bytes());
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type != PT_NOTE || segment.p_offset > kBytes) continue;
    add(bytes + segment.p_offset, std::min(segment.p_filesz, kBytes - segment.p_offset));
  }
  return hash | 1;
}

bool is_still_loaded(const LoadedObject& object, const ObjectFinder& finder, FirstPage& page) {
  if (!finder.is_able()) {
    unsigned char resident;
    return raw_system_call(SYS_mincore, static_cast<long>(object.begin), 1, reinterpret_cast<long>(&resident)) == 0;
  }
  LoadedObject now;
  if (!finder.find(object.begin, now) || !now.is_at_place_of(object)) return false;
  if (object.content == 0) return true;
  switch (page.read(object.begin)) {
    case FirstPage::Read::whole:
      return page.hash() == object.content;
    case FirstPage::Read::no_memory:
      return false;  // since it was found
    case FirstPage::Read::not_possible:
      break;
  }
  return true;
}

}  // namespace contrafact::translate
