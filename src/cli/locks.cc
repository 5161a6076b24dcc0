#include "cli/locks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "analysis/lock_profile.h"
#include "analysis/pinned_blocks.h"
#include "analysis/system_call_names.h"
#include "analysis/unseen_waits.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/trace_input.h"
#include "model/text_names.h"
#include "model/thread_label.h"
#include "table/json_stream.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using table::Cell;
using table::Type;
using table::Unit;

struct Options {
  std::string path;
  size_t top = 20;
  bool all_kinds = false;
  bool json = false;
};

std::string kind_of(const model::Trace& trace, model::LockId lock) {
  return std::string(model::kLockKindNames[trace.locks[lock.index()].kind]);
}

Cell optional_duration(const analysis::DurationStats& stats, int64_t value_ns) {
  return stats.count > 0 ? Cell(value_ns) : Cell();
}

void add_use(std::vector<Cell>& row, const analysis::LockUse& use, bool cpu_known) {
  row.push_back(use.waits_only ? Cell() : Cell(int64_t{use.acquisitions}));
  row.emplace_back(int64_t{use.contended});
  row.push_back(use.waits_only ? Cell() : Cell(int64_t{use.failed}));
  for (const analysis::DurationStats* stats : {&use.wait, &use.hold}) {
    row.push_back(optional_duration(*stats, stats->total_ns));
    row.push_back(optional_duration(*stats, static_cast<int64_t>(stats->mean_ns())));
    row.push_back(optional_duration(*stats, stats->p50_ns));
    row.push_back(optional_duration(*stats, stats->p90_ns));
    row.push_back(optional_duration(*stats, stats->p99_ns));
    row.push_back(optional_duration(*stats, stats->max_ns));
  }
  row.push_back(cpu_known ? optional_duration(use.hold, use.hold_cpu_ns) : Cell());
}

// Where locks of its class and field are made; of several places the first one, with their number.
Cell made_at(const model::Trace& trace, model::LockId lock) {
  const std::string_view contexts = trace.fact("lock.made." + analysis::lock_name(trace, lock));
  uint32_t first = 0;
  const auto [end, error] = std::from_chars(contexts.data(), contexts.data() + contexts.size(), first);
  if (error != std::errc() || first >= trace.contexts.size()) return {};
  const auto more = std::count(end, contexts.data() + contexts.size(), ' ');
  return trace.frame_label(model::ContextId(first)) + (more > 0 ? fmt::format(", and {} more", more) : "");
}

std::vector<Cell> cells_of(const model::Trace& trace, const analysis::LockProfile& profile,
                           const analysis::LockRowStats& lock) {
  std::vector<Cell> row{analysis::lock_name(trace, lock.lock), kind_of(trace, lock.lock),
                        trace.fact("jvm.name").empty() ? Cell() : Cell(int64_t{lock.instances}), int64_t{lock.threads}};
  add_use(row, lock.use, profile.cpu_known);
  row.emplace_back(lock.wait_share);
  row.push_back(lock.use.waits_only || lock.instances > 1 ? Cell() : Cell(lock.held_share));
  row.push_back(profile.path_known ? Cell(lock.critical_share) : Cell());
  row.push_back(made_at(trace, lock.lock));
  return row;
}

std::vector<Cell> cells_of(const model::Trace& trace, const analysis::LockProfile& profile,
                           const analysis::LockSiteStats& site) {
  std::vector<Cell> row{analysis::lock_name(trace, site.lock), kind_of(trace, site.lock),
                        profile.sites[site.site].label};
  add_use(row, site.use, profile.cpu_known);
  const bool owned = site.owner_site != UINT32_MAX;
  row.push_back(owned ? Cell(profile.sites[site.owner_site].label) : Cell());
  row.push_back(owned ? Cell(site.owner_share) : Cell());
  row.push_back(owned && !site.use.waits_only ? Cell(site.use.chained_ns) : Cell());
  row.emplace_back(site.wait_share);
  row.push_back(profile.path_known ? Cell(site.critical_share) : Cell());
  return row;
}

Cell code_label(const model::Trace& trace, model::ContextId context) {
  return context.valid() ? Cell(trace.frame_label(trace.code_frame(context))) : Cell();
}

// Whether a library asks there, which the program called.
bool is_of_library(const model::Trace& trace, model::ContextId context) {
  return context.valid() && trace.has_program_frame(context) &&
         trace.code_frame(context) != trace.program_frame(context);
}

