#include "cli/record_summary.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/trace_input.h"
#include "model/load.h"
#include "table/value_text.h"

namespace contrafact::cli {

base::Result<std::string> summarise_recording(const std::string& path) {
  base::Result<model::Trace> trace = model::load_any(path);
  if (!trace) return trace.error();
  std::error_code ignored;
  double bytes = static_cast<double>(std::filesystem::file_size(path, ignored));
  size_t events = trace->event_count();
  std::string out = fmt::format("contrafact: {} holds {} events of {} tasks on {} threads in {}", path,
                                table::count_text(static_cast<int64_t>(events)),
                                table::count_text(static_cast<int64_t>(trace->tasks.size())), trace->threads.size(),
                                table::bytes_text(bytes));
  if (events > 0) out += fmt::format(" ({} bytes an event)", table::number_text(bytes / static_cast<double>(events)));
  out += "\n";
  if (trace->tasks.empty()) out += fmt::format("contrafact: note: {}\n", no_tasks_reason(*trace));
  for (const std::string& line : loss_lines(*trace)) {
    out += fmt::format("contrafact: note: {}\n", table::printable(line, true));
  }
  return out;
}

}  // namespace contrafact::cli
