// A plug-in with one fault, which the macro FAULT_* names; otherwise it counts calls and writes how many.
#include <atomic>
#include <cstdio>
#include <stdexcept>

#include "contrafact/analysis.h"

namespace {

std::atomic<uint64_t> g_calls{0};

void* create(const contrafact_host*, const char*) {
#ifdef FAULT_CREATE_THROWS
  throw std::runtime_error("cannot be created");
#endif
#ifdef FAULT_REFUSES
  return nullptr;
#endif
  return &g_calls;
}

[[maybe_unused]] void on_call(void*, uint32_t, uint32_t) {
  const uint64_t call = ++g_calls;
#ifdef FAULT_THROWS
  if (call % 2 == 0) throw std::runtime_error("every second call");
#endif
  static_cast<void>(call);
}

[[maybe_unused]] int finish(void*, const char* path, const contrafact_run*) {
#ifdef FAULT_FINISH_THROWS
  throw std::runtime_error("no result today");
#endif
#ifdef FAULT_FINISH_FAILS
  return 7;
#endif
  std::FILE* file = std::fopen(path, "w");
  if (!file) return -1;
  std::fprintf(file, "%llu\n", static_cast<unsigned long long>(g_calls.load()));
  return std::fclose(file);
}

const contrafact_analysis kAnalysis = {
#ifdef FAULT_OTHER_VERSION
    .version = CONTRAFACT_ANALYSIS_VERSION + 1,
#elif defined(FAULT_OLDEST)  // which is none
    .version = CONTRAFACT_ANALYSIS_VERSION_OLDEST,
#else
    .version = CONTRAFACT_ANALYSIS_VERSION,
#endif
    .name = "faulty",
    .create = create,
    .begin = nullptr,
    .merge = nullptr,
#ifdef FAULT_NO_METHODS
    .on_call = nullptr,
#else
    .on_call = on_call,
#endif
    .on_exit = nullptr,
    .on_allocation = nullptr,
#ifdef FAULT_NO_FINISH
    .finish = nullptr,
#else
    .finish = finish,
#endif
    .destroy = nullptr,
#ifdef FAULT_OLDEST
    .on_context_call = [](void*, uint64_t, uint64_t, uint32_t) {},  // where an older plug-in ends: whatever is there
#endif
#ifdef FAULT_TWO_WAYS
    .on_context_call = [](void*, uint64_t, uint64_t, uint32_t) {},
#endif
};

}  // namespace

#ifdef FAULT_NO_SYMBOL
extern "C" const contrafact_analysis* another_name() {
  return &kAnalysis;
}
#else
extern "C" const contrafact_analysis* contrafact_analysis_entry() {
  return &kAnalysis;
}
#endif
