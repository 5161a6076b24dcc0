// The facts of a joined trace (join.h), from those of its recordings.
//
// A fact that is the same in all recordings stays. Numbers and addresses in facts become those of the joined trace; counts
// are summed, lists put together. Of the machine one recording speaks for all. What differs, and holds for one process
// alone, gets that process's name: `process.N.KEY`.
//
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

// By how much the numbers of one recording grow, by table.
struct RowOffsets {
  uint32_t methods = 0, contexts = 0, pools = 0, threads = 0, locks = 0, connections = 0, endpoints = 0, tasks = 0;
};

struct JoinedPart {
  const Trace* trace = nullptr;  // of which the events have gone into the joined trace
  RowOffsets offsets;
  uint32_t threads = 0, endpoints = 0;  // that it has
};

// `joined` has the rows of all `parts`, which have the order of its processes.
void join_facts(Trace& joined, const std::vector<JoinedPart>& parts);

// How the process is called: its main class or jar, else its program.
std::string name_of_process(const Trace& trace);

// Of a fact that is one whole decimal number; `if_none` where it is not.
int64_t number_in_fact(const Trace& trace, std::string_view key, int64_t if_none);

}  // namespace contrafact::model
