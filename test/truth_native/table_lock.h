// The lock of a table that is looked up much and changed little: a mutex, in the twin a reader-writer lock.
#pragma once

#include <pthread.h>

#include "work.h"

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_rw = PTHREAD_RWLOCK_INITIALIZER;
// Macros: the lock is to be seen taken by the function that looks up or changes, not by one of ours.
#define READ() (twin ? pthread_rwlock_rdlock(&table_rw) : pthread_mutex_lock(&table))
#define WRITE() (twin ? pthread_rwlock_wrlock(&table_rw) : pthread_mutex_lock(&table))
#define DONE() (twin ? pthread_rwlock_unlock(&table_rw) : pthread_mutex_unlock(&table))
