#include "cli/source_lines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace contrafact::cli {
namespace {

// A file that is larger was made by a program, and nobody reads it.
constexpr uintmax_t kFileBytesMax = 16 << 20;

// "shop/api/" of "shop.api.Feed.load".
std::string package_folder(std::string_view method) {
  const auto cut = [&] {
    const size_t dot = method.rfind('.');
    method = method.substr(0, dot == std::string_view::npos ? 0 : dot);
  };
  cut();
  cut();
  std::string folder(method);
  std::ranges::replace(folder, '.', '/');
  return folder;
}

std::string without_indent(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  line = line.substr(begin, line.find_last_not_of(kBlank) + 1 - begin);
  return std::string(line.substr(0, SourceLines::kLineBytesMax));
}

}  // namespace

std::string SourceLines::path_of(const table::Location& place) const {
  // Both come out of the recording.
  const std::string file = place.file.substr(place.file.rfind('/') + 1);
  const std::string package = package_folder(place.method);
  std::error_code failed;
  if (!file.empty() && package.find("..") == std::string::npos) {
    for (const std::string& folder : folders_) {
      for (const std::filesystem::path& path :
           {std::filesystem::path(folder) / package / file, std::filesystem::path(folder) / file}) {
        if (std::filesystem::is_regular_file(path, failed)) return path.string();
      }
    }
  }
  return std::filesystem::is_regular_file(place.path, failed) ? place.path : "";
}

const std::vector<std::string>& SourceLines::lines_of(const std::string& path) {
  const auto [known, is_new] = read_.try_emplace(path);
  std::error_code failed;
  if (!is_new || std::filesystem::file_size(path, failed) > kFileBytesMax || failed) return known->second;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) known->second.push_back(without_indent(line));
  return known->second;
}

std::string SourceLines::line_at(const table::Location& place) {
  if (place.line == 0) return "";
  const std::string path = path_of(place);
  if (path.empty()) return "";
  const std::vector<std::string>& lines = lines_of(path);
  return place.line <= lines.size() ? lines[place.line - 1] : "";
}

}  // namespace contrafact::cli
