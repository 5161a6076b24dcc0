#include "model/join_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "format/fact_keys.h"
#include "model/processes.h"

namespace contrafact::model {
namespace {

template <typename Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const bool is_one = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return is_one ? std::optional(number) : std::nullopt;
}

std::string_view first_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

// Of `PREFIX.N` the N.
std::optional<uint32_t> number_behind(std::string_view key, std::string_view prefix) {
  return key.starts_with(prefix) ? whole_number<uint32_t>(key.substr(prefix.size())) : std::nullopt;
}

enum class Rule : uint8_t {
  same,      // stays if it is the same wherever it is; else each process has its own
  first,     // of the recording that began first; the others have the like
  sum,       // counts
  largest,   // the largest number
  smallest,  // the smallest one, of those that have one
  listed,    // texts of the processes, behind each other
  left_out,  // is said otherwise, or says nothing of several processes
};

Rule rule_of(std::string_view key) {
  constexpr std::pair<std::string_view, Rule> kRules[] = {
      {"start.monotonic_ns", Rule::first},
      {"start.unix_ns", Rule::first},
      {"core.refill_ns", Rule::first},
      {"clock.error_ns", Rule::largest},
      {format::kAwakeUntilFact, Rule::smallest},
      {"clock.late", Rule::sum},
      {"command", Rule::listed},
      {"pid", Rule::left_out},            // Trace::processes
      {"cores", Rule::left_out},          // add_cores()
      {"cores.numbers", Rule::left_out},  // the same
      {"cpu.quota", Rule::left_out},      // the same
      {"pinned", Rule::left_out},         // add_pinned()
      {"cpu.switches.lost", Rule::sum},
      {"locks.waits_given_up", Rule::sum},
      {"locks.by_class", Rule::sum},
      {"recorder.calls.unknown", Rule::sum},
      {"recorder.queues.broken", Rule::sum},
      {"threads.unrecorded", Rule::sum},
      {"connections.untold", Rule::sum},
      {"semaphores.untold", Rule::sum},
      {"tasks.unseen", Rule::sum},
      {"blocked.left_out", Rule::sum},
      {"classes.chosen", Rule::sum},
      {"endpoints.too_many", Rule::sum},
      {"probe.refused", Rule::sum},
      {"context.compared", Rule::sum},
      {"context.different", Rule::sum},
      {"context.reused", Rule::sum},
  };
  const auto found = std::ranges::find(kRules, key, &std::pair<std::string_view, Rule>::first);
  if (found != std::end(kRules)) return found->second;
  // Changed kinds of pools say it, and constant memory is for sets.
  return key.starts_with("resource.none.") || key.starts_with("constants.") ? Rule::left_out : Rule::same;
}

// "0-3,8", ascending. Empty: it is no such list.
std::set<uint32_t> cores_in(std::string_view list) {
  constexpr uint32_t kCoresMax = 1 << 16;
  std::set<uint32_t> cores;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), range.size() + 1));
    const size_t dash = range.find('-');
    const auto first = whole_number<uint32_t>(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number<uint32_t>(range.substr(dash + 1));
    const bool ascends = first && last && *first <= *last && (cores.empty() || *cores.rbegin() < *first);
    if (!ascends || *last >= kCoresMax) return {};
    for (uint32_t core = *first; core <= *last; ++core) cores.insert(core);
  }
  return cores;
}

using EventCounts = std::array<uint64_t, format::kEventKinds>;

class FactJoiner {
 public:
  FactJoiner(Trace& joined, const std::vector<JoinedPart>& parts) : joined_(joined), parts_(parts) {}

  void run() {
    for (uint32_t process = 0; process < parts_.size(); ++process) {
      for (const Fact& fact : parts_[process].trace->facts) {
        if (!add_numbered(fact, process)) values_of(fact.key).emplace_back(process, fact.value);
      }
    }
    for (const std::string& key : keys_) add(key, values_.at(key));
    add_cores();
    add_pinned();
    for (size_t i = 0; i < joined_.processes.size(); ++i)
      put(fmt::format("{}{}", kProcessFact, i), process_fact(joined_.processes[i]));
  }

 private:
  using Values = std::vector<std::pair<uint32_t, std::string_view>>;  // with their processes, ascending

  Values& values_of(const std::string& key) {
    const auto [values, is_new] = values_.try_emplace(key);
    if (is_new) keys_.push_back(key);
    return values->second;
  }

  void put(std::string key, std::string value) { joined_.facts.push_back({std::move(key), std::move(value)}); }

  void add(const std::string& key, const Values& values) {
    if (key.starts_with(kRecordingCost)) return put(key, mean_cost(key.substr(kRecordingCost.size()), values));
    switch (rule_of(key)) {
      case Rule::first:
        return put(key, std::string(values.front().second));
      case Rule::sum:
      case Rule::largest:
      case Rule::smallest:
        return add_count(key, values);
      case Rule::listed:
        return add_listed(key, values);
      case Rule::left_out:
        return;
      case Rule::same:
        break;
    }
    const bool are_same =
        std::ranges::all_of(values, [&](const auto& each) { return each.second == values.front().second; });
    if (are_same) return put(key, std::string(values.front().second));
    for (const auto& [process, value] : values)
      put(fmt::format("{}{}.{}", kProcessFact, process, key), std::string(value));
  }

