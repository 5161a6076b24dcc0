// Makes one trace of the recordings of several processes that ran at the same time on one machine: then what one asks of
// another over a connection is a part of its requests (requests.h, socket_wakes.h), and all analyses see them together.
//
// All times are the machine's own clock, so they stay as they are. The rows of every table and the tasks get new numbers,
// process by process, in the order in which the recordings began (processes.h). Strings are shared.
//
// It takes plain recordings of whole programs alone, all native or all of a JVM: the models of the two differ in what
// events they expect. Read and write sets, logs of accesses and information flow stay with the recording of one process.
//
// Pure but for its arguments; linear in rows and events.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace contrafact::model {

struct JoinedRecording {
  std::string path;  // for messages
  Trace trace;       // as load_any gave it: names of native code are found later, in the joined trace
};

// The error says which recordings do not fit each other, and what to do.
base::Result<Trace> join(std::vector<JoinedRecording> recordings);

// Connections of a joined trace that have one end in a process and the other end in another one.
size_t connections_between_processes(const Trace& trace);

}  // namespace contrafact::model
