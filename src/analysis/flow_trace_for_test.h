// For tests: sections of one monitor that wait for each other, with what they touch and what they hand on.
#pragma once

#include <string>
#include <vector>

#include "analysis/section_facts.h"
#include "analysis/text_trace_for_test.h"
#include "model/section_flows.h"

namespace contrafact::analysis {

// Threads a, b, ... each ask for the monitor at 0 and hold it for 10 ns, one after the other: thread i from 10 i on, with
// the taint i + 1. `touched`: what each touches (the ranges of an access set), "-": not observed.
inline std::string one_after_the_other(const std::vector<std::string>& touched, const std::string& more) {
  std::string rows =
      "fact cores 8\nfact sets.source bytecode\nfact field.1 shop.Stack.top\nfact field.2 shop.Stack.size\n"
      "method m1 shop.Stack.push Stack.java:1\nmethod m2 shop.Stack.pop Stack.java:7\n"
      "context c0 - m1:1\ncontext c1 - m2:7\nlock l monitor \"shop.Stack\"\n";
  std::string events;
  for (size_t i = 0; i < touched.size(); ++i) {
    const std::string t(1, static_cast<char>('a' + i)), at = std::to_string(10 * i), site = i % 2 == 0 ? "c0" : "c1";
    rows += "thread " + t + "\n";
    if (touched[i] != "-") rows += "access_set s" + t + " complete " + touched[i] + "\n";
    events += "0 " + t + " thread_begin\n";
    events += i == 0 ? "0 a lock_acquire l c0\n"
                     : "0 " + t + " lock_request l " + site + "\n" + at + " " + t + " lock_acquired l\n";
    events += at + " " + t + " section_taint " + std::to_string(i + 1) + "\n";
    const std::string end = std::to_string(10 * i + 10) + " " + t;
    if (touched[i] != "-") events += end + " accesses s" + t + "\n";
    events += end + " lock_release l\n" + end + " thread_end\n";
  }
  return rows + events + more;
}

struct FlowsForTest {
  explicit FlowsForTest(const std::string& text)
      : trace(parsed(text)),
        of_trace(trace),
        facts(of_trace),
        flows(model::with_outside(trace, facts.sections, model::section_flows(trace, facts.sections))) {}
  model::Trace trace;
  model::Facts of_trace;
  SectionFacts facts;
  model::SectionFlows flows;
};

inline constexpr const char* kTop = "0x100000008+4:rwc";

}  // namespace contrafact::analysis
