// Runs a function translated, for tests: the two functions around it stand for an owner's lock and unlock.
#pragma once

#include <functional>
#include <vector>

#include "translate/translator.h"

namespace contrafact::translate {

struct Gathered {
  std::vector<Access> accesses;            // of translated_calls: of the last part
  std::vector<std::vector<Access>> parts;  // the ones before
  std::vector<Cut> cuts;                   // likewise: where each ends
  Reason left = Reason::not_resumed;
  bool overflown = false;
};

Translator& test_translator();

// An empty file without a name, beside the libraries of the tests: the folder for temporary files may lie in memory, or
// hold no code. -1 where this one does, too: no code of such files is translated (maps_file_code).
int open_code_file();

// Maps a file's beginning as code, and tells the translator, as an owner does: at `place`, or anywhere if that is null.
// The same for system calls that change what lies there.
void* map_code(void* place, size_t bytes, int file);
void protect_code(void* place, size_t bytes, int protection);
void unmap_code(void* place, size_t bytes);

// Whether the test runs under qemu-user, as its environment says.
bool is_emulated();

// On the current thread. `left` is none if the thread stayed in the cache until the function's end.
Gathered translated(const std::function<void()>& function);

// The functions one after the other, in parts: cut at calls of them that lie `ticks_min` or more apart.
Gathered translated_calls(const std::vector<void (*)()>& functions, uint64_t ticks_min);

// The function was left on another way than by its end.
void end_abandoned();

}  // namespace contrafact::translate
