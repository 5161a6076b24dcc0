#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <set>

#include "base/utf8.h"
#include "model/blocked_on.h"
#include "model/text_names.h"
#include "model/text_trace.h"

namespace contrafact::model {
namespace {

// Bytes of the character at the front, negative if it is to be escaped.
int plain_length(std::string_view text) {
  const size_t length = base::utf8_length(text);
  const bool is_plain = length > 0 && !base::is_harmful(base::decode_utf8(text.substr(0, length)));
  return is_plain ? static_cast<int>(length) : -static_cast<int>(std::max<size_t>(length, 1));
}

bool is_word(std::string_view text) {
  if (text.empty() || text == "-" || text.find_first_of(" \"#\\") != std::string_view::npos) return false;
  while (!text.empty()) {
    const int length = plain_length(text);
    if (length < 0) return false;
    text.remove_prefix(static_cast<size_t>(length));
  }
  return true;
}

// Controls, direction marks and broken characters stand byte by byte as \xNN: the text is read back as it was.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const int plain = plain_length(text);
    const auto length = static_cast<size_t>(std::abs(plain));
    if (text.front() == '"' || text.front() == '\\') out += '\\';
    if (plain > 0) {
      out += text.substr(0, length);
    } else {
      for (const unsigned char byte : text.substr(0, length)) out += fmt::format("\\x{:02x}", byte);
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

std::string word(std::string_view text) {
  return is_word(text) ? std::string(text) : in_quotes(text);
}

class Printer {
 public:
  Printer(const Trace& trace, const base::TextSink& sink) : trace_(trace), sink_(sink) {}

  void run() {
    print_head();
    print_tables();
    print_locks();
    print_connections();
    print_endpoints();
    print_access_sets();
    print_access_log();
    print_beside();
    print_events();
    base::hand_on(out_, sink_, 0);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
    base::hand_on(out_, sink_);
  }

  void print_head() {
    if (trace_.origin != Origin::measured) line("origin {}", kOriginNames[trace_.origin]);
    for (const Fact& fact : trace_.facts) line("fact {} {}", word(fact.key), word(fact.value));
    if (trace_.loss.events_dropped > 0) line("loss {}", trace_.loss.events_dropped);
    for (const std::string& note : trace_.loss.notes) line("note {}", in_quotes(note));
  }

  void print_tables() {
    std::set<std::string_view> taken;
    for (size_t i = 0; i < trace_.threads.size(); ++i) {
      const format::ThreadRow& row = trace_.threads[i];
      std::string_view name = trace_.string(row.name);
      bool usable = is_word(name) && name != "daemon" && name != "platform" && taken.insert(name).second;
      threads_.push_back(usable ? std::string(name) : fmt::format("thread{}", i + 1));
      line("thread {}{}{}{}", threads_.back(), usable ? "" : " " + in_quotes(name),
           row.kind == format::ThreadKind::virtual_thread ? " virtual_thread" : "", row.daemon ? " daemon" : "");
    }
    for (size_t i = 0; i < trace_.pools.size(); ++i) {
      const format::PoolRow& row = trace_.pools[i];
      line("pool p{} {} {} {} {}", i + 1, kPoolKindNames[row.kind], row.core_size,
           row.max_size == UINT32_MAX ? "max" : std::to_string(row.max_size), in_quotes(trace_.string(row.name)));
    }
    for (size_t i = 0; i < trace_.methods.size(); ++i) {
      const format::MethodRow& row = trace_.methods[i];
      std::string place = row.file.valid() ? " " + word(fmt::format("{}:{}", trace_.string(row.file), row.line)) : "";
      line("method m{} {}{}", i + 1, word(fmt::format("{}.{}", trace_.string(row.class_name), trace_.string(row.name))),
           place);
    }
    for (size_t i = 0; i < trace_.contexts.size(); ++i) {
      const format::ContextRow& row = trace_.contexts[i];
      line("context c{} {} {}:{}", i + 1, id('c', row.parent.value), id('m', row.method.value), row.line);
    }
  }

  void print_locks() {
    for (size_t i = 0; i < trace_.locks.size(); ++i) {
      const format::LockRow& row = trace_.locks[i];
      std::string name = row.name.valid() ? std::string(trace_.string(row.name)) : fmt::format("{:#x}", row.address);
      line("lock l{} {} {}", i + 1, kLockKindNames[row.kind], in_quotes(name));
    }
  }

  void print_connections() {
    for (size_t i = 0; i < trace_.connections.size(); ++i) {
      const format::ConnectionRow& row = trace_.connections[i];
      line("connection n{} {} {} {}", i + 1, kConnectionKindNames[row.kind], row.local_port, row.remote_port);
    }
  }

  void print_endpoints() {
    for (size_t i = 0; i < trace_.endpoints.size(); ++i)
      line("endpoint e{} {}", i + 1, in_quotes(trace_.string(trace_.endpoints[i].name)));
  }

  void print_access_sets() {
    for (uint32_t i = 0; i < trace_.access_sets.size(); ++i) {
      std::string ranges;
      for (const AccessRange& range : trace_.ranges_of(AccessSetId(i))) add_range(ranges, range);
      line("access_set s{} {}{}", i + 1, kSetGapNames[trace_.access_sets[i].gap], ranges);
    }
  }

  static void add_range(std::string& text, const AccessRange& range) {
    fmt::format_to(std::back_inserter(text), " {:#x}+{}:", range.begin, range.length_bytes);
    for (size_t bit = 0; bit < kAccessLetters.size(); ++bit) {
      if (range.flags >> bit & 1) text += kAccessLetters[bit];
    }
  }

  void print_access_log() {
    for (const AccessLog::Chunk& chunk : trace_.access_log.chunks) {
      std::string accesses;
      format::AccessDecoder log = trace_.access_log.decode(chunk);
      for (format::LoggedAccess access; log.next(access);) add_range(accesses, access);
      line("access_log {} {} {} {} {}{}", threads_[chunk.thread.index()], chunk.begin_ns, chunk.end_ns,
           kSetGapNames[chunk.gap], chunk.lost, accesses);
    }
  }

  void print_beside() {
    for (const Pause& pause : trace_.pauses) {
      const bool tells_thread = !trace_.processes.empty() && pause.thread.valid();
      line("pause {} {}{}", pause.begin_ns, pause.end_ns, tells_thread ? " " + threads_[pause.thread.index()] : "");
    }
    for (const VmStint& stint : trace_.vm_stints) line("vm_ran {} {}", stint.begin_ns, stint.end_ns);
    for (const IdleTime& idle : trace_.idle_times) line("cores_idle {} {}", idle.until_ns, idle.idle_ns);
    for (size_t i = 0; i < trace_.cpu.size(); ++i) {
      for (const CpuGap& gap : trace_.cpu[i]) {
        line("cpu {} {} {} {}", threads_[i], gap.out_ns, gap.in_ns, gap.preempted ? "preempted" : "blocked");
      }
    }
  }

  static std::string id(char prefix, uint32_t value) {
    return value == UINT32_MAX ? "-" : fmt::format("{}{}", prefix, value + 1);
  }

  // All threads merged by time; ties by thread, then program order.
  void print_events() {
    std::vector<uint32_t> order(trace_.event_count());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return trace_.time_ns[x] < trace_.time_ns[y]; });
    for (uint32_t i : order) {
      print_event(i);
      if (trace_.kind[i] == EventKind::block_begin) print_blocked_on(i);
    }
  }

