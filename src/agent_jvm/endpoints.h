// The endpoints of a recorded program: each name has a number, its row in the trace. Of paths that differ in their last segment alone the
// first kSiblingsMax have names, all others one with {} there. There are at most kNamesMax names that are made of paths, and
// kGivenMax more that the program itself gives; whatever comes after these is named "other".
//
// Thread safety: all of it. No lock of its own: a table of atomic words, which takes a name once (two threads that come with a new
// name at once may make two rows of it). A new name takes the lock of the trace's tables, as every new row does.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

class Endpoints {
 public:
  static constexpr uint32_t kNamesMax = 1000, kGivenMax = 200, kSiblingsMax = 100;

  explicit Endpoints(recorder::Recorder& recorder) : recorder_(recorder) {}

  // The number plus one of the endpoint with this name. `given`: by the program, its containers or the configuration.
  // `instead`: a given name that stands for it when there are too many; may be empty.
  int32_t number(std::string_view name, bool given, std::string_view instead = {});

  // A fact of the trace if there were too many names.
  void report() const;

 private:
  int32_t number_of_sent(std::string_view name);
  // 0: there is none.
  int32_t find(std::string_view name) const;
  // 0: no room.
  int32_t find_or_add(std::string_view name, std::atomic<uint32_t>& count, uint32_t most);
  int32_t other();

  // By hash: its upper 48 bits, and the number plus one. 0: free.
  static constexpr size_t kPlaces = 4096;
  static_assert(kNamesMax + kGivenMax < kPlaces / 2);

  recorder::Recorder& recorder_;
  std::array<std::atomic<uint64_t>, kPlaces> places_{};
  std::array<std::atomic<uint32_t>, kPlaces> siblings_{};  // by hash of what is before the last segment
  std::atomic<uint32_t> sent_{0}, given_{0};
  std::atomic<int32_t> other_{0};
};

}  // namespace contrafact::agent_jvm
