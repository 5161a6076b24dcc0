#include "deferred/thread_clients.h"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "deferred/engine.h"

namespace contrafact::deferred {
namespace {

struct Attached {
  uint64_t engine_serial;
  Client* client;
  std::shared_ptr<ThreadLink> link;
};
using ThreadClients = std::vector<Attached>;

void end_of_thread(void* clients) {
  cached_clients = {};
  std::unique_ptr<ThreadClients> owned(static_cast<ThreadClients*>(clients));
  for (Attached& attached : *owned) attached.link->detach(attached.client);
}

// A key, not a thread_local object: the destructors of such objects may defer calls too. They run before the keys'; and
// a key that another key's destructor sets again is destroyed again.
pthread_key_t key() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    CHECK(pthread_key_create(&made, end_of_thread) == 0);
    return made;
  }();
  return key;
}

ThreadClients& clients_of_this_thread() {
  auto* clients = static_cast<ThreadClients*>(pthread_getspecific(key()));
  if (!clients) {
    clients = new ThreadClients;
    CHECK(pthread_setspecific(key(), clients) == 0);
  }
  return *clients;
}

std::atomic<uint32_t> threads_seen{0};

}  // namespace

void ThreadLink::cut() {
  std::unique_lock lock(mutex_);
  engine_ = nullptr;
}

bool ThreadLink::is_cut() const {
  std::shared_lock lock(mutex_);
  return !engine_;
}

void ThreadLink::detach(Client* client) {
  if (forks_before() != forks_before_) return;
  std::shared_lock lock(mutex_);
  if (engine_) engine_->detach(client);
}

Client& find_or_attach(Engine& engine, const std::shared_ptr<ThreadLink>& link) {
  ThreadClients& clients = clients_of_this_thread();
  Client* client = nullptr;
  for (const Attached& attached : clients) {
    if (attached.engine_serial == engine.serial()) client = attached.client;
  }
  if (!client) {
    std::erase_if(clients, [](const Attached& attached) { return attached.link->is_cut(); });
    clients.reserve(clients.size() + 1);
    client = engine.attach(threads_seen.fetch_add(1, std::memory_order_relaxed));
    client->foreign_ = false;
    clients.push_back({engine.serial(), client, link});
  }
  cached_clients[engine.serial() % kCachedClients] = {engine.serial(), client};
  return *client;
}

}  // namespace contrafact::deferred
