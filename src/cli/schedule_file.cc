#include "cli/schedule_file.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace contrafact::cli {

base::Result<std::unique_ptr<ScheduleFile>> ScheduleFile::create(const replay::Schedule& schedule) {
  std::string path = (std::filesystem::temp_directory_path() / "contrafact-schedule-XXXXXX").string();
  const int fd = mkstemp(path.data());
  if (fd < 0) return base::Error{"no temporary file can be made at " + path};
  close(fd);
  auto file = std::make_unique<ScheduleFile>(std::move(path));
  const std::vector<uint8_t> bytes = replay::encode(schedule);
  std::ofstream out(file->path_, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) return base::Error{file->path_ + ": cannot be written"};
  return file;
}

ScheduleFile::~ScheduleFile() {
  unlink(path_.c_str());
}

}  // namespace contrafact::cli
