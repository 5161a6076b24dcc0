// A library that takes as many keys of thread-specific data as the C library keeps in a thread's own block, before any
// other library begins: further ones are in blocks that it allocates.
#include <pthread.h>

namespace {

__attribute__((constructor)) void take_keys() {
  constexpr int kKeysInPlace = 32;
  for (int i = 0; i < kKeysInPlace; ++i) {
    pthread_key_t key;
    pthread_key_create(&key, nullptr);
  }
}

}  // namespace
