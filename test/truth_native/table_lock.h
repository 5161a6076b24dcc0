// The lock of a table that is looked up much and changed little: a mutex, in the twin a reader-writer lock.
#pragma once

#include <pthread.h>

#if TWIN
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
#define READ() pthread_rwlock_rdlock(&table)
#define WRITE() pthread_rwlock_wrlock(&table)
#define DONE() pthread_rwlock_unlock(&table)
#else
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
#define READ() pthread_mutex_lock(&table)
#define WRITE() pthread_mutex_lock(&table)
#define DONE() pthread_mutex_unlock(&table)
#endif
