#include <fmt/format.h>

#include "base/check.h"
#include "cli/advice_text.h"
#include "cli/output.h"
#include "improve/spec.h"

namespace contrafact::cli {

base::Status write_specs(const std::string& folder, const advise::Engines& engines, const AdviceDocument& document,
                         const SpecList& list, const Session& session) {
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
  std::vector<improve::SpecEntry> best;
  for (const size_t member : list.best) best.push_back(list.all[member]);
  if (!best.empty()) {
    if (base::Status written = write("best.json", best); !written) return written;
  }
  for (size_t i = 0; i < list.all.size(); ++i) {
    const improve::Candidate& candidate = list.all[i].candidate;
    const bool of_tasks = target_of(candidate.improvement.optimisation) == whatif::Target::tasks;
    CHECK(!of_tasks || engines.estimator != nullptr);  // without one, no change of tasks is advised
    const base::Status applies =
        of_tasks ? improve::check_task_specs(*engines.estimator, std::span(&candidate, 1)) : base::Status();
    if (!applies) {
      tell(session, fmt::format("no spec for improvement {}: {}", i + 1, applies.error().message));
      continue;
    }
    std::string name = fmt::format("{:02}-{}.json", i + 1, name_of(candidate.improvement.optimisation));
    if (base::Status written = write(name, std::span(&list.all[i], 1)); !written) return written;
  }
  tell_specs(session, folder, names, "nothing is advised");
  return {};
}

base::Status write_specs(const std::string& folder, const advise::Engines& engines, const AdviceDocument& document,
                         const Session& session) {
  SpecList list;
  for (const advise::Advice& advice : document.advices.ranked)
    list.all.push_back({advice.candidate, advise::name_of(advice.verdict)});
  list.best.assign(document.best.members.begin(), document.best.members.end());
  return write_specs(folder, engines, document, list, session);
}

}  // namespace contrafact::cli
