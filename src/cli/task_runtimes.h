// Which task runtimes a native program uses, as far as its file and its libraries say: those that the agent sees, those
// that another one can stand in for, and those that it cannot see. Reads files, and asks the loader which libraries the
// program has; the program itself is not started.
#pragma once

#include <string>
#include <vector>

namespace contrafact::cli {

struct TaskRuntimes {
  // GNU's OpenMP runtime reports no tasks. LLVM's does, and has the same functions: its path, where it stands in. Empty:
  // it is not needed, not installed, or lacks what the program asks for.
  std::string openmp;
  bool has_tbb = false;  // oneTBB, as a library that the loader has from the beginning
  // Whose tasks will not be seen, for facts scheduler.unseen.N.
  std::vector<std::string> unseen;
  std::vector<std::string> notes;  // for the user, a line each
};

// `keeps_openmp`: no runtime is to stand in for the program's own.
TaskRuntimes find_task_runtimes(const std::string& program_file, bool keeps_openmp);

}  // namespace contrafact::cli
