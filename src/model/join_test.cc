#include "model/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "model/load.h"
#include "model/processes.h"
#include "model/requests.h"
#include "model/save.h"
#include "model/socket_wakes.h"
#include "model/text_trace.h"
#include "model/thread_label.h"

namespace contrafact::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Facts of a recording that began so long after the machine had started.
std::string began(int64_t monotonic_ns, int pid) {
  return "fact start.monotonic_ns " + std::to_string(monotonic_ns) + "\nfact start.unix_ns " +
         std::to_string(1'700'000'000'000'000'000 + monotonic_ns) + "\nfact pid " + std::to_string(pid) + "\n";
}

JoinedRecording recording(const std::string& path, const std::string& text) {
  base::Result<Trace> trace = parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return {path, trace.ok() ? std::move(*trace) : Trace()};
}

// A handler asks the backend, and waits until that has answered.
const std::string kGateway =
    began(1000, 17) +
    "fact agent native\nfact command \"/srv/gateway --port 80\"\nfact cores 2\n"
    "thread main\nthread handler\nmethod m .serve gateway.c:7\ncontext c - m:8\n"
    "lock l mutex \"queue\"\n"
    "connection in accepted 80 5001\nconnection out connected 6001 90\n"
    "1000 main thread_begin\n1000 handler thread_begin\n"
    "1010 handler block_begin io c\n2000 handler block_end io\n2010 handler receive in 10\n"
    "2100 handler send out 5\n2200 handler block_begin io c\n9000 handler block_end io\n"
    "9010 handler receive out 7\n9050 handler lock_acquire l c\n9060 handler lock_release l c\n"
    "9100 handler send in 20\n9200 handler block_begin io c\n20000 handler block_end io\n";
const std::string kBackend =
    began(500, 18) +
    "fact agent native\nfact command \"./backend\"\nfact cores 2\n"
    "thread main\nthread w1\nmethod m .work backend.c:3\ncontext c - m:4\n"
    "lock l mutex \"queue\"\nconnection in accepted 90 6001\n"
    "500 main thread_begin\n500 w1 thread_begin\n510 w1 block_begin io c\n2150 w1 block_end io\n"
    "2160 w1 receive in 5\n2200 w1 block_begin sleep c\n8000 w1 block_end sleep\n"
    "8100 w1 lock_acquire l c\n8200 w1 lock_release l c\n8300 w1 send in 7\n"
    "8400 w1 block_begin io c\n30000 w1 block_end io\n";

Trace joined(std::vector<JoinedRecording> recordings) {
  base::Result<Trace> trace = join(std::move(recordings));
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

Trace both() {
  return joined({recording("gateway.txt", kGateway), recording("backend.txt", kBackend)});
}

std::string refusal(const std::string& one, const std::string& other) {
  const base::Result<Trace> trace = join({recording("one.txt", one), recording("other.txt", other)});
  return trace.ok() ? "" : trace.error().message;
}

TEST(Join, ProcessesStandInTheOrderInWhichTheirRecordingsBegan) {
  const Trace trace = both();
  ASSERT_EQ(trace.processes.size(), 2u);
  EXPECT_EQ(trace.processes[0].name, "backend");
  EXPECT_EQ(trace.processes[1].name, "gateway");
  EXPECT_EQ(trace.processes[1].pid, 17u);
  EXPECT_EQ(trace.begin_ns(), 500);
  EXPECT_EQ(trace.end_ns(), 30000);
  EXPECT_TRUE(verify(trace).ok());
  EXPECT_EQ(thread_label(trace, ThreadId(1)), "w1 of backend");
  EXPECT_EQ(thread_label(trace, ThreadId(3)), "handler of gateway");
}

TEST(Join, LocksWithTheSameAddressAndNameStayApart) {
  const Trace trace = both();
  ASSERT_EQ(trace.locks.size(), 2u);
  EXPECT_NE(trace.locks[0].address, trace.locks[1].address);
  EXPECT_EQ(lock_label(trace, LockId(0)), "queue of backend");
  EXPECT_EQ(lock_label(trace, LockId(1)), "queue of gateway");
  std::vector<std::pair<std::string, uint32_t>> takers;
  for (uint32_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] == EventKind::lock_acquire)
      takers.emplace_back(thread_label(trace, trace.thread_of(EventIndex(i))), trace.a[i]);
  }
  EXPECT_THAT(takers, ElementsAre(Pair("w1 of backend", 0u), Pair("handler of gateway", 1u)));
}

