// Where the bytes of a trace go. A sink is told of whole blocks only, in order.
// Thread safety: used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace contrafact::format {

class Sink {
 public:
  virtual ~Sink() = default;
  // All of `block` or an error. After an error the writer sends at most one more block (the trailer).
  virtual base::Status write(std::span<const uint8_t> block) = 0;
  virtual base::Status close() { return {}; }
  // In a process whose other threads may close or overwrite any descriptor: the thread that writes from now on takes the
  // sink to itself, which then has no other descriptor, and the one that opened it lets go of it. After that a file is
  // out of the others' reach. Where the system cannot do that (before Linux 5.9) all stays as it is.
  virtual void take_to_this_thread() {}
  virtual void let_go() {}
};

// A file that appears at once and grows. If a write fails half-way, the file is cut back to the last whole block.
// It is locked (flock) while the sink is open, so that others can tell that it is being written.
struct FileSinkOptions {
  bool keep_existing = false;    // a file that exists stays as it is: the new one then lies beside it, at `path`.PID
  bool high_descriptor = false;  // for a file open in a recorded program: base/high_descriptor.h
};
base::Result<std::unique_ptr<Sink>> open_file_sink(const std::string& path, FileSinkOptions options = {});

}  // namespace contrafact::format
