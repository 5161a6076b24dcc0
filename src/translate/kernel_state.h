// What system calls do to the state that the kernel keeps for the program, as accesses: positions in files, the order
// of what goes into a socket, which file a descriptor stands for, the working folder, actions of signals. Two critical
// sections that change the same piece of it need their order as if they wrote the same memory. Each piece of state has
// an address that no memory has, so that sets, conflicts and cells treat it as they treat memory:
//
//     63  62       56 55                                  0
//      1 | KernelThing | its number: a hash, a signal, ...  |
//      1 | open_file   | the file 55..32 | 31: 0, then a byte of kStateOf...; 1, then the place in its content
//
// State that a call only looks at is read. State that it changes is read and written: no change commutes. A call that
// failed only looked.
//
// fsync needs one order only: the data that it has to make durable is written before it. Its own thread wrote that
// data, or learnt of it from the thread that did, by memory that both touch. Other writes may come before or after. So
// fsync conflicts only with changes of its descriptor; `durable` marks its place, because it may be done later, but not
// earlier.
//
// An open file is known by its descriptor's number until a call that made the descriptor was seen; then by a number of
// its own, which copies of the descriptor share. So a descriptor that is used again is not taken for the one before.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "translate/segment.h"

namespace contrafact::translate {

// Equal numbers of files or paths mean the same file or path; different ones may, too: a file that is open twice, a
// path by way of a link.
enum class KernelThing : uint8_t {
  open_file,
  path,            // what a path leads to: by its text, without empty parts and "."
  folder,          // which entries a folder has, by its path
  working_folder,  // and the root
  mode_mask,
  signal_action,  // by the signal
  signals,        // that wait for a process, by its number; 0: this one's
  children,       // that have ended
  resource_limit,
  scheduling,
  durable,  // of an open file, by its number; nothing changes it (docs/format.md)
};

inline constexpr uint64_t kKernelState = uint64_t{1} << 63;
constexpr bool is_kernel_state(uint64_t address) {
  return (address & kKernelState) != 0;
}
constexpr uint64_t kernel_address(KernelThing thing, uint64_t number) {
  return kKernelState | uint64_t{static_cast<uint8_t>(thing)} << 56 | (number & ((uint64_t{1} << 56) - 1));
}

// Which open file a descriptor stands for. Thread safety: all of it.
class OpenFiles {
 public:
  // Its number, 24 bits.
  uint64_t of(long descriptor) const;
  // A call made the descriptor just now. `is_stream`: what it stands for has no position (sockets, pipes).
  void add(long descriptor, bool is_stream);
  // A call made `copy` of `descriptor`.
  void add_copy(long descriptor, long copy);
  bool is_stream(long descriptor) const;

 private:
  static constexpr long kKnown = 4096;  // descriptors below are told apart; others are their numbers
  static constexpr uint32_t kOwnNumber = 1u << 23;
  static constexpr uint32_t kStream = 1u << 24;

  std::atomic<uint32_t> file_[kKnown] = {};  // 0: known by the descriptor; else its number, perhaps with kStream
  std::atomic<uint32_t> made_{0};
};

// Adds what the call did once it has returned `result`; `call`: the number and six arguments. `process`: this one's
// number. Learns of descriptors.
void add_kernel_state(const long* call, long result, int process, OpenFiles& files, Segment& segment);

// Learns of descriptors only. Cheap for calls that make none.
void note_descriptors(const long* call, long result, OpenFiles& files);

}  // namespace contrafact::translate
