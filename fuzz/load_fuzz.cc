// Loading hostile traces; fuzzed_file.h says how an input becomes a file.
// Beyond not crashing: whatever loads keeps the invariants of a trace, as verify() checks them.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/check.h"
#include "fuzzed_file.h"
#include "model/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace contrafact;
  if (size == 0) return 0;
  const std::vector<uint8_t> file = format::fuzzed_file({data, size});
  const int memory = memfd_create("fuzz", MFD_CLOEXEC);
  CHECK(memory >= 0 && write(memory, file.data(), file.size()) == static_cast<ssize_t>(file.size()));
  const base::Result<model::Trace> trace =
      model::load_any("/proc/self/fd/" + std::to_string(memory), {.access_log = true});
  close(memory);
  if (!trace) {
    CHECK(!trace.error().message.empty());
    return 0;
  }
  const base::Status status = model::verify(*trace);
  if (!status) fprintf(stderr, "%s\n", status.error().message.c_str());
  CHECK(status.ok());
  for (const model::AccessLog::Chunk& chunk : trace->access_log.chunks) {
    CHECK(chunk.thread.index() < trace->threads.size() && chunk.bytes_end <= trace->access_log.bytes.size());
    format::AccessDecoder log = trace->access_log.decode(chunk);
    for (format::LoggedAccess access; log.next(access);) CHECK(format::is_sound(access));
  }
  return 0;
}
