#include "translate/translate_for_test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cstdlib>
#include <string>

#include "translate/raw_system_call.h"

#define OWNERS __attribute__((section("owners_text"), noinline))
extern "C" char __start_owners_text[], __stop_owners_text[];

namespace contrafact::translate {
namespace {

thread_local Gathered* t_gathered = nullptr;
thread_local uint64_t t_ticks_min = 0;  // 0: in one part
thread_local uint64_t t_begin_clock = 0;

uint64_t* return_slot(void* frame) {
  return static_cast<uint64_t*>(frame) + 1;
}

OWNERS void begin_translated() {
  volatile uint64_t* slot = return_slot(__builtin_frame_address(0));
  Translator& translator = test_translator();
  if (!translator.is_attached()) translator.attach(0, 0);
  if (t_thread.mode == Mode::calling) t_thread.mode = Mode::native;  // left on another way, the last time
  translator.begin_segment(reinterpret_cast<uint64_t>(slot + 1));
  t_begin_clock = __rdtsc();
  *slot = translator.enter(*slot);
}

OWNERS void end_translated() {
  volatile uint64_t* slot = return_slot(__builtin_frame_address(0));
  const auto stack_pointer = reinterpret_cast<uint64_t>(slot + 1);
  const bool stayed = t_thread.mode == Mode::calling && t_thread.resume_sp == stack_pointer - 8;
  if (stayed) t_thread.mode = Mode::native;
  t_gathered->left = stayed || t_thread.left != Reason::none ? t_thread.left : Reason::not_resumed;
  if (t_ticks_min > 0) {
    for (size_t left = test_translator().cut_segment(t_begin_clock, __rdtsc(), t_ticks_min, 0); left > 0; --left) {
      Cut cut{};
      const auto part = test_translator().next_part(stack_pointer, &cut, &t_gathered->overflown);
      t_gathered->parts.emplace_back(part.begin(), part.end());
      t_gathered->cuts.push_back(cut);
    }
  }
  const auto ranges = test_translator().end_segment(stack_pointer, &t_gathered->overflown);
  t_gathered->accesses.assign(ranges.begin(), ranges.end());
}

OWNERS void come_out() {
  if (t_thread.mode == Mode::calling) t_thread.mode = Mode::native;
}

long told_system_call(long number, void* place, size_t bytes, long c, long d, long e) {
  const long call[] = {number, reinterpret_cast<long>(place), static_cast<long>(bytes), c, d, e, 0};
  const uint32_t expected = test_translator().expect(call);
  const long result = raw_system_call(number, call[1], call[2], c, d, e);
  test_translator().invalidate_by(call, result, expected);
  return result;
}

}  // namespace

bool is_emulated() {
  return std::getenv("CONTRAFACT_EMULATED") != nullptr;
}

int open_code_file() {
  const std::string library = CONTRAFACT_TEST_LIBRARY_1;
  std::string name = library.substr(0, library.rfind('/')) + "/contrafact-code-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return -1;
  unlink(name.c_str());
  struct statvfs system;
  const bool is_in_memory = fcntl(file, F_GET_SEALS) >= 0;
  if (!is_in_memory && fstatvfs(file, &system) == 0 && (system.f_flag & ST_NOEXEC) == 0) return file;
  close(file);
  return -1;
}

void end_abandoned() {
  come_out();
}

void* map_code(void* place, size_t bytes, int file) {
  const int flags = MAP_PRIVATE | (place ? MAP_FIXED : 0);
  return reinterpret_cast<void*>(told_system_call(SYS_mmap, place, bytes, PROT_READ | PROT_EXEC, flags, file));
}
void protect_code(void* place, size_t bytes, int protection) {
  told_system_call(SYS_mprotect, place, bytes, protection, 0, 0);
}
void unmap_code(void* place, size_t bytes) {
  told_system_call(SYS_munmap, place, bytes, 0, 0, 0);
}

Translator& test_translator() {
  static Translator* const translator = [] {
    auto created = Translator::create({});
    if (!created) std::abort();
    auto* out = created->release();
    out->add_native(reinterpret_cast<uint64_t>(__start_owners_text), reinterpret_cast<uint64_t>(__stop_owners_text));
    for (const auto function : {reinterpret_cast<uint64_t>(&std::malloc), reinterpret_cast<uint64_t>(&std::free)}) {
      out->add_gate(function, function);
    }
    return out;
  }();
  return *translator;
}

Gathered translated_calls(const std::vector<void (*)()>& functions, uint64_t ticks_min) {
  Gathered gathered;
  t_gathered = &gathered;
  t_ticks_min = ticks_min;
  begin_translated();
  for (void (*function)() : functions) function();
  end_translated();
  t_ticks_min = 0;
  return gathered;
}

Gathered translated(const std::function<void()>& function) {
  Gathered gathered;
  t_gathered = &gathered;
  begin_translated();
  function();
  end_translated();
  return gathered;
}

}  // namespace contrafact::translate