  void add_count(const std::string& key, const Values& values) {
    uint64_t sum = 0, most = 0, least = UINT64_MAX;
    for (const auto& [process, value] : values) {
      const uint64_t number = whole_number<uint64_t>(value).value_or(0);
      sum += std::min(number, UINT64_MAX - sum);
      most = std::max(most, number);
      least = std::min(least, number);
    }
    const Rule rule = rule_of(key);
    put(key, std::to_string(rule == Rule::sum ? sum : rule == Rule::largest ? most : least));
  }

  void add_listed(const std::string& key, const Values& values) {
    std::string all;
    for (const auto& [process, value] : values) all.append(all.empty() ? "" : " + ").append(value);
    put(key, std::move(all));
  }

  // Of all events of the kind.
  std::string mean_cost(std::string_view kind, const Values& values) {
    double sum_ns = 0, events = 0;
    const auto schema = std::ranges::find(format::kEventSchemas, kind, &format::EventSchema::name);
    for (const auto& [process, value] : values) {
      const bool is_known = schema != format::kEventSchemas.end();
      const double count =
          is_known ? 1 + static_cast<double>(counts_of(process)[static_cast<size_t>(schema->kind)]) : 1;
      sum_ns += count * static_cast<double>(whole_number<uint32_t>(value).value_or(0));
      events += count;
    }
    return std::to_string(static_cast<int64_t>(sum_ns / events + 0.5));
  }

  const EventCounts& counts_of(uint32_t process) {
    const auto [counts, is_new] = counts_.try_emplace(process);
    if (is_new) {
      const JoinedPart& part = parts_[process];
      for (uint32_t t = 0; t < part.threads; ++t) {
        const EventRange range = joined_.thread_ranges[part.offsets.threads + t];
        for (uint32_t i = range.begin; i < range.end; ++i) ++counts->second[static_cast<size_t>(joined_.kind[i])];
      }
    }
    return counts->second;
  }

  // Facts that number something, or have numbers or addresses as values. False: it is none of them.
  bool add_numbered(const Fact& fact, uint32_t process) {
    const RowOffsets& by = parts_[process].offsets;
    const std::pair<std::string_view, uint32_t> of_rows[] = {{"pool.field.", by.pools},
                                                             {"pool.member.", by.pools},
                                                             {"thread.name.", by.threads},
                                                             {"method.timed.", by.methods}};
    for (const auto& [prefix, offset] : of_rows) {
      if (const auto row = number_behind(fact.key, prefix))
        return put(fmt::format("{}{}", prefix, uint64_t{*row} + offset), fact.value), true;
    }
    if (const auto pool = number_behind(fact.key, "pool.made."))
      return put(fmt::format("pool.made.{}", uint64_t{*pool} + by.pools), moved_context(fact.value, by)), true;
    for (const std::string_view prefix :
         {"scheduler.unseen.", "transport.unseen.", "resource.taking.", "probe.refused."}) {
      if (number_behind(fact.key, prefix)) return put_next(prefix, fact.value), true;
    }
    if (number_behind(fact.key, "module.")) return put_next("module.", moved_module(fact.value, process)), true;
    if (number_behind(fact.key, "lock.wrapper."))
      return put_next("lock.wrapper.", moved_hex(fact.value, process)), true;
    if (number_behind(fact.key, "blocked.")) return put_next("blocked.", moved_look(fact.value, process)), true;
    if (number_behind(fact.key, "pinned.")) return note_pinned_place(fact.value, by), true;
    if (constexpr std::string_view kMade = "lock.made."; fact.key.starts_with(kMade)) {
      const std::string name = with_process(joined_, process, fact.key.substr(kMade.size()));
      return put(std::string(kMade) + name, moved_contexts(fact.value, by)), true;
    }
    return false;
  }

  void put_next(std::string_view prefix, std::string value) {
    put(fmt::format("{}{}", prefix, next_[prefix]++), std::move(value));
  }

  static std::string moved_number(std::string_view word, uint32_t by) {
    const auto number = whole_number<uint32_t>(word);
    return number ? std::to_string(uint64_t{*number} + by) : std::string(word);
  }
  static std::string moved_context(std::string_view word, const RowOffsets& by) {
    return moved_number(word, by.contexts);
  }
  static std::string moved_contexts(std::string_view words, const RowOffsets& by) {
    std::string all;
    while (!words.empty()) all.append(all.empty() ? "" : " ").append(moved_context(first_word(words), by));
    return all;
  }
  static std::string moved_hex(std::string_view word, uint32_t process) {
    const auto address = whole_number<uint64_t>(word, 16);
    return address && *address != 0 ? fmt::format("{:x}", in_space_of(process, *address)) : std::string(word);
  }

