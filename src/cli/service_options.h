// Options that `load` and `advise` have alike: how a recording of a service is read.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"

namespace contrafact::cli {

void add_arrivals_option(OptionList& list, std::string& arrivals);
// Of --arrivals: whether requests come at their own times; none: as the recording shows.
std::optional<bool> open_of(const std::string& arrivals);
void add_by_task_option(OptionList& list, bool& by_task);

}  // namespace contrafact::cli
