#include <fmt/format.h>

#include "base/check.h"
#include "cli/advice_text.h"
#include "cli/output.h"
#include "improve/spec.h"

namespace contrafact::cli {

base::Status write_specs(const std::string& folder, const advise::Engines& engines, const AdviceDocument& document,
                         const Session& session) {
  const improve::SpecTrace in{.trace = document.trace(),
                              .dag = engines.estimator ? &engines.estimator->dag() : nullptr,
                              .sections = document.sections};
  std::vector<std::string> names;
  auto write = [&](const std::string& name, std::span<const improve::SpecEntry> entries) -> base::Status {
    if (names.empty()) {
      if (base::Status made = make_folder(folder); !made) return made;
    }
    names.push_back(name);
    return write_output(folder + "/" + name, improve::write_spec(in, entries));
  };
  const std::vector<advise::Advice>& ranked = document.advices.ranked;
  const auto entry_of = [&](size_t i) {
    return improve::SpecEntry{ranked[i].candidate, advise::name_of(ranked[i].verdict)};
  };
  std::vector<improve::SpecEntry> best;
  for (const size_t member : document.best.members) best.push_back(entry_of(member));
  if (!best.empty()) {
    if (base::Status written = write("best.json", best); !written) return written;
  }
  for (size_t i = 0; i < ranked.size(); ++i) {
    const bool of_tasks = ranked[i].target() == whatif::Target::tasks;
    CHECK(!of_tasks || engines.estimator != nullptr);  // without one, no change of tasks is advised
    const base::Status applies =
        of_tasks ? improve::check_task_specs(*engines.estimator, std::span(&ranked[i].candidate, 1)) : base::Status();
    if (!applies) {
      tell(session, fmt::format("no spec for improvement {}: {}", i + 1, applies.error().message));
      continue;
    }
    const improve::SpecEntry entry = entry_of(i);
    std::string name = fmt::format("{:02}-{}.json", i + 1, name_of(ranked[i].improvement().optimisation));
    if (base::Status written = write(name, std::span(&entry, 1)); !written) return written;
  }
  tell_specs(session, folder, names, "nothing is advised");
  return {};
}

}  // namespace contrafact::cli
