#include "cli/recording_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;

// The process ids behind RECORDING.PID, ascending as text.
std::vector<std::string> further_process_ids(const std::string& recording) {
  const std::string prefix = fs::path(recording).filename().string() + ".";
  std::vector<std::string> ids;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(fs::path(recording).parent_path(), failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::string id = name.substr(prefix.size());
    if (!id.empty() && id.find_first_not_of("0123456789.") == std::string::npos) ids.push_back(std::move(id));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string further_name(const fs::path& output, std::string_view id) {
  fs::path name = output;
  name.replace_filename(fmt::format("{}.{}{}", output.stem().string(), id, output.extension().string()));
  return name.string();
}

base::Status clear_leftover(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  bool in_use = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
  ::close(fd);
  if (in_use) {
    return base::Error{fmt::format("'{}' is being written by another recording; give another name with -o", path)};
  }
  if (::unlink(path.c_str()) == 0) return {};
  return base::Error{fmt::format("cannot remove '{}', left by an earlier recording: {}", path, std::strerror(errno))};
}

}  // namespace

base::Status clear_leftovers(const std::string& recording) {
  if (base::Status cleared = clear_leftover(recording); !cleared) return cleared;
  for (const std::string& id : further_process_ids(recording)) {
    if (base::Status cleared = clear_leftover(recording + "." + id); !cleared) return cleared;
  }
  return {};
}

FurtherRecordings name_further_recordings(const std::string& recording, const std::string& output) {
  FurtherRecordings further;
  for (const std::string& id : further_process_ids(recording)) {
    const std::string from = recording + "." + id, to = further_name(output, id);
    std::error_code failed;
    fs::rename(from, to, failed);
    further.files.push_back(failed ? from : to);
    if (failed) {
      further.failures.push_back(fmt::format("cannot rename '{}' to '{}': {}; the recording is under its first name",
                                             from, to, failed.message()));
    }
  }
  return further;
}

std::string pattern_of_further_recordings(const std::string& output) {
  return further_name(output, "[0-9]*");
}

}  // namespace contrafact::cli
