#include "cli/launch_plan.h"

#include <fmt/format.h>

#include "base/percent.h"

namespace contrafact::cli {
namespace {

std::string agent_argument(const Installation& installation, const AgentOptions& options) {
  return "-agentpath:" + installation.agent_library + "=" + agent_option_string(options);
}

std::string join_encoded(const std::vector<std::string>& patterns) {
  std::string joined;
  for (const std::string& pattern : patterns) joined += (joined.empty() ? "" : ";") + base::percent_encode(pattern);
  return joined;
}

// As the virtual machine splits JAVA_TOOL_OPTIONS: at white space, unless quoted.
base::Result<std::string> quoted(const std::string& option) {
  if (option.find_first_of(" \t\n\"'") == std::string::npos) return option;
  if (option.find_first_of("\"\n") == std::string::npos) return "\"" + option + "\"";
  return base::Error{
      fmt::format("the path in '{}' has a quote or a line break; move contrafact or run java directly", option)};
}

}  // namespace

std::string agent_option_string(const AgentOptions& options) {
  std::string out = "strict=1,keep=1,output=" + base::percent_encode(options.output);
  if (options.memory_bytes != 0) out += fmt::format(",memory={}", options.memory_bytes);
  if (!options.config.empty()) out += ",config=" + base::percent_encode(options.config);
  if (!options.include.empty()) out += ",include=" + join_encoded(options.include);
  if (!options.exclude.empty()) out += ",exclude=" + join_encoded(options.exclude);
  if (!options.classes.empty()) out += ",classes=" + join_encoded(options.classes);
  if (!options.sets.empty()) out += ",sets=" + base::percent_encode(options.sets);
  if (options.flow) out += ",flow=1";
  if (!options.command) out += ",command=0";
  if (options.warm) out += ",warm=1";
  if (!options.awake.empty()) out += ",awake=" + base::percent_encode(options.awake);
  if (options.analysis.empty()) return out;
  const online::ProcessingOptions& processing = options.processing;
  out += fmt::format(",analysis={},processor={},consumers={},capacity={},queue={},coalescing={}",
                     base::percent_encode(options.analysis), processing.processor, processing.consumers,
                     processing.capacity, processing.queue, processing.coalescing ? 1 : 0);
  if (!options.analysis_options.empty()) out += ",analysis_options=" + base::percent_encode(options.analysis_options);
  return out;
}

LaunchPlan plan_java(const std::vector<std::string>& program, const Installation& installation,
                     const AgentOptions& options) {
  LaunchPlan plan{.arguments = program};
  plan.arguments.insert(plan.arguments.begin() + 1, options.vm_flags.begin(), options.vm_flags.end());
  plan.arguments.insert(plan.arguments.begin() + 1, agent_argument(installation, options));
  return plan;
}

base::Result<LaunchPlan> plan_other(const std::vector<std::string>& program, const Installation& installation,
                                    const AgentOptions& options, std::string_view java_tool_options) {
  base::Result<std::string> agent = quoted(agent_argument(installation, options));
  if (!agent) return agent.error();
  LaunchPlan plan{.arguments = program};
  plan.java_tool_options = fmt::format("{}{}{}", java_tool_options, java_tool_options.empty() ? "" : " ", *agent);
  for (const std::string& flag : options.vm_flags) plan.java_tool_options += " " + flag;
  return plan;
}

base::Result<LaunchPlan> plan_native(const std::vector<std::string>& program, const Installation& installation,
                                     const AgentOptions& options, bool children, std::string_view ld_preload) {
  const bool with_sets = !options.sets.empty() || !options.accesses.empty();
  const std::string& library = with_sets ? installation.sets_library : installation.native_library;
  if (library.empty()) {
    return base::Error{fmt::format("the native agent is missing: no {} beside the JVM's; install or build again",
                                   with_sets ? "libcontrafact_native_sets.so" : "libcontrafact_native.so")};
  }
  if (library.find_first_of(": ") != std::string::npos) {
    return base::Error{
        fmt::format("the path '{}' has a colon or a blank, which LD_PRELOAD cannot carry; move contrafact", library)};
  }
  LaunchPlan plan{.arguments = program};
  std::string& text = plan.agent_options;
  if (children) text += ",children=1";
  if (!options.sets.empty()) text += ",sets=" + base::percent_encode(options.sets);
  if (!options.accesses.empty()) text += ",accesses=" + base::percent_encode(options.accesses);
  std::string libraries = library, others;
  for (const std::string& other : options.preloaded) {
    libraries += ":" + other;
    others += (others.empty() ? "" : ":") + other;
  }
  if (!others.empty()) text += ",preloaded=" + base::percent_encode(others);
  if (!options.sets_translate) text += ",sets_translate=0";
  plan.environment = {fmt::format("LD_PRELOAD={}{}{}", libraries, ld_preload.empty() ? "" : ":", ld_preload)};
  if (!ld_preload.empty() && !children)
    plan.environment.emplace_back("CONTRAFACT_PADDING=");  // agent_native/options.h says why
  return plan;
}

}  // namespace contrafact::cli
