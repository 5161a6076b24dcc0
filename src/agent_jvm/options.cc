#include "agent_jvm/options.h"

#include <charconv>

#include "base/percent.h"

namespace contrafact::agent_jvm {
namespace {

constexpr uint32_t kContextDepthLimit = 1000;

std::vector<std::string> decode_list(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = text.find(';');
    if (end != 0) out.push_back(base::percent_decode(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

template <typename Number>
bool parse_number(std::string_view text, Number& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool set(Options& options, std::string_view key, std::string_view value) {
  if (key == "output") {
    options.output = base::percent_decode(value);
    return !options.output.empty();
  }
  if (key == "memory") {
    return parse_number(value, options.memory_bytes_max) && parse_number(value, options.processing.memory_bytes_max);
  }
  if (key == "consumers") return parse_number(value, options.processing.consumers);
  if (key == "capacity") return parse_number(value, options.processing.capacity);
  if (key == "queue") return parse_number(value, options.processing.queue);
  if (key == "config")
    options.config = base::percent_decode(value);
  else if (key == "include")
    options.include = decode_list(value);
  else if (key == "exclude")
    options.exclude = decode_list(value);
  else if (key == "classes")
    options.classes = decode_list(value);
  else if (key == "sets")
    options.sets = base::percent_decode(value);
  else if (key == "flow")
    options.flow = value == "1";
  else if (key == "analysis")
    options.analysis = base::percent_decode(value);
  else if (key == "analysis_options")
    options.analysis_options = base::percent_decode(value);
  else if (key == "processor")
    options.processing.processor = base::percent_decode(value);
  else if (key == "coalescing")
    options.processing.coalescing = value == "1";
  else if (key == "keep")
    options.keep = value == "1";
  else if (key == "strict")
    options.strict = value == "1";
  else if (key == "cpu_switches")
    options.cpu_switches = value == "1";
  else if (key == "command")
    options.command = value == "1";
  else if (key == "warm")
    options.warm = value == "1";
  else if (key == "awake")
    options.awake = base::percent_decode(value);
  else if (key == "compare_contexts")
    options.compare_contexts = value == "1";
  else if (key == "depth")
    return parse_number(value, options.context_depth_max) && options.context_depth_max > 0 &&
           options.context_depth_max <= kContextDepthLimit;
  else
    return false;
  return true;
}

}  // namespace

base::Result<Options> parse_options(std::string_view text) {
  Options options;
  while (!text.empty()) {
    const size_t end = text.find(',');
    const std::string_view item = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || !set(options, item.substr(0, equals), item.substr(equals + 1))) {
      return base::Error{
          "agent option '" + std::string(item) +
          "': unknown or not a valid value; known are output, memory, config, include, exclude, classes, sets, flow, "
          "depth, "
          "keep, strict, cpu_switches, command, warm, awake, compare_contexts, analysis, analysis_options, processor, "
          "consumers, capacity, queue, coalescing"};
    }
  }
  return options;
}

}  // namespace contrafact::agent_jvm
