// The recorded processes of a trace that was made of several recordings (join.h). In every table the rows of one process
// follow those of the process before it; what is made of such a trace, and adds rows, adds them behind all of these.
//
// A trace of one recording has none: then all rows are of no process, and labels say nothing of it.
//
// Addresses of different processes may be equal. In such a trace each process's addresses lie in a space of its own:
//
//     bits 63-48: number of the process      47-0: the address as the process had it
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/trace.h"

namespace contrafact::model {

inline constexpr uint32_t kNoProcess = UINT32_MAX;
inline constexpr uint32_t kProcessesMax = 1 << 14;

// Fact `process.N`: of Trace::processes the row N.
inline constexpr std::string_view kProcessFact = "process.";
std::string process_fact(const Process& process);
// Fills Trace::processes from these facts. Facts that do not fit each other, or the tables, count as none at all.
void read_processes(Trace& trace);

// Positions in Trace::processes; kNoProcess: of none.
uint32_t process_of(const Trace& trace, ThreadId thread);
uint32_t process_of(const Trace& trace, PoolId pool);
uint32_t process_of(const Trace& trace, LockId lock);

// "worker of backend": the label of a row, and the process it belongs to. The label alone where there is none, and where
// it begins with the name of the process.
std::string with_process(const Trace& trace, uint32_t process, std::string label);

// The recorded names of a pool and of a lock, with the process; of a lock without a name "mutex 7", where 7 is its number.
std::string pool_label(const Trace& trace, PoolId pool);
std::string lock_label(const Trace& trace, LockId lock);

constexpr bool is_program_address(uint64_t address) {
  return address >> 47 == 0;
}
// Addresses that no program has (of the kernel) stay.
constexpr uint64_t in_space_of(uint32_t process, uint64_t address) {
  return is_program_address(address) ? address | uint64_t{process} << 48 : address;
}
constexpr uint32_t space_of(uint64_t address) {
  return static_cast<uint32_t>(address >> 48);
}
// As the process had it.
constexpr uint64_t without_space(uint64_t address) {
  return space_of(address) < kProcessesMax ? address & ((uint64_t{1} << 48) - 1) : address;
}

}  // namespace contrafact::model
