// Texts that a recorded process hands to the one that records it, through the buffer of the thread that has something
// to say: facts, names of threads, libraries. append_text() cuts one into calls of 16 bytes; TextTable is the other
// side.
//
// Thread safety: append_text() as Recorder::append, also in a signal's handler: it neither locks nor allocates. A text
// for which there is no room is dropped as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "recorder/recorder.h"

namespace contrafact::recorder {

enum class TextKind : uint32_t {
  fact = 1,     // key, value
  thread_name,  // number: the thread's id in the kernel; value
  library,      // value: "BIAS BEGIN END BUILD_ID PATH", of a library that is loaded now
  libraries,    // what came since the last one is the whole list; number: the lower half of the time in us
};
inline constexpr uint32_t kTextKindLast = 4;
inline constexpr uint32_t kTextBytesMax = 64 << 10;  // of key and value together; longer ones are cut

// False if there was no room.
bool append_text(Client* client, TextKind kind, uint32_t number, std::string_view key, std::string_view value);

struct Text {
  TextKind kind;
  uint32_t number;
  std::string_view key, value;
};

// Thread safety: one thread at a time. Bounds: one unfinished text of each stream.
class TextTable {
 public:
  explicit TextTable(std::function<void(uint32_t stream, const Text&)> take) : take_(std::move(take)) {}
  // The words of a kTextCall of producer `stream`.
  void add(uint32_t stream, const uint32_t* words);
  // Events of the stream were lost, or it ended.
  void forget(uint32_t stream) { unfinished_.erase(stream); }

 private:
  struct Head {
    uint32_t kind, number, key_bytes, value_bytes;
  };
  struct Unfinished {
    bool has_head = false;
    Head head{};
    std::string bytes;
  };
  friend bool append_text(Client*, TextKind, uint32_t, std::string_view, std::string_view);

  std::function<void(uint32_t, const Text&)> take_;
  std::unordered_map<uint32_t, Unfinished> unfinished_;  // by stream
};

}  // namespace contrafact::recorder
