// Requests: what the clients of a recorded service ask for, found by its connections.
//
// A request begins where a thread receives bytes on a connection that the program accepted, after the previous answer
// was sent there; the answer is all that the program sends there before it receives again. So what a client sends
// without waiting for answers is one request. A connection that the program itself opened carries none: it is a part of
// whatever request uses it.
//
// Who works for it: the outermost task in which the request was received, if that task serves no other request (a
// thread pool's task for each request) and did not poll for it before. Else the stretch of the receiving thread, from where it last had nothing to do
// (an event loop, a thread for each connection). Where another thread sends the answer, and no task leads to it, that
// thread's stretch belongs to the request, too (threads that take requests from a queue of the program's own). An event loop that
// answers in a later turn than that in which it received waited in between, for a timer, another service or another thread, and was free
// for others: the request has a part of both turns.
//
// The steps: request_turns.h finds what is asked and answered on each connection, request_moments.h where that lies in its threads' work,
// request_arrivals.h when each request came and what begins the work for it, request_stretches.h how far that goes, request_answers.h who
// answers where it does not go as far, request_work.h who works for whom, and so which requests others asked for.
//
// Pure; O(n log n) in the events that receive and send, linear in all others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

// Consecutive events of one thread that work for one request.
struct Stretch {
  uint32_t before = UINT32_MAX;  // it begins before this event ...
  int64_t begin_ns = 0;          // ... at this time
  uint32_t until = UINT32_MAX;   // it is over before this event ...
  int64_t end_ns = 0;            // ... at this time
  bool exists() const { return before != UINT32_MAX; }
};

struct Request {
  uint32_t connection = UINT32_MAX;  // row of Trace::connections; UINT32_MAX: known by its task alone
  uint32_t received = UINT32_MAX;    // the first event `receive`
  uint32_t answered = UINT32_MAX;    // the last event `send`; UINT32_MAX: the end of its task
  int64_t arrived_ns = 0;            // the program could have begun to work on it
  int64_t answered_ns = 0;           // the call that sends is over, if it took so long that it is a block
  TaskId task;                       // the outermost task that serves it alone; none: `first`
  Stretch first;                     // of the thread that received it
  Stretch second;                    // of the thread that answered; exists only where no task leads there
  bool is_resumed = false;           // between the two stretches the request waits, and no thread is busy with it
  // A task in which the work goes on, though it was not handed out for it: a loop's task that was pending when the request
  // was received, say, and then took it up. Exists only where no task leads to the answer otherwise, and without `second`.
  TaskId then;
  uint32_t endpoint = UINT32_MAX;  // position in Requests::endpoints
  uint32_t asked = UINT32_MAX;     // of an inner request: the event `send` of the request that asked for it
};

struct Requests {
  std::vector<Request> all;  // sorted by arrived_ns
  // What the program asked of itself, over a connection of its own, while it worked for another request. It is a part of that.
  std::vector<Request> inner;
  uint32_t connections = 0;            // that carried some of `all`
  uint64_t unanswered = 0;             // received, and not answered before the recording ended: not among `all`
  uint64_t warm_up = 0;                // at the beginning, that are not among `all`
  std::vector<std::string> endpoints;  // what `all` ask for (request_endpoints.h)
  bool named_by_code = false;          // endpoints are called as the code that handles them
  bool by_task = false;                // no connection was seen: outermost tasks stand for requests
};

// Of a program that accepted connections. None: it has no answered request.
Requests requests_by_connection(const Trace& trace);

// A JVM compiles the program while it runs: the first requests take longer than later ones will. Where there are enough, the first
// half goes. Native programs keep all.
void drop_warm_up(const Trace& trace, Requests& requests);

// Each task that was handed to a pool from outside of any task, and ended.
Requests requests_by_task(const Trace& trace);

}  // namespace contrafact::model
