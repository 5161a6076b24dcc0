#include "contexts/profile.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace contrafact::contexts {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "contrafact contexts";
constexpr uint64_t kVersion = 1;

uint64_t number_or_zero(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

base::Status read_methods(const Json& rows, Profile& profile) {
  for (const Json& row : rows) {
    bool good = row.is_array() && row.size() == 5 && row[4].is_number_unsigned();
    for (size_t i = 0; good && i < 4; ++i) good = row[i].is_string();
    if (!good) return base::Error{fmt::format("method {} is malformed", profile.methods.size())};
    profile.methods.push_back({row[0], row[1], row[3], row[4]});
  }
  return {};
}

base::Status read_contexts(const Json& rows, Profile& profile) {
  for (const Json& row : rows) {
    const size_t place = profile.contexts.size();
    bool good = row.is_array() && row.size() == 5;
    for (size_t i = 0; good && i < 5; ++i) good = row[i].is_number_unsigned();
    good = good && row[0].get<uint64_t>() < std::max<size_t>(place, 1) &&
           row[1].get<uint64_t>() < profile.methods.size() && place < UINT32_MAX;
    if (!good) return base::Error{fmt::format("context {} is malformed", place)};
    profile.contexts.push_back({row[0], row[1], {row[2], row[3], row[4]}});
  }
  if (profile.contexts.empty()) return base::Error{"has no contexts, not even that of code outside"};
  return {};
}

bool has_array(const Json& document, const char* key) {
  return document.contains(key) && document[key].is_array();
}

}  // namespace

Counts& Counts::operator+=(const Counts& more) {
  calls += more.calls;
  objects += more.objects;
  bytes += more.bytes;
  return *this;
}

base::Result<Profile> read_profile(std::string_view text) {
  // No exceptions: a malformed text yields a discarded value. Names of classes need not be proper UTF-8.
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) return base::Error{"is no profile of contexts: not JSON, or cut off"};
  if (!document.is_object() || document.value("format", Json()) != kFormat) {
    return base::Error{"is no profile of contexts; contrafact profile --analysis contexts writes one"};
  }
  const uint64_t version = number_or_zero(document, "version");
  if (version != kVersion) {
    return base::Error{
        fmt::format("is a profile of contexts of version {}; this contrafact reads version {}", version, kVersion)};
  }
  if (!has_array(document, "methods") || !has_array(document, "contexts")) {
    return base::Error{"is a profile of contexts without methods or contexts"};
  }
  Profile profile;
  if (base::Status good = read_methods(document["methods"], profile); !good) return good.error();
  if (base::Status good = read_contexts(document["contexts"], profile); !good) return good.error();
  if (document.contains("run") && document["run"].is_object()) {
    const Json& run = document["run"];
    profile.lost = number_or_zero(run, "lost");
    profile.refused = number_or_zero(run, "refused");
    profile.beyond = {number_or_zero(run, "calls_beyond"), number_or_zero(run, "objects_beyond"),
                      number_or_zero(run, "bytes_beyond")};
  }
  return profile;
}

std::vector<Counts> totals_of(const Profile& profile) {
  std::vector<Counts> totals(profile.contexts.size());
  for (size_t i = totals.size(); i-- > 0;) {  // children come behind their parents
    totals[i] += profile.contexts[i].own;
    if (i != 0) totals[profile.contexts[i].parent] += totals[i];
  }
  return totals;
}

}  // namespace contrafact::contexts
