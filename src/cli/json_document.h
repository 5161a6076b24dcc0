// The frame of every --json output; docs/json.md describes each document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace contrafact::cli {

// Raised when a document's existing field changes its name, type or meaning; not when one is added.
inline constexpr int kJsonSchemaVersion = 1;

inline nlohmann::ordered_json json_document(const std::string& command) {
  return {{"schema_version", kJsonSchemaVersion}, {"command", command}};
}

}  // namespace contrafact::cli
