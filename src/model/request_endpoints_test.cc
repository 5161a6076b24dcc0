#include "model/request_endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

using testing::ElementsAre;

Trace service_of(std::string_view text) {
  base::Result<Trace> trace = parse_text(text);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return *std::move(trace);
}

std::vector<std::string> names(const Requests& found) {
  std::vector<std::string> out;
  for (const Request& request : found.all) out.push_back(found.endpoints[request.endpoint]);
  return out;
}

constexpr std::string_view kRows =
    "thread loop\nthread w1\nthread w2\npool p thread_pool 2 max\n"
    "method m1 sun.Exchange.run\nmethod main shop.Server.main\nmethod serve shop.Server.serve\n"
    "method orders shop.Orders.handle\nmethod items shop.Items.handle\nmethod store shop.Store.load\n"
    "connection c1 accepted\nconnection c2 accepted\nconnection c3 accepted\n"
    "endpoint e1 \"GET /orders/{}\"\nendpoint e2 \"GET /items\"\nendpoint e3 \"GET /*\"\n";

std::string with_rows(std::string_view events) {
  return std::string(kRows) + std::string(events);
}

constexpr std::string_view kTwoTasks =
    "0 loop task_spawn t1 - p m1\n100 loop task_spawn t2 - p m1\n"
    "200 w1 task_start t1\n210 w1 receive c1 10\n%220%900 w1 send c1 10\n1000 w1 task_end t1\n"
    "300 w2 task_start t2\n310 w2 receive c2 10\n%320%800 w2 send c2 10\n900 w2 task_end t2\n";

// The two requests with these events in them.
Requests two(std::string first, std::string second) {
  std::string text(kTwoTasks);
  text.replace(text.find("%220%"), 5, std::move(first));
  text.replace(text.find("%320%"), 5, std::move(second));
  return requests_by_connection(service_of(with_rows(text)));
}

TEST(RequestEndpoints, TheTaskThatServesARequestNamesIt) {
  const Requests found = two("220 w1 endpoint e1 mapping\n", "320 w2 endpoint e2 mapping\n");
  EXPECT_THAT(names(found), ElementsAre("GET /orders/{}", "GET /items"));
  EXPECT_FALSE(found.named_by_code);
}

TEST(RequestEndpoints, TheFirstOfTheHighestRankHolds) {
  const Requests found = two(
      "220 w1 endpoint e3 mapping\n230 w1 endpoint e1 pattern\n240 w1 endpoint e3 pattern\n250 w1 endpoint e3 path\n",
      "320 w2 endpoint e2 configuration\n330 w2 endpoint e3 pattern\n");
  EXPECT_THAT(names(found), ElementsAre("GET /orders/{}", "GET /items"));
}

TEST(RequestEndpoints, OfOneNothingIsKnown) {
  EXPECT_THAT(names(two("220 w1 endpoint e1 path\n", "")), ElementsAre("GET /orders/{}", "(not known)"));
}

// The loop hands each request to a pool, where the framework finds who handles it.
TEST(RequestEndpoints, TasksThatARequestHandsOutNameIt) {
  const Requests found = requests_by_connection(service_of(with_rows(
      "0 loop block_begin poll -\n1000 loop block_end poll\n1010 loop receive c1 5\n1020 loop task_spawn t1 - p m1\n"
      "1030 loop receive c2 5\n1040 loop task_spawn t2 - p m1\n1100 loop block_begin poll -\n9000 loop block_end poll\n"
      "9900 loop thread_end\n"
      "1200 w1 task_start t1\n1210 w1 task_spawn t3 - p m1\n1300 w1 send c1 5\n1400 w1 task_end t1\n"
      "1200 w2 task_start t2\n1250 w2 endpoint e2 path\n1300 w2 send c2 5\n1400 w2 task_end t2\n"
      "1500 w2 task_start t3\n1510 w2 endpoint e1 path\n1600 w2 task_end t3\n")));
  EXPECT_THAT(names(found), ElementsAre("GET /orders/{}", "GET /items"));
}

constexpr std::string_view kContexts =
    "context s0 - main:1\ncontext s1 s0 serve:2\ncontext o1 s1 orders:3\ncontext o2 o1 store:4\ncontext i1 s1 "
    "items:5\n";

TEST(RequestEndpoints, WithoutNamesTheCodeThatTellsThemApart) {
  std::string text = with_rows(kContexts) +
                     "0 loop block_begin poll -\n1000 loop block_end poll\n1010 loop receive c1 5\n"
                     "1100 loop block_begin sleep o2\n1200 loop block_end sleep\n1300 loop send c1 5\n"
                     "1400 loop block_begin poll -\n2000 loop block_end poll\n2010 loop receive c2 5\n"
                     "2100 loop block_begin sleep i1\n2200 loop block_end sleep\n2300 loop send c2 5\n"
                     "2400 loop block_begin poll -\n2500 loop block_end poll\n9000 loop thread_end\n";
  const Requests found = requests_by_connection(service_of(text));
  EXPECT_TRUE(found.named_by_code);
  EXPECT_THAT(names(found), ElementsAre("Orders.handle", "Items.handle"));
}

TEST(RequestEndpoints, IfAllPassTheSameCodeTheFirstOfItBehindTheBeginning) {
  std::string text = with_rows(kContexts) +
                     "0 loop block_begin poll -\n1000 loop block_end poll\n1010 loop receive c1 5\n"
                     "1100 loop block_begin sleep o2\n1200 loop block_end sleep\n1300 loop send c1 5\n"
                     "1400 loop block_begin poll -\n2000 loop block_end poll\n2010 loop receive c2 5\n"
                     "2100 loop block_begin sleep o2\n2200 loop block_end sleep\n2300 loop send c2 5\n"
                     "2400 loop block_begin poll -\n2500 loop block_end poll\n9000 loop thread_end\n";
  EXPECT_THAT(names(requests_by_connection(service_of(text))), ElementsAre("Server.serve", "Server.serve"));
}

// Whether a request had to wait for a lock says nothing of what it asks for.
TEST(RequestEndpoints, WaitsForOthersTellNothingApart) {
  std::string text = with_rows(kContexts) +
                     "0 loop block_begin poll -\n1000 loop block_end poll\n1010 loop receive c1 5\n"
                     "1020 loop block_begin sleep s1\n1030 loop block_end sleep\n"
                     "1100 loop block_begin monitor o2\n1200 loop block_end monitor\n1300 loop send c1 5\n"
                     "1400 loop block_begin poll -\n2000 loop block_end poll\n2010 loop receive c2 5\n"
                     "2020 loop block_begin sleep s1\n2030 loop block_end sleep\n2300 loop send c2 5\n"
                     "2400 loop block_begin poll -\n2500 loop block_end poll\n9000 loop thread_end\n";
  EXPECT_THAT(names(requests_by_connection(service_of(text))), ElementsAre("Server.serve", "Server.serve"));
}

TEST(RequestEndpoints, ATaskOfTheProgramsOwnNamesTheRequest) {
  const Requests found = requests_by_task(service_of(with_rows(
      "0 loop task_spawn t1 - p orders\n10 loop task_spawn t2 - p items\n100 w1 task_start t1\n200 w1 task_end t1\n"
      "100 w2 task_start t2\n200 w2 task_end t2\n")));
  EXPECT_THAT(names(found), ElementsAre("Orders.handle", "Items.handle"));
}

}  // namespace
}  // namespace contrafact::model