std::vector<Cell> cells_of(const model::Trace& trace, const analysis::LockProfile&, const model::LockWait& wait) {
  const int64_t begin_ns = trace.begin_ns();
  const bool since = wait.held_since_ns != INT64_MIN;
  return {analysis::lock_name(trace, wait.lock),
          kind_of(trace, wait.lock),
          wait.wait_ns(),
          wait.begin_ns - begin_ns,
          model::thread_label(trace, wait.thread),
          code_label(trace, wait.site),
          is_of_library(trace, wait.site) ? Cell(trace.context_label(wait.site)) : Cell(),
          wait.holder.valid() ? Cell(model::thread_label(trace, wait.holder)) : Cell(),
          code_label(trace, wait.holder_at),
          since ? Cell(wait.begin_ns - wait.held_since_ns) : Cell()};
}

// Of a JVM, by an agent that did not record what threads are blocked on yet.
bool is_unsuitable(const model::Trace& trace) {
  return trace.fact("agent") != "native" && trace.locks.empty() && trace.fact("locks.waits").empty();
}

std::string empty_reason(const model::Trace& trace) {
  if (is_unsuitable(trace))
    return "this recording does not say what threads waited for: an older contrafact recorded it, or no program's run "
           "is in it";
  if (!trace.fact("locks.waits").empty())
    return "no thread waited for a lock for long enough to be seen: a JVM tells of no wait that ends while a thread "
           "still tries again and again";
  return trace.locks.empty() ? "the program took no lock that the agent sees (contrafact help tables)"
                             : "no lock that is held; --all shows conditions, barriers, semaphores and futexes";
}

template <typename Rows>
table::Table table_of(const table::Schema& schema, const model::Trace& trace, const analysis::LockProfile& profile,
                      const Rows& rows, size_t all, const char* what) {
  table::Table table(schema);
  for (const auto& row : rows) table.add_row(cells_of(trace, profile, row));
  if (all > rows.size()) table.add_note(fmt::format("({} of {} {}; --top shows more)", rows.size(), all, what));
  table.set_empty_reason(empty_reason(trace));
  return table;
}

template <typename Rows>
void stream_rows(table::JsonStream& out, const char* key, const table::Schema& schema, const model::Trace& trace,
                 const analysis::LockProfile& profile, const Rows& rows) {
  out.begin_array(key);
  for (const auto& row : rows) out.row(schema, cells_of(trace, profile, row));
  out.end_array();
}

base::Status print_json(const Options& options, const model::Trace& trace, const analysis::LockProfile& profile) {
  OutputStream to("-");
  table::JsonStream out(to.sink());
  out.members(json_document("locks"));
  out.member("trace", trace_json_header(options.path, trace));
  out.member("duration_ns", profile.run_ns);
  out.member("threads_ns", profile.threads_ns);
  stream_rows(out, "locks", kLocksSchema, trace, profile, profile.locks);
  stream_rows(out, "sites", kLockSitesSchema, trace, profile, profile.lock_sites);
  stream_rows(out, "waits", kLockWaitsSchema, trace, profile, profile.longest_waits);
  if (profile.locks.empty()) out.member("empty_reason", empty_reason(trace));
  if (const std::optional<analysis::UnseenWaits> unseen = analysis::unseen_waits(trace)) {
    out.member("unseen_wait_ns", unseen->blocked_ns);
    out.member("unseen_wait_share", unseen->share());
    out.begin_array("unseen_places");
    for (const analysis::BlockedPlace& place : unseen->places) {
      out.item({{"looks", place.looks},
                {"system_call", analysis::system_call_name(place.system_call)},
                {"futex", place.futex},
                {"where", trace.method_label(place.method)}});
    }
    out.end_array();
  }
  if (const analysis::PinnedBlocks pinned = analysis::pinned_blocks(trace); pinned.blocks > 0) {
    out.member("pinned_blocks", pinned.blocks);
    out.member("pinned_ns", pinned.blocked_ns);
    out.begin_array("pinned_places");
    for (const analysis::PinnedPlace& place : pinned.places) {
      out.item({{"blocks", place.blocks},
                {"blocked_ns", place.blocked_ns},
                {"where", place.place.valid() ? table::Json(trace.context_label(place.place)) : table::Json()}});
    }
    out.end_array();
  }
  out.finish();
  return to.finish();
}

// The objects that the tables leave out although threads waited for them: no wait is passed over in silence.
std::string left_out_text(const analysis::LockProfile& profile) {
  if (profile.left_out_wait_ns == 0) return "";
  return fmt::format(
      "\n{} that only waiting is for (conditions, barriers, semaphores, futexes): {} waited for; --all shows {}\n",
      table::counted_text(profile.left_out, "object", "objects"),
      table::duration_text(static_cast<double>(profile.left_out_wait_ns)), profile.left_out == 1 ? "it" : "them");
}

