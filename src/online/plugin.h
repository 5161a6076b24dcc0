// Analyses by name: the built-in ones and plug-ins (include/contrafact/analysis.h). The tool looks one up before the
// program is started, the agent in the program.
//
// Thread-safe. A loaded plug-in stays loaded.
#pragma once

#include <string>

#include "base/result.h"
#include "contrafact/analysis.h"
#include "online/processing_options.h"
#include "online/shared_shards.h"

namespace contrafact::online {

// `name` with a slash is the path of a plug-in, otherwise a built-in analysis. Errors say in one line why there is
// none: no such name or file, no shared library, without the symbol, of another version, or without what it must have.
// With `processing` as the user chose it: only some analyses go without coalescing, and only the built-in ones without
// buffers.
base::Result<const contrafact_analysis*> find_analysis(const std::string& name, const ProcessingOptions& processing);

// Where an analysis that goes without coalescing counts; `self` is what its create() made. Null for all others.
SharedShards* shared_of(const contrafact_analysis& analysis, void* self);

// Whether the analysis gets calls by context.
inline bool wants_contexts(const contrafact_analysis& analysis) {
  return analysis.on_context_call || analysis.on_context_allocation;
}

inline bool is_plugin(const std::string& name) {
  return name.find('/') != std::string::npos;
}

}  // namespace contrafact::online
