#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "cli/elf_symbols.h"
#include "cli/task_runtimes.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2";
constexpr std::string_view kGnuOpenMp = "libgomp.so.1";
constexpr std::string_view kLlvmOpenMp = "libomp.so";

// What it writes to its standard output. Empty if it cannot be started.
std::string output_of(std::vector<std::string> command, std::vector<std::string> environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  };
  pid_t child = 0;
  const int failed = posix_spawn(&child, command[0].c_str(), &actions, nullptr, pointers(command).data(),
                                 pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char piece[4096];
  ssize_t got = 0;
  while (failed == 0 && (got = read(ends[0], piece, sizeof piece)) > 0) text.append(piece, static_cast<size_t>(got));
  close(ends[0]);
  if (failed == 0) waitpid(child, nullptr, 0);
  return text;
}

// "	libgomp.so.1 => /lib/x86_64-linux-gnu/libgomp.so.1 (0x00007f...)", a line for each library.
std::vector<std::string> libraries_of(const std::string& program_file) {
  std::vector<std::string> environment;
  if (const char* const folders = std::getenv("LD_LIBRARY_PATH"))
    environment.push_back(std::string("LD_LIBRARY_PATH=") + folders);
  const std::string text = output_of({kLoader, "--list", program_file}, environment);
  std::vector<std::string> paths;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const size_t arrow = line.find(" => ");
    const size_t address = line.rfind(" (0x");
    if (arrow == std::string_view::npos || address == std::string_view::npos || address < arrow + 4) continue;
    paths.emplace_back(line.substr(arrow + 4, address - arrow - 4));
  }
  return paths;
}

bool is_library(const std::string& path, std::string_view name) {
  return fs::path(path).filename().string().starts_with(name);
}

// LLVM's runtimes that are installed, the newest first: that of Debian's llvm-19 lies in /usr/lib/llvm-19/lib.
std::vector<std::string> llvm_runtimes() {
  std::vector<std::pair<int, std::string>> found;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator("/usr/lib", error)) {
    const std::string name = folder.path().filename().string();
    if (name.starts_with("llvm-")) found.emplace_back(std::atoi(name.c_str() + 5), folder.path().string() + "/lib");
  }
  std::ranges::sort(found, std::greater());
  for (const char* const folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"})
    found.emplace_back(0, folder);
  std::vector<std::string> paths;
  for (const auto& [version, folder] : found) {
    for (const char* const name : {"/libomp.so.5", "/libomp.so"}) {
      const std::string path = folder + name;
      // LD_PRELOAD can carry neither.
      if (fs::exists(path, error) && path.find_first_of(": ") == std::string::npos) {
        paths.push_back(path);
        break;
      }
    }
  }
  return paths;
}

// The first function that the files expect in GNU's runtime and the other one lacks; empty if it has all.
std::string missing_in(const std::string& runtime, const std::set<ElfSymbols::Name>& needed) {
  const ElfSymbols symbols = read_elf_symbols(runtime);
  for (const ElfSymbols::Name& name : needed) {
    if (!symbols.defined.contains(name)) return name.first;
  }
  return {};
}

std::set<ElfSymbols::Name> needed_of_gnu(const std::string& program_file, const std::vector<std::string>& libraries) {
  std::set<ElfSymbols::Name> needed;
  std::vector<std::string> files = libraries;
  files.push_back(program_file);
  for (const std::string& file : files) {
    const ElfSymbols symbols = read_elf_symbols(file);
    const auto of_gnu = symbols.needed.find(std::string(kGnuOpenMp));
    if (of_gnu != symbols.needed.end()) needed.insert(of_gnu->second.begin(), of_gnu->second.end());
  }
  return needed;
}

void stand_in_for_gnu(const std::string& program_file, const std::vector<std::string>& libraries, bool keeps_openmp,
                      TaskRuntimes& out) {
  const auto stays_unseen = [&](std::string why) {
    out.unseen.emplace_back("OpenMP (libgomp)");
    out.notes.push_back("OpenMP: the program's runtime, libgomp, does not report its tasks: they are not seen; " +
                        std::move(why));
  };
  if (keeps_openmp) return stays_unseen("without --keep-openmp LLVM's runtime stands in for it, where it is installed");
  const std::vector<std::string> runtimes = llvm_runtimes();
  if (runtimes.empty()) return stays_unseen("install LLVM's runtime, which then stands in for it (Debian: libomp5-19)");
  const std::set<ElfSymbols::Name> needed = needed_of_gnu(program_file, libraries);
  std::string missing;
  for (const std::string& runtime : runtimes) {
    std::string lacks = missing_in(runtime, needed);
    if (lacks.empty()) {
      out.openmp = runtime;
      out.notes.push_back(
          fmt::format("OpenMP: LLVM's runtime ({}) stands in for the program's libgomp, which reports no tasks; its "
                      "times are those of LLVM's. A loop that gcc compiled with a static schedule shows as its "
                      "region's tasks alone. --keep-openmp leaves the program its own",
                      runtime));
      return;
    }
    if (missing.empty()) missing = fmt::format("{} lacks {}", runtime, lacks);
  }
  stays_unseen(fmt::format("LLVM's cannot stand in for it: {}", missing));
}

bool is_go(const ElfSymbols& symbols) {
  return symbols.sections.contains(".go.buildinfo") || symbols.sections.contains(".note.go.buildid");
}

}  // namespace

TaskRuntimes find_task_runtimes(const std::string& program_file, bool keeps_openmp) {
  TaskRuntimes out;
  const std::vector<std::string> libraries = libraries_of(program_file);
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(libraries, [&](const std::string& path) { return is_library(path, name); });
  };
  const char* const preloaded = std::getenv("LD_PRELOAD");
  const bool brings_llvm = preloaded && std::string_view(preloaded).find("libomp.so") != std::string_view::npos;
  if (has(kGnuOpenMp) && !brings_llvm) {
    if (has(kLlvmOpenMp) || has("libiomp5.so")) {
      out.unseen.emplace_back("OpenMP (libgomp)");
      out.notes.emplace_back("OpenMP: the program has two runtimes, libgomp and LLVM's; only tasks of LLVM's are seen");
    } else {
      stand_in_for_gnu(program_file, libraries, keeps_openmp, out);
    }
  }
  const auto unseen = [&](std::string name) {
    out.notes.push_back(fmt::format("tasks of {} are not seen: only its threads, and what they wait for", name));
    out.unseen.push_back(std::move(name));
  };
  out.has_tbb = has("libtbb.so.12");
  if (has("libtbb.so.2")) unseen("TBB (before oneTBB)");
  const ElfSymbols symbols = read_elf_symbols(program_file);
  if (is_go(symbols)) unseen("Go");
  if (symbols.sections.contains(".symtab") && has_name_with(program_file, "rayon_core")) unseen("Rayon");
  return out;
}

}  // namespace contrafact::cli
