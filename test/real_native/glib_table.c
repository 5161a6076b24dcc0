// A GHashTable under a GRecMutex, looked up by threads that copy what they find; one call in 200 changes an entry. Twin: under a GRWLock.
#include <glib.h>
#include <stdio.h>
#include <string.h>

enum { threads = 3, words = 2000, calls = 12000 };

static gboolean twin;
static GRecMutex mutex;
static GRWLock readers;
static GHashTable* table;

static char* key_of(guint64 number) {
  return g_strdup_printf("a word of the table %d", (int)(number % words));
}

static gsize looked_up(guint64 seed) {
  gsize bytes = 0;
  for (int i = 0; i < 40; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    char* key = key_of(seed >> 33);
    char* copy = g_strdup(g_hash_table_lookup(table, key));
    bytes += strlen(copy);
    g_free(copy);
    g_free(key);
  }
  return bytes;
}

static gsize look_up(guint64 seed) {
  if (twin) g_rw_lock_reader_lock(&readers);
  else g_rec_mutex_lock(&mutex);
  const gsize bytes = looked_up(seed);
  if (twin) g_rw_lock_reader_unlock(&readers);
  else g_rec_mutex_unlock(&mutex);
  return bytes;
}

static void correct(guint64 number) {
  if (twin) g_rw_lock_writer_lock(&readers);
  else g_rec_mutex_lock(&mutex);
  g_hash_table_replace(table, key_of(number), g_strdup_printf("its meaning, in %06d words", (int)(number % 1000)));
  if (twin) g_rw_lock_writer_unlock(&readers);
  else g_rec_mutex_unlock(&mutex);
}

static gpointer work(gpointer argument) {
  guint64 seed = (guint64)GPOINTER_TO_INT(argument) + 5;
  gsize bytes = 0;
  for (int i = 0; i < calls; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    if (i % 200 == 7) correct(seed >> 33);
    bytes += look_up(seed);
  }
  return GSIZE_TO_POINTER(bytes);
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  for (int i = 0; i < words; ++i) correct((guint64)i);
  const gint64 begin = g_get_monotonic_time();
  GThread* workers[threads];
  for (int i = 0; i < threads; ++i) workers[i] = g_thread_new("worker", work, GINT_TO_POINTER(i));
  gsize sum = 0;
  for (int i = 0; i < threads; ++i) sum += GPOINTER_TO_SIZE(g_thread_join(workers[i]));
  printf("result %llu us %lld\n", (unsigned long long)sum, (long long)(g_get_monotonic_time() - begin));
  g_hash_table_destroy(table);
  return 0;
}
