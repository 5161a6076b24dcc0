// How much of the machine a group of processes (cgroup) may use: the limit of a container.
//
// Pure but for the files it reads; any thread may ask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace contrafact::recorder {

// In cores, 0.5 for half of one; none: no group that the process is in has a limit, or the files cannot be read. Of several
// groups, one within the other, the least. `root` is in front of all paths.
std::optional<double> cpu_quota(int32_t pid, const std::string& root = "");

}  // namespace contrafact::recorder
