#include <fmt/format.h>

#include <filesystem>

#include "cli/advice_text.h"
#include "cli/output.h"
#include "whatif/spec.h"

namespace contrafact::cli {

base::Status write_specs(const std::string& folder, const graph::TraceDag& dag, const AdviceDocument& document) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return base::Error{fmt::format("cannot make the folder '{}': {}", folder, failed.message())};
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
