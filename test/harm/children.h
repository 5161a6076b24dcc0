// Cases of harm_ends in which a program starts others: each returns its status.
#pragma once

namespace harm {

int parent_ends_first();
int becomes_daemon();
int forks_twice();
int vfork_and_exec();
int vfork_and_fail();
int spawns();
int spawns_in_threads();
int runs_shells();
int clones(int flags);
int forks_barely(bool by_library);
int forks_while_others_lock();
int forks_in_thread();
int forks_while_cancelled();
int ignores_children();
int stopped_and_continued();
int traced();

}  // namespace harm
