// Where results go: standard output, or a file that appears only when it is complete. Devices and pipes are written to,
// never replaced.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text_sink.h"
#include "cli/command.h"
#include "model/trace.h"

namespace contrafact::cli {

// "-" is standard output. A closed pipe on standard output is no error: its reader had enough.
base::Status write_output(const std::string& path, std::string_view content);
base::Status print(std::string_view content);
// The same of tables and sentences for a person: sentences are wrapped as standard output needs it.
base::Status print_text(const Session& session, std::string_view text);

// The same for output that is made piece by piece. A file appears with `finish`, and not at all without it.
class OutputStream {
 public:
  // `mode`: of a file that is made.
  explicit OutputStream(std::string path, mode_t mode = 0666);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  base::TextSink sink() {
    return [this](std::string_view part) { write(part); };
  }
  void write(std::string_view part);  // after an error nothing is written
  base::Status finish();

 private:
  base::Status open(mode_t mode);
  void close();

  std::string path_;
  std::string name_;                   // for messages
  std::optional<base::NewFile> file_;  // none: it is written in place
  int fd_ = -1;                        // of a file written in place
  base::Status status_;
};

// Makes a folder if it is not there. Its parent must exist: a missing parent is taken for a slip of the pen.
base::Status make_folder(const std::string& folder);

// "contrafact: wrote 2 specs into FOLDER: NAME, NAME", or that none was written and `why_none`; nothing with --quiet.
void tell_specs(const Session& session, const std::string& folder, const std::vector<std::string>& names,
                std::string_view why_none);

// Saves a trace under a name that must be a file's: model::save would put a file in the place of a device.
base::Status save_trace(const model::Trace& trace, const std::string& path);

// A recording cannot be made again: no output takes the place of a file that the command has read. Main thread only.
void protect_input(const std::string& path);

// Whether a file can be created or replaced at `path`, found out by creating one beside it; its folder has at least
// `bytes_free_min` bytes free. The error says what is wrong and what to do.
base::Status check_writable(const std::string& path, uint64_t bytes_free_min);

}  // namespace contrafact::cli
