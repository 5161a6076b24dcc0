#include "blueprint/profile.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace contrafact::blueprint {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "contrafact blueprint";
constexpr uint64_t kVersion = 1;

uint64_t number_or_zero(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

// Shape of a row: 's' a string, 'n' a number that is not negative.
bool has_shape(const Json& row, std::string_view shape) {
  if (!row.is_array() || row.size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 's' ? !row[i].is_string() : !row[i].is_number_unsigned()) return false;
  }
  return true;
}

base::Status read_methods(const Json& rows, Profile& profile) {
  for (const Json& row : rows) {
    if (!has_shape(row, "ssssnnn")) return base::Error{fmt::format("method {} is malformed", profile.methods.size())};
    profile.methods.push_back({row[0], row[1], row[2], row[3], row[4], row[5], row[6]});
  }
  return {};
}

base::Status read_calls(const Json& rows, Profile& profile) {
  for (const Json& row : rows) {
    const bool good = has_shape(row, "nnn") && row[0].get<uint64_t>() < profile.methods.size() &&
                      row[1].get<uint64_t>() < profile.methods.size();
    if (!good) return base::Error{fmt::format("call {} is malformed", profile.calls.size())};
    profile.calls.push_back({row[0], row[1], row[2]});
  }
  return {};
}

}  // namespace

base::Result<Profile> read_profile(std::string_view text) {
  // No exceptions: a malformed text yields a discarded value. Names of classes need not be proper UTF-8.
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) return base::Error{"is no blueprint profile: not JSON, or cut off"};
  if (!document.is_object() || document.value("format", Json()) != kFormat) {
    return base::Error{"is no blueprint profile; contrafact profile writes one"};
  }
  const uint64_t version = number_or_zero(document, "version");
  if (version != kVersion) {
    return base::Error{
        fmt::format("is a blueprint profile of version {}; this contrafact reads version {}", version, kVersion)};
  }
  if (!document.contains("methods") || !document["methods"].is_array() || !document.contains("calls") ||
      !document["calls"].is_array()) {
    return base::Error{"is a blueprint profile without methods or calls"};
  }
  Profile profile;
  if (base::Status good = read_methods(document["methods"], profile); !good) return good.error();
  if (base::Status good = read_calls(document["calls"], profile); !good) return good.error();
  if (document.contains("run") && document["run"].is_object()) {
    const Json& run = document["run"];
    profile.events = number_or_zero(run, "events");
    profile.lost = number_or_zero(run, "lost");
    profile.refused = number_or_zero(run, "refused");
    profile.unseen_sites = number_or_zero(run, "unseen_sites");
  }
  return profile;
}

}  // namespace contrafact::blueprint
