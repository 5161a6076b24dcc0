// What the library refuses to compile, a case at a time: -DCASE=n. CMakeLists.txt says with which message. Case 0 is
// fine.
#include <string>

#include "deferred/environment.h"

struct Big {
  char bytes[256];
};

struct Analysis {
  void fine(int) {}
  void unlisted(int) {}
  int returns(int) { return 0; }
  void takes_a_string(std::string) {}
  void takes_a_reference(const int&) {}
  void takes_much(Big) {}
  void seventh(char, short, int, long, float, double, bool) {}
  void before_processing() {}
  int not_a_method = 0;
};
struct Other {
  void fine(int) {}
};

using contrafact::deferred::Environment;
using contrafact::deferred::synchronous;

#if CASE == 0
using Tried = Environment<&Analysis::fine>;
#elif CASE == 1
using Tried = Environment<&Analysis::returns>;
#elif CASE == 2
using Tried = Environment<&Analysis::takes_a_string>;
#elif CASE == 3
using Tried = Environment<&Analysis::takes_a_reference>;
#elif CASE == 4
using Tried = Environment<&Analysis::takes_much>;
#elif CASE == 5
using Tried = Environment<&Analysis::seventh>;
#elif CASE == 6
using Tried = Environment<&Analysis::fine, &Other::fine>;
#elif CASE == 7
using Tried = Environment<&Analysis::not_a_method>;
#elif CASE == 8
using Tried = Environment<&Analysis::fine>;
auto made() {
  static Analysis analysis;
  return Tried::create(analysis, synchronous());
}
#elif CASE == 9
using Tried = Environment<&Analysis::fine>;
void call(Tried& environment) {
  environment.defer<&Analysis::unlisted>(1);
}
#elif CASE == 10
using Tried = Environment<&Analysis::fine>;
void call(Tried& environment) {
  environment.defer<&Analysis::fine>(1, 2);
}
#endif

auto used() {
  return Tried::create_coalescing([] { return std::make_unique<Tried::Target>(); }, synchronous());
}
