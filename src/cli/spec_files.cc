#include <fmt/format.h>

#include "cli/advice_text.h"
#include "cli/output.h"
#include "whatif/spec.h"

namespace contrafact::cli {

base::Status write_specs(const std::string& folder, const whatif::Estimator& estimator, const AdviceDocument& document,
                         const Session& session) {
  const graph::TraceDag& dag = estimator.dag();
  std::vector<std::string> names;
  auto write = [&](const std::string& name, std::span<const whatif::Improvement> improvements) -> base::Status {
    if (names.empty()) {
      if (base::Status made = make_folder(folder); !made) return made;
    }
    names.push_back(name);
    return write_output(folder + "/" + name, whatif::write_spec(dag, improvements));
  };
  const std::vector<whatif::Improvement> best = improvements_of(document.advices, document.best);
  if (!best.empty()) {
    if (base::Status written = write("best.json", best); !written) return written;
  }
  for (size_t i = 0; i < document.advices.ranked.size(); ++i) {
    const whatif::Improvement& improvement = document.advices.ranked[i].improvement;
    if (base::Status applies = whatif::check_spec(estimator, std::span(&improvement, 1)); !applies) {
      tell(session, fmt::format("no spec for improvement {}: {}", i + 1, applies.error().message));
      continue;
    }
    std::string name = fmt::format("{:02}-{}.json", i + 1, whatif::name_of(improvement.optimisation));
    if (base::Status written = write(name, std::span(&improvement, 1)); !written) return written;
  }
  tell_specs(session, folder, names, "nothing is advised");
  return {};
}

}  // namespace contrafact::cli
