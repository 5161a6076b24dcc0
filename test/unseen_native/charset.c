// usage: unseen_charset [base|twin]
// Mails are converted to another character set, each by the converter (iconv_t) of its thread, but under one mutex, for
// somebody heard that iconv is not safe with threads. Twin: without the mutex.
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { workers = 3, mails = 13000, mail_bytes = 2400 };

struct converter {
  iconv_t handle;
  char out[2 * mail_bytes + 16];
  size_t length;
};

static mtx_t iconv_mutex;
static int twin;
static uint64_t digests[workers];

static int convert(struct converter* converter, char* in, size_t bytes) {
  char* out = converter->out;
  size_t room = sizeof converter->out;
  if (!twin) mtx_lock(&iconv_mutex);
  iconv(converter->handle, NULL, NULL, NULL, NULL);
  const size_t failed = iconv(converter->handle, &in, &bytes, &out, &room);
  converter->length = sizeof converter->out - room;
  if (!twin) mtx_unlock(&iconv_mutex);
  return failed != (size_t)-1;
}

static size_t write_mail(char* mail, uint32_t* x) {
  static const char* const words[] = {"Grüße", "aus",      "Köln", "am",     "Rhein", "café",   "naïve", "déjà",
                                      "vu",    "señor", "€",    "Ångström", "the",   "letter", "sent",  "today"};
  size_t at = 0;
  while (at < mail_bytes - 20) {
    *x = *x * 1664525u + 1013904223u;
    const char* word = words[*x >> 28];
    const size_t length = strlen(word);
    memcpy(mail + at, word, length);
    mail[at + length] = ' ';
    at += length + 1;
  }
  return at;
}

static int work(void* argument) {
  const int number = (int)(intptr_t)argument;
  struct converter* converter = malloc(sizeof *converter);
  converter->handle = iconv_open("UTF-16LE", "UTF-8");
  if (converter->handle == (iconv_t)-1) exit(77);
  uint32_t x = (uint32_t)number + 17;
  uint64_t digest = 0;
  for (int i = 0; i < mails; ++i) {
    char mail[mail_bytes];
    const size_t bytes = write_mail(mail, &x);
    if (!convert(converter, mail, bytes)) exit(1);
    for (size_t n = 0; n < converter->length; n += 2) digest = digest * 31 + (unsigned char)converter->out[n];
  }
  digests[number] = digest;
  iconv_close(converter->handle);
  free(converter);
  return 0;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  struct timespec begin, end;
  timespec_get(&begin, TIME_UTC);
  mtx_init(&iconv_mutex, mtx_plain);
  thrd_t threads[workers];
  for (intptr_t i = 0; i < workers; ++i) thrd_create(&threads[i], work, (void*)i);
  for (int i = 0; i < workers; ++i) thrd_join(threads[i], NULL);
  timespec_get(&end, TIME_UTC);
  uint64_t digest = 0;
  for (int i = 0; i < workers; ++i) digest += digests[i];
  printf("result %llu us %lld\n", (unsigned long long)digest,
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