TEST(Join, PlacesAreThoseOfTheirProcess) {
  const Trace trace = both();
  std::vector<std::string> places;
  for (uint32_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] == EventKind::lock_acquire) places.push_back(trace.frame_label(ContextId(trace.b[i])));
  }
  EXPECT_THAT(places, ElementsAre("work (backend.c:4)", "serve (gateway.c:8)"));
}

TEST(Join, WhatOneProcessAsksOfAnotherIsPartOfItsRequest) {
  const Trace trace = both();
  EXPECT_EQ(connections_between_processes(trace), 1u);
  const std::vector<SocketWake> wakes = socket_wakes(trace);
  ASSERT_EQ(wakes.size(), 2u);
  EXPECT_EQ(trace.time_ns[wakes[0].send], 2100);
  EXPECT_EQ(trace.time_ns[wakes[0].block_end], 2150);
  EXPECT_EQ(trace.time_ns[wakes[1].send], 8300);
  EXPECT_EQ(trace.time_ns[wakes[1].block_end], 9000);
  const Requests requests = requests_by_connection(trace);
  ASSERT_EQ(requests.all.size(), 1u);
  EXPECT_EQ(trace.time_ns[requests.all[0].received], 2010);
  EXPECT_EQ(requests.connections, 1u);
  ASSERT_EQ(requests.inner.size(), 1u);
  EXPECT_EQ(trace.time_ns[requests.inner[0].asked], 2100);
}

// A load generator that is recorded with its server.
TEST(Join, WhatNoRequestAskedForIsAClientsRequest) {
  const std::string generator = began(700, 19) +
                                "fact agent native\nfact command wrk\nthread main\nconnection out connected 5001 80\n"
                                "700 main thread_begin\n1900 main send out 10\n1950 main block_begin io -\n"
                                "9150 main block_end io\n9160 main receive out 20\n9300 main thread_end\n";
  const Trace trace =
      joined({recording("gateway.txt", kGateway), recording("backend.txt", kBackend), recording("wrk.txt", generator)});
  EXPECT_EQ(connections_between_processes(trace), 2u);
  const Requests requests = requests_by_connection(trace);
  EXPECT_EQ(requests.all.size(), 1u);
  EXPECT_EQ(requests.inner.size(), 1u);
}

// Of a short connection the recorder does not learn the port that the kernel chose.
TEST(Join, ConnectionsWithoutAPortFindTheirPeersByOrderAndBytes) {
  const auto gateway =
      began(1000, 17) +
      "fact agent native\nfact command gateway\nthread a\nthread b\nconnection o1 connected 0 90\n"
      "connection o2 connected 0 90\nconnection o3 connected 0 91\n"
      "2000 a send o1 5\n8000 a receive o1 7\n2010 b send o2 6\n2020 b send o3 5\n7000 b receive o2 7\n"
      "7100 b receive o3 7\n";
  const auto backend = began(500, 18) +
                       "fact agent native\nfact command backend\nthread w1\nthread w2\n"
                       "connection i2 accepted 90 7002\nconnection i1 accepted 90 7001\nconnection x accepted 90 7003\n"
                       "2050 w1 receive i2 6\n2040 w2 receive i1 5\n6000 w1 send i2 7\n7000 w2 send i1 7\n"
                       "9000 w2 receive x 5\n9100 w2 send x 7\n";
  const Trace trace = joined({recording("gateway.txt", gateway), recording("backend.txt", backend)});
  constexpr uint32_t kNobody = UINT32_MAX;
  EXPECT_EQ(peers_in_program(trace), (std::vector<uint32_t>{4, 3, kNobody, 1, 0, kNobody}));
  EXPECT_EQ(connections_between_processes(trace), 2u);
}

