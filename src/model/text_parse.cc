#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "model/text_names.h"
#include "model/text_trace.h"
#include "model/trace_builder.h"
#include "model/vm_stints.h"

namespace contrafact::model {
namespace {

using Words = std::vector<std::string>;

// The byte of "xNN" behind a backslash.
std::optional<char> escaped_byte(std::string_view text) {
  constexpr size_t kDigits = 2;
  if (text.size() <= kDigits || text[0] != 'x') return std::nullopt;
  uint8_t byte = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 1 + kDigits, byte, 16);
  if (error != std::errc() || end != text.data() + 1 + kDigits) return std::nullopt;
  return static_cast<char>(byte);
}

// Words are separated by blanks; "quoted words" may hold blanks, with \", \\ and \xNN inside. False if a quote is not
// closed.
bool split(std::string_view line, Words& words) {
  words.clear();
  size_t i = 0;
  while (i < line.size()) {
    if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      ++i;
    } else if (line[i] == '#') {
      return true;
    } else if (line[i] == '"') {
      std::string word;
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        const std::optional<char> byte = line[i] == '\\' ? escaped_byte(line.substr(i + 1)) : std::nullopt;
        if (!byte && line[i] == '\\' && i + 1 < line.size()) ++i;
        word += byte.value_or(line[i]);
        if (byte) i += 3;
      }
      if (i == line.size()) return false;
      ++i;
      words.push_back(std::move(word));
    } else {
      size_t end = line.find_first_of(" \t\r", i);
      if (end == std::string_view::npos) end = line.size();
      words.emplace_back(line.substr(i, end - i));
      i = end;
    }
  }
  return true;
}

