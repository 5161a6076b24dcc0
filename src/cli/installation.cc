#include "cli/installation.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

namespace contrafact::cli {

namespace fs = std::filesystem;

std::string self_path() {
  std::error_code failed;
  fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return failed ? std::string() : self.string();
}

namespace {

std::vector<fs::path> folders_of(const std::string& self) {
  const fs::path root = fs::path(self).parent_path().parent_path();
  return {root / "lib" / "contrafact", root / "lib"};
}

// Empty if it is not there.
std::string file_in(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::exists(folder / name, ignored) ? (folder / name).string() : std::string();
}

base::Error missing(const std::string& self, std::string_view what) {
  std::string looked;
  for (const fs::path& folder : folders_of(self)) {
    looked += fmt::format("{}'{}'", looked.empty() ? "" : " and ", folder.string());
  }
  return {fmt::format("{} in {}; install or build contrafact again", what, looked)};
}

}  // namespace

base::Result<Installation> find_installation(const std::string& self) {
  Installation found;
  for (const fs::path& folder : folders_of(self)) {
    if (found.agent_library.empty()) found.agent_library = file_in(folder, "libcontrafact_jvm.so");
    if (found.native_library.empty()) found.native_library = file_in(folder, "libcontrafact_native.so");
    if (found.tbb_library.empty()) found.tbb_library = file_in(folder, "libcontrafact_native_tbb.so");
    if (found.sets_library.empty()) found.sets_library = file_in(folder, "libcontrafact_native_sets.so");
  }
  if (found.agent_library.empty() && found.native_library.empty()) {
    return missing(self, "the agents are missing: no libcontrafact_jvm.so and no libcontrafact_native.so");
  }
  return found;
}

base::Result<Installation> find_jvm_installation(const std::string& self) {
  base::Result<Installation> found = find_installation(self);
  if (found && !found->agent_library.empty()) return found;
  return missing(self, "the JVM agent is missing: no libcontrafact_jvm.so");
}

}  // namespace contrafact::cli
