#include "cli/source_files.h"

#include <algorithm>
#include <filesystem>

namespace contrafact::cli {

std::string source_file(std::string_view class_name, std::string_view file) {
  constexpr std::string_view kFolders[] = {"",
                                           "src",
                                           "src/main/java",
                                           "src/main/kotlin",
                                           "src/main/scala",
                                           "src/main/groovy",
                                           "src/test/java",
                                           "app/src/main/java"};
  // Both come out of the recording.
  if (file.empty() || file.find('/') != std::string_view::npos || class_name.find('/') != std::string_view::npos)
    return "";
  const size_t dot = class_name.rfind('.');
  std::string package(class_name.substr(0, dot == std::string_view::npos ? 0 : dot));
  std::ranges::replace(package, '.', '/');
  std::error_code failed;
  const std::filesystem::path here = std::filesystem::current_path(failed);
  if (failed) return "";
  for (std::string_view folder : kFolders) {
    const std::filesystem::path path = (here / folder / package / file).lexically_normal();
    if (std::filesystem::is_regular_file(path, failed)) return path.string();
  }
  return "";
}

}  // namespace contrafact::cli
