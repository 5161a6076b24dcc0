#include "cli/graphviz.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "cli/child_process.h"
#include "cli/jdk.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    std::string name = (fs::temp_directory_path(failed) / "contrafact-XXXXXX").string();
    if (!failed && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

base::Result<std::string> laid_out(const std::string& dot) {
  const std::optional<std::string> program = find_on_path("dot");
  if (!program) {
    return base::Error{
        "pictures need Graphviz's program dot: install the package graphviz, or write the graph with --format dot"};
  }
  TemporaryFolder folder;
  if (folder.path().empty()) return base::Error{"cannot create a temporary folder for Graphviz"};
  const std::string input = (folder.path() / "graph.dot").string();
  const std::string output = (folder.path() / "graph.svg").string();
  if (base::Status written = base::write_file(input, dot); !written) return written.error();
  StartFailure failure{};
  auto end = run_child(*program, {"dot", "-Tsvg", "-o", output, input}, {}, &failure);
  if (!end) return end.error();
  if (end->exit_status != 0) return base::Error{fmt::format("Graphviz's dot ended with status {}", end->exit_status)};
  return base::read_text_file(output);
}

}  // namespace contrafact::cli
