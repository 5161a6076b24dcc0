// A line on standard error during long work; nothing if standard error is no terminal, or with --quiet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/command.h"

namespace contrafact::cli {

class Progress {
 public:
  Progress(const Session& session, std::string what);
  ~Progress() { done(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // At most ten times a second. `total` 0: not known.
  void update(size_t count, size_t total);
  // Removes the line.
  void done();

 private:
  void show(const std::string& text);

  std::string what_;
  bool enabled_;
  size_t width_;
  int64_t shown_ns_ = 0;
  bool visible_ = false;
};

}  // namespace contrafact::cli
