#include "cli/jvm_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "cli/shell_script.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr size_t kScriptBytesMax = 1 << 20;
constexpr size_t kLookUpsMax = 100'000;  // of variables, in a script
constexpr int kDepthMax = 4;             // of scripts that run others, and of variables that hold others

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// They run the command that their arguments name, after options and words of their own.
bool runs_its_arguments(std::string_view name) {
  static constexpr std::array<std::string_view, 25> kPrefixes = {
      "exec",   "eval",   "nohup",   "nice",    "env",    "time",    "command", "builtin", "sudo",
      "doas",   "setsid", "ionice",  "timeout", "stdbuf", "taskset", "chrt",    "numactl", "xargs",
      "strace", "ltrace", "unshare", "prlimit", "chroot", "setpriv", "runuser"};
  return is_one_of(kPrefixes, name);
}

// exec -a NAME, sudo -u USER, timeout -s SIGNAL ...
bool takes_a_word(std::string_view option) {
  return option.size() == 2 && option[0] == '-' &&
         std::string_view("augsknpwC").find(option[1]) != std::string_view::npos;
}

bool is_shell(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kShells = {"sh", "bash", "dash", "ksh", "mksh", "zsh", "ash"};
  return is_one_of(kShells, name);
}

bool only_asks_java(const std::string& argument) {
  static constexpr std::array<std::string_view, 8> kQuestions = {
      "-version", "--version", "-fullversion", "-showversion", "-help", "--help", "-h", "-?"};
  return is_one_of(kQuestions, argument) || argument.starts_with("-XshowSettings");
}

// "java" as a word: not within another name.
bool has_java(std::string_view text) {
  for (size_t at = text.find("java"); at != std::string_view::npos; at = text.find("java", at + 4)) {
    const auto joins = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
    };
    const bool begins = at == 0 || !joins(text[at - 1]);
    const bool ends = at + 4 >= text.size() || !joins(text[at + 4]);
    if (begins && ends) return true;
  }
  return false;
}

// Names of start scripts' variables for the launcher, which count where the script does not set the variable: another
// one that it reads does.
bool is_launchers_name(std::string name) {
  static constexpr std::array<std::string_view, 12> kNames = {"java",      "javacmd",  "java_cmd", "_javacmd",
                                                              "_java",     "_runjava", "runjava",  "java_bin",
                                                              "java_exec", "java_exe", "java_run", "run_java"};
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return is_one_of(kNames, name);
}

struct Reference {
  std::string name;
  std::string otherwise;  // of ${NAME:-otherwise}
};

// A word that is nothing but $NAME, ${NAME}, ${NAME[@]}, ${NAME:-...} or ${NAME:=...}.
std::optional<Reference> reference(std::string_view word) {
  if (word.size() < 2 || word[0] != '$') return std::nullopt;
  const bool braces = word[1] == '{';
  size_t at = braces ? 2 : 1;
  const size_t begin = at;
  while (at < word.size() && (std::isalnum(static_cast<unsigned char>(word[at])) != 0 || word[at] == '_')) ++at;
  Reference out{std::string(word.substr(begin, at - begin)), {}};
  if (out.name.empty()) return std::nullopt;
  if (!braces) return at == word.size() ? std::optional(out) : std::nullopt;
  if (!word.ends_with('}') || word.find('}') != word.size() - 1) return std::nullopt;
  const std::string_view rest = word.substr(at, word.size() - 1 - at);
  if (rest.starts_with(":-") || rest.starts_with(":=")) out.otherwise = rest.substr(2);
  return out;
}

// Quotes that a value keeps for an `eval`.
std::string_view bare(std::string_view word) {
  while (!word.empty() && (word.front() == '"' || word.front() == '\'' || word.front() == '\\')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == '"' || word.back() == '\'' || word.back() == '\\')) word.remove_suffix(1);
  return word;
}

// $(which java), `command -v java`: where the launcher is.
bool finds_java(std::string_view word) {
  if (!word.starts_with("$(") && !word.starts_with('`')) return false;
  const bool looks = word.find("which") != std::string_view::npos || word.find("command") != std::string_view::npos ||
                     word.find("type") != std::string_view::npos || word.find("readlink") != std::string_view::npos;
  return looks && has_java(word);
}

