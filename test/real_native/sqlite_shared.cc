// Threads that look things up in SQLite over one connection, which is locked while a statement runs (serialised mode).
// Twin: a connection for each thread.
#include <sqlite3.h>

#include <atomic>
#include <string>
#include <vector>

#include "scratch.h"
#include "work.h"

namespace {

constexpr int rows = 5000, threads = 3;

sqlite3* opened(const std::string& file) {
  sqlite3* connection = nullptr;
  if (sqlite3_open_v2(file.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
                      nullptr) != SQLITE_OK)
    abort();
  return connection;
}

void fill(sqlite3* connection) {
  sqlite3_exec(connection, "create table song(id integer primary key, title text, seconds integer); begin", nullptr,
               nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(connection, "insert into song values(?1, 'a song with number ' || ?1, ?1 % 400)", -1, &insert,
                     nullptr);
  for (int i = 0; i < rows; ++i) {
    sqlite3_bind_int(insert, 1, i);
    sqlite3_step(insert);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  sqlite3_exec(connection, "commit", nullptr, nullptr, nullptr);
}

uint64_t look_up(sqlite3* connection, int number) {
  sqlite3_stmt* select = nullptr;
  sqlite3_prepare_v2(connection, "select sum(seconds), max(title) from song where id between ?1 and ?1 + 40", -1,
                     &select, nullptr);
  uint64_t random = static_cast<uint64_t>(number) + 5, sum = 0;
  for (int i = 0; i < 8000; ++i) {
    sqlite3_bind_int(select, 1, static_cast<int>(next_random(random) % rows));
    if (sqlite3_step(select) == SQLITE_ROW) sum += static_cast<uint64_t>(sqlite3_column_int64(select, 0));
    sqlite3_reset(select);
    if (compute(random, 3) == 0) return 0;
  }
  sqlite3_finalize(select);
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  const ScratchFolder folder;
  const std::string file = folder.path + "/songs.db";
  sqlite3* first = opened(file);
  fill(first);
  const int status = timed_main(count, arguments, [&] {
    std::atomic<uint64_t> sum = 0;
    run_threads(threads, [&](int number) {
      sqlite3* connection = twin ? opened(file) : first;
      sum += look_up(connection, number);
      if (twin) sqlite3_close(connection);
    });
    return sum.load();
  });
  sqlite3_close(first);
  return status;
}