TEST(Join, SavedAndLoadedItIsTheSame) {
  const Trace trace = both();
  const std::string path = testing::TempDir() + "join_test_" + std::to_string(getpid()) + ".cft";
  ASSERT_TRUE(save(trace, path).ok());
  const base::Result<Trace> again = load_any(path);
  std::remove(path.c_str());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(print_text(*again), print_text(trace));
  EXPECT_EQ(again->processes.size(), 2u);
}

TEST(Join, TasksPoolsAndWhatTheyWaitForKeepTogether) {
  const auto one = [](int pid) {
    return began(1000, pid) +
           "fact agent native\nfact command worker\nthread main\nthread w\npool p thread_pool 1 1 \"jobs\"\n"
           "method m .job job.c:5\ncontext c - m:6\n0 main task_create t1 c m\n1 main task_depends t2 t1\n"
           "2 main task_spawn t1 c p m\n3 main task_spawn t2 c p m\n4 main wait_begin t2 c\n"
           "5 w task_start t1\n6 w task_end t1\n7 w task_start t2\n8 w task_end t2\n9 main wait_end t2\n";
  };
  const Trace trace = joined({recording("a.txt", one(17)), recording("b.txt", one(18))});
  ASSERT_EQ(trace.tasks.size(), 4u);
  ASSERT_EQ(trace.dependencies.size(), 2u);
  EXPECT_EQ(trace.dependencies[1].task, TaskId(3));
  EXPECT_EQ(trace.dependencies[1].source, TaskId(2));
  for (uint32_t i = 2; i < 4; ++i) {
    EXPECT_EQ(trace.tasks[i].pool, PoolId(1));
    EXPECT_EQ(trace.tasks[i].body, MethodId(1));
    EXPECT_EQ(trace.tasks[i].spawn_context, ContextId(1));
    EXPECT_EQ(trace.thread_of(trace.tasks[i].start), ThreadId(3));
  }
  EXPECT_EQ(pool_label(trace, PoolId(0)), "jobs of worker");
  EXPECT_EQ(pool_label(trace, PoolId(1)), "jobs of worker 2");
}

TEST(Join, StopsAreThoseOfOneVirtualMachine) {
  const auto one = [](int pid, const char* name, const char* stop) {
    return began(1000, pid) + "fact jvm.name HotSpot\nfact jvm.main shop." + name +
           "\nthread main\n0 main thread_begin\n" + stop + "\n100000 main thread_end\n";
  };
  const Trace trace = joined({recording("a.txt", one(17, "Gateway", "pause 1000 2000")),
                              recording("b.txt", one(18, "Backend", "pause 1500 3000"))});
  ASSERT_EQ(trace.pauses.size(), 2u);
  EXPECT_EQ(process_of(trace, trace.pauses[0].thread), 0u);
  EXPECT_EQ(process_of(trace, trace.pauses[1].thread), 1u);
  EXPECT_EQ(trace.processes[0].name, "Gateway");
  EXPECT_EQ(trace.fact("process.1.jvm.main"), "shop.Backend");
  EXPECT_EQ(trace.fact("jvm.name"), "HotSpot");
}

TEST(Join, NamesOfEndpointsThatTwoProcessesHaveSayWhose) {
  const auto one = [](int pid, const char* name, const char* own) {
    return began(1000, pid) + "fact jvm.name HotSpot\nfact jvm.main " + name +
           "\nthread main\nendpoint e \"GET /\"\nendpoint f \"" + own +
           "\"\n0 main endpoint e path\n9 main endpoint f path\n";
  };
  const Trace trace =
      joined({recording("a.txt", one(17, "Gateway", "GET /shop")), recording("b.txt", one(18, "Backend", "GET /db"))});
  std::vector<std::string> names;
  for (const format::EndpointRow& row : trace.endpoints) names.emplace_back(trace.string(row.name));
  EXPECT_THAT(names, ElementsAre("GET / of Gateway", "GET /shop", "GET / of Backend", "GET /db"));
}

