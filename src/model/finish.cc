#include "model/finish.h"

#include <algorithm>

#include "model/event_pass.h"

namespace contrafact::model {

base::Result<Trace> finish(Trace parts, const FileParts* file) {
  parts.cpu.resize(parts.threads.size());
  parts.thread_ranges.resize(parts.threads.size(),
                             {static_cast<uint32_t>(parts.kind.size()), static_cast<uint32_t>(parts.kind.size())});
  const bool moved = pass_over_events(parts, file);
  std::erase_if(parts.dependencies, [&](const Dependency& dependency) {
    return dependency.task.index() >= parts.tasks.size() || dependency.source.index() >= parts.tasks.size();
  });
  std::stable_sort(parts.dependencies.begin(), parts.dependencies.end(),
                   [](const Dependency& x, const Dependency& y) { return x.task < y.task; });
  std::sort(parts.pauses.begin(), parts.pauses.end(),
            [](const Pause& x, const Pause& y) { return x.begin_ns < y.begin_ns; });
  if (moved) {
    if (base::Status status = verify(parts); !status) return status.error();
  }
  return parts;
}

}  // namespace contrafact::model
