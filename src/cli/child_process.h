// Runs a program in the foreground with our own standard streams, and hands on to it the signals that are sent to us.
#pragma once

#include <signal.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace contrafact::cli {

// To be called before this process changes how it takes SIGPIPE or SIGCHLD: programs are started as it was started.
void keep_inherited_signals();

struct ChildEnd {
  int exit_status = 0;  // as a shell reports it: the program's status, or 128 + n if signal n ended it
  int signal = 0;       // that signal, or 0
  double wall_s = 0;
  int pid = 0;  // the program's
};

struct StartFailure {
  int error_number;  // of the system, e.g. ENOEXEC
};

// Keeps the signals that run_child() hands on blocked after the program has ended. A signal that comes then was meant
// for the program, and must not end us before the program's recording is written. When this object ends, signals that
// came meanwhile are discarded. Until then the kernel also keeps the ended program's name.
class HeldSignals {
 public:
  HeldSignals() = default;
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

 private:
  friend base::Result<ChildEnd> run_child(const std::string&, const std::vector<std::string>&,
                                          const std::vector<std::string>&, StartFailure*, HeldSignals*);
  std::optional<sigset_t> mask_before_;
  pid_t ended_ = 0;  // not yet waited for
};

// `environment` entries (NAME=value) replace or add to our own. Blocks until the program has ended. SIGINT, SIGTERM,
// SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 that were sent to us alone are forwarded; those of the terminal reach the
// program anyway, as a member of the foreground group. With `held` they stay blocked when it returns the program's end.
// REQUIRES: no other threads, except those that block all signals.
base::Result<ChildEnd> run_child(const std::string& file, const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment, StartFailure* start_failure,
                                 HeldSignals* held = nullptr);

}  // namespace contrafact::cli
