#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/jdk.h"
#include "cli/json_document.h"
#include "cli/output.h"
#include "cli/version.h"

namespace contrafact::cli {
namespace {

int run(bool json) {
  std::string text = fmt::format("contrafact {}\n", kVersion);
  if (json) {
    table::Json document = json_document("version");
    document["version"] = kVersion;
    document["java_oldest"] = kJdkFeatureOldest;
    document["java_newest"] = kJdkFeatureNewest;
    text = table::json_text(document);
  }
  base::Status printed = print(text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto json = std::make_shared<bool>(false);
  list.add_flag("--json", *json, "Print JSON");
  return [json](Session&) { return run(*json); };
}

}  // namespace

const Command kVersionCommand{"version", "Print the version",
                              "contrafact version\ncontrafact --version\ncontrafact version --json", declare};

}  // namespace contrafact::cli
