// Java installations: found from a launcher or on the machine, and whether the agent supports them. Reads files only;
// no Java process is started.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace contrafact::cli {

// The Java releases that the agent was tested on, and those between them.
inline constexpr int kJdkFeatureOldest = 17;
inline constexpr int kJdkFeatureNewest = 25;

struct Jdk {
  std::string home;     // folder with bin/java and release
  std::string version;  // "17.0.15"; empty if the release file does not say
  std::string vendor;   // empty if it does not say
  int feature = 0;      // 17; 0 if unknown
  bool hotspot = true;  // has lib/server/libjvm.so and no other virtual machine's mark
};

// 17 for "17.0.15", 8 for "1.8.0_402", 0 if it is no version.
int feature_of(std::string_view version);

// The installation that the executable `program` (a path) launches; none if it is no Java launcher. Follows symbolic
// links, so /usr/bin/java and alternatives work.
std::optional<Jdk> jdk_of_launcher(const std::string& program);

// JAVA_HOME, the java on PATH, and the usual folders; each installation once.
std::vector<Jdk> installed_jdks();

// One line: why it cannot be recorded and what to do. Ok if no reason is known.
base::Status check_supported(const Jdk& jdk);

// The file that running `name` would execute, as execvp looks for it; none if there is none.
std::optional<std::string> find_on_path(const std::string& name);

}  // namespace contrafact::cli
