// A server that the program itself asks: a byte says for what. Orders and items are handled by functions of their own, which take locks
// and sleep; what both do is the same.
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static const int kRequests = 60;
static sockaddr_in address;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stock = PTHREAD_MUTEX_INITIALIZER;
static int entries, orders, items;

static void expect(bool good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

// So that a request is not over before the kernel has told of its thread's waking up.
static void __attribute__((noinline)) compute() {
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < 200'000; ++i) sum = sum + i;
}

static void __attribute__((noinline)) write_journal() {
  pthread_mutex_lock(&journal);
  ++entries;
  pthread_mutex_unlock(&journal);
}

static void __attribute__((noinline)) handle_order() {
  pthread_mutex_lock(&stock);
  ++orders;
  pthread_mutex_unlock(&stock);
  usleep(2000);
}

static void __attribute__((noinline)) handle_item() {
  pthread_mutex_lock(&stock);
  ++items;
  pthread_mutex_unlock(&stock);
}

static void* serve(void* listening) {
  const int fd = accept(*static_cast<int*>(listening), nullptr, nullptr);
  expect(fd >= 0, "accept");
  for (char asked; read(fd, &asked, 1) == 1;) {
    compute();
    write_journal();
    asked == 'o' ? handle_order() : handle_item();
    expect(write(fd, ".", 1) == 1, "write");
  }
  close(fd);
  return nullptr;
}

int main() {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  expect(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  expect(listen(listener, 1) == 0, "listen");
  socklen_t bytes = sizeof address;
  expect(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) == 0, "getsockname");
  pthread_t server;
  pthread_create(&server, nullptr, serve, &listener);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  expect(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect");
  for (int i = 0; i < kRequests; ++i) {
    char answer;
    expect(write(fd, i % 3 == 0 ? "o" : "i", 1) == 1, "write");
    expect(read(fd, &answer, 1) == 1, "read");
  }
  close(fd);
  pthread_join(server, nullptr);
  printf("%d entries, %d orders, %d items\n", entries, orders, items);
}
