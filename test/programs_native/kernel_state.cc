// Two threads in turns; critical sections that share no memory, and whose order the kernel's state needs or does not.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fstream>
#include <string>

static sem_t turns[2];
static int log_file, own_files[2], sockets[2], own_sockets[2][2], store;
static FILE *stream, *own_streams[2];  // that keep what is printed for later
static char config[2][64], journal[64], own_journal[2][64];

// What calls gave back, so that they are made.
static ssize_t results[2][16];
#define SECTION(name, ...)                                         \
  static pthread_mutex_t name##_mutex = PTHREAD_MUTEX_INITIALIZER; \
  static __attribute__((noinline)) void name(int self) {           \
    ssize_t result = 0;                                            \
    pthread_mutex_lock(&name##_mutex);                             \
    __VA_ARGS__;                                                   \
    pthread_mutex_unlock(&name##_mutex);                           \
    results[self][0] += result;                                    \
  }

static const char kHead[] = "head", kBody[] = "body";
static iovec g_parts[] = {{const_cast<char*>(kHead), 4}, {const_cast<char*>(kBody), 4}};

// Order is needed.
SECTION(two_writes, result = write(log_file, kHead, 4); result += write(log_file, kBody, 4))
SECTION(vectors, result = writev(log_file, g_parts, 2))
SECTION(seek_and_read, char c; lseek(store, 2 * self, SEEK_SET); result = read(store, &c, 1))
SECTION(messages, result = send(sockets[0], kHead, 4, 0); result += send(sockets[0], kBody, 4, 0))
SECTION(takes, char c; result = recv(sockets[1], &c, 1, 0))
SECTION(mask, const mode_t before = umask(027); umask(before); result = before != 0)
SECTION(folder, result = chdir(self == 0 ? "/" : "/tmp"))
SECTION(handler, struct sigaction action = {}; action.sa_handler = SIG_IGN;
        result = sigaction(SIGUSR2, &action, nullptr))
SECTION(same_place, result = pwrite(store, kHead, 4, 0))
SECTION(append_and_close, const int fd = open(journal, O_WRONLY | O_APPEND); result = write(fd, kHead, 4); close(fd))
SECTION(prints, result = fprintf(stderr, "%s\n", kHead))
SECTION(prints_to_stream, result = fprintf(stream, "%s %d\n", kHead, self))
SECTION(puts_to_stream, result = fputs(kHead, stream))
SECTION(copies_of_one, const int fd = dup(log_file); result = write(fd, kBody, 4); close(fd))

// No order is needed.
SECTION(writes_to_own, result = write(own_files[self], kHead, 4))
SECTION(prints_to_own_stream, result = fprintf(own_streams[self], "%s %d\n", kHead, self))
SECTION(messages_to_own, result = send(own_sockets[self][0], kHead, 4, 0); char c[4];
        result += read(own_sockets[self][1], c, 4))
SECTION(other_place, result = pwrite(store, kHead, 4, 100 + 4 * self))
SECTION(same_place_read, char c[4]; result = pread(store, c, 4, 0))
SECTION(loads, char c[8]; const int fd = open(config[self], O_RDONLY); result = read(fd, c, 8); close(fd))
SECTION(appends_to_own, const int fd = open(own_journal[self], O_WRONLY | O_APPEND); result = write(fd, kHead, 4);
        close(fd))
SECTION(asks, result = getpid() + getuid(); struct stat what; result += stat("/etc", &what))

using Function = void (*)(int);
static const Function kFunctions[] = {two_writes,
                                      vectors,
                                      seek_and_read,
                                      messages,
                                      takes,
                                      mask,
                                      folder,
                                      handler,
                                      same_place,
                                      append_and_close,
                                      prints,
                                      copies_of_one,
                                      prints_to_stream,
                                      puts_to_stream,
                                      prints_to_own_stream,
                                      writes_to_own,
                                      messages_to_own,
                                      other_place,
                                      same_place_read,
                                      loads,
                                      appends_to_own,
                                      asks};

static void* worker(void* argument) {
  const int self = *static_cast<int*>(argument);
  for (int round = 0; round < 5; ++round) {
    while (sem_wait(&turns[self]) != 0) {
    }
    for (const Function function : kFunctions) function(self);
    sem_post(&turns[1 - self]);
  }
  return nullptr;
}

static int make_file(const std::string& path) {
  return open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
}

int main() {
  char pattern[] = "/tmp/kernel_state.XXXXXX";
  const std::string base = std::string(mkdtemp(pattern)) + "/";
  log_file = make_file(base + "log");
  store = make_file(base + "store");
  stream = fopen((base + "stream").c_str(), "w");
  bool ok = pwrite(store, "0123456789", 10, 0) == 10;
  strcpy(journal, (base + "journal").c_str());
  close(make_file(journal));
  for (int i = 0; i < 2; ++i) {
    const std::string number = std::to_string(i);
    own_files[i] = make_file(base + "own" + number);
    own_streams[i] = fopen((base + "own_stream" + number).c_str(), "w");
    strcpy(config[i], (base + "config" + number).c_str());
    strcpy(own_journal[i], (base + "own_journal" + number).c_str());
    std::ofstream(config[i]) << "setting\n";
    close(make_file(own_journal[i]));
    ok = ok && socketpair(AF_UNIX, SOCK_STREAM, 0, own_sockets[i]) == 0;
  }
  ok = ok && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0;
  sem_init(&turns[0], 0, 1);
  sem_init(&turns[1], 0, 0);
  pthread_t threads[2];
  int numbers[2] = {0, 1};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, worker, &numbers[i]);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  printf("%d %ld %ld\n", ok, lseek(log_file, 0, SEEK_END), lseek(own_files[1], 0, SEEK_END));
  if (chdir("/") != 0 || system(("rm -r " + base).c_str()) != 0) return 1;
}
