// Sockets, of whose transfers each is recorded: connections between threads and by an event loop, pairs, descriptors
// that are used again, and children.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const int kConnections = 3, kRequests = 5;
static const size_t kRequestBytes = 20, kAnswerBytes = 300;
static sockaddr_in server_address;

// What goes over them is full of a word that must be in no recording.
static void fill(char* data, size_t bytes) {
  static const char kSecret[] = "confidential";
  for (size_t i = 0; i < bytes; ++i) data[i] = kSecret[i % (sizeof kSecret - 1)];
}

static void expect(bool good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

// The kernel chooses the port, and the program asks for it.
static int listen_anywhere(int flags) {
  const int listener = socket(AF_INET, SOCK_STREAM | flags, 0);
  server_address.sin_family = AF_INET;
  server_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  server_address.sin_port = 0;
  expect(bind(listener, reinterpret_cast<sockaddr*>(&server_address), sizeof server_address) == 0, "bind");
  expect(listen(listener, 10) == 0, "listen");
  socklen_t bytes = sizeof server_address;
  expect(getsockname(listener, reinterpret_cast<sockaddr*>(&server_address), &bytes) == 0, "getsockname");
  return listener;
}

static int connect_to_server() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  expect(connect(fd, reinterpret_cast<sockaddr*>(&server_address), sizeof server_address) == 0, "connect");
  return fd;
}

static void* ask(void*) {
  char data[kAnswerBytes] = {};
  for (int i = 0; i < kConnections; ++i) {
    const int fd = connect_to_server();
    for (int k = 0; k < kRequests; ++k) {
      fill(data, kRequestBytes);
      expect(send(fd, data, kRequestBytes, 0) == static_cast<ssize_t>(kRequestBytes), "send");
      expect(recv(fd, data, kAnswerBytes, MSG_WAITALL) == static_cast<ssize_t>(kAnswerBytes), "recv");
    }
    close(fd);
  }
  return nullptr;
}

// One answer, in two parts; false at the end.
static bool answer(int fd) {
  char request[4096], data[kAnswerBytes / 2];
  fill(data, sizeof data);
  const ssize_t got = read(fd, request, sizeof request);
  if (got == 0) return false;
  expect(got == static_cast<ssize_t>(kRequestBytes), "read");
  iovec parts[] = {{data, sizeof data}, {data, sizeof data}};
  expect(writev(fd, parts, 2) == static_cast<ssize_t>(kAnswerBytes), "writev");
  return true;
}

static void* serve(void* argument) {
  const int fd = static_cast<int>(reinterpret_cast<intptr_t>(argument));
  while (answer(fd)) continue;
  close(fd);
  return nullptr;
}

