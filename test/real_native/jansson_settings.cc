// Settings in a JSON object of Jansson's, looked up and copied under a mutex; one call in 300 changes one. Twin: a
// reader-writer lock.
#include <jansson.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "work.h"

namespace {

constexpr int services = 40;

std::shared_mutex mutex;
json_t* settings = json_object();

std::string service_name(uint64_t number) {
  return "service-" + std::to_string(number % services);
}

void set_limit(uint64_t number, int limit) {
  const std::unique_lock lock(mutex);
  json_object_set_new(json_object_get(settings, service_name(number).c_str()), "limit", json_integer(limit));
}

// What a client is sent: the settings of three services.
size_t sent(uint64_t seed) {
  size_t bytes = 0;
  for (int i = 0; i < 3; ++i) {
    char text[1000];
    bytes +=
        json_dumpb(json_object_get(settings, service_name(next_random(seed)).c_str()), text, sizeof text, JSON_COMPACT);
  }
  return bytes;
}

size_t answer(uint64_t seed) {
  if (twin) {
    const std::shared_lock lock(mutex);
    return sent(seed);
  }
  const std::unique_lock lock(mutex);
  return sent(seed);
}

}  // namespace

int main(int count, char** arguments) {
  for (uint64_t i = 0; i < services; ++i) {
    json_object_set_new(
        settings, service_name(i).c_str(),
        json_pack("{s:s, s:i, s:[i,i,i]}", "host", "a host's name", "limit", 100, "ports", 8080, 8081, 8082));
  }
  return timed_main(count, arguments, [] {
    std::atomic<uint64_t> sum = 0;
    run_threads(3, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      for (int i = 0; i < 40000; ++i) {
        if (i % 300 == 7) set_limit(next_random(random), 100 + i % 800);
        sum += answer(next_random(random));
        if (compute(random, 2) == 0) return;
      }
    });
    return sum.load();
  });
}
