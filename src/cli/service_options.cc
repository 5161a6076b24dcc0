#include "cli/service_options.h"

#include "cli/option_values.h"

namespace contrafact::cli {

void add_arrivals_option(OptionList& list, std::string& arrivals) {
  list.add_option("--arrivals", arrivals,
                  "How a service's requests come; closed: each client waits for its answer; open: at their own times; "
                  "recorded: as the recording shows")
      .check(one_of({"recorded", "open", "closed"}))
      .show_default();
}

std::optional<bool> open_of(const std::string& arrivals) {
  return arrivals == "recorded" ? std::nullopt : std::optional(arrivals == "open");
}

void add_by_task_option(OptionList& list, bool& by_task) {
  list.add_flag(
      "--by-task", by_task,
      "Of a service: take each task that is handed to a pool from outside of tasks for a request; no connection "
      "is needed");
}

}  // namespace contrafact::cli
