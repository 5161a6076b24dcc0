#include "deferred/client.h"

namespace contrafact::deferred {

void Client::reset(uint32_t stream) {
  stub_.header = contrafact_buffer{};
  stub_.header.owner = reinterpret_cast<uint64_t>(this);
  stub_.header.logical_thread = stream;
  stub_.next.store(nullptr, std::memory_order_relaxed);
  stub_.drained.store(false, std::memory_order_relaxed);
  stub_.begun = true;  // it never has anything to say
  current_ = &stub_;
  head_ = &stub_;
  stream_ = stream;
  size_class_ = 0;
  pass_of_current_ = 0;
  dropped_.store(0, std::memory_order_relaxed);
  ended_.store(false, std::memory_order_relaxed);
  memo_ = 0;
  unsaid_dropped_ = 0;
  next_new_ = nullptr;
}

Client* ClientTable::attach(uint32_t stream) {
  Client* client;
  {
    std::lock_guard lock(mutex_);
    if (free_.empty()) {
      clients_.push_back(std::make_unique<Client>(carrier_));
      free_.reserve(clients_.size());
      client = clients_.back().get();
    } else {
      client = free_.back();
      free_.pop_back();
    }
  }
  client->reset(stream);
  carrier_.attached(*client);
  return client;
}

void ClientTable::detach(Client* client) {
  carrier_.detached(*client);
}

void ClientTable::recycle(Client* client) {
  std::lock_guard lock(mutex_);
  free_.push_back(client);
}

std::vector<Client*> ClientTable::all() const {
  std::lock_guard lock(mutex_);
  std::vector<Client*> all;
  for (const std::unique_ptr<Client>& client : clients_) all.push_back(client.get());
  return all;
}

size_t ClientTable::clients_made() const {
  std::lock_guard lock(mutex_);
  return clients_.size();
}

}  // namespace contrafact::deferred
