// Event words: what the probes write into a buffer, 64 bits at a time.
//
// Only the producer knows where the next word goes. Others see how far it has come by the zeros: words are not 0, and a
// buffer that is handed out holds only zeros. An event costs its stores and one comparison. Its first word is written
// last.
//
//   63   61 60      32 31       0
//   [kind ] [ upper  ] [ lower  ]     then what the kind needs besides, a word each
//
//   kind                     upper    lower    more
//   call                     caller   callee
//   exit                     thrown   method
//   allocate                 class    method
//   allocate_array           class    method   length + kNotZero
//   context_call             0        callee   the caller's context
//   context_allocate         class    0        the context
//   context_allocate_array   class    0        the context, length + kNotZero
//
// The last event of a full buffer may go on behind its end. A call, whose kind is 0, is a struct contrafact_call. Ids
// of methods and classes are below 2^22 (names.h). Contexts are odd. The layout is a contract with
// java/java/lang/ContrafactAnalysis.java.
#pragma once

#include <cstdint>

#include "contrafact/analysis.h"

namespace contrafact::online {

enum class EventKind : uint8_t {
  call,
  exit,
  allocate,
  allocate_array,
  context_call,
  context_allocate,
  context_allocate_array,
};

inline constexpr uint32_t kEventWordsMax = 3;
inline constexpr int kKindShift = 61;
inline constexpr uint64_t kNotZero = uint64_t{1} << 32;

constexpr uint64_t event_word(EventKind kind, uint32_t upper, uint32_t lower) {
  return uint64_t{static_cast<uint8_t>(kind)} << kKindShift | uint64_t{upper} << 32 | lower;
}
constexpr EventKind kind_of(uint64_t word) {
  return static_cast<EventKind>(word >> kKindShift);
}
constexpr uint32_t upper_of(uint64_t word) {
  return static_cast<uint32_t>(word >> 32) & ((1u << (kKindShift - 32)) - 1);
}
constexpr uint32_t lower_of(uint64_t word) {
  return static_cast<uint32_t>(word);
}
constexpr uint32_t words_of(EventKind kind) {
  constexpr uint8_t kWords[] = {1, 1, 1, 2, 2, 2, 3, 1};
  return kWords[static_cast<uint8_t>(kind)];
}

// The context of `method` called in `parent`. `parent` is odd, so the product is too, and the last step loses nothing.
// As good as random.
constexpr uint64_t context_of(uint64_t parent, uint32_t method) {
  const uint64_t mixed = (parent ^ uint64_t{method} << 1) * 0x9E3779B97F4A7C15u;
  return (mixed ^ mixed >> 32) | 1;
}

}  // namespace contrafact::online
