#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "recorder/scheduling_groups.h"

namespace contrafact::recorder {
namespace {

std::string text_of(const std::string& path) {
  const auto text = base::read_text_file(path);
  return text ? *text : "";
}

std::string_view first_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  return word;
}

// Of /proc/PID/stat: "PID (NAME) STATE PARENT GROUP SESSION ...". The name may hold anything.
struct Status {
  bool lives = false;
  std::string session;
};
Status status_of(const std::string& process) {
  const std::string stat = text_of(process + "/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  std::string_view left = std::string_view(stat).substr(name_end + 1);
  const std::string_view state = first_word(left);
  first_word(left);
  first_word(left);
  return {state != "Z" && state != "X", std::string(first_word(left))};
}

struct Groups {
  std::string control_groups;
  std::string session;  // empty: the kernel does not group by sessions

  Groups(const std::string& proc, bool by_session)
      : control_groups(text_of(proc + "/self/cgroup")), session(by_session ? status_of(proc + "/self").session : "") {}

  // Its groups are read first: those of a process that has ended are others.
  bool hold(const std::string& process) const {
    const std::string its = text_of(process + "/cgroup");
    const Status status = status_of(process);
    if (!status.lives) return true;
    return (its.empty() || its == control_groups) && (session.empty() || status.session == session);
  }
};

// Each thread has those that it started itself.
std::string children_of(const std::string& process) {
  std::string children;
  std::error_code failed;
  std::filesystem::directory_iterator threads(process + "/task", failed);
  for (; !failed && threads != std::filesystem::directory_iterator(); threads.increment(failed))
    children += text_of(threads->path().string() + "/children") + " ";
  return children;
}

}  // namespace

bool SchedulingGroups::descendants_share_ours() const {
  const Groups ours(proc_, text_of(proc_ + "/sys/kernel/sched_autogroup_enabled").starts_with('1'));
  std::vector<std::string> left{proc_ + "/self"};
  std::set<std::string, std::less<>> seen;  // a number may be another process' meanwhile
  while (!left.empty()) {
    const std::string children = children_of(left.back());
    left.pop_back();
    std::string_view text = children;
    for (std::string_view child = first_word(text); !child.empty(); child = first_word(text)) {
      if (!seen.emplace(child).second) continue;
      const std::string process = proc_ + "/" + std::string(child);
      if (!ours.hold(process)) return false;
      left.push_back(process);
    }
  }
  return true;
}

}  // namespace contrafact::recorder
