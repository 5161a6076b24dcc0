// What the recorder knows of the process and the machine by itself. docs/format.md lists the keys.
#pragma once

#include "recorder/recorder.h"

namespace contrafact::recorder {

// Of the calling process. `with_arguments`: the fact `command` holds them, else only the program's name, without its
// folder.
std::vector<Fact> process_facts(bool with_arguments);
// Of another one, which began to be recorded at `begin_ns`. Where it has ended already, the
// fact `command` is what it ended as: a part of `command`, by which it was started.
std::vector<Fact> process_facts(int32_t pid, int64_t begin_ns, const std::string& command, bool with_arguments);

// Whether a limit of its group (cpu_quota.h), not the number of cores, says how much the process may compute. Then idle
// cores say nothing of what other programs used. 0: the calling process.
bool is_under_quota(int32_t pid);

}  // namespace contrafact::recorder
