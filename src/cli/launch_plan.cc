#include "cli/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace contrafact::cli {
namespace {

constexpr std::string_view kPatchOption = "--patch-module";
constexpr std::string_view kPatchedModule = "java.base=";

// Options of the java launcher whose value is the next argument.
constexpr std::array<std::string_view, 16> kOptionsWithValue{"-cp",
                                                             "-classpath",
                                                             "--class-path",
                                                             "-p",
                                                             "--module-path",
                                                             "--upgrade-module-path",
                                                             "--add-modules",
                                                             "--add-reads",
                                                             "--add-exports",
                                                             "--add-opens",
                                                             "--limit-modules",
                                                             "--patch-module",
                                                             "--source",
                                                             "--describe-module",
                                                             "-d",
                                                             "--enable-native-access"};

std::string agent_argument(const Installation& installation, const AgentOptions& options) {
  return "-agentpath:" + installation.agent_library + "=" + agent_option_string(options);
}

std::string patch_argument(const Installation& installation, std::string_view others) {
  std::string paths(others);
  if (!paths.empty()) paths += ':';
  return fmt::format("{}={}{}{}", kPatchOption, kPatchedModule, paths, installation.java_archive);
}

std::string join_encoded(const std::vector<std::string>& patterns) {
  std::string joined;
  for (const std::string& pattern : patterns) joined += (joined.empty() ? "" : ";") + percent_encode(pattern);
  return joined;
}

// Removes the java.base patches among the launcher's options from `arguments` and returns their paths, joined.
std::string take_patches(std::vector<std::string>& arguments) {
  std::string paths;
  auto take = [&](std::string_view value) {
    if (!value.starts_with(kPatchedModule)) return false;
    paths += (paths.empty() ? "" : ":") + std::string(value.substr(kPatchedModule.size()));
    return true;
  };
  for (size_t i = 1; i < arguments.size();) {
    const std::string argument = arguments[i];
    if (!argument.starts_with('-') && !argument.starts_with('@')) break;  // the main class
    if (argument == "-jar" || argument == "-m" || argument == "--module") break;
    bool has_next = i + 1 < arguments.size();
    if (argument == kPatchOption && has_next && take(arguments[i + 1])) {
      arguments.erase(arguments.begin() + i, arguments.begin() + i + 2);
    } else if (argument.starts_with(fmt::format("{}=", kPatchOption)) &&
               take(argument.substr(kPatchOption.size() + 1))) {
      arguments.erase(arguments.begin() + i);
    } else {
      bool takes_value =
          std::find(kOptionsWithValue.begin(), kOptionsWithValue.end(), argument) != kOptionsWithValue.end();
      i += takes_value ? 2 : 1;
    }
  }
  return paths;
}

// As the virtual machine splits JAVA_TOOL_OPTIONS: at white space, unless quoted.
base::Result<std::string> quoted(const std::string& option) {
  if (option.find_first_of(" \t\n\"'") == std::string::npos) return option;
  if (option.find_first_of("\"\n") == std::string::npos) return "\"" + option + "\"";
  return base::Error{
      fmt::format("the path in '{}' has a quote or a line break; move contrafact or run java directly", option)};
}

}  // namespace

std::string percent_encode(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-_.~/:*$+").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string agent_option_string(const AgentOptions& options) {
  std::string out = "output=" + percent_encode(options.output);
  if (options.memory_bytes != 0) out += fmt::format(",memory={}", options.memory_bytes);
  if (!options.config.empty()) out += ",config=" + percent_encode(options.config);
  if (!options.include.empty()) out += ",include=" + join_encoded(options.include);
  if (!options.exclude.empty()) out += ",exclude=" + join_encoded(options.exclude);
  return out;
}

LaunchPlan plan_java(const std::vector<std::string>& program, const Installation& installation,
                     const AgentOptions& options) {
  LaunchPlan plan{.arguments = program};
  std::string patches = take_patches(plan.arguments);
  plan.arguments.insert(plan.arguments.begin() + 1,
                        {agent_argument(installation, options), patch_argument(installation, patches)});
  return plan;
}

base::Result<LaunchPlan> plan_other(const std::vector<std::string>& program, const Installation& installation,
                                    const AgentOptions& options, std::string_view java_tool_options) {
  base::Result<std::string> agent = quoted(agent_argument(installation, options));
  if (!agent) return agent.error();
  base::Result<std::string> patch = quoted(patch_argument(installation, ""));
  if (!patch) return patch.error();
  LaunchPlan plan{.arguments = program};
  plan.java_tool_options =
      fmt::format("{}{}{} {}", java_tool_options, java_tool_options.empty() ? "" : " ", *agent, *patch);
  return plan;
}

}  // namespace contrafact::cli
