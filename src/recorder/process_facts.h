// What the recorder knows of the process and the machine by itself. docs/format.md lists the keys.
#pragma once

#include "recorder/recorder.h"

namespace contrafact::recorder {

std::vector<Fact> process_facts();

}  // namespace contrafact::recorder
