#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/text_trace_for_test.h"
#include "improve/kinds/kinds.h"
#include "improve/lock_candidates.h"
#include "improve/spec.h"

namespace contrafact::improve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two threads that read under `table_mutex` at one place, one waiting for the other.
constexpr std::string_view kReaders =
    "fact command \"/opt/bin/queue -n 3\"\nmethod m .look table.cc:1\ncontext c - m:7\nlock table_mutex mutex\n"
    "access_set r complete 0+8:r\nthread x\nthread y\n0 x thread_begin\n0 y thread_begin\n"
    "10 x lock_acquire table_mutex c\n20 y lock_request table_mutex c\n30 x accesses r\n"
    "30 x lock_release table_mutex\n30 y lock_acquired table_mutex\n40 y accesses r\n40 y lock_release table_mutex\n";

struct Recording {
  explicit Recording(std::string_view text) : trace(analysis::parsed(std::string(text))), facts(trace) {}
  SpecTrace in() const { return {.trace = trace, .sections = &facts}; }
  base::Result<std::vector<Candidate>> read(std::string json) const {
    const SpecText text{.name = "", .json = std::move(json)};
    return read_specs(in(), {&text, 1});
  }
  std::string refused(std::string json) const {
    const auto found = read(std::move(json));
    return found.ok() ? "read" : found.error().message;
  }
  model::Trace trace;
  analysis::SectionFacts facts;
};

std::string written_of_locks(const Recording& run, std::string_view verdict) {
  const Candidates found = lock_candidates(run.facts);
  for (const Candidate& candidate : found.candidates) {
    const SpecEntry entry{candidate, verdict};
    if (candidate.improvement.optimisation == kinds::reader_writer_lock) return write_spec(run.in(), {&entry, 1});
  }
  return "";
}

TEST(SpecOfSections, WhatIsWrittenSelectsTheSameCodeAgain) {
  const Recording run(kReaders);
  const std::string text = written_of_locks(run, "a gain");
  EXPECT_THAT(text, HasSubstr("\"verdict\": \"a gain\""));
  EXPECT_THAT(text, HasSubstr("\"program\": \"queue\""));
  EXPECT_THAT(text, HasSubstr("table_mutex"));
  const auto read = run.read(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ((*read)[0].improvement.optimisation, kinds::reader_writer_lock);
  EXPECT_THAT((*read)[0].improvement.sections, ElementsAre(0, 1));
  EXPECT_THAT((*read)[0].locks, ElementsAre(model::LockId(0)));
}

TEST(SpecOfSections, ASpecOfAnotherProgramIsRefused) {
  const Recording run(kReaders);
  std::string text = written_of_locks(run, "");
  text.replace(text.find("\"queue\""), 7, "\"stack\"");
  EXPECT_THAT(run.refused(text), HasSubstr("is of another program, 'stack', and this is a recording of 'queue'"));
}

TEST(SpecOfSections, OneSpecDoesNotSelectTwice) {
  const Recording run(kReaders);
  const SpecText text{.name = "a.json", .json = written_of_locks(run, "")};
  const std::vector<SpecText> twice{text, text};
  const auto read = read_specs(run.in(), twice);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message,
              HasSubstr("a.json: improvement 1: reader-writer-lock at look (table.cc:7): no such"));
}

TEST(SpecOfSections, TheSameLineOfAnotherFileIsOtherCode) {
  const auto key = [](std::string_view method) {
    const model::Trace trace =
        analysis::parsed(std::string(method) + "\ncontext c - m:7\nthread x\n0 x thread_begin\n");
    return frame_key(trace, model::ContextId(0));
  };
  EXPECT_EQ(key("method m .add queue.cc:1"), "add (queue.cc:7)");
  EXPECT_EQ(key("method m .add stack.cc:1"), "add (stack.cc:7)");
}

TEST(SpecOfSections, ErrorsSayWhatIsWrong) {
  const Recording run(kReaders);
  const auto refused = [&](std::string_view entry) {
    return run.refused(R"({"schema": "contrafact-improvement-1", "improvements": [)" + std::string(entry) + "]}");
  };
  EXPECT_THAT(refused(R"({"optimisation": "hoist-branch"})"), HasSubstr("this recording has no tasks"));
  EXPECT_THAT(refused(R"({"optimisation": "drop-lock"})"), HasSubstr("names no \"sites\""));
  EXPECT_THAT(refused(R"({"optimisation": 3})"), HasSubstr("improvement 1:"));
  EXPECT_THAT(refused(R"({"optimisation": "drop-lock", "sites": [{"frames": [{"line": "x"}]}]})"),
              HasSubstr("improvement 1:"));
}

}  // namespace
}  // namespace contrafact::improve
