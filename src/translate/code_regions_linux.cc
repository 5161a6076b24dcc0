#include "translate/code_regions.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "translate/raw_system_call.h"

namespace contrafact::translate {
namespace {

uint64_t parse_hex(const char*& at, const char* end) {
  uint64_t value = 0;
  for (; at < end; ++at) {
    const char c = *at;
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<uint64_t>(c - 'a' + 10);
    } else {
      break;
    }
  }
  return value;
}

bool contains(const char* begin, const char* end, const char* text) {
  return std::search(begin, end, text, text + std::strlen(text)) != end;
}

}  // namespace

void CodeRegions::add_native(uint64_t begin, uint64_t end) {
  if (native_count_ < kNativeMax) native_[native_count_++] = {begin, end, CodeKind::native, 0};
}

void CodeRegions::add_native_of(const CodeRegions& other) {
  for (size_t i = 0; i < other.native_count_; ++i) add_native(other.native_[i].begin, other.native_[i].end);
}

// 7f1c-7f1d r-xp 00026000 08:01 123 /usr/lib/x86_64-linux-gnu/libc.so.6
void CodeRegions::add_line(const char* line, const char* end) {
  const uint64_t first = parse_hex(line, end);
  if (line == end || *line++ != '-') return;
  const uint64_t behind = parse_hex(line, end);
  if (end - line < 6) return;
  const bool readable = line[1] == 'r', writable = line[2] == 'w', executable = line[3] == 'x', shared = line[4] == 's';
  const char* slash = std::find(line, end, '/');
  const bool of_file = slash != end && !contains(slash, end, "/memfd:");
  CodeKind kind = CodeKind::generated;
  if (!executable) {
    if (!readable || writable || shared || !of_file) return;
    kind = CodeKind::constant;
  } else if (contains(line, end, "[vdso]")) {
    kind = CodeKind::program;  // clock_gettime writes where the program says
  } else if (!writable && readable && !shared && of_file && !contains(slash, end, "/gconv/")) {
    // Converters of character sets are loaded and unloaded by the C library, which asks nobody before whom we stand.
    kind = contains(slash, end, "/ld-linux-")                 ? CodeKind::unlogged
           : contains(slash, end, "/libcontrafact_accesses.") ? CodeKind::runtime
                                                              : CodeKind::program;
  }
  uint64_t identity = 14695981039346656037u;  // FNV-1a of permissions, offset, device, inode and path
  for (const char* at = line; at < end; ++at) identity = (identity ^ static_cast<uint8_t>(*at)) * 1099511628211u;
  if (count_ < kRegionsMax) regions_[count_++] = {first, behind, kind, identity};
}

bool CodeRegions::read() {
  read_ns_ = base::monotonic_ns();
  const long file =
      raw_system_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  count_ = 0;
  size_t kept = 0;
  for (;;) {
    const long n =
        raw_system_call(SYS_read, file, reinterpret_cast<long>(buffer_ + kept), static_cast<long>(kBufferBytes - kept));
    if (n <= 0) break;
    const char* at = buffer_;
    const char* end = buffer_ + kept + n;
    for (const char* newline; (newline = std::find(at, end, '\n')) != end; at = newline + 1) add_line(at, newline);
    kept = static_cast<size_t>(end - at);
    if (kept == kBufferBytes) kept = 0;  // a name longer than any path
    std::memmove(buffer_, at, kept);
  }
  raw_system_call(SYS_close, file);
  return true;
}

void CodeRegions::forget(uint64_t begin, uint64_t end) {
  count_ = static_cast<size_t>(
      std::remove_if(regions_, regions_ + count_,
                     [&](const Region& region) { return region.begin < end && region.end > begin; }) -
      regions_);
}

const CodeRegions::Region* CodeRegions::find(uint64_t address) const {
  const Region* behind = std::upper_bound(regions_, regions_ + count_, address,
                                          [](uint64_t at, const Region& region) { return at < region.begin; });
  if (behind == regions_) return nullptr;
  return address < behind[-1].end ? behind - 1 : nullptr;
}

bool CodeRegions::may_hold_code(uint64_t begin, uint64_t end) const {
  for (size_t i = 0; i < count_; ++i) {
    if (regions_[i].begin < end && regions_[i].end > begin) return true;
  }
  return false;
}

bool CodeRegions::is_known(const Region& region) const {
  const Region* now = find(region.begin);
  return now && now->begin == region.begin && now->end == region.end && now->identity == region.identity;
}

CodeRegions::Region CodeRegions::at(uint64_t address) const {
  for (size_t i = 0; i < native_count_; ++i) {
    if (address >= native_[i].begin && address < native_[i].end) return native_[i];
  }
  const Region* found = find(address);
  return found ? *found : Region{address, address + 1, CodeKind::none, 0};
}

bool CodeRegions::may_refresh() const {
  return read_ns_ == 0 || base::monotonic_ns() - read_ns_ > kReadAgainNs;
}

}  // namespace contrafact::translate