TEST(JoinFacts, CountsAreSummedAndCoresAreThoseOfAll) {
  const auto one = [](int pid, const char* cores) {
    return began(1000, pid) + "fact agent native\nfact command \"serve " + std::to_string(pid) +
           "\"\nfact locks.waits_given_up 2\nfact cores 1\nfact cores.numbers " + cores +
           "\nfact recorder.version 1\nfact process.exec \"of " + std::to_string(pid) +
           "\"\nthread main\n0 main thread_begin\n9 main thread_end\n";
  };
  const Trace trace = joined({recording("a.txt", one(17, "0")), recording("b.txt", one(18, "3"))});
  EXPECT_EQ(trace.fact("locks.waits_given_up"), "4");
  EXPECT_EQ(trace.fact("cores"), "2");
  EXPECT_EQ(trace.fact("command"), "serve 17 + serve 18");
  EXPECT_EQ(trace.fact("recorder.version"), "1");
  EXPECT_EQ(trace.fact("process.exec"), "");
  EXPECT_EQ(trace.fact("process.1.process.exec"), "of 18");
  EXPECT_EQ(trace.fact("pid"), "");
  EXPECT_EQ(trace.fact("start.monotonic_ns"), "1000");
  const Trace shared = joined({recording("a.txt", one(17, "0-1")), recording("b.txt", one(18, "1,0"))});
  EXPECT_EQ(shared.fact("cores"), "1");  // the second list is none
}

TEST(JoinFacts, CoresWereKeptAwakeUntilTheFirstOfThemSaysThatTheyWereNot) {
  const auto one = [](int pid, const std::string& until) {
    return began(1000, pid) + "fact agent native\nfact command a\nfact cores.awake_ns 500000000\n" +
           (until.empty() ? "" : "fact cores.awake_until_ns " + until + "\n") +
           "thread main\n0 main thread_begin\n9 main thread_end\n";
  };
  const Trace trace =
      joined({recording("a.txt", one(17, "")), recording("b.txt", one(18, "9000")), recording("c.txt", one(19, "80"))});
  EXPECT_EQ(trace.fact("cores.awake_ns"), "500000000");
  EXPECT_EQ(trace.fact("cores.awake_until_ns"), "80");
}

TEST(JoinFacts, NumbersAndAddressesAreThoseOfTheJoinedTrace) {
  const auto one = [](int pid) {
    return began(1000, pid) +
           "fact agent native\nfact command a\nthread main\nthread w\nmethod m .f f.c:1\ncontext c - m:2\n"
           "pool p thread_pool 1 1 \"p\"\nfact thread.name.1 own\nfact pool.made.0 0\nfact method.timed.0 yes\n"
           "fact module.3 \"5 0 1000 2000 3000 ab /lib/a b.so\"\nfact lock.wrapper.9 7ffd00001234\n"
           "fact blocked.0 \"4 1 202 7ffd00000010 0\"\nfact blocked.1 \"4 - 0 0 0\"\nfact scheduler.unseen.0 TBB\n"
           "0 main thread_begin\n0 w thread_begin\n9 w lock_acquire - c\n";
  };
  const Trace trace = joined({recording("a.txt", one(17)), recording("b.txt", one(18))});
  EXPECT_EQ(trace.fact("thread.name.1"), "own");
  EXPECT_EQ(trace.fact("thread.name.3"), "own");
  EXPECT_EQ(trace.fact("pool.made.1"), "1");
  EXPECT_EQ(trace.fact("method.timed.1"), "yes");
  EXPECT_EQ(trace.fact("module.0"), "5 0 1000 2000 3000 ab /lib/a b.so");
  EXPECT_EQ(trace.fact("module.1"), "5 0 1000000001000 1000000002000 1000000003000 ab /lib/a b.so");
  EXPECT_EQ(trace.fact("lock.wrapper.1"), "17ffd00001234");
  EXPECT_EQ(trace.fact("blocked.2"), "4 3 202 17ffd00000010 1");
  EXPECT_EQ(trace.fact("blocked.3"), "4 - 0 0 1");
  EXPECT_EQ(trace.fact("scheduler.unseen.1"), "TBB");
}

