// Whether a command that is no Java launcher itself starts a JVM, as far as can be found out without starting it: by
// its words (`timeout 5 java -jar x.jar`, `sh -c "exec java ..."`), or by the commands of a start script. A script is
// read as a shell would read it, up to a point: comments, here-documents and text that is only printed or compared do
// not count. Variables are followed to the values that the script assigns to them, and other scripts beside it to the
// programs that they run. Command substitutions do not count.
//
// Thread safety: pure functions that read files.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace contrafact::cli {

struct JvmStart {
  bool starts = false;    // a JVM
  bool mentions = false;  // a script that has the word, but was not seen to start one
  std::string why;        // starts: "line 12 of 'mvn' runs java"
};

// `path`: the file of program[0].
JvmStart find_jvm_start(const std::vector<std::string>& program, const std::string& path);

}  // namespace contrafact::cli
