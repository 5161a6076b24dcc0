// Whole-file reading, and output files that appear under their name only when they are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace contrafact::base {

// The file's bytes. Errors say the path and the system's reason.
Result<std::vector<uint8_t>> read_file(const std::string& path);
Result<std::string> read_text_file(const std::string& path);

// Writes `content` to a temporary name beside `path` and renames it, so that `path` is either the old file or the whole
// new one. On error nothing is left behind.
Status write_file(const std::string& path, std::string_view content);
inline Status write_file(const std::string& path, std::span<const uint8_t> content) {
  return write_file(path, std::string_view(reinterpret_cast<const char*>(content.data()), content.size()));
}

}  // namespace contrafact::base
