// --window run|tasks, shared by the commands that print thread use.
#pragma once

#include <string>

#include "analysis/thread_usage.h"
#include "cli/option_values.h"

namespace contrafact::cli {

inline void add_window_option(OptionList& list, std::string& window) {
  list.add_option("--window", window,
                  "Part of the run; run: first event to last; tasks: first spawn to last end, without start-up")
      .check(one_of({"run", "tasks"}))
      .show_default();
}

inline analysis::ThreadUsageOptions::Window window_of(const std::string& window) {
  return window == "tasks" ? analysis::ThreadUsageOptions::Window::tasks : analysis::ThreadUsageOptions::Window::run;
}

}  // namespace contrafact::cli
