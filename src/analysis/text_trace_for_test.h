// For tests: a trace from text, failing the test where the text is wrong.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::analysis {

inline model::Trace parsed(const std::string& text) {
  base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : model::Trace();
}

// Rows that most tests share: threads main, w1, w2; pool p of two workers; methods m1 to m3; contexts c1 to c4.
inline constexpr std::string_view kRows =
    "method m1 shop.Main.main Main.java:1\n"
    "method m2 shop.Job.run Job.java:1\n"
    "method m3 shop.Other.run Other.java:1\n"
    "context c1 - m1:7\ncontext c2 - m2:9\ncontext c3 - m2:12\ncontext c4 - m3:5\n"
    "pool p thread_pool 2 2 \"shop pool\"\n"
    "thread main\nthread w1\nthread w2\n";

inline model::Trace parsed_with_rows(std::string_view events) {
  return parsed(std::string(kRows) + std::string(events));
}

}  // namespace contrafact::analysis
