#include "online/plugin.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>

#include "online/blueprint_analysis.h"
#include "online/context_analysis.h"

namespace contrafact::online {
namespace {

// The built-in ones.
const contrafact_analysis* const kBuiltIn[] = {&kBlueprintAnalysis, &kContextAnalysis};

bool by_method(const contrafact_analysis& analysis) {
  return analysis.on_call || analysis.on_exit || analysis.on_allocation || analysis.on_calls || analysis.on_allocations;
}

base::Status check_version(const contrafact_analysis* analysis, const std::string& path) {
  if (!analysis) return base::Error{"the analysis '" + path + "' gives no description of itself"};
  if (analysis->version < CONTRAFACT_ANALYSIS_VERSION_OLDEST || analysis->version > CONTRAFACT_ANALYSIS_VERSION) {
    return base::Error{"the analysis '" + path + "' was built for version " + std::to_string(analysis->version) +
                       " of contrafact/analysis.h, this is version " + std::to_string(CONTRAFACT_ANALYSIS_VERSION) +
                       ": build it again"};
  }
  return {};
}

base::Status check(const contrafact_analysis& analysis, const std::string& path) {
  if (!analysis.finish || !analysis.begin != !analysis.merge) {
    return base::Error{"the analysis '" + path + "' must have finish, and begin and merge both or neither"};
  }
  if (!by_method(analysis) && !wants_contexts(analysis)) {
    return base::Error{"the analysis '" + path + "' has none of on_call, on_exit and on_allocation, nor their like"};
  }
  const bool ungrouped = analysis.on_call || analysis.on_exit || analysis.on_allocation;
  const bool grouped = analysis.on_calls || analysis.on_allocations;
  if ((grouped && ungrouped) || (by_method(analysis) && wants_contexts(analysis))) {
    return base::Error{"the analysis '" + path +
                       "' must learn of events in one way: on_call, on_exit and on_allocation, or on_calls and "
                       "on_allocations, or on_context_call and on_context_allocation"};
  }
  return {};
}

// The description in this version's form: members that an older plug-in lacks are NULL. Stays for ever, as the plug-in
// does.
const contrafact_analysis* current(const contrafact_analysis* analysis) {
  if (analysis->version == CONTRAFACT_ANALYSIS_VERSION) return analysis;
  auto* copy = new contrafact_analysis{};
  constexpr size_t kVersion1Bytes = offsetof(contrafact_analysis, on_context_call);
  std::memcpy(copy, analysis, kVersion1Bytes);
  return copy;
}

// The agent has a C++ runtime of its own, and the plug-in the system's. A plug-in's exception is caught here all the
// same, but our copy of the unwinder aborts unless it has been set up. The first exception of our own sets it up.
void set_up_unwinder() {
  try {
    throw 0;
  } catch (int) {
  }
}

base::Result<const contrafact_analysis*> find_by_name(const std::string& name) {
  if (!is_plugin(name)) {
    std::string known;
    for (const contrafact_analysis* built_in : kBuiltIn) {
      if (name == built_in->name) return built_in;
      known += std::string(known.empty() ? "" : ", ") + built_in->name;
    }
    return base::Error{"there is no analysis '" + name + "'; built in: " + known +
                       "; a plug-in is named by its path, as in ./my_analysis.so"};
  }
  set_up_unwinder();
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return base::Error{"the analysis '" + name + "' cannot be loaded: " + (why ? why : "unknown reason")};
  }
  using Entry = const contrafact_analysis* (*)();
  auto entry = reinterpret_cast<Entry>(dlsym(library, CONTRAFACT_ANALYSIS_SYMBOL));
  if (!entry) {
    return base::Error{"'" + name + "' is no analysis: it does not export " CONTRAFACT_ANALYSIS_SYMBOL};
  }
  const contrafact_analysis* analysis = entry();
  if (base::Status good = check_version(analysis, name); !good) return good.error();
  analysis = current(analysis);
  if (base::Status good = check(*analysis, name); !good) return good.error();
  return analysis;
}

}  // namespace

base::Result<const contrafact_analysis*> find_analysis(const std::string& name, const ProcessingOptions& processing) {
  auto found = find_by_name(name);
  if (!found) return found;
  const bool direct = processing.processor == "direct";
  if (!direct && processing.coalescing) return found;
  if (*found == &kBlueprintAnalysis) return &kBlueprintWithoutCoalescing;
  if (*found == &kContextAnalysis) return &kContextsWithoutCoalescing;
  if (direct)
    return base::Error{"--processor direct: the analysis '" + name + "' needs buffers; only the built-in ones do not"};
  if ((*found)->begin) {
    return base::Error{"--coalescing off: the analysis '" + name +
                       "' has begin and merge; only the built-in ones can do without"};
  }
  return found;
}

SharedShards* shared_of(const contrafact_analysis& analysis, void* self) {
  if (&analysis == &kBlueprintWithoutCoalescing) return &shared_counts(self);
  return &analysis == &kContextsWithoutCoalescing ? &shared_contexts(self) : nullptr;
}

}  // namespace contrafact::online
