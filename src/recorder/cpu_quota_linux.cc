#include "recorder/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/file.h"

namespace contrafact::recorder {
namespace {

std::optional<double> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0) return std::nullopt;  // "max", or -1: no limit
  return static_cast<double>(number);
}

std::optional<double> number_at(const std::string& path) {
  const base::Result<std::string> text = base::read_text_file(path);
  return text ? number_in(*text) : std::nullopt;
}

// One file of two numbers.
std::optional<double> quota_of_v2(const std::string& folder) {
  const base::Result<std::string> text = base::read_text_file(folder + "/cpu.max");
  if (!text) return std::nullopt;
  const size_t space = text->find(' ');
  const std::optional<double> quota = number_in(*text);
  if (!quota || space == std::string::npos) return std::nullopt;
  const std::optional<double> period = number_in(std::string_view(*text).substr(space + 1));
  return period ? std::optional(*quota / *period) : std::nullopt;
}

std::optional<double> quota_of_v1(const std::string& folder) {
  const std::optional<double> quota = number_at(folder + "/cpu.cfs_quota_us");
  if (!quota) return std::nullopt;
  const std::optional<double> period = number_at(folder + "/cpu.cfs_period_us");
  return period ? std::optional(*quota / *period) : std::nullopt;
}

// Within a container, the path may be that of the machine outside: the folders that are not there have no limit.
template <typename Quota>
void take_least(std::optional<double>& least, const std::string& mount, std::string path, Quota quota_of) {
  while (true) {
    const std::optional<double> quota = quota_of(mount + path);
    if (quota) least = std::min(least.value_or(*quota), *quota);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return;
    path.resize(slash);
  }
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::optional<double> cpu_quota(int32_t pid, const std::string& root) {
  const base::Result<std::string> groups = base::read_text_file(root + "/proc/" + std::to_string(pid) + "/cgroup");
  if (!groups) return std::nullopt;
  std::optional<double> least;
  std::string_view rest = *groups;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // NUMBER:CONTROLLERS:PATH
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    if (path == "/") path.clear();
    if (controllers.empty()) {
      take_least(least, root + "/sys/fs/cgroup", path, quota_of_v2);
    } else if (names_cpu(controllers)) {
      take_least(least, root + "/sys/fs/cgroup/" + std::string(controllers), path, quota_of_v1);
    }
  }
  return least;
}

}  // namespace contrafact::recorder