class Script {
 public:
  Script(fs::path path, std::string_view text, int depth) : path_(std::move(path)), depth_(depth) {
    script_ = read_shell_script(text);
  }

  std::optional<std::string> find() const {
    for (const ShellCommand& command : script_.commands) {
      if (std::optional<std::string> found = start_of(command)) return found;
    }
    return std::nullopt;
  }

 private:
  bool is_java(std::string_view word, int depth = 0) const {
    word = bare(word);
    if (finds_java(word)) return true;
    word = bare(word.substr(0, word.find_first_of(" \t\n")));
    if (const std::optional<Reference> variable = reference(word)) return holds_java(*variable, depth);
    return base_name(word) == "java";
  }
  bool holds_java(const Reference& variable, int depth) const {
    if (depth >= kDepthMax || looked_up_ >= kLookUpsMax) return false;
    ++looked_up_;
    if (!variable.otherwise.empty() && is_java(variable.otherwise, depth + 1)) return true;
    const auto [begin, end] = script_.assigned.equal_range(variable.name);
    if (begin == end) return is_launchers_name(variable.name);
    bool is_known = false;
    for (auto it = begin; it != end; ++it) {
      if (is_java(it->second, depth + 1)) return true;
      is_known = is_known || !it->second.empty();
    }
    return !is_known && is_launchers_name(variable.name);
  }

  std::optional<std::string> start_of(const ShellCommand& command) const {
    const Words& words = command.words;
    size_t at = 0;
    bool is_prefixed = false;
    for (; at < words.size(); ++at) {
      if (runs_its_arguments(base_name(words[at]))) {
        if (words[at] == "command" && at + 1 < words.size() && words[at + 1].starts_with('-')) return std::nullopt;
        is_prefixed = true;
      } else if (is_prefixed && at + 1 < words.size() && takes_a_word(words[at]) && !is_java(words[at + 1])) {
        ++at;
      } else if (is_java(words[at])) {
        return starts_java(words, at) ? std::optional(place(command)) : std::nullopt;
      } else if (!is_prefixed && !may_be_empty(words[at])) {
        break;
      } else if (is_prefixed && !is_of_prefix(words[at])) {
        break;
      }
    }
    if (at == words.size()) return std::nullopt;
    if (script_.functions.contains(words[at]) && at + 1 < words.size() && is_java(words[at + 1])) return place(command);
    if (is_shell(base_name(words[at])) && at + 1 < words.size()) ++at;
    return start_of_other(words[at]);
  }
  bool starts_java(const Words& words, size_t at) const {
    const bool alone = at + 1 == words.size();
    if (alone) return reference(bare(words[at])).has_value();  // it holds the arguments too
    return !only_asks_java(words[at + 1]);
  }
  // A variable whose value is not known: a prefix, or nothing.
  bool may_be_empty(const std::string& word) const {
    const std::optional<Reference> variable = reference(word);
    if (!variable) return false;
    const auto [begin, end] = script_.assigned.equal_range(variable->name);
    return std::all_of(begin, end,
                       [](const auto& one) { return one.second.empty() || runs_its_arguments(one.second); });
  }
  bool is_of_prefix(const std::string& word) const {
    const bool is_number = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    return word.starts_with('-') || is_number || word.find('=') != std::string::npos || may_be_empty(word);
  }

  // Another script, that lies beside this one or where its path says.
  std::optional<std::string> start_of_other(const std::string& word) const {
    if (depth_ >= kDepthMax) return std::nullopt;
    const std::string name = base_name(resolved(word));
    if (name.empty() || name.find('$') != std::string::npos) return std::nullopt;
    std::error_code failed;
    const fs::path folder = path_.parent_path();
    fs::path other = folder / (word.find('$') == std::string::npos ? word : name);  // an absolute one stays
    if (!fs::is_regular_file(other, failed)) other = folder / name;
    if (!fs::is_regular_file(other, failed) || fs::equivalent(other, path_, failed)) return std::nullopt;
    return in_file(other, depth_ + 1);
  }
  // With variables that are assigned once, to text.
  std::string resolved(const std::string& word) const {
    const std::string last = base_name(word);
    const std::optional<Reference> variable = reference(last);
    if (!variable || script_.assigned.count(variable->name) != 1) return word;
    return script_.assigned.find(variable->name)->second;
  }

