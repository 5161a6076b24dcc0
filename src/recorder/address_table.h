// AddressTable: numbers for the addresses in addressed calls, each a row of the trace's tables.
//
// Thread safety: method() and context() on any thread, by a mutex. Members that concern calls only on the drainer's
// thread, which acquires the mutex only for an address that it has not met before. A lookup is as a rule one probe of
// an open hash table: about 5 ns where it is in the cache.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/event.h"
#include "recorder/addressed_calls.h"
#include "recorder/connection_words.h"
#include "recorder/tables.h"

namespace contrafact::recorder {

// From a 64-bit key that is not 0 to a number. Linear probing, at most half full.
class AddressMap {
 public:
  // The number of `key`; UINT32_MAX if it has none.
  uint32_t find(uint64_t key) const;
  // REQUIRES: find(key) is UINT32_MAX.
  void insert(uint64_t key, uint32_t number);

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t number = 0;
  };
  size_t slot_of(uint64_t key) const;
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(256);  // a power of two
  size_t used_ = 0;
};

class AddressTable {
 public:
  explicit AddressTable(Tables& tables) : tables_(tables) {}

  // The drainer's. Reads the words of an addressed call of `kind` from producer `stream` and writes its operands.
  // Returns the number of words read. Uses up the frames that were added for the stream if the kind has a CONTEXT.
  uint32_t resolve(format::EventKind kind, uint32_t stream, const uint32_t* words, uint32_t* operands);
  void add_frames(uint32_t stream, const uint32_t* words);
  void add_body(uint32_t stream, const uint32_t* words);
  // Events of the stream were lost: forgets what was added for its next one.
  void forget(uint32_t stream);
  // What the stream remembers (remember_call), by its place: LOCK and CONTEXT.
  using Pair = std::array<uint32_t, 2>;
  using Pairs = std::array<Pair, kPairs>;
  Pairs& pairs_of(uint32_t stream);
  // The pair that an addressed call's words name.
  Pair resolve_pair(const uint32_t* words);
  // The stream has ended.
  void end(uint32_t stream);

  // From now on the addresses of code that were met for the first time are kept until they are taken.
  void watch_code() { watches_code_ = true; }
  // Asked for the own port of a connection whose process does not know it, by its descriptor and the peer's port.
  using PortOf = std::function<uint32_t(uint32_t descriptor, uint32_t remote_port)>;
  void ask_for_ports(PortOf port_of) { port_of_ = std::move(port_of); }
  std::vector<uint64_t> take_new_code() { return std::exchange(new_code_, {}); }

  format::MethodId method(uint64_t address, bool is_entry);
  format::ContextId context(std::span<const uint64_t> return_addresses);

 private:
  format::MethodId take_body(uint32_t stream);
  format::MethodId method_locked(uint64_t address, bool is_entry);
  format::ContextId context_at(uint64_t return_address);
  uint32_t lock_at(uint64_t lock_word);
  uint32_t connection_at(uint64_t word);

  Tables& tables_;
  std::mutex mutex_;
  AddressMap methods_;                                          // by address * 2 + is_entry; guarded by mutex_
  AddressMap contexts_;                                         // of one frame, by return address
  AddressMap locks_;                                            // by lock_word
  AddressMap connections_;                                      // by connection_word
  std::unordered_map<uint32_t, std::vector<uint64_t>> frames_;  // by stream: of its next event; few at a time
  std::unordered_map<uint32_t, uint64_t> bodies_;               // likewise
  std::unordered_map<uint32_t, Pairs> pairs_;                   // by stream
  PortOf port_of_;
  bool watches_code_ = false;
  std::vector<uint64_t> new_code_;
};

}  // namespace contrafact::recorder
