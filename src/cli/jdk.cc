#include "cli/jdk.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/file.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// The value of KEY="value" in a JDK's release file.
std::string release_value(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') continue;
    std::string value = line.substr(key.size() + 1);
    std::erase_if(value, [](char c) { return c == '"' || c == '\r'; });
    return value;
  }
  return {};
}

std::optional<Jdk> jdk_at(const fs::path& home) {
  std::error_code ignored;
  if (!fs::exists(home / "bin" / "java", ignored)) return std::nullopt;
  // A Java 8 JDK keeps its machine in jre/lib/<arch>/server.
  bool machine = fs::exists(home / "lib" / "server" / "libjvm.so", ignored) ||
                 fs::exists(home / "lib" / "amd64" / "server" / "libjvm.so", ignored) ||
                 fs::exists(home / "jre" / "lib" / "amd64" / "server" / "libjvm.so", ignored);
  auto release = base::read_text_file((home / "release").string());
  if (!machine && !release) return std::nullopt;
  Jdk jdk{.home = home.string()};
  jdk.hotspot = machine;
  if (release) {
    jdk.version = release_value(*release, "JAVA_VERSION");
    jdk.vendor = release_value(*release, "IMPLEMENTOR");
    jdk.feature = feature_of(jdk.version);
    jdk.hotspot = machine && release_value(*release, "JVM_VARIANT") != "Openj9";
  }
  return jdk;
}

void add_once(std::vector<Jdk>& jdks, std::optional<Jdk> jdk) {
  if (!jdk) return;
  auto same = [&](const Jdk& other) { return other.home == jdk->home; };
  if (std::none_of(jdks.begin(), jdks.end(), same)) jdks.push_back(std::move(*jdk));
}

}  // namespace

int feature_of(std::string_view version) {
  auto number = [](std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  if (version.starts_with("1.")) version.remove_prefix(2);
  return number(version);
}

std::optional<Jdk> jdk_of_launcher(const std::string& program) {
  std::error_code failed;
  fs::path real = fs::canonical(program, failed);
  if (failed || real.filename() != "java") return std::nullopt;
  std::optional<Jdk> jdk = jdk_at(real.parent_path().parent_path());
  // A JDK 8 has a second launcher in jre/bin; the release file is that of the JDK around it.
  if (jdk && jdk->feature == 0 && real.parent_path().parent_path().filename() == "jre") {
    if (auto outer = jdk_at(real.parent_path().parent_path().parent_path())) return outer;
  }
  return jdk;
}

std::vector<Jdk> installed_jdks() {
  std::vector<Jdk> jdks;
  if (std::string home = variable("JAVA_HOME"); !home.empty()) add_once(jdks, jdk_of_launcher(home + "/bin/java"));
  if (auto java = find_on_path("java")) add_once(jdks, jdk_of_launcher(*java));
  std::vector<fs::path> found;
  for (const std::string& folder : {std::string("/usr/lib/jvm"), std::string("/opt"), variable("HOME") + "/.jdks",
                                    variable("HOME") + "/.sdkman/candidates/java"}) {
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
      found.push_back(entry->path());
    }
  }
  std::sort(found.begin(), found.end());
  for (const fs::path& home : found) add_once(jdks, jdk_of_launcher((home / "bin" / "java").string()));
  return jdks;
}

base::Status check_supported(const Jdk& jdk) {
  if (!jdk.hotspot) {
    return base::Error{fmt::format("the Java in '{}' is no HotSpot virtual machine; use an OpenJDK {} to {}", jdk.home,
                                   kJdkFeatureOldest, kJdkFeatureNewest)};
  }
  if (jdk.feature == 0 || (jdk.feature >= kJdkFeatureOldest && jdk.feature <= kJdkFeatureNewest)) return {};
  return base::Error{fmt::format("Java {} in '{}' is not supported: use Java {} to {}, or --force to try", jdk.version,
                                 jdk.home, kJdkFeatureOldest, kJdkFeatureNewest)};
}

std::optional<std::string> find_on_path(const std::string& name) {
  auto runnable = [](const std::string& path) {
    std::error_code failed;
    return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, failed);
  };
  if (name.find('/') != std::string::npos) return runnable(name) ? std::optional(name) : std::nullopt;
  if (name.empty()) return std::nullopt;
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string path = (folder.empty() ? std::string(".") : folder) + "/" + name;
    if (runnable(path)) return path;
  }
  return std::nullopt;
}

}  // namespace contrafact::cli
