// A schedule in a temporary file, as replays in processes of their own read it. The object's destructor removes the
// file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "replay/schedule.h"

namespace contrafact::cli {

class ScheduleFile {
 public:
  static base::Result<std::unique_ptr<ScheduleFile>> create(const replay::Schedule& schedule);
  explicit ScheduleFile(std::string path) : path_(std::move(path)) {}
  ~ScheduleFile();
  ScheduleFile(const ScheduleFile&) = delete;
  ScheduleFile& operator=(const ScheduleFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The schedules to replay: as recorded, and changed, if there is a change.
struct Plans {
  std::unique_ptr<ScheduleFile> before, after;
  uint32_t cores_before = 0, cores_after = 0;  // that the replay may use; 0: all that there are
  std::string impossible;                      // why the change cannot be replayed; empty: it can
};

}  // namespace contrafact::cli