template <typename Number>
std::optional<Number> number(std::string_view word) {
  Number value{};
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// "0x1000+8:rw"
std::optional<AccessRange> access_range(std::string_view word) {
  const size_t plus = word.find('+'), colon = word.find(':');
  if (plus == std::string_view::npos || colon == std::string_view::npos || colon < plus) return std::nullopt;
  AccessRange range;
  std::string_view begin = word.substr(0, plus);
  const bool hexadecimal = begin.starts_with("0x");
  if (hexadecimal) begin.remove_prefix(2);
  const auto [end, failure] =
      std::from_chars(begin.data(), begin.data() + begin.size(), range.begin, hexadecimal ? 16 : 10);
  const auto length = number<uint32_t>(word.substr(plus + 1, colon - plus - 1));
  if (failure != std::errc() || end != begin.data() + begin.size() || !length) return std::nullopt;
  range.length_bytes = *length;
  for (const char letter : word.substr(colon + 1)) {
    const size_t bit = kAccessLetters.find(letter);
    if (bit == std::string_view::npos) return std::nullopt;
    range.flags |= 1u << bit;
  }
  if (!format::is_sound(range)) return std::nullopt;
  return range;
}

// "t12" -> 12, so that tasks keep their order; any other word sorts after those.
std::pair<uint64_t, std::string> task_order(const std::string& key) {
  std::optional<uint64_t> n;
  if (key.size() > 1 && key[0] == 't') n = number<uint64_t>(std::string_view(key).substr(1));
  return {n.value_or(UINT64_MAX), key};
}

class Parser {
 public:
  base::Result<Trace> run(std::string_view text) {
    base::Status status = each_line(text, [&](const Words& words) { return collect_tasks(words); });
    if (!status) return status.error();
    std::vector<std::pair<uint64_t, std::string>> order;
    for (const auto& [key, id] : tasks_) order.push_back(task_order(key));
    std::sort(order.begin(), order.end());
    for (const auto& [n, key] : order) tasks_[key] = builder_.add_task().value;
    status = each_line(text, [&](const Words& words) { return parse_line(words); });
    if (!status) return status.error();
    return builder_.build();
  }

 private:
  using Keys = std::map<std::string, uint32_t, std::less<>>;

  template <typename Function>
  base::Status each_line(std::string_view text, Function function) {
    line_number_ = 0;
    Words words;
    while (!text.empty()) {
      ++line_number_;
      size_t end = std::min(text.find('\n'), text.size());
      if (!split(text.substr(0, end), words)) return error("a quoted word is not closed");
      if (!words.empty()) {
        if (base::Status status = function(words); !status) return status;
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
  }

  base::Error error(std::string_view what) const { return {fmt::format("line {}: {}", line_number_, what)}; }

  static bool is_event(const Words& words) { return words[0][0] == '-' || (words[0][0] >= '0' && words[0][0] <= '9'); }

  base::Status collect_tasks(const Words& words) {
    if (!is_event(words) || words.size() < 4) return {};
    std::optional<EventKind> kind = event_kind_named(words[2]);
    if (!kind) return {};
    const format::EventSchema& schema = format::schema_of(*kind);
    for (size_t i = 0; i < schema.operand_count() && 3 + i < words.size(); ++i) {
      bool task = schema.operands[i] == format::Operand::task || schema.operands[i] == format::Operand::source;
      if (task && words[3 + i] != "-") tasks_.emplace(words[3 + i], 0);
    }
    return {};
  }

  base::Status parse_line(const Words& words) {
    if (is_event(words)) return parse_event(words);
    const std::string& what = words[0];
    if (what == "thread") return parse_thread(words);
    if (what == "pool") return parse_pool(words);
    if (what == "lock") return parse_lock(words);
    if (what == "connection") return parse_connection(words);
    if (what == "endpoint") return parse_endpoint(words);
    if (what == "access_set") return parse_access_set(words);
    if (what == "access_log") return parse_access_log(words);
    if (what == "method") return parse_method(words);
    if (what == "context") return parse_context(words);
    if (what == "cpu") return parse_cpu(words);
    if (what == "pause") return parse_pause(words);
    if (what == "vm_ran") return parse_vm_ran(words);
    if (what == "cores_idle") return parse_cores_idle(words);
    if (what == "fact" && words.size() == 3) {
      builder_.add_fact(words[1], words[2]);
      return {};
    }
    if (what == "note" && words.size() == 2) {
      builder_.loss().notes.push_back(words[1]);
      return {};
    }
    if (what == "loss" && words.size() == 2 && number<uint64_t>(words[1])) {
      builder_.loss().events_dropped = *number<uint64_t>(words[1]);
      return {};
    }
    if (what == "origin" && words.size() == 2) {
      std::optional<Origin> origin = named(kOriginNames, words[1]);
      if (!origin) return error(fmt::format("\"{}\" is no origin: measured, estimated or simulated", words[1]));
      builder_.set_origin(*origin);
      return {};
    }
    return error(fmt::format("\"{}\" begins no row with {} words, and is no time", what, words.size()));
  }

  base::Status declare(Keys& keys, const std::string& key, uint32_t id) {
    if (!keys.emplace(key, id).second) return error(fmt::format("\"{}\" is declared twice", key));
    return {};
  }

  base::Status parse_thread(const Words& words) {
    if (words.size() < 2) return error("thread needs a key");
    format::ThreadRow row;
    std::string name = words[1];
    for (size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "virtual_thread")
        row.kind = format::ThreadKind::virtual_thread;
      else if (words[i] == "daemon")
        row.daemon = true;
      else if (words[i] != "platform")
        name = words[i];
    }
    return declare(threads_, words[1], builder_.add_thread(name, row).value);
  }

  base::Status parse_pool(const Words& words) {
    if (words.size() < 3) return error("pool needs a key and a kind");
    std::optional<format::PoolKind> kind = named(kPoolKindNames, words[2]);
    if (!kind) return error(fmt::format("\"{}\" is no kind of pool", words[2]));
    std::string name = words[1];
    std::vector<uint32_t> sizes;
    for (size_t i = 3; i < words.size(); ++i) {
      if (words[i] == "max")
        sizes.push_back(UINT32_MAX);
      else if (auto n = number<uint32_t>(words[i]))
        sizes.push_back(*n);
      else
        name = words[i];
    }
    sizes.resize(std::max<size_t>(sizes.size(), 1));
    return declare(pools_, words[1],
                   builder_.add_pool(name, *kind, sizes[0], sizes.size() > 1 ? sizes[1] : sizes[0]).value);
  }

  base::Status parse_lock(const Words& words) {
    if (words.size() < 3 || words.size() > 4) return error("lock needs a key, a kind, and perhaps a name");
    std::optional<format::LockKind> kind = named(kLockKindNames, words[2]);
    if (!kind) return error(fmt::format("\"{}\" is no kind of lock", words[2]));
    return declare(locks_, words[1], builder_.add_lock(words.size() > 3 ? words[3] : words[1], *kind).value);
  }

  base::Status parse_connection(const Words& words) {
    const bool has_ports = words.size() == 5;
    if (words.size() != 3 && !has_ports) return error("connection needs a key, a kind, and perhaps two ports");
    const std::optional<format::ConnectionKind> kind = named(kConnectionKindNames, words[2]);
    if (!kind) return error(fmt::format("\"{}\" is no kind of connection", words[2]));
    const auto local = number<uint32_t>(has_ports ? words[3] : "0"),
               remote = number<uint32_t>(has_ports ? words[4] : "0");
    if (!local || !remote) return error("a connection's port is no number");
    return declare(connections_, words[1], builder_.add_connection({*kind, *local, *remote}).value);
  }

  base::Status parse_endpoint(const Words& words) {
    if (words.size() != 3) return error("endpoint needs a key and a name");
    return declare(endpoints_, words[1], builder_.add_endpoint(words[2]).value);
  }

  base::Status parse_access_set(const Words& words) {
    if (words.size() < 3) return error("access_set needs a key and whether it is complete");
    const std::optional<format::SetGap> gap = named(kSetGapNames, words[2]);
    if (!gap) return error(fmt::format("\"{}\" is neither complete nor a reason why a set is not", words[2]));
    std::vector<AccessRange> ranges;
    for (size_t i = 3; i < words.size(); ++i) {
      const std::optional<AccessRange> range = access_range(words[i]);
      if (!range) return error(fmt::format("\"{}\" is no BEGIN+BYTES:FLAGS", words[i]));
      ranges.push_back(*range);
    }
    return declare(access_sets_, words[1], builder_.add_access_set(*gap, std::move(ranges)).value);
  }

  base::Status parse_access_log(const Words& words) {
    if (words.size() < 6) return error("access_log needs a thread, two times, a gap and how many accesses were lost");
    const base::Result<uint32_t> thread = look_up(threads_, "thread", words[1]);
    if (!thread) return thread.error();
    if (*thread == UINT32_MAX) return error("an access_log is of a thread");
    const auto begin_ns = number<int64_t>(words[2]), end_ns = number<int64_t>(words[3]);
    const std::optional<format::SetGap> gap = named(kSetGapNames, words[4]);
    const auto lost = number<uint64_t>(words[5]);
    if (!begin_ns || !end_ns || *end_ns < *begin_ns || !gap || !lost)
      return error("an access_log's times, gap or number of lost accesses is none");
    format::AccessEncoder encoder;
    std::vector<uint8_t> bytes((words.size() - 6) * format::AccessEncoder::kBytesMax);
    uint8_t* out = bytes.data();
    for (size_t i = 6; i < words.size(); ++i) {
      const std::optional<AccessRange> access = access_range(words[i]);
      if (!access || !is_sound(*access)) return error(fmt::format("\"{}\" is no BEGIN+BYTES:FLAGS", words[i]));
      out = encoder.put(out, *access);
    }
    bytes.resize(static_cast<size_t>(out - bytes.data()));
    builder_.add_access_chunk(
        {*thread, *gap, *begin_ns, *end_ns, *lost, static_cast<uint32_t>(words.size() - 6), bytes});
    return {};
  }

  base::Status parse_method(const Words& words) {
    if (words.size() < 3) return error("method needs a key and CLASS.NAME");
    size_t dot = words[2].rfind('.');
    if (dot == std::string::npos) return error(fmt::format("\"{}\" has no class before a dot", words[2]));
    std::string file;
    uint32_t line = 0;
    if (words.size() > 3) {
      size_t colon = words[3].rfind(':');
      file = words[3].substr(0, colon);
      if (colon != std::string::npos) line = number<uint32_t>(words[3].substr(colon + 1)).value_or(0);
    }
    return declare(methods_, words[1],
                   builder_.add_method(words[2].substr(0, dot), words[2].substr(dot + 1), file, line).value);
  }

  base::Status parse_context(const Words& words) {
    if (words.size() != 4) return error("context needs a key, a parent or -, and METHOD:LINE");
    ContextId parent;
    if (words[2] != "-") {
      auto it = contexts_.find(words[2]);
      if (it == contexts_.end()) return error(fmt::format("no context \"{}\"", words[2]));
      parent = ContextId(it->second);
    }
    size_t colon = words[3].rfind(':');
    auto method = methods_.find(words[3].substr(0, colon));
    if (method == methods_.end()) return error(fmt::format("no method \"{}\"", words[3].substr(0, colon)));
    uint32_t line = colon == std::string::npos ? 0 : number<uint32_t>(words[3].substr(colon + 1)).value_or(0);
    return declare(contexts_, words[1], builder_.add_context(parent, MethodId(method->second), line).value);
  }

  base::Status parse_cpu(const Words& words) {
    auto thread = words.size() == 5 ? threads_.find(words[1]) : threads_.end();
    if (thread == threads_.end()) return error("cpu needs a declared thread, two times and a reason");
    auto out_ns = number<int64_t>(words[2]), in_ns = number<int64_t>(words[3]);
    if (!out_ns || !in_ns) return error("cpu needs two times");
    Outcome reason = words[4] == "preempted" ? Outcome::preempted : Outcome::blocked;
    builder_.add(ThreadId(thread->second), EventKind::cpu_out, *out_ns, {static_cast<uint32_t>(reason), 0, 0, 0});
    builder_.add(ThreadId(thread->second), EventKind::cpu_in, *in_ns);
    return {};
  }

  base::Status parse_pause(const Words& words) {
    if (words.size() < 3 || words.size() > 4 || !number<int64_t>(words[1]) || !number<int64_t>(words[2]))
      return error("pause needs two times");
    if (threads_.empty()) return error("pause must follow a thread");
    const auto thread = words.size() == 4 ? threads_.find(words[3]) : threads_.end();
    if (words.size() == 4 && thread == threads_.end()) return error("pause names no thread");
    const ThreadId of(thread == threads_.end() ? 0 : thread->second);
    builder_.add(of, EventKind::pause_begin, *number<int64_t>(words[1]));
    builder_.add(of, EventKind::pause_end, *number<int64_t>(words[2]));
    return {};
  }

  base::Status parse_vm_ran(const Words& words) {
    const auto begin_ns = words.size() == 3 ? number<int64_t>(words[1]) : std::nullopt;
    const auto end_ns = words.size() == 3 ? number<int64_t>(words[2]) : std::nullopt;
    if (!begin_ns || !end_ns) return error("vm_ran needs two times");
    if (threads_.empty()) return error("vm_ran must follow a thread");
    builder_.add(ThreadId(0), EventKind::vm_ran, *end_ns, {ran_us_of({*begin_ns, *end_ns}), 0, 0, 0});
    return {};
  }

  base::Status parse_cores_idle(const Words& words) {
    const auto until_ns = words.size() == 3 ? number<int64_t>(words[1]) : std::nullopt;
    const auto idle_ns = words.size() == 3 ? number<int64_t>(words[2]) : std::nullopt;
    if (!until_ns || !idle_ns || *idle_ns < 0) return error("cores_idle needs a time and how long cores were idle");
    if (threads_.empty()) return error("cores_idle must follow a thread");
    const auto idle_us = static_cast<uint32_t>(std::min<int64_t>(*idle_ns / kNsPerUs, UINT32_MAX));
    builder_.add(ThreadId(0), EventKind::cores_idle, *until_ns, {idle_us, 0, 0, 0});
    return {};
  }

  base::Status parse_event(const Words& words) {
    auto time_ns = number<int64_t>(words[0]);
    if (!time_ns) return error(fmt::format("\"{}\" is no time in nanoseconds", words[0]));
    if (words.size() < 3) return error("an event needs a time, a thread and a kind");
    auto thread = threads_.find(words[1]);
    if (thread == threads_.end()) return error(fmt::format("no thread \"{}\"", words[1]));
    auto kind = event_kind_named(words[2]);
    if (!kind) return error(fmt::format("\"{}\" is no event", words[2]));
    const format::EventSchema& schema = format::schema_of(*kind);
    if (words.size() - 3 > schema.operand_count()) {
      return error(fmt::format("{} has {} operands at most", schema.name, schema.operand_count()));
    }
    std::array<uint32_t, format::kOperandsMax> operands{};
    for (size_t i = 0; i < schema.operand_count(); ++i) {
      base::Result<uint32_t> value = operand(schema.operands[i], 3 + i < words.size() ? words[3 + i] : "");
      if (!value) return value.error();
      operands[i] = *value;
    }
    builder_.add(ThreadId(thread->second), *kind, *time_ns, operands);
    return {};
  }

  base::Result<uint32_t> operand(format::Operand operand, const std::string& word) {
    switch (operand) {
      case format::Operand::task:
      case format::Operand::source:
        return look_up(tasks_, "task", word);
      case format::Operand::pool:
        return look_up(pools_, "pool", word);
      case format::Operand::lock:
        return look_up(locks_, "lock", word);
      case format::Operand::access_set:
        return look_up(access_sets_, "access_set", word);
      case format::Operand::connection:
        return look_up(connections_, "connection", word);
      case format::Operand::endpoint:
        return look_up(endpoints_, "endpoint", word);
      case format::Operand::named_by:
        return word_of(kNamedByNames, "way to name an endpoint", word);
      case format::Operand::context:
        return look_up(contexts_, "context", word);
      case format::Operand::body:
      case format::Operand::method:
        return look_up(methods_, "method", word);
      case format::Operand::thread:
        return look_up(threads_, "thread", word);
      case format::Operand::outcome:
        return word_of(kOutcomeNames, "outcome", word);
      case format::Operand::reason:
        return word_of(kReasonNames, "reason", word);
      case format::Operand::mode:
        return word_of(kModeNames, "mode", word);
      case format::Operand::flow:
        return word_of(kFlowKindNames, "flow", word);
      case format::Operand::taint:
        if (word.empty() || word == "-") return UINT32_MAX;
        break;
      default:
        break;
    }
    if (word.empty()) return uint32_t{0};
    if (auto n = number<uint32_t>(word)) return *n;
    return error(fmt::format("\"{}\" is no number", word));
  }
  base::Result<uint32_t> look_up(const Keys& keys, std::string_view what, const std::string& word) const {
    if (word.empty() || word == "-") return UINT32_MAX;
    auto it = keys.find(word);
    if (it == keys.end()) return error(fmt::format("no {} \"{}\"", what, word));
    return it->second;
  }
  template <typename Names>
  base::Result<uint32_t> word_of(const Names& names, std::string_view what, const std::string& word) const {
    if (word.empty()) return uint32_t{0};
    auto value = named(names, word);
    if (!value) return error(fmt::format("\"{}\" is no {}", word, what));
    return static_cast<uint32_t>(*value);
  }

  TraceBuilder builder_;
  Keys threads_, pools_, locks_, connections_, endpoints_, access_sets_, methods_, contexts_, tasks_;
  size_t line_number_ = 0;
};

}  // namespace

bool begins_as_text_trace(std::string_view text) {
  constexpr std::string_view kRows[] = {"origin",  "fact",       "thread",   "pool",       "method",
                                        "context", "cpu",        "pause",    "loss",       "note",
                                        "lock",    "connection", "endpoint", "access_set", "access_log"};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    const std::string_view word = line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
    return std::ranges::find(kRows, word) != std::end(kRows) || number<int64_t>(word).has_value();
  }
  return false;
}

base::Result<Trace> parse_text(std::string_view text) {
  return Parser().run(text);
}

}  // namespace contrafact::model
