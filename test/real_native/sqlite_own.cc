// Threads with a connection of SQLite's each. Each connection's lock is hardly waited for. Nothing is to be changed.
#include <sqlite3.h>

#include <atomic>
#include <string>

#include "work.h"

namespace {

uint64_t one_thread(int number) {
  sqlite3* connection = nullptr;
  if (sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
                      nullptr) != SQLITE_OK)
    abort();
  sqlite3_exec(connection, "create table count(id integer primary key, n integer)", nullptr, nullptr, nullptr);
  sqlite3_stmt* upsert = nullptr;
  sqlite3_prepare_v2(connection, "insert into count values(?1, 1) on conflict(id) do update set n = n + 1", -1, &upsert,
                     nullptr);
  uint64_t random = static_cast<uint64_t>(number) + 5;
  for (int i = 0; i < 30000; ++i) {
    sqlite3_bind_int(upsert, 1, static_cast<int>(next_random(random) % 500));
    sqlite3_step(upsert);
    sqlite3_reset(upsert);
  }
  const auto changes = static_cast<uint64_t>(sqlite3_total_changes(connection));
  sqlite3_finalize(upsert);
  sqlite3_close(connection);
  return changes;
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    std::atomic<uint64_t> sum = 0;
    run_threads(3, [&](int number) { sum += one_thread(number); });
    return sum.load();
  });
}
