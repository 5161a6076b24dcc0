#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "replay/enforce/thread_states.h"

namespace contrafact::replay {

bool others_can_run() {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), closedir);
  if (!tasks) return true;
  const std::string own = std::to_string(gettid());
  while (const dirent* entry = readdir(tasks.get())) {
    const std::string name = entry->d_name;
    if (name[0] == '.' || name == own) continue;
    std::ifstream file("/proc/self/task/" + name + "/stat");
    std::string line;
    if (!std::getline(file, line)) continue;  // it has ended
    const size_t end_of_name = line.rfind(") ");
    if (end_of_name == std::string::npos) return true;
    const char state = line[end_of_name + 2];
    if (state == 'R' || state == 'D') return true;
  }
  return false;
}

}  // namespace contrafact::replay
