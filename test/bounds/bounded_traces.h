// Trace files for the test of bounds: hostile ones, which claim far more than they hold, and honest ones of many short
// lives. Each is made in memory, from its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contrafact::test {

struct TraceFile {
  std::string name;
  std::vector<uint8_t> bytes;
};

// Small files with large claims: ids far beyond the tables, unpacked sizes, counts, events of threads that have no row.
std::vector<TraceFile> hostile_traces();

// `count` mutexes, each with a place of its own and taken once.
std::vector<uint8_t> many_locks(uint32_t count);
// One place where `count` mutexes live one after another: initialised, taken once and destroyed.
std::vector<uint8_t> many_lives(uint32_t count);
// `count` tasks that a pool of four workers runs, each created, spawned, run and waited for by nobody.
std::vector<uint8_t> many_tasks(uint32_t count);
// At most `count` tasks of a fork-join pool, in three trees in which each forks two and joins them.
std::vector<uint8_t> forked_tasks(uint32_t count);

}  // namespace contrafact::test
