// The lines of source that places name, as the files hold them now. Asks the file system; a file is read once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "table/table.h"

namespace contrafact::cli {

class SourceLines {
 public:
  // `folders`: where to look first, as --source names them.
  explicit SourceLines(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  // The line without what indents it; cut off after kLineBytesMax. Empty: its file is not found, or has no such line.
  static constexpr size_t kLineBytesMax = 200;
  std::string line_at(const table::Location& place);

 private:
  std::string path_of(const table::Location& place) const;
  const std::vector<std::string>& lines_of(const std::string& path);

  std::vector<std::string> folders_;
  std::map<std::string, std::vector<std::string>> read_;
};

}  // namespace contrafact::cli
