#include <link.h>
#include <pthread.h>

#include "agent_native/loaded_code.h"
#include "agent_native/places.h"

namespace contrafact::agent_native {
namespace {

thread_local constinit OwnStack t_stack __attribute__((tls_model("initial-exec")));

int add_if_own(dl_phdr_info* info, size_t, void* argument) {
  const auto own = reinterpret_cast<uint64_t>(&add_if_own);
  const auto [begin, end] = code_of(*info);
  if (own < begin || own >= end) return 0;
  static_cast<translate::Translator*>(argument)->add_native(begin, end);
  return 1;
}

}  // namespace

void add_own_code(translate::Translator& translator) {
  dl_iterate_phdr(add_if_own, &translator);
}

const OwnStack& own_stack() {
  return t_stack;
}

void find_own_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  t_stack.begin = reinterpret_cast<uint64_t>(begin);
  t_stack.end = t_stack.begin + bytes;
}

}  // namespace contrafact::agent_native
