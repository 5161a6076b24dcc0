#include "analysis/futex_frames.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using model::ContextId;

TEST(FutexFrames, ALanguagesLibraryIsLeftOut) {
  const model::Trace trace = parsed(
      "method m1 .<std::sys::sync::mutex::futex::Mutex>::lock_contended m.rs:1\nmethod m2 .svc::update s.rs:1\n"
      "context c1 - m2:7\ncontext c2 c1 m1:3\nlock l futex\nthread a\n0 a sync_wait l c2\n5 a sync_woken l\n");
  const FutexFrames frames(trace);
  EXPECT_EQ(frames.program_frame(ContextId(1)), ContextId(0));
  EXPECT_EQ(frames.program_frame(ContextId(0)), ContextId(0));
}

// wait_at() waits for two words, for two callers; each of these only for its own.
TEST(FutexFrames, CodeThatWaitsForSeveralWordsAndCallersWraps) {
  const std::string rows =
      "method m1 .wait_at w.cc:1\nmethod m2 .take q.cc:1\nmethod m3 .add t.cc:1\n"
      "context c1 - m2:7\ncontext c2 - m3:9\ncontext c3 c1 m1:3\ncontext c4 c2 m1:3\n"
      "lock l futex\nlock k futex\nthread a\n";
  const model::Trace both =
      parsed(rows + "0 a sync_wait l c3\n5 a sync_woken l\n6 a sync_wait k c4\n8 a sync_woken k\n");
  const FutexFrames frames(both);
  EXPECT_EQ(frames.program_frame(ContextId(2)), ContextId(0));
  EXPECT_EQ(frames.program_frame(ContextId(3)), ContextId(1));
  const model::Trace one_word =
      parsed(rows + "0 a sync_wait l c3\n5 a sync_woken l\n6 a sync_wait l c4\n8 a sync_woken l\n");
  EXPECT_EQ(FutexFrames(one_word).program_frame(ContextId(2)), ContextId(2));
}

}  // namespace
}  // namespace contrafact::analysis
