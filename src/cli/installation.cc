#include "cli/installation.h"

#include <fmt/format.h>

#include <filesystem>

namespace contrafact::cli {

namespace fs = std::filesystem;

std::string self_path() {
  std::error_code failed;
  fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return failed ? std::string() : self.string();
}

base::Result<Installation> find_installation(const std::string& self) {
  fs::path root = fs::path(self).parent_path().parent_path();
  std::string looked;
  for (const fs::path& folder : {root / "lib" / "contrafact", root / "lib"}) {
    Installation found{(folder / "libcontrafact_jvm.so").string(), (folder / "libcontrafact_native.so").string()};
    std::error_code ignored;
    if (!fs::exists(found.native_library, ignored)) found.native_library.clear();
    if (fs::exists(found.agent_library, ignored)) return found;
    looked += fmt::format("{}'{}'", looked.empty() ? "" : " and ", folder.string());
  }
  return base::Error{fmt::format(
      "the JVM agent is missing: no libcontrafact_jvm.so in {}; install or build contrafact again", looked)};
}

}  // namespace contrafact::cli
