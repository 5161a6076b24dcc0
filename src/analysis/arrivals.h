// How a recorded service's requests come: from closed clients (the next request comes after the answer and a time to
// think) or open (at their own times).
//
// Each connection is taken for one client. If nearly all clients think at any time, they are as good as open: answers that
// take longer hardly change when requests come. Otherwise the time from one of a client's requests to the next is the answer's
// time plus the client's time to think. Of a closed client the thinking does not depend on the answer, so it varies less than the
// whole; of an open one, requests that come when they come, it varies more. Where connections carry one request each, or
// come and go, nothing ties a request to an answer: then clients are closed if there are about as many requests under way at all times.
//
// A generator of open load has a store of connections, and takes any that is free: then the thinking varies less, too. But requests come
// as often while few connections are free as while many are, where each client that thinks is one fewer that may ask while it waits.
// Where that is a thousand times as likely, and half of the connections are free on average, the load is open.
//
// A pause that takes a fiftieth of the recording, and twenty times as long as requests are apart, is no part of the load: it counts as no
// time at all, neither between requests nor while clients think or requests are under way.
//
// Pure; O(n log n) in the requests.
#pragma once

#include <cstdint>
#include <vector>

#include "model/requests.h"

namespace contrafact::analysis {

struct Arrivals {
  bool open = false;
  double per_second = 0;           // requests that arrived
  uint32_t clients = 0;            // closed: connections that were in use at a time, at most
  std::vector<int64_t> thinks_ns;  // closed: from an answer to the client's next request; sorted
  std::vector<double> gaps;        // open: from each request to the next, as a multiple of the mean; sorted
  bool poisson = false;            // open: the gaps may be those of requests that come independently of each other
  double under_way = 0;            // requests being served at a time, on average
  int64_t span_ns = 0;             // from the first arrival to the last, without pauses in which nobody asked
};

// REQUIRES: requests.all is not empty.
Arrivals arrivals_of(const model::Requests& requests);

// The value of `share` (0 to 1) in a sorted range; 0 of an empty one.
int64_t percentile_ns(const std::vector<int64_t>& sorted_ns, double share);

}  // namespace contrafact::analysis
