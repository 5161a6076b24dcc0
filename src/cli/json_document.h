// The frame of every --json output; docs/json.md describes each document.
#pragma once

#include <string>

#include "table/json.h"

namespace contrafact::cli {

// Raised when a document's existing field changes its name, type or meaning; not when one is added.
inline constexpr int kJsonSchemaVersion = 1;

inline table::Json json_document(const std::string& command) {
  return {{"schema_version", kJsonSchemaVersion}, {"command", command}};
}

}  // namespace contrafact::cli
