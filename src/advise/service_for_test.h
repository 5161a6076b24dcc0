// A recorded service in text, ready for the tests of what is simulated of it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "advise/service.h"
#include "model/text_trace.h"

namespace contrafact::advise {

// Two handlers; each request computes 2 ms and sleeps for 8 ms. One client, which asks `think_ms` after each answer.
inline std::string sleeping_service(int requests, int think_ms = 10) {
  std::string text =
      "fact cores 2\nmethod m1 shop.Page.run Page.java:1\npool handlers thread_pool 2 2\nthread main\nthread w1\n"
      "connection a accepted 80 5001\n";
  std::string worker;
  for (int i = 0; i < requests; ++i) {
    const int64_t at = (10 + think_ms) * 1'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} - handlers m1\n", at, i + 1);
    worker += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive a 10\n{2} w1 block_begin sleep -\n{3} w1 block_end sleep\n{3} w1 send "
        "a 10\n"
        "{3} w1 task_end t{1}\n",
        at, i + 1, at + 2'000'000, at + 10'000'000);
  }
  return text + worker;
}

// Each handler computes 2 ms and waits for a task of its own pool, which computes 4 ms: as many requests at a time as there are handlers
// wait for each other for ever. One client, which asks 14 ms after each answer.
inline std::string self_waiting_service(int handlers, int requests = 40) {
  std::string text = fmt::format(
      "fact cores 4\nmethod m1 shop.Page.run Page.java:1\npool handlers thread_pool {0} {0}\nthread main\nthread "
      "w1\nthread w2\n"
      "context c1 - m1:7\nconnection a accepted 80 5001\n",
      handlers);
  std::string one, other;
  for (int i = 0; i < requests; ++i) {
    const int64_t at = 20'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} - handlers m1\n", at, 2 * i + 1);
    one += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive a 10\n{2} w1 task_spawn t{3} c1 handlers m1\n{2} w1 wait_begin t{3} "
        "c1\n"
        "{4} w1 wait_end t{3}\n{4} w1 send a 10\n{4} w1 task_end t{1}\n",
        at, 2 * i + 1, at + 2'000'000, 2 * i + 2, at + 6'000'000);
    other += fmt::format("{0} w2 task_start t{1}\n{2} w2 task_complete t{1}\n{2} w2 task_end t{1}\n", at + 2'000'000,
                         2 * i + 2, at + 6'000'000);
  }
  return text + one + other;
}

// Each handler takes a connection, computes 2 ms, takes another one and computes 4 ms with both: as many requests at a time as there are
// connections wait for each other for ever. One client, which asks 14 ms after each answer.
inline std::string twice_taking_service(int handlers, int connections, int cores, int requests = 40) {
  std::string text = fmt::format(
      "fact cores {2}\nmethod m1 shop.Page.run Page.java:1\npool handlers thread_pool {0} {0}\npool db permits {1} "
      "{1}\n"
      "thread main\nthread w1\nconnection a accepted 80 5001\n",
      handlers, connections, cores);
  std::string worker;
  for (int i = 0; i < requests; ++i) {
    const int64_t at = 20'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} - handlers m1\n", at, i + 1);
    worker += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive a 10\n{0} w1 permit_take db 1\n{2} w1 permit_take db 1\n"
        "{3} w1 permit_give db 1\n{3} w1 permit_give db 1\n{3} w1 send a 10\n{3} w1 task_end t{1}\n",
        at, i + 1, at + 2'000'000, at + 6'000'000);
  }
  return text + worker;
}

// One thread computes 4 ms for each request before it hands it to one of 16 handlers, which computes 2 ms. One client, which asks 44 ms
// after each answer.
inline std::string dispatching_service(int requests) {
  std::string text =
      "fact cores 8\nmethod m1 shop.Page.run Page.java:1\npool handlers thread_pool 16 16\nthread main\nthread w1\n"
      "connection a accepted 80 5001\n0 main thread_begin\n";
  std::string worker, cpu;
  int64_t idle_ns = 1;
  for (int i = 0; i < requests; ++i) {
    const int64_t at = 50'000'000LL * (i + 1);
    cpu += fmt::format("cpu main {} {} blocked\n", idle_ns, at - 4'000'000);
    idle_ns = at + 1'000;
    text += fmt::format("{} main task_spawn t{} - handlers m1\n", at, i + 1);
    worker += fmt::format("{0} w1 task_start t{1}\n{0} w1 receive a 10\n{2} w1 send a 10\n{2} w1 task_end t{1}\n", at,
                          i + 1, at + 2'000'000);
  }
  const int64_t end_ns = idle_ns + 40'000'000;
  cpu += fmt::format("cpu main {} {} blocked\n", idle_ns, end_ns);
  return text + fmt::format("{} main thread_end\n", end_ns) + worker + cpu;
}

// Each handler sleeps 1500 times: a request is so long that the memory holds few of them.
inline std::string long_service(int requests) {
  std::string text =
      "fact cores 2\nmethod m1 shop.Page.run Page.java:1\npool handlers thread_pool 64 64\nthread main\nthread w1\n"
      "connection a accepted 80 5001\n";
  std::string worker;
  for (int i = 0; i < requests; ++i) {
    int64_t at = 50'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} - handlers m1\n", at, i + 1);
    worker += fmt::format("{0} w1 task_start t{1}\n{0} w1 receive a 10\n", at, i + 1);
    for (int part = 0; part < 1500; ++part) {
      worker += fmt::format("{} w1 block_begin sleep -\n{} w1 block_end sleep\n", at + 1'000, at + 10'000);
      at += 10'000;
    }
    worker += fmt::format("{0} w1 send a 10\n{0} w1 task_end t{1}\n", at, i + 1);
  }
  return text + worker;
}

struct ServiceForTest {
  explicit ServiceForTest(const std::string& text) {
    base::Result<model::Trace> parsed = model::parse_text(text);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    trace = *std::move(parsed);
    facts.emplace(trace);
    requests = model::requests_by_connection(trace);
    base::Result<whatif::LoadSimulator> made = whatif::LoadSimulator::make(*facts, requests);
    EXPECT_TRUE(made.ok());
    simulator.emplace(*std::move(made));
    arrivals = analysis::arrivals_of(requests);
  }
  // Few requests, so that tests are quick.
  void simulate(ServiceOptions options = {}) {
    options.requests = 400;
    options.seeds = 1;
    base::Result<Service> made = Service::make(*simulator, arrivals, std::move(options));
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    service.emplace(*std::move(made));
  }
  model::Trace trace;
  std::optional<model::Facts> facts;
  model::Requests requests;
  std::optional<whatif::LoadSimulator> simulator;
  analysis::Arrivals arrivals;
  std::optional<Service> service;
};

}  // namespace contrafact::advise
