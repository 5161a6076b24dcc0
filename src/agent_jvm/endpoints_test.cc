#include "agent_jvm/endpoints.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "format/testing.h"

namespace contrafact::agent_jvm {
namespace {

class EndpointsTest : public testing::Test {
 protected:
  void SetUp() override {
    recorder::Options options;
    options.output_path = path_;
    auto started = recorder::Recorder::start(std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message;
    recorder_ = *std::move(started);
    endpoints_ = std::make_unique<Endpoints>(*recorder_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // The names in the trace, by row.
  std::vector<std::string> names() {
    endpoints_->report();
    recorder_->stop("end");
    format::Collected collected;
    auto reader = format::Reader::open(path_);
    EXPECT_TRUE(reader.ok());
    reader->read(collected);
    std::vector<std::string> names;
    for (const auto& [row, endpoint] : collected.endpoints) names.push_back(collected.strings.at(endpoint.name.value));
    return names;
  }

  std::string path_ = testing::TempDir() + "/endpoints_test." + std::to_string(getpid()) + ".cft";
  std::unique_ptr<recorder::Recorder> recorder_;
  std::unique_ptr<Endpoints> endpoints_;
};

TEST_F(EndpointsTest, ANameHasOneNumber) {
  const int32_t orders = endpoints_->number("GET /orders", false), items = endpoints_->number("GET /items", true);
  EXPECT_NE(orders, items);
  EXPECT_EQ(endpoints_->number("GET /orders", false), orders);
  EXPECT_EQ(endpoints_->number("GET /orders", true), orders);
  const std::vector<std::string> in_trace = names();
  ASSERT_EQ(in_trace.size(), 2u);
  EXPECT_EQ(in_trace[static_cast<size_t>(orders - 1)], "GET /orders");
  EXPECT_EQ(in_trace[static_cast<size_t>(items - 1)], "GET /items");
}

TEST_F(EndpointsTest, WhatIsTooManyIsOther) {
  for (uint32_t i = 0; i < Endpoints::kNamesMax; ++i)
    endpoints_->number("GET /" + std::to_string(i / 50) + "/" + std::to_string(i % 50), false);
  const int32_t other = endpoints_->number("GET /more", false);
  EXPECT_EQ(endpoints_->number("GET /still/more", false), other);
  EXPECT_EQ(endpoints_->number("GET /0/0", false), 1) << "those before stay";
  const int32_t given = endpoints_->number("Handler.handle", true);
  EXPECT_NE(given, other) << "names of the program's own have room of their own";
  const int32_t mapped = endpoints_->number("GET /files/more", false, "GET /files/*");
  EXPECT_NE(mapped, other);
  EXPECT_EQ(endpoints_->number("GET /files/another", false, "GET /files/*"), mapped);
  for (uint32_t i = 0; i < 2 * Endpoints::kGivenMax; ++i) endpoints_->number("m" + std::to_string(i), true);
  EXPECT_EQ(endpoints_->number("another", true), other);
  EXPECT_EQ(names().size(), Endpoints::kNamesMax + Endpoints::kGivenMax + 1);
}

TEST_F(EndpointsTest, OfManySiblingsTheRestHasOneName) {
  for (uint32_t i = 0; i < Endpoints::kSiblingsMax; ++i) endpoints_->number("GET /users/n" + std::to_string(i), false);
  const int32_t rest = endpoints_->number("GET /users/more", false);
  EXPECT_EQ(endpoints_->number("GET /users/still", false), rest);
  EXPECT_EQ(endpoints_->number("GET /users/{}", false), rest);
  EXPECT_EQ(endpoints_->number("GET /users/n0", false), 1);
  EXPECT_NE(endpoints_->number("GET /orders/more", false), rest);
  EXPECT_EQ(names()[static_cast<size_t>(rest - 1)], "GET /users/{}");
}

TEST_F(EndpointsTest, ThreadsAgree) {
  constexpr int kThreads = 4, kNames = 90;
  std::vector<std::vector<int32_t>> numbers(kThreads);
  std::vector<std::thread> threads;
  for (auto& own : numbers) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 2; ++turn) {
        own.clear();
        for (int i = 0; i < kNames; ++i) own.push_back(endpoints_->number("GET /n" + std::to_string(i), false));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& own : numbers) EXPECT_EQ(own, numbers[0]) << "in the second turn all names are known";
  EXPECT_EQ(std::set<int32_t>(numbers[0].begin(), numbers[0].end()).size(), static_cast<size_t>(kNames));
}

}  // namespace
}  // namespace contrafact::agent_jvm