  void print_blocked_on(uint32_t block) {
    const BlockedOn* row = blocked_on_at(trace_, EventIndex(block));
    if (row == nullptr) return;
    const std::string_view thread = threads_[row->thread.index()];
    line("{} {} blocked_on {}{}{}", trace_.time_ns[block], thread, id('l', row->lock.value),
         row->holder.valid() ? " " : "", row->holder.valid() ? threads_[row->holder.index()] : "");
    if (row->holder_at.valid())
      line("{} {} holder_at {}", trace_.time_ns[block], thread, id('c', row->holder_at.value));
  }

  void print_event(uint32_t i) {
    const EventKind kind = trace_.kind[i];
    const format::EventSchema& schema = format::schema_of(kind);
    std::vector<std::string> words;
    size_t keep = 0;  // operands that are not the default of those left out
    for (size_t k = 0; k < schema.operand_count(); ++k) {
      words.push_back(operand(schema.operands[k], k, i));
      if (words.back() != "-" && words.back() != "normal" && words.back() != "0" && words.back() != "all") keep = k + 1;
    }
    words.resize(keep);
    line("{} {} {}{}{}", trace_.time_ns[i], threads_[trace_.thread_of(EventIndex(i)).index()], schema.name,
         words.empty() ? "" : " ", fmt::join(words, " "));
  }

  std::string operand(format::Operand operand, size_t k, uint32_t i) const {
    const uint32_t value = k == 0 ? trace_.a[i] : k == 1 ? trace_.b[i] : outer_operand(operand, i);
    switch (operand) {
      case format::Operand::task:
      case format::Operand::source:
        return id('t', value);
      case format::Operand::pool:
        return id('p', value);
      case format::Operand::context:
        return id('c', value);
      case format::Operand::body:
      case format::Operand::method:
        return id('m', value);
      case format::Operand::lock:
        return id('l', value);
      case format::Operand::access_set:
        return id('s', value);
      case format::Operand::connection:
        return id('n', value);
      case format::Operand::endpoint:
        return id('e', value);
      case format::Operand::named_by:
        return std::string(kNamedByNames[static_cast<format::NamedBy>(value)]);
      case format::Operand::thread:
        return value < threads_.size() ? threads_[value] : "-";
      case format::Operand::outcome:
        return std::string(kOutcomeNames[static_cast<Outcome>(value)]);
      case format::Operand::reason:
        return std::string(kReasonNames[static_cast<BlockReason>(value)]);
      case format::Operand::mode:
        return std::string(kModeNames[static_cast<format::DependsMode>(value)]);
      case format::Operand::flow:
        return std::string(kFlowKindNames[static_cast<format::FlowKind>(value)]);
      case format::Operand::taint:
        return value == UINT32_MAX ? "-" : std::to_string(value);
      default:
        return std::to_string(value);
    }
  }

  // Third and fourth operands are kept in the task's row, or with the dependencies.
  uint32_t outer_operand(format::Operand operand, uint32_t i) const {
    if (trace_.a[i] == UINT32_MAX) return UINT32_MAX;
    const TaskRow& row = trace_.tasks[trace_.a[i]];
    if (operand == format::Operand::pool) return row.pool.value;
    if (operand == format::Operand::body) return row.body.value;
    auto at = std::ranges::lower_bound(trace_.dependencies, TaskId(trace_.a[i]), {}, &Dependency::task);
    for (; at != trace_.dependencies.end() && at->task.value == trace_.a[i]; ++at) {
      if (at->source.value == trace_.b[i]) return static_cast<uint32_t>(at->mode);
    }
    return 0;
  }

  const Trace& trace_;
  const base::TextSink& sink_;
  std::string out_;
  std::vector<std::string> threads_;
};

}  // namespace

void print_text(const Trace& trace, const base::TextSink& sink) {
  Printer(trace, sink).run();
}

std::string print_text(const Trace& trace) {
  return base::text_of([&](const base::TextSink& sink) { print_text(trace, sink); });
}

}  // namespace contrafact::model
