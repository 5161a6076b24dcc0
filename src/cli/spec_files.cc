#include <fmt/format.h>

#include <filesystem>

#include "cli/advice_text.h"
#include "cli/output.h"
#include "whatif/spec.h"

namespace contrafact::cli {
namespace {

// The last folder of the path only: parents that are not there are a slip of the pen.
base::Status make_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "specs/"
  std::error_code failed;
  if (fs::is_directory(path, failed)) return {};
  const fs::path parent = path.parent_path();
  if (!parent.empty() && !fs::is_directory(parent, failed)) {
    std::string why = fs::exists(parent, failed)
                          ? fmt::format("'{}' is no folder", parent.string())
                          : fmt::format("there is no folder '{}'; make it first", parent.string());
    return base::Error{fmt::format("cannot make the folder '{}': {}", folder, why)};
  }
  if (fs::create_directory(path, failed)) return {};
  return base::Error{
      fmt::format("cannot make the folder '{}': {}", folder, failed ? failed.message() : "a file has that name")};
}

}  // namespace

base::Status write_specs(const std::string& folder, const graph::TraceDag& dag, const AdviceDocument& document) {
  if (base::Status made = make_folder(folder); !made) return made;
  auto write = [&](const std::string& name, std::span<const whatif::Improvement> improvements) {
    return write_output(folder + "/" + name, whatif::write_spec(dag, improvements));
  };
  for (size_t i = 0; i < document.advices.ranked.size(); ++i) {
    const whatif::Improvement& improvement = document.advices.ranked[i].improvement;
    std::string name = fmt::format("{:02}-{}.json", i + 1, whatif::name_of(improvement.optimisation));
    if (base::Status written = write(name, std::span(&improvement, 1)); !written) return written;
  }
  std::vector<whatif::Improvement> best = improvements_of(document.advices, document.best);
  return best.empty() ? base::Status() : write("best.json", best);
}

}  // namespace contrafact::cli