static void with_threads() {
  const int listener = listen_anywhere(0);
  pthread_t client, workers[kConnections];
  pthread_create(&client, nullptr, ask, nullptr);
  for (pthread_t& worker : workers) {
    const int fd = accept(listener, nullptr, nullptr);
    expect(fd >= 0, "accept");
    pthread_create(&worker, nullptr, serve, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  }
  for (const pthread_t worker : workers) pthread_join(worker, nullptr);
  pthread_join(client, nullptr);
  close(listener);
}

static void add(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  expect(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static void with_epoll() {
  const int listener = listen_anywhere(SOCK_NONBLOCK), epoll = epoll_create1(0);
  pthread_t client;
  pthread_create(&client, nullptr, ask, nullptr);
  add(epoll, listener);
  for (int ended = 0; ended < kConnections;) {
    epoll_event events[4];
    const int count = epoll_wait(epoll, events, 4, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener) {
        sockaddr_in peer;
        socklen_t bytes = sizeof peer;
        const int accepted = accept4(listener, reinterpret_cast<sockaddr*>(&peer), &bytes, SOCK_NONBLOCK);
        expect(accepted >= 0, "accept4");
        char byte;
        if (read(accepted, &byte, 0) != 0) exit(1);  // no room, no end
        add(epoll, accepted);
      } else if (!answer(fd)) {
        close(fd);
        ++ended;
      }
    }
  }
  pthread_join(client, nullptr);
  close(epoll);
  close(listener);
}

// One end sends, the other receives.
static void with_pair() {
  int ends[2];
  char data[100];
  fill(data, sizeof data);
  expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  iovec part{data, 10};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  sendmsg(ends[0], &message, 0);             // 10
  write(ends[0], data, 20);                  // 20
  sendto(ends[0], data, 30, 0, nullptr, 0);  // 30
  mmsghdr two[2]{};
  two[0].msg_hdr = two[1].msg_hdr = message;
  expect(sendmmsg(ends[0], two, 2, 0) == 2, "sendmmsg");   // 20
  recv(ends[1], data, 10, MSG_PEEK);                       // a look
  expect(recvmsg(ends[1], &message, 0) == 10, "recvmsg");  // 10
  expect(recvfrom(ends[1], data, 50, 0, nullptr, nullptr) == 50, "recvfrom");
  const int copy = dup(ends[1]);
  expect(recvmmsg(copy, two, 1, 0, nullptr) == 1, "recvmmsg");  // 10, of the same connection
  iovec parts[] = {{data, 4}, {data + 4, 6}};
  expect(readv(copy, parts, 2) == 10, "readv");
  close(ends[0]);
  expect(read(ends[1], data, 1) == 0, "end");
  close(ends[1]);
  close(copy);
}

// A datagram without bytes is no end.
static void with_datagrams() {
  int ends[2];
  char data[100] = {};
  expect(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0, "socketpair");
  send(ends[0], data, 0, 0);
  send(ends[0], data, 7, 0);
  expect(recv(ends[1], data, sizeof data, 0) == 0 && recv(ends[1], data, sizeof data, 0) == 7, "recv");
  close(ends[0]);
  close(ends[1]);
}

// What a number was before says nothing of what it is.
static void used_again() {
  char data[8] = {};
  for (int i = 0; i < 4; ++i) {
    int ends[2];
    expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    write(ends[0], data, 1);
    read(ends[1], data, 1);
    if (i == 0) close(ends[0]);
    if (i == 1) close_range(static_cast<unsigned>(ends[0]), static_cast<unsigned>(ends[0]), 0);
    const int null = open("/dev/null", O_RDWR);
    if (i == 2) dup2(null, ends[0]);
    if (i == 3) fclose(fdopen(ends[0], "r"));
    const int again = i == 2 ? ends[0] : i == 3 ? open("/dev/null", O_RDWR) : null;
    expect(again == ends[0], "the same number");
    write(again, data, 2);
    read(again, data, 2);
    close(again);
    close(null);
    close(ends[1]);
  }
}

static void with_children() {
  const int listener = listen_anywhere(0);
  const int early = connect_to_server(), accepted = accept(listener, nullptr, nullptr);
  char data[kRequestBytes];
  fill(data, sizeof data);
  write(early, data, 1);
  read(accepted, data, 1);
  const pid_t child = fork();
  if (child == 0) {
    const int fd = accept(listener, nullptr, nullptr);
    while (answer(fd)) continue;
    write(accepted, data, 2);  // of its parent's connection
    exit(0);
  }
  const int fd = connect_to_server();
  char reply[kAnswerBytes];
  for (int k = 0; k < kRequests; ++k) {
    write(fd, data, kRequestBytes);
    recv(fd, reply, kAnswerBytes, MSG_WAITALL);
  }
  close(fd);
  read(early, data, 2);
  usleep(200'000);  // the recorder may find its port meanwhile
  int status = 1;
  waitpid(child, &status, 0);
  printf("child %d\n", status);
  const pid_t sharing = vfork();
  if (sharing == 0) {
    close(early);  // the child's
    _exit(0);
  }
  waitpid(sharing, &status, 0);
  write(early, data, 3);
}

// Without a copy in the program's memory.
static void straight_through() {
  int ends[2], further[2], pipe_ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, further) == 0, "pairs");
  expect(pipe(pipe_ends) == 0, "pipe");
  const int file = open("/proc/self/exe", O_RDONLY);
  off_t at = 0;
  const bool sent = sendfile(ends[0], file, &at, 100) == 100;
  const bool spliced = splice(ends[1], nullptr, pipe_ends[1], nullptr, 100, 0) == 100 &&
                       splice(pipe_ends[0], nullptr, further[0], nullptr, 100, 0) == 100;
  printf("sent %d spliced %d\n", sent, spliced);
}

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "threads") == 0) with_threads();
  if (strcmp(what, "epoll") == 0) with_epoll();
  if (strcmp(what, "pair") == 0) with_pair();
  if (strcmp(what, "datagrams") == 0) with_datagrams();
  if (strcmp(what, "again") == 0) used_again();
  if (strcmp(what, "children") == 0) with_children();
  if (strcmp(what, "straight") == 0) straight_through();
  printf("done\n");
}
