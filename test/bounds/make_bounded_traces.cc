// make_bounded_traces DIR [NAME COUNT]: writes the hostile traces to DIR, one line for each on standard output: the
// file, the bytes of memory that a command may use for it. With NAME, the honest one of that name instead.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file.h"
#include "bounded_traces.h"
#include "holdings.h"

namespace contrafact::test {
namespace {

bool write(const std::string& directory, TraceFile file) {
  for (char& letter : file.name) {
    if (letter == ' ') letter = '-';
  }
  const std::string path = directory + "/" + file.name + ".cft";
  const base::Status written = base::write_file(path, std::span<const uint8_t>(file.bytes));
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  const Holdings held = holdings_of(file.bytes);
  std::printf("%s\t%zu\n", path.c_str(), held.bytes_max());
  return written.ok();
}

TraceFile honest(const std::string& name, uint32_t count) {
  if (name == "locks") return {name, many_locks(count)};
  if (name == "lives") return {name, many_lives(count)};
  if (name == "forks") return {name, forked_tasks(count)};
  return {name, many_tasks(count)};
}

}  // namespace
}  // namespace contrafact::test

int main(int argc, char** argv) {
  using namespace contrafact::test;
  if (argc != 2 && argc != 4) return 2;
  bool ok = true;
  if (argc == 4)
    return write(argv[1], honest(argv[2], static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)))) ? 0 : 1;
  for (TraceFile& file : hostile_traces()) ok &= write(argv[1], std::move(file));
  return ok ? 0 : 1;
}
