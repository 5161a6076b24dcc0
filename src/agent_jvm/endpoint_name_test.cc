#include "agent_jvm/endpoint_name.h"

#include <gtest/gtest.h>

namespace contrafact::agent_jvm {
namespace {

std::string sent(std::string_view path) {
  return endpoint_name("GET", path, PathKind::sent);
}

TEST(EndpointName, MethodAndPath) {
  EXPECT_EQ(sent("/orders"), "GET /orders");
  EXPECT_EQ(sent("/"), "GET /");
  EXPECT_EQ(sent(""), "GET /");
  EXPECT_EQ(sent("/api/v2/orders.json"), "GET /api/v2/orders.json");
  EXPECT_EQ(sent("/orders/"), "GET /orders/");
  EXPECT_EQ(endpoint_name("", "shop.Orders/Place", PathKind::sent), "/shop.Orders/Place");
}

TEST(EndpointName, WhatVariesIsLeftOut) {
  EXPECT_EQ(sent("/orders/17"), "GET /orders/{}");
  EXPECT_EQ(sent("/orders/17/items/3"), "GET /orders/{}/items/{}");
  EXPECT_EQ(sent("/orders/A-0815"), "GET /orders/{}");
  EXPECT_EQ(sent("/carts/123e4567-e89b-12d3-a456-426614174000"), "GET /carts/{}");
  EXPECT_EQ(sent("/blobs/deadbee1"), "GET /blobs/{}");
  EXPECT_EQ(sent("/facade/decade"), "GET /facade/decade");
  EXPECT_EQ(sent("/users/ann@example.org"), "GET /users/{}");
  EXPECT_EQ(sent("/users/J%C3%B6rg"), "GET /users/{}");
  EXPECT_EQ(sent("/users/J\xc3\xb6rg"), "GET /users/{}");
  EXPECT_EQ(sent("/t/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"), "GET /t/{}");
  EXPECT_EQ(sent("/a/" + std::string(33, 'x')), "GET /a/{}");
  EXPECT_EQ(sent("/a/" + std::string(32, 'x')), "GET /a/" + std::string(32, 'x'));
}

TEST(EndpointName, QueriesFragmentsAndParametersAreNoPart) {
  EXPECT_EQ(sent("/find?q=secret/7"), "GET /find");
  EXPECT_EQ(sent("/find#there"), "GET /find");
  EXPECT_EQ(sent("/cart;jsessionid=ABC/items"), "GET /cart/items");
  EXPECT_EQ(endpoint_name("GET", "/find/{id}?q=1", PathKind::pattern), "GET /find/{id}");
}

TEST(EndpointName, ProxiesAreAskedForWholeAddresses) {
  EXPECT_EQ(sent("http://example.org:8080/orders/5"), "GET /orders/{}");
  EXPECT_EQ(sent("http://example.org"), "GET /");
}

TEST(EndpointName, LongPathsAreCut) {
  EXPECT_EQ(sent("/a/b/c/d/e/f/g/h"), "GET /a/b/c/d/e/f/g/h");
  EXPECT_EQ(sent("/a/b/c/d/e/f/g/h/i/j"), "GET /a/b/c/d/e/f/g/h/...");
  EXPECT_LT(endpoint_name("GET", std::string(5000, 'x'), PathKind::pattern).size(), 200u);
}

TEST(EndpointName, PatternsStayAsTheyAre) {
  EXPECT_EQ(endpoint_name("POST", "/orders/{orderId:[0-9]+}/items", PathKind::pattern),
            "POST /orders/{orderId:[0-9]+}/items");
  EXPECT_EQ(endpoint_name("GET", "/report2024", PathKind::pattern), "GET /report2024");
  EXPECT_EQ(endpoint_name("GET", "/a\nb", PathKind::pattern), "GET /a?b");
}

TEST(EndpointName, MethodsThatHttpDoesNotKnow) {
  EXPECT_EQ(endpoint_name("SECRET", "/", PathKind::sent), "? /");
  EXPECT_EQ(endpoint_name("get", "/", PathKind::sent), "? /");
}

}  // namespace
}  // namespace contrafact::agent_jvm