constexpr const char* kWaitsOnly =
    "\nof locks without a figure under 'acquired' only waits are known, and who held them then; contrafact record "
    "--classes-from records the rest\n";

std::string unseen_text(const model::Trace& trace, const Session& session) {
  const std::string text = table::printable(analysis::unseen_waits_text(trace), session.out.unicode);
  return text.empty() ? "" : "note: " + text + " (docs/native.md)\n\n";
}

std::string pinned_note(const model::Trace& trace, const Session& session) {
  const std::string text = table::printable(analysis::pinned_text(trace), session.out.unicode);
  return text.empty() ? "" : "\nnote: " + text + " (docs/jvm-locks.md)\n";
}

base::Status print_tables(const model::Trace& trace, const analysis::LockProfile& profile, const Session& session) {
  const table::Table locks = table_of(kLocksSchema, trace, profile, profile.locks, profile.lock_count, "locks");
  std::string text = unseen_text(trace, session) + table::render_text(locks, session.out);
  if (!locks.empty()) {
    const table::Table sites =
        table_of(kLockSitesSchema, trace, profile, profile.lock_sites, profile.lock_site_count, "sites");
    text += "\n" + table::render_text(sites, session.out);
  }
  if (!profile.longest_waits.empty()) {
    const table::Table waits =
        table_of(kLockWaitsSchema, trace, profile, profile.longest_waits, profile.wait_count, "waits");
    text += "\n" + table::render_text(waits, session.out) + kWaitsOnly;
  }
  return print_text(session, text + left_out_text(profile) + pinned_note(trace, session));
}

int run(const Options& options, const Session& session) {
  std::optional<model::Trace> trace = load_trace(options.path, session);
  if (!trace) return kExitInput;
  // Waiting is what conditions, barriers, semaphores and futexes are for, where they do not serve as locks.
  analysis::LockProfileOptions shown;
  if (!options.json) shown = {.rows_max = options.top, .locks_only = !options.all_kinds};
  const analysis::LockProfile profile = analysis::lock_profile(*trace, shown);
  const bool unsuitable = is_unsuitable(*trace);
  base::Status printed;
  if (options.json) {
    printed = print_json(options, *trace, profile);
  } else if (!unsuitable) {
    printed = print_tables(*trace, profile, session);
  }
  if (!printed) return fail(kExitOutput, printed.error().message);
  return unsuitable ? fail(kExitImpossible, options.path + ": " + empty_reason(*trace)) : kExitOk;
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "A recorded run").value_name("FILE").required();
  list.add_option("--top", options->top, "Locks and sites to print, the longest waited for first")
      .check(whole_number(1))
      .show_default();
  list.add_flag("--all", options->all_kinds,
                "Also print conditions, barriers, semaphores and futexes that do not serve as locks");
  list.add_flag("--json", options->json, "Print JSON; everything");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

#define CONTRAFACT_USE_COLUMNS                                                                                      \
  {"acquisitions", "acquired", Type::integer, Unit::none,                                                           \
   "How often it was acquired; for conditions, barriers and futexes, waits that ended well."},                      \
      {"contended", "contended", Type::integer, Unit::none, "Of these, how often after a wait."},                   \
      {"failed",                                                                                                    \
       "failed",                                                                                                    \
       Type::integer,                                                                                               \
       Unit::none,                                                                                                  \
       "Tries that found it held, and waits that ended by their timeout or an error.",                              \
       6},                                                                                                          \
      {"wait_total_ns", "wait", Type::duration, Unit::ns, "Time waited for it, all threads together."},             \
      {"wait_mean_ns", "mean wait", Type::duration, Unit::ns, "Mean of the waits.", 3},                             \
      {"wait_p50_ns", "p50 wait", Type::duration, Unit::ns, "Half of the waits were no longer than this.", 5},      \
      {"wait_p90_ns", "p90 wait", Type::duration, Unit::ns, "Nine of ten waits were no longer than this.", 7},      \
      {"wait_p99_ns", "p99 wait", Type::duration, Unit::ns, "99 of 100 waits were no longer than this.", 4},        \
      {"wait_max_ns", "longest wait", Type::duration, Unit::ns, "The longest wait.", 8},                            \
      {"hold_total_ns", "held", Type::duration, Unit::ns, "Time it was held, all acquisitions together.", 1},       \
      {"hold_mean_ns", "mean held", Type::duration, Unit::ns, "Mean time from an acquisition to its release.", 3},  \
      {"hold_p50_ns", "p50 held", Type::duration, Unit::ns, "Half of the times held were no longer than this.", 5}, \
      {"hold_p90_ns", "p90 held", Type::duration, Unit::ns, "Nine of ten times held were no longer than this.", 7}, \
      {"hold_p99_ns", "p99 held", Type::duration, Unit::ns, "99 of 100 times held were no longer than this.", 4},   \
      {"hold_max_ns", "longest held", Type::duration, Unit::ns, "The longest time held.", 8},                       \
      {"hold_cpu_ns",                                                                                               \
       "held on CPU",                                                                                               \
       Type::duration,                                                                                              \
       Unit::ns,                                                                                                    \
       "Of the time held, what the holder was on a core; empty where the kernel did not report it.",                \
       2}

