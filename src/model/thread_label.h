// How tables name a thread. Pure.
#pragma once

#include <string>

#include "model/trace.h"

namespace contrafact::model {

// Its name; of one without a name "virtual thread 7", where 7 is its number in the recording.
std::string thread_label(const Trace& trace, ThreadId thread);

}  // namespace contrafact::model
