// Traces from files: the binary form (docs/format.md) or the text form (text_trace.h).
#pragma once

#include <string>

#include "base/result.h"
#include "model/trace.h"

namespace contrafact::model {

struct LoadOptions {
  bool access_log = false;  // loads its chunks, too: they may be many times as large as all else
};

// Picks the text form for names that end in .txt and for files that do not begin as the binary form does.
// A damaged or cut-off file loads, with what is missing in Trace::loss. Errors name the path.
base::Result<Trace> load_any(const std::string& path, const LoadOptions& options = {});

}  // namespace contrafact::model
