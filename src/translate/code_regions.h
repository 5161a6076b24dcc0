// CodeRegions: which parts of the process' memory hold code that may be translated: those of files, executable and not
// writable. All other code may change without our notice (a JIT compiler's), and runs natively.
//
// The knowledge comes from the program headers that the loader's objects have in memory: those of the first objects are
// read by read_loaded(), those of later ones when a thread first runs their code. Later changes to mappings show in the
// system calls that the program makes. The kernel's map is never read: that takes a file descriptor, and the program
// does as it pleases with those.
//
// 1. One thread changes a CodeRegions at a time. Changes are made to a copy that takes the place of the former one
//    in one step, so that a forked child finds a table that is whole (take_over).
// 2. Code whose memory the program is about to change, or changes right now, is generated code: from begin_pending()
//    or begin_unload(), before the system call, to the end that goes with it, after it.
// 3. Forgetting is always possible. Where there is no room to say that code may change, all is forgotten for good.
//
// Thread safety: none but what 1 says; only under the Translator's lock. Allocates nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "translate/loaded_object.h"
#include "translate/mapping_changes.h"
#include "translate/pending_changes.h"
#include "translate/region_table.h"

namespace contrafact::translate {

class CodeRegions {
 public:
  // The owner's own code.
  void add_native(uint64_t begin, uint64_t end);
  // All that is loaded. Takes the loader's lock: before there are threads of the program.
  void read_loaded();
  // In a forked child: what its parent knew.
  void take_over(const CodeRegions& parent);

  // Of kind none if nothing is known of the address.
  Region at(uint64_t address) const;
  // The current thread is about to run code at `address`, which is not known to be code: finds out. Here and below,
  // calls `gone` for the code that is known no longer.
  template <typename Gone>
  void learn(uint64_t address, Gone gone);
  // Finds all code that was known and is there no more, or is another object's now.
  template <typename Gone>
  void refresh(Gone gone);
  // The program changed mappings.
  template <typename Gone>
  void change(const MappingChange& change, Gone gone);
  // The program is about to make this change. True if anything is known of the place: then end_pending() follows once
  // the change was made, and after that change().
  template <typename Gone>
  bool begin_pending(const MappingChange& change, Gone gone);
  void end_pending(const MappingChange& change) { pending_.remove(change.begin, change.end); }
  // The program is about to unload libraries, any of those that it has loaded itself; and has done so.
  template <typename Gone>
  void begin_unload(Gone gone);
  template <typename Gone>
  void end_unload(Gone gone);
  // The program mapped code of a file.
  void add_file_code(uint64_t begin, uint64_t end);

  // As with a C library that cannot find objects.
  void find_nothing_for_test() { finder_ = {}; }

 private:
  static constexpr size_t kNativeMax = 16;
  static constexpr size_t kObjectsMax = 1024;

  struct Table {
    RegionTable regions;
    LoadedObject objects[kObjectsMax];
    size_t object_count = 0;
    bool is_closed = false;  // nothing is known, and nothing will be

    Table() = default;
    Table(const Table& other) { *this = other; }
    Table& operator=(const Table& other);
  };
  // Of an object: where its addresses begin to count, its name, and its headers.
  struct Headers {
    uint64_t bias;
    std::string_view name;
    std::span<const Elf64_Phdr> list;
  };

  const Table& now() const { return tables_[current_.load(std::memory_order_relaxed)]; }
  // The copy in which changes are made; and the step from which on it counts. If the changes did not fit in, nothing is
  // known from there on. Returns `fits`.
  Table& begin_change();
  bool end_change(bool fits);
  bool knows(const LoadedObject& object) const;
  bool is_pending(uint64_t address) const;
  Region as_pending(Region region, uint64_t address) const;
  const LoadedObject* object_meeting(uint64_t begin, uint64_t end) const;
  // One of the table's. False if there was no room for it.
  bool forget(const LoadedObject& object);
  void forget_unknown();
  void take_as_made(const CodeRegions& parent);
  void add(const LoadedObject& object, const Headers& headers);
  void add_at_its_place(LoadedObject object);
  bool note(Table& next, const MappingChange& change);
  bool note_unknown_object(Table& next, const MappingChange& change, uint64_t address);
  bool meets_code(const MappingChange& change) const;
  bool apply(const MappingChange& change);

  Table tables_[2];
  std::atomic<uint32_t> current_{0};
  Region native_[kNativeMax];
  size_t native_count_ = 0;
  PendingChanges pending_;
  uint32_t unloads_ = 0;  // that are pending
  ObjectFinder finder_;
  FirstPage page_;
};

template <typename Gone>
void CodeRegions::learn(uint64_t address, Gone gone) {
  LoadedObject object;
  if (now().is_closed || is_pending(address) || !finder_.find(address, object) || knows(object)) return;
  while (const LoadedObject* former = object_meeting(object.begin, object.end)) {
    gone(former->begin, former->end);
    if (!forget(*former)) return gone(0, UINT64_MAX);
  }
  object.may_go = true;
  add_at_its_place(object);
}

template <typename Gone>
void CodeRegions::refresh(Gone gone) {
  for (size_t i = 0; i < now().object_count;) {
    const LoadedObject& object = now().objects[i];
    if (is_still_loaded(object, finder_, page_)) {
      ++i;
      continue;
    }
    gone(object.begin, object.end);
    if (!forget(object)) gone(0, UINT64_MAX);
  }
  forget_unknown();
}

template <typename Gone>
void CodeRegions::change(const MappingChange& change, Gone gone) {
  if (!meets_code(change)) return;
  if (apply(change)) {
    gone(change.begin, change.end);
  } else {
    gone(0, UINT64_MAX);
  }
}

template <typename Gone>
bool CodeRegions::begin_pending(const MappingChange& change, Gone gone) {
  if (!meets_code(change)) return false;
  gone(change.begin, change.end);
  pending_.add(change.begin, change.end);
  return true;
}

template <typename Gone>
void CodeRegions::begin_unload(Gone gone) {
  ++unloads_;
  for (size_t i = 0; i < now().object_count; ++i) {
    const LoadedObject& object = now().objects[i];
    if (object.may_go) gone(object.begin, object.end);
  }
}

template <typename Gone>
void CodeRegions::end_unload(Gone gone) {
  if (unloads_ > 0) --unloads_;
  refresh(gone);
}

}  // namespace contrafact::translate