const table::Schema kLocksSchema{
    "locks",
    "The locks of the program, the longest waited for first.",
    {{"lock", "lock", Type::text, Unit::none, "The variable that it is, or its kind and number in the trace."},
     {"kind", "kind", Type::word, Unit::none,
      "mutex, rwlock, spinlock, once, monitor (of a JVM's synchronized code), synchronizer (any other object that a "
      "JVM's threads wait at); condition, semaphore and futex (a word that threads wait at by a system call) "
      "where "
      "they serve as a lock: who waits there is woken by others who wait there; else these and barrier with --all.",
      2},
     {"instances", "locks", Type::integer, Unit::none,
      "Of a JVM: how many locks of this class, and of this field where that is known, were seen.", 2},
     {"threads", "threads", Type::integer, Unit::threads, "Threads that used it.", 2},
     CONTRAFACT_USE_COLUMNS,
     {"wait_share", "of threads", Type::ratio, Unit::ratio, "The wait, of the lifetimes of all threads together."},
     {"held_share", "of run", Type::ratio, Unit::ratio,
      "Of the run's duration, while somebody held it; empty for several locks.", 1},
     {"critical_share", "critical", Type::ratio, Unit::ratio,
      "Of the critical path (the chain of work and hand-overs that the end of the run waited for), while the lock was "
      "held on it or handed over.",
      1},
     {"made_at", "made at", Type::places, Unit::none,
      "Of a JVM: where the code of a chosen class makes the lock that it keeps in this field.", 1}}};

const table::Schema kLockSitesSchema{
    "lock_sites",
    "The places in the code that ask for each lock, the longest waiting first.",
    {{"lock", "lock", Type::text, Unit::none, "As above."},
     {"kind", "kind", Type::word, Unit::none, "As above.", 9},
     {"site", "site", Type::places, Unit::none, "Function, file and line of the call, or symbol and offset."},
     CONTRAFACT_USE_COLUMNS,
     {"owner", "waits for", Type::places, Unit::none,
      "The site whose holders it waited for longest; of what nobody holds, the site whose signals ended most of the "
      "wait."},
     {"owner_share", "share", Type::ratio, Unit::ratio, "Of the site's wait, spent on that one.", 1},
     {"chained_ns", "chained", Type::duration, Unit::ns, "Of the wait, while the owner itself waited for another lock.",
      6},
     {"wait_share", "of threads", Type::ratio, Unit::ratio, "The wait, of the lifetimes of all threads together.", 2},
     {"critical_share", "critical", Type::ratio, Unit::ratio, "As above.", 1}}};
#undef CONTRAFACT_USE_COLUMNS

const table::Schema kLockWaitsSchema{
    "lock_waits",
    "The longest waits for locks of a JVM, and who held the lock then.",
    {{"lock", "lock", Type::text, Unit::none, "As above."},
     {"kind", "kind", Type::word, Unit::none, "As above.", 5},
     {"wait_ns", "wait", Type::duration, Unit::ns, "How long the thread waited."},
     {"at_ns", "at", Type::duration, Unit::ns, "When it began to, since the recording began.", 4},
     {"thread", "thread", Type::text, Unit::none, "Who waited.", 3},
     {"site", "site", Type::places, Unit::none, "Where it asked for the lock: in the program's code, or a library's."},
     {"caller", "called from", Type::places, Unit::none, "The program's line that called the library there.", 2},
     {"holder", "held by", Type::text, Unit::none,
      "The thread that held it when the wait began; empty where nobody is known to."},
     {"holder_site", "holder at", Type::places, Unit::none,
      "Where that thread was in the program while the other waited; empty where nobody looked: to look costs, and "
      "takes at most a hundredth of the time."},
     {"held_before_ns", "held for", Type::duration, Unit::ns,
      "How long it had held it by then, where its own acquisition was recorded; empty: since some time before.", 6}}};

const Command kLocksCommand{"locks", "Print who waits for whom at which lock, where, and how long",
                            "contrafact locks run.cft\ncontrafact locks run.cft --all --top 50\n"
                            "contrafact locks run.cft --json",
                            declare};

}  // namespace contrafact::cli
