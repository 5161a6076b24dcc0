// CHECK: a programmer's error ends the process with one line that says where. On in release builds too.
// Never used in the target process's working threads: there, things are dropped and counted instead.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace contrafact::base {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "contrafact: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace contrafact::base

#define CHECK(condition) ((condition) ? (void)0 : ::contrafact::base::check_failed(#condition, __FILE__, __LINE__))
