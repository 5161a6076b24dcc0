// The clients of the calling thread, one for each engine that it deferred calls to. They are detached when the thread
// ends: by return, exception or pthread_exit; for the main thread, when the engine ends.
//
// Thread safety: members that speak of "this thread" are for that thread alone; ThreadLink: all of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <shared_mutex>

#include "deferred/forks.h"

namespace contrafact::deferred {

class Client;
class Engine;

// The link by which an ending thread finds an engine, which may have ended before.
class ThreadLink {
 public:
  explicit ThreadLink(Engine& engine) : engine_(&engine) {}
  // No thread's end touches the engine any more. Waits for those that do.
  void cut();
  bool is_cut() const;
  void detach(Client* client);

 private:
  const uint32_t forks_before_ = forks_before();  // in a forked child another thread's lock may stay locked
  mutable std::shared_mutex mutex_;
  Engine* engine_;
};

// A cache of this thread's clients, by their engines' serial numbers. Serial numbers are never used again, so an entry
// of an engine that has ended is never found.
struct CachedClient {
  uint64_t engine_serial = 0;
  Client* client = nullptr;
};
inline constexpr size_t kCachedClients = 16;  // engines side by side before they displace each other
inline constinit thread_local std::array<CachedClient, kCachedClients> cached_clients{};

// Makes a client where the thread has none. Fills the cache.
Client& find_or_attach(Engine& engine, const std::shared_ptr<ThreadLink>& link);

}  // namespace contrafact::deferred