  // "LOADED UNLOADED BIAS BEGIN END BUILD_ID PATH". The bias grows as much as the addresses, modulo 2^64.
  static std::string moved_module(std::string_view text, uint32_t process) {
    const std::string_view loaded = first_word(text), unloaded = first_word(text);
    const std::string_view bias = first_word(text), begin = first_word(text), end = first_word(text);
    const auto from = whole_number<uint64_t>(begin, 16);
    const uint64_t by = from ? in_space_of(process, *from) - *from : 0;
    return fmt::format("{} {} {:x} {} {} {}", loaded, unloaded, whole_number<uint64_t>(bias, 16).value_or(0) + by,
                       moved_hex(begin, process), moved_hex(end, process), text);
  }

  // "LOOKS THREAD SYSTEM_CALL FUTEX METHOD"
  std::string moved_look(std::string_view text, uint32_t process) const {
    const RowOffsets& by = parts_[process].offsets;
    const std::string_view looks = first_word(text), thread = first_word(text), call = first_word(text);
    const std::string_view futex = first_word(text);
    return fmt::format("{} {} {} {} {}", looks, moved_number(thread, by.threads), call, moved_hex(futex, process),
                       moved_number(text, by.methods));
  }

  // "BLOCKS BLOCKED_NS CONTEXT"
  void note_pinned_place(std::string_view text, const RowOffsets& by) {
    const std::string_view blocks = first_word(text), blocked_ns = first_word(text);
    pinned_.emplace_back(whole_number<uint64_t>(blocked_ns).value_or(0),
                         fmt::format("{} {} {}", blocks, blocked_ns, moved_context(text, by)));
  }

  void add_pinned() {
    uint64_t blocks = 0, blocked_ns = 0;
    const auto all = values_.find("pinned");
    if (all == values_.end()) return;
    for (auto [process, text] : all->second) {
      const uint64_t more = whole_number<uint64_t>(first_word(text)).value_or(0);
      const uint64_t more_ns = whole_number<uint64_t>(text).value_or(0);
      blocks += std::min(more, UINT64_MAX - blocks);
      blocked_ns += std::min(more_ns, UINT64_MAX - blocked_ns);
    }
    put("pinned", fmt::format("{} {}", blocks, blocked_ns));
    std::ranges::stable_sort(pinned_, std::greater(), &std::pair<uint64_t, std::string>::first);
    for (size_t i = 0; i < pinned_.size(); ++i) put(fmt::format("pinned.{}", i), pinned_[i].second);
  }

  // The cores that any of the processes may use. A group's limit stays if it is the same for all.
  void add_cores() {
    std::set<uint32_t> numbers;
    bool all_say_which = true, have_same_quota = true;
    uint32_t most = 0;
    for (const JoinedPart& part : parts_) {
      const std::set<uint32_t> own = cores_in(part.trace->fact("cores.numbers"));
      all_say_which &= !own.empty() && part.trace->fact("cpu.quota").empty();
      numbers.insert(own.begin(), own.end());
      have_same_quota &= part.trace->fact("cpu.quota") == parts_.front().trace->fact("cpu.quota");
      most = std::max(most, whole_number<uint32_t>(part.trace->fact("cores")).value_or(0));
    }
    if (all_say_which) most = static_cast<uint32_t>(numbers.size());
    if (most > 0) put("cores", std::to_string(most));
    const std::string quota(parts_.front().trace->fact("cpu.quota"));
    if (have_same_quota && !quota.empty()) put("cpu.quota", quota);
  }

  static constexpr std::string_view kRecordingCost = "recording.ns.";

  Trace& joined_;
  const std::vector<JoinedPart>& parts_;
  std::unordered_map<std::string, Values> values_;
  std::vector<std::string> keys_;  // of `values_`, as they came
  std::map<std::string_view, uint32_t> next_;
  std::map<uint32_t, EventCounts> counts_;
  std::vector<std::pair<uint64_t, std::string>> pinned_;  // their times, and the facts
};

std::string_view without_folder(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void join_facts(Trace& joined, const std::vector<JoinedPart>& parts) {
  FactJoiner(joined, parts).run();
}

std::string name_of_process(const Trace& trace) {
  constexpr std::string_view kJar = ".jar";
  std::string_view name = without_folder(trace.fact("jvm.main"));
  if (name.ends_with(kJar)) {
    name.remove_suffix(kJar.size());
  } else if (!name.empty()) {
    name = name.substr(name.rfind('.') + 1);
  } else {
    const std::string_view command = trace.fact("command");
    name = without_folder(command.substr(0, command.find(' ')));
  }
  if (!name.empty()) return std::string(name);
  const std::string_view pid = trace.fact("pid");
  return pid.empty() ? "a process" : fmt::format("process {}", pid);
}

int64_t number_in_fact(const Trace& trace, std::string_view key, int64_t if_none) {
  return whole_number<int64_t>(trace.fact(key)).value_or(if_none);
}

}  // namespace contrafact::model
