// A trace as text, for tests and for people: one row or event a line, `#` starts a comment.
//
//   origin measured
//   fact cores 2
//   thread main "main" platform daemon          thread KEY ["NAME"] [platform|virtual_thread] [daemon]
//   pool p1 thread_pool 4 4 "shop pool"         pool KEY KIND [CORE [MAX]] ["NAME"]    MAX may be "max" for unbounded
//   method m1 shop.Feed.load Feed.java:12       method KEY CLASS.NAME [FILE[:LINE]]
//   context c1 - m1:14                          context KEY PARENT|- METHOD[:LINE]
//   lock l1 mutex "queue"                       lock KEY KIND ["NAME"]    its address is its number in the file
//   connection n1 accepted 8080 51234           connection KEY accepted|connected|other [LOCAL_PORT REMOTE_PORT]
//   endpoint e1 "GET /orders/{}"                endpoint KEY NAME
//   access_set s1 complete 4096+8:rwc 0x20+1:r  access_set KEY GAP [BEGIN+BYTES:FLAGS...]  r read, w wrote, c changed,
//                                               m commutative (o or, n and; else additions), a atomic, f fetched;
//                                               addresses decimal or 0x...
//   access_log main 10 20 complete 0 0x20+8:r   access_log THREAD BEGIN_NS END_NS GAP LOST [BEGIN+BYTES:FLAGS...]
//   pause 10 20                                 pause BEGIN_NS END_NS [THREAD]    of that thread's process
//   vm_ran 10 20                                vm_ran BEGIN_NS END_NS
//   cores_idle 100000 5000                      cores_idle UNTIL_NS IDLE_NS, of all cores since the one before
//   cpu main 10 20 preempted                    cpu THREAD OUT_NS IN_NS preempted|blocked
//   loss 12                                     events dropped
//   note "text"                                 a note about what is missing
//   0 main task_spawn t1 c1 p1 m2               TIME_NS THREAD EVENT [OPERANDS...]
//
// Words are separated by blanks; one in quotes may hold them, and \", \\ and \xNN, a byte. Bytes that are no character,
// and all that could upset a terminal or disguise the text around it, are printed as \xNN.
// Keys are any words; rows come before the lines that name them, tasks need no row. Operands stand in the order of the
// event's schema (format/event.h); `-` is none, and those left out at the end are none, `normal`, `all` or 0.
// Printing is stable: print(parse(print(t))) == print(t).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text_sink.h"
#include "model/trace.h"

namespace contrafact::model {

// Whether the first row, comments left out, begins as a row of a text trace does.
bool begins_as_text_trace(std::string_view text);

// Errors say the line number and what is wrong with it.
base::Result<Trace> parse_text(std::string_view text);
std::string print_text(const Trace& trace);
// The same piece by piece, for traces that are too large for one string.
void print_text(const Trace& trace, const base::TextSink& sink);

}  // namespace contrafact::model
