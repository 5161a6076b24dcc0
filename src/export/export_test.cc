#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "export/perfetto.h"
#include "export/perfetto.pb.h"
#include "export/trace_csv.h"
#include "model/text_trace.h"
#include "table/render.h"

namespace contrafact::exporters {
namespace {

constexpr const char* kRun = R"(origin measured
fact command "java -jar shop.jar"
fact pid 4242
thread main "main" platform
thread w1 "worker, 1" platform
pool p1 thread_pool 1 1 "shop pool"
method m1 shop.Feed.show Feed.java:10
method m2 shop.Feed.load Feed.java:41
context c1 - m1:14
0 main thread_begin
10 main task_spawn t1 c1 p1 m2
20 main wait_begin t1 c1
90 main wait_end t1
100 main thread_end
5 w1 worker_idle p1
15 w1 worker_busy p1
16 w1 task_start t1
40 w1 block_begin sleep c1
60 w1 block_end sleep
80 w1 task_complete t1
82 w1 task_end t1
)";

model::Trace parse(const std::string& text) {
  base::Result<model::Trace> trace = model::parse_text(text);
  CHECK(trace.ok());
  return *std::move(trace);
}

std::string perfetto_of(const model::Trace& trace, const std::vector<CounterTrack>& counters) {
  return base::text_of([&](const base::TextSink& sink) { perfetto_trace(trace, counters, sink); });
}

std::string json_of(const model::Trace& trace) {
  return base::text_of([&](const base::TextSink& sink) { trace_json(trace, {{"schema_version", 1}}, sink); });
}

std::string tasks_of(const model::Trace& trace) {
  return base::text_of([&](const base::TextSink& sink) { tasks_csv(trace, sink); });
}

TEST(Perfetto, SlicesNestAndFlowsHaveBothEnds) {
  perfetto_wire::Trace decoded;
  ASSERT_TRUE(decoded.ParseFromString(perfetto_of(parse(kRun), {{"threads active", "threads", {{0, 1}, {16, 2}}}})));
  std::map<uint64_t, int> depth, sources, targets;
  std::map<uint64_t, std::string> names;
  std::set<std::string> slices;
  std::map<uint64_t, uint64_t> last_time;
  size_t counters = 0, tracks = 0;
  for (const auto& packet : decoded.packet()) {
    EXPECT_EQ(packet.trusted_packet_sequence_id(), 1u);
    for (const auto& name : packet.interned_data().event_names()) names[name.iid()] = name.name();
    tracks += packet.has_track_descriptor();
    if (!packet.has_track_event()) continue;
    const auto& event = packet.track_event();
    EXPECT_GE(packet.timestamp(), last_time[event.track_uuid()]);
    last_time[event.track_uuid()] = packet.timestamp();
    EXPECT_TRUE(!event.has_name_iid() || names.contains(event.name_iid())) << "a name is defined before its use";
    if (event.type() == perfetto_wire::TrackEvent::TYPE_SLICE_BEGIN) slices.insert(names[event.name_iid()]);
    depth[event.track_uuid()] += event.type() == perfetto_wire::TrackEvent::TYPE_SLICE_BEGIN;
    depth[event.track_uuid()] -= event.type() == perfetto_wire::TrackEvent::TYPE_SLICE_END;
    EXPECT_GE(depth[event.track_uuid()], 0);
    counters += event.type() == perfetto_wire::TrackEvent::TYPE_COUNTER;
    for (uint64_t flow : event.flow_ids()) ++sources[flow];
    for (uint64_t flow : event.terminating_flow_ids()) ++targets[flow];
  }
  for (const auto& [track, open] : depth) EXPECT_EQ(open, 0) << track;
  EXPECT_EQ(sources, targets);
  EXPECT_EQ(sources.size(), 2u) << "spawn to start, completion to wake-up";
  EXPECT_EQ(tracks, 4u) << "the process, two threads, one counter";
  EXPECT_EQ(counters, 2u);
  EXPECT_THAT(slices, testing::IsSupersetOf({"idle", "sleep"}));
  EXPECT_EQ(slices.size(), 4u) << testing::PrintToString(slices);
}

TEST(Perfetto, LocksHaveTheirNames) {
  const std::string text =
      perfetto_of(parse("thread x\nlock c mutex cache\nmethod m .work w.cc:1\ncontext a - m:1\n0 x thread_begin\n"
                        "5 x lock_request c a\n9 x lock_acquired c\n12 x lock_release c\n"),
                  {});
  EXPECT_THAT(text, testing::HasSubstr("wait for cache"));
}

TEST(Csv, EventsByThread) {
  std::string csv = base::text_of([](auto sink) { events_csv(parse(kRun), sink); });
  EXPECT_THAT(csv, testing::StartsWith(
                       "time_ns,thread,thread_name,event,a,b\n0,0,main,thread_begin,,\n10,0,main,task_spawn,0,0\n"));
  EXPECT_THAT(csv, testing::HasSubstr("5,1,\"worker, 1\",worker_idle,0,0\n"));
}

TEST(Csv, TasksWithTheirTimes) {
  const std::string csv = tasks_of(parse(kRun));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 2);  // the heading and the task
  EXPECT_THAT(csv, testing::HasSubstr("shop.Feed.show,Feed.java,14,shop pool,10,16,80,82,\"worker, 1\",normal\n"));
}

TEST(Json, TheWholeTraceIsValidJson) {
  auto json = nlohmann::json::parse(json_of(parse(kRun)), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["facts"]["pid"], "4242");
  EXPECT_EQ(json["events"].size(), 12u);
  EXPECT_EQ(json["methods"].size(), parse(kRun).methods.size());
  EXPECT_EQ(json["contexts"].size(), parse(kRun).contexts.size());
  EXPECT_EQ(json["tasks"][0]["start_ns"], 16);
  EXPECT_EQ(json["events"][1], nlohmann::json::parse(R"([10, 0, "task_spawn", 0, 0])"));
}

TEST(EveryForm, SurvivesATraceWithoutEvents) {
  model::Trace empty;
  perfetto_wire::Trace decoded;
  EXPECT_TRUE(decoded.ParseFromString(perfetto_of(empty, {})));
  EXPECT_EQ(std::ranges::count(tasks_of(empty), '\n'), 1);
  EXPECT_FALSE(nlohmann::json::parse(json_of(empty), nullptr, false).is_discarded());
}

}  // namespace
}  // namespace contrafact::exporters
