#include "cli/spec_input.h"

#include <fmt/format.h>

#include "base/file.h"

namespace contrafact::cli {

base::Result<std::vector<improve::Candidate>> read_spec_files(const improve::SpecTrace& in,
                                                              const std::vector<std::string>& paths) {
  std::vector<improve::SpecText> texts;
  for (const std::string& path : paths) {
    base::Result<std::string> text = base::read_text_file(path);
    if (!text) return text.error();
    texts.push_back({path, *std::move(text)});
  }
  return improve::read_specs(in, texts);
}

base::Result<std::vector<improve::Candidate>> read_lock_specs(const improve::SpecTrace& in,
                                                              const std::vector<std::string>& paths) {
  base::Result<std::vector<improve::Candidate>> candidates = read_spec_files(in, paths);
  if (!candidates) return candidates;
  for (const improve::Candidate& candidate : *candidates) {
    const whatif::Optimisation* optimisation = candidate.improvement.optimisation;
    if (target_of(optimisation) != whatif::Target::sections)
      return base::Error{fmt::format(
          "--apply: {}: only locks change here: contrafact estimate takes specs of all kinds", name_of(optimisation))};
  }
  return candidates;
}

std::vector<whatif::Improvement> improvements_of(const std::vector<improve::Candidate>& candidates) {
  std::vector<whatif::Improvement> improvements;
  for (const improve::Candidate& candidate : candidates) improvements.push_back(candidate.improvement);
  return improvements;
}

}  // namespace contrafact::cli
