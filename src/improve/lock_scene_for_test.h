// For the unit tests: a made-up run in which threads take turns at one lock, and the candidates that are found in it.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/section_facts.h"
#include "analysis/text_trace_for_test.h"
#include "improve/kind.h"
#include "improve/lock_candidates.h"

namespace contrafact::improve {

// Sections of one lock that take turns: "THREAD SITE SETS...", a set for each segment of 1 us; between two segments
// another lock is acquired and released at once. "SET,SET": parts of one segment, each of 1 us; "SET@NS": a part that
// takes so long; "sleep": one that blocks; "SET!": one that blocks and touches the set. Behind a part "<SITE": it ends
// before a call there; ">SITE": after it.
struct LockScene {
  explicit LockScene(const std::vector<std::string>& sections, std::string_view extra = "")
      : trace(analysis::parsed(text(sections, extra))), facts(trace), found(lock_candidates(facts)) {}

  static std::string text(const std::vector<std::string>& sections, std::string_view extra) {
    std::string out =
        "method m .work w.cc:1\ncontext a - m:10\ncontext b - m:20\ncontext c - m:30\nlock l mutex\nlock k mutex\nlock "
        "v condition\n"
        "access_set none complete\naccess_set r0 complete 0+8:r\naccess_set w0 complete 0+8:rwc\n"
        "access_set r8 complete 8+8:r\naccess_set w8 complete 8+8:rwc\naccess_set m4 complete 4+8:rwcm\n"
        "access_set o0 complete 0+8:rwcmo\naccess_set o64 complete 64+8:rwmo\n"
        "access_set w64 complete 64+8:rwc\naccess_set m0 complete 0+8:rwcm\naccess_set r64 complete 64+8:r\n"
        "access_set m64 complete 64+8:rwcm\naccess_set m68 complete 68+8:rwcm\naccess_set m128 complete 128+8:rwcm\n"
        "access_set w128 complete 128+8:rwc\naccess_set w192 complete 192+8:rwc\n"
        "access_set part overflow 0+8:rwc\n"
        "access_set file complete 9223372036854775808+1:rwc\n"
        "access_set durable complete 9943947977234055168+1:r\n"
        "thread x\nthread y\n0 x thread_begin\n0 y thread_begin\n"
        "1 x lock_request l a\n2 x lock_acquired l\n3 x accesses none\n3 x lock_release l\n";
    int64_t now_ns = 1000;
    for (const std::string& section : sections) {
      std::istringstream words(section);
      std::string thread, site, set;
      words >> thread >> site;
      const auto add = [&](int64_t time_ns, const std::string& what) {
        out += std::to_string(time_ns) + " " + thread + " " + what + "\n";
      };
      add(now_ns, "lock_acquire l " + site);
      for (bool first = true; words >> set; first = false) {
        if (!first) add(now_ns, "lock_acquire k a");
        if (!first) add(now_ns, "lock_release k a");
        std::istringstream parts(set);
        for (std::string part; std::getline(parts, part, ',');) {
          const bool blocks = part == "sleep" || part.ends_with('!');
          if (blocks) add(now_ns + 100, "block_begin sleep a");
          if (blocks) add(now_ns + 900, "block_end sleep");
          if (part == "sleep") part = "none";
          if (part.ends_with('!')) part.pop_back();
          const size_t cut = part.find_first_of("<>");
          const std::string call = cut == std::string::npos ? "" : part.substr(cut);
          part.resize(std::min(cut, part.size()));
          const size_t at = part.find('@');
          now_ns += at == std::string::npos ? 1000 : std::stoi(part.substr(at + 1));
          part.resize(std::min(at, part.size()));
          if (part != "-") add(now_ns, "accesses " + part);
          if (!call.empty())
            add(now_ns, "accesses_cut " + std::string(call[0] == '<' ? "all " : "any ") + call.substr(1));
        }
      }
      add(now_ns, "lock_release l");
      now_ns += 1000;
    }
    return out + std::string(extra);
  }

  // That changes site b first of all.
  const Candidate* get(const Kind* optimisation) const {
    for (const Candidate& candidate : found.candidates) {
      if (candidate.improvement.optimisation == optimisation &&
          facts.sites.sites()[candidate.sites[0]].label == "work (w.cc:20)")
        return &candidate;
    }
    return nullptr;
  }

  model::Trace trace;
  analysis::SectionFacts facts;
  Candidates found;
};

}  // namespace contrafact::improve
