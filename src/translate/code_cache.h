// CodeCache: the memory of translated code, and what leads into it.
//
// Two views of one file in memory: one writable, one executable, never both. Behind the executable view lie the links,
// which are data: a translated jump goes through its link, first to a piece of code that asks for its target, then
// straight there. So code is never changed once it has been published, and a block is taken out by turning its links
// back. Memory is only used again when all of it is (clear).
//
// In front of a block's code stand 8 bytes with the address that it translates, so that an entry of the lookup table is
// one pointer, which a thread reads at once.
//
// Thread safety: what generated code and signal handlers read (links, the lookup table, find_block) may be read at any
// time; all else only under the Translator's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"

namespace contrafact::translate {

// What the program's registers are at a place in translated code: so that a signal's handler sees the program as if it
// ran natively. `spilled`: 4 bits for each slot of ThreadState, the register that lies there; 4 (rsp) for none.
struct Mark {
  enum Kind : uint8_t {
    at_offset,   // pc is the block's address plus `value`
    at_target,   // pc is ThreadState::target
    at_link,     // pc is the target of the block's link number `value`
    at_gate,     // pc is the block's address, and ThreadState::gate_return is missing on the stack
    after_gate,  // pc is ThreadState::gate_return
  };
  uint16_t code_offset;  // from here on
  uint16_t spilled;
  int16_t value;
  Kind kind;
};
static_assert(sizeof(Mark) == 8);
inline constexpr uint16_t kNothingSpilled = 0x4444;

struct Block {
  uint64_t guest;      // what it translates: the address of its first instruction
  uint64_t guest_end;  // behind the last
  uint32_t code;       // offset in the cache
  uint32_t code_bytes;
  uint32_t first_mark;
  uint32_t marks;
  uint32_t first_link;
  bool is_dead;
};

struct LinkInfo {
  uint64_t guest;  // the target
  uint64_t stub;   // code that asks for it
};

class CodeCache {
 public:
  static constexpr uint32_t kBlocksMax = 1 << 18;
  static constexpr uint32_t kMarksMax = 1 << 23;
  static constexpr uint32_t kLinksMax = 1 << 19;
  static constexpr uint32_t kLookups = 1 << 16;  // by the address' lower half-word
  static constexpr uint64_t kNoGuest = uint64_t{1} << 63 | 1;

  static base::Result<std::unique_ptr<CodeCache>> create(size_t code_bytes);
  ~CodeCache();
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  bool holds(uint64_t code_address) const { return code_address - executable_ < code_bytes_; }
  uint64_t executable() const { return executable_; }
  uint8_t* writable() const { return writable_; }
  size_t used() const { return used_; }
  size_t capacity() const { return code_bytes_; }
  // Space for a block of `bytes`, its links and its marks.
  bool has_room(size_t bytes, uint32_t marks, uint32_t links) const;

  const uint64_t* lookup_table() const { return lookup_; }
  uint64_t* links() const { return links_; }
  LinkInfo& link_info(uint32_t link) { return link_info_[link]; }
  uint32_t link_count() const { return link_count_; }
  Mark* free_marks() { return marks_ + mark_count_; }

  // Where code for `guest` will begin. Writes the key in front of that place.
  uint64_t begin_code(uint64_t guest);
  // Publishes a block whose code, marks (at free_marks()) and links (from link_count()) were written.
  uint32_t add_block(uint64_t guest, uint64_t guest_end, size_t code_bytes, uint32_t marks, uint32_t links);
  // Code that belongs to no address: stubs.
  void add_code(size_t bytes) { used_ += bytes; }

  // Code for `guest`, or 0.
  uint64_t find(uint64_t guest) const;
  void set_lookup(uint64_t guest, uint64_t code);
  void set_default_lookup(uint64_t code);
  // The block that holds `code_address`, or null. In a signal's handler too.
  const Block* find_block(uint64_t code_address) const;
  const Mark* mark_at(const Block& block, uint64_t code_address) const;
  // Forgets all code but the first `kept_bytes`, and all that led to it. REQUIRES: no thread is in the code.
  void clear(size_t kept_bytes, uint64_t default_lookup);
  // Takes out all blocks with code of [begin, end); returns how many.
  uint32_t remove(uint64_t begin, uint64_t end);
  uint32_t block_count() const { return block_count_.load(std::memory_order_acquire); }

 private:
  CodeCache() = default;
  template <typename T>
  static T* reserve(size_t count);
  uint32_t slot_of(uint64_t guest) const;

  static constexpr uint32_t kTableSlots = 2 * kBlocksMax;

  int file_ = -1;
  uint8_t* writable_ = nullptr;
  uint64_t executable_ = 0;
  size_t code_bytes_ = 0;
  size_t used_ = 0;
  uint64_t* links_ = nullptr;
  LinkInfo* link_info_ = nullptr;
  uint32_t link_count_ = 0;
  uint64_t* lookup_ = nullptr;
  Block* blocks_ = nullptr;  // ascending in `code`
  std::atomic<uint32_t> block_count_{0};
  uint32_t* table_ = nullptr;  // number of a block, plus one; by guest
  Mark* marks_ = nullptr;
  uint32_t mark_count_ = 0;
};

}  // namespace contrafact::translate