TEST(JoinFacts, WhatRecordingAnEventCostIsTheMeanOverAllEvents) {
  const auto one = [](int pid, const char* cost, const char* events) {
    return began(1000, pid) + "fact agent native\nfact command a\nfact recording.ns.send " + cost +
           "\nthread main\nconnection o connected 1 2\n0 main thread_begin\n" + events;
  };
  const Trace trace = joined({recording("a.txt", one(17, "100", "1 main send o 1\n2 main send o 1\n3 main send o 1\n")),
                              recording("b.txt", one(18, "300", "1 main send o 1\n"))});
  EXPECT_EQ(trace.fact("recording.ns.send"), "167");  // of one event more in each: a kind may have none
}

TEST(Join, IdleTimesOfTheSameCoresCountOnce) {
  const auto one = [](int64_t start, int pid, const std::string& rows) {
    return began(start, pid) + "fact agent native\nfact command a\nfact cores 2\nthread main\n" + rows +
           "0 main thread_begin\n900000 main thread_end\n";
  };
  const Trace trace =
      joined({recording("a.txt", one(0, 17, "cores_idle 100000 50000\ncores_idle 200000 60000\n")),
              recording("b.txt", one(50000, 18,
                                     "cores_idle 150000 90000\ncores_idle 250000 80000\ncores_idle 350000 10000\n"))});
  ASSERT_EQ(trace.idle_times.size(), 4u);
  EXPECT_EQ(trace.idle_times[1].until_ns, 200000);
  EXPECT_EQ(trace.idle_times[2].until_ns, 250000);
  EXPECT_EQ(trace.idle_times[2].idle_ns, 40000);  // half of the time since 150 us is behind 200 us
  EXPECT_EQ(trace.idle_times[3].idle_ns, 10000);
}

TEST(Join, RefusesWhatDoesNotFit) {
  const std::string other =
      began(2000, 20) + "fact agent native\nthread main\n2000 main thread_begin\n9000 main thread_end\n";
  EXPECT_EQ(refusal(kGateway, other), "");
  EXPECT_THAT(refusal(kGateway, kGateway), HasSubstr("one.txt and other.txt are of the same process: give it once"));
  EXPECT_THAT(refusal(kGateway, "origin simulated\n" + other), HasSubstr("other.txt: it was not recorded"));
  EXPECT_THAT(refusal("thread main\n0 main thread_begin\n", other),
              HasSubstr("one.txt: it does not say when it began"));
  EXPECT_THAT(refusal(kGateway, began(2000, 20) + "thread main\n"), HasSubstr("other.txt: it holds no events"));
  EXPECT_THAT(refusal(kGateway, began(1000, 20) + "fact agent native\nthread main\n50000 main thread_begin\n"),
              HasSubstr("one.txt: no other recording is of the same time"));
  EXPECT_THAT(refusal(kGateway, began(2000, 20) + "fact jvm.name HotSpot\nthread main\n2000 main thread_begin\n"),
              HasSubstr("one.txt is of a native program, other.txt of a JVM"));
  EXPECT_THAT(refusal(kGateway, "fact sets.source translation\n" + other),
              HasSubstr("other.txt: it has read and write sets"));
  EXPECT_THAT(refusal("fact boot a\n" + kGateway, "fact boot b\n" + other),
              HasSubstr("one.txt and other.txt are not of one machine since it started"));
  const std::string hour_later =
      "fact start.monotonic_ns 2000\nfact start.unix_ns 1700003600000000000\nfact pid 20\n"
      "fact agent native\nthread main\n2000 main thread_begin\n";
  EXPECT_THAT(refusal(kGateway, hour_later), HasSubstr("not of one machine since it started"));
  const base::Result<Trace> again = join({{"all.cft", both()}, recording("other.txt", other)});
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("all.cft: it is joined already"));
}

}  // namespace
}  // namespace contrafact::model
