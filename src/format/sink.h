// Where the bytes of a trace go. A sink gets whole blocks only, in order, and may be asked to give the last ones back.
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
  // All of `block` or an error. After an error the writer sends no other block than the trailer.
  virtual base::Status write(std::span<const uint8_t> block) = 0;
  // Removes the last `bytes`, which are those of whole blocks. False: what was written stays (in a pipe, say).
  virtual bool take_back(uint64_t /*bytes*/) { return false; }
  virtual base::Status close() { return {}; }
  // Of a file that is open; else -1.
  virtual int descriptor() const { return -1; }
};

// A file that appears at once and grows. If a write fails half-way, the file is cut back to the last whole block.
// It is locked (flock) while the sink is open, so that others can see that it is being written.
struct FileSinkOptions {
  bool keep_existing = false;    // a file that exists stays as it is: the new one then lies beside it, at `path`.PID
  bool high_descriptor = false;  // for a file open in a recorded program: base/high_descriptor.h
};
base::Result<std::unique_ptr<Sink>> open_file_sink(const std::string& path, FileSinkOptions options = {});

}  // namespace contrafact::format
