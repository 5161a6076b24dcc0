#include "cli/spec_input.h"

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

}  // namespace contrafact::cli
