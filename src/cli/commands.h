// The explicit list's members: each is defined in the file of its name.
#pragma once

#include "cli/command.h"

namespace contrafact::cli {

extern const Command kRecordCommand;
extern const Command kProfileCommand;
extern const Command kBlueprintCommand;
extern const Command kContextsCommand;

extern const Command kJoinCommand;
extern const Command kInfoCommand;
extern const Command kAdviseCommand;
extern const Command kEstimateCommand;
extern const Command kCompareCommand;
extern const Command kMetricsCommand;
extern const Command kTasksCommand;
extern const Command kGranularityCommand;
extern const Command kLoadCommand;
extern const Command kLocksCommand;
extern const Command kUlcCommand;
extern const Command kFlowCommand;
extern const Command kReplayCommand;
extern const Command kExportCommand;
extern const Command kDoctorCommand;
extern const Command kHelpCommand;
extern const Command kVersionCommand;

}  // namespace contrafact::cli