  std::string place(const ShellCommand& command) const {
    return fmt::format("line {} of '{}' runs java", command.line, path_.filename().string());
  }

 public:
  static std::optional<std::string> in_file(const fs::path& path, int depth);

 private:
  fs::path path_;
  ShellScript script_;
  int depth_;
  mutable size_t looked_up_ = 0;  // variables, so far
};

// The interpreter, also behind `env`, with its options.
bool is_shell_script(std::string_view text) {
  if (!text.starts_with("#!")) return false;
  std::string_view line = text.substr(2, text.find('\n') - 2);
  while (!line.empty()) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    const std::string name = base_name(word);
    if (name != "env" && !word.starts_with('-') && word.find('=') == std::string_view::npos) return is_shell(name);
    line.remove_prefix(word.size());
  }
  return false;
}

std::optional<std::string> text_of(const fs::path& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed) || fs::file_size(path, failed) > kScriptBytesMax) return std::nullopt;
  base::Result<std::string> text = base::read_text_file(path.string());
  if (!text || !text->starts_with("#!")) return std::nullopt;
  return *text;
}

std::optional<std::string> Script::in_file(const fs::path& path, int depth) {
  const std::optional<std::string> text = text_of(path);
  if (!text || !is_shell_script(*text)) return std::nullopt;
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  return Script(failed ? path : real, *text, depth).find();
}

JvmStart in_script(const fs::path& path) {
  if (std::optional<std::string> why = Script::in_file(path, 0)) return {true, false, *why};
  const std::optional<std::string> text = text_of(path);
  return {false, text && has_java(*text), {}};
}

// Arguments that a JVM's launcher takes, and few others do.
bool looks_like_jvms(const std::string& argument) {
  return argument == "-jar" || argument == "-cp" || argument == "-classpath" || argument.starts_with("-X") ||
         argument.starts_with("-D") || argument.starts_with("-agent") || argument == "--module-path" ||
         argument == "-p";
}

// A program that runs another, which its arguments name.
JvmStart in_words(const Words& program) {
  const bool runs = runs_its_arguments(base_name(program.front()));
  for (size_t i = 1; i + 1 < program.size(); ++i) {
    if (base_name(program[i]) != "java" || only_asks_java(program[i + 1])) continue;
    if (runs || looks_like_jvms(program[i + 1]))
      return {true, false, fmt::format("its arguments say '{}'", program[i])};
  }
  return {};
}

JvmStart in_shells_arguments(const Words& program) {
  size_t at = 1;
  bool is_command = false;
  for (; at < program.size() && program[at].starts_with('-'); ++at) {
    is_command = is_command || (!program[at].starts_with("--") && program[at].find('c') != std::string::npos);
    if (program[at] == "-o") ++at;
  }
  if (at >= program.size()) return {};
  if (!is_command) return in_script(program[at]);
  const Script script(fs::current_path() / "the command", program[at], 0);
  if (script.find()) return {true, false, "its command runs java"};
  return {false, has_java(program[at]), {}};
}

}  // namespace

JvmStart find_jvm_start(const Words& program, const std::string& path) {
  if (text_of(path)) return in_script(path);
  if (is_shell(base_name(path))) return in_shells_arguments(program);
  const JvmStart found = in_words(program);
  if (found.starts) return found;
  for (size_t i = 1; i + 1 < program.size(); ++i) {  // timeout 5 sh -c "java ..."
    if (!runs_its_arguments(base_name(program.front())) || !is_shell(base_name(program[i]))) continue;
    return in_shells_arguments({program.begin() + static_cast<ptrdiff_t>(i), program.end()});
  }
  return {};
}

}  // namespace contrafact::cli
