#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/installation.h"
#include "cli/jdk.h"
#include "cli/json_document.h"
#include "cli/output.h"
#include "cli/perf_probe.h"
#include "cli/schemas.h"
#include "table/render.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

enum class State { ok, limited, missing };

class Report {
 public:
  Report() : table_(kDoctorSchema) {}
  void add(std::string check, State state, std::string found, std::string advice = "") {
    const char* name = state == State::ok ? "ok" : state == State::limited ? "limited" : "missing";
    worst_ = std::max(worst_, state);
    table_.add_row({std::move(check), std::string(name), std::move(found), std::move(advice)});
  }
  const table::Table& table() const { return table_; }
  State worst() const { return worst_; }

 private:
  table::Table table_;
  State worst_ = State::ok;
};

void check_agent(Report& report, const Session& session) {
  base::Result<Installation> found = find_installation(session.self);
  if (found) {
    if (!found->agent_library.empty())
      report.add("agent", State::ok, found->agent_library);
    else
      report.add("agent", State::limited, "no libcontrafact_jvm.so beside it",
                 "only native programs can be recorded; build or install contrafact again");
    if (!found->native_library.empty())
      report.add("native agent", State::ok, found->native_library);
    else
      report.add("native agent", State::limited, "no libcontrafact_native.so beside it",
                 "only JVM programs can be recorded; build or install contrafact again");
  } else {
    report.add("agent", State::missing, found.error().message, "build or install contrafact again");
  }
}

void check_jdks(Report& report) {
  std::vector<Jdk> jdks = installed_jdks();
  bool any = false;
  for (const Jdk& jdk : jdks) {
    base::Status supported = check_supported(jdk);
    std::string what = fmt::format("{} {}{}", jdk.home, jdk.version.empty() ? "of unknown version" : jdk.version,
                                   jdk.vendor.empty() ? "" : " (" + jdk.vendor + ")");
    any = any || supported.ok();
    report.add("jdk", supported.ok() ? State::ok : State::limited, what,
               supported.ok()
                   ? ""
                   : fmt::format("cannot be recorded: needs OpenJDK {} to {}", kJdkFeatureOldest, kJdkFeatureNewest));
  }
  if (!any) {
    report.add("jdk", State::missing, jdks.empty() ? "no Java found" : "no supported Java found",
               fmt::format("install OpenJDK {} to {}, e.g. apt-get install openjdk-17-jdk-headless", kJdkFeatureOldest,
                           kJdkFeatureNewest));
  }
}

void check_kernel(Report& report) {
  auto level = base::read_text_file("/proc/sys/kernel/perf_event_paranoid");
  std::string paranoid = level ? level->substr(0, level->find('\n')) : "unknown";
  PerfProbe probe = probe_perf_events();
  if (probe.context_switches) {
    report.add("context switches", State::ok, fmt::format("perf events work, perf_event_paranoid {}", paranoid));
  } else {
    report.add("context switches", State::limited,
               fmt::format("perf events: {}, perf_event_paranoid {}", probe.reason, paranoid),
               "tasks' CPU shares stay unknown; sysctl kernel.perf_event_paranoid=1 or CAP_PERFMON allows them");
  }
  auto clock = base::read_text_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source = clock ? clock->substr(0, clock->find('\n')) : "unknown";
  bool fast = source == "tsc" || source == "kvm-clock" || source == "hyperv_clocksource_tsc_page" ||
              source == "arch_sys_counter";
  report.add("clock", fast ? State::ok : State::limited, source,
             fast ? "" : "reading the clock takes a system call: recording costs more per event");
}

void check_machine(Report& report) {
  unsigned cores = std::thread::hardware_concurrency();
  report.add("cores", State::ok, fmt::format("{}", cores));
  std::string folder = std::filesystem::temp_directory_path().string();
  base::Status writable = check_writable(folder + "/contrafact-doctor", 16 << 20);
  report.add("temporary folder", writable.ok() ? State::ok : State::limited,
             writable.ok() ? folder : writable.error().message,
             writable.ok() ? "" : "set TMPDIR to a folder with room");
  struct statvfs space{};
  if (::statvfs(".", &space) == 0) {
    double free_bytes = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
    bool enough = free_bytes > 1e9;
    report.add("space here", enough ? State::ok : State::limited, table::bytes_text(free_bytes) + " free",
               enough ? "" : "a long recording may fill the disk; choose another folder with -o");
  }
}

int run(bool json, const Session& session) {
  Report report;
  check_agent(report, session);
  check_jdks(report);
  check_kernel(report);
  check_machine(report);
  std::string text = table::render_text(report.table(), session.out);
  if (json) {
    table::Json document = json_document("doctor");
    document["ready"] = report.worst() != State::missing;
    document["checks"] = table::rows_json(report.table());
    text = table::json_text(document);
  }
  if (base::Status printed = json ? print(text) : print_text(session, text); !printed)
    return fail(kExitOutput, printed.error().message);
  return report.worst() == State::missing ? kExitImpossible : kExitOk;
}

Run declare(OptionList& list) {
  auto json = std::make_shared<bool>(false);
  list.add_flag("--json", *json, "Print JSON");
  return [json](Session& session) { return run(*json, session); };
}

}  // namespace

const table::Schema kDoctorSchema{
    "doctor",
    "What this machine allows and what is missing.",
    {{"check", "check", table::Type::text, table::Unit::none, "What was looked at."},
     {"state", "state", table::Type::text, table::Unit::none,
      "ok; limited: works with less detail; missing: recording does not work."},
     {"found", "found", table::Type::text, table::Unit::none, "What was found."},
     {"advice", "what to do", table::Type::text, table::Unit::none, "What to do about it; empty if nothing."}}};

const Command kDoctorCommand{"doctor", "Say what this machine allows and what is missing",
                             "contrafact doctor\ncontrafact doctor --json\nJAVA_HOME=/opt/jdk contrafact doctor",
                             declare};

}  // namespace contrafact::cli
