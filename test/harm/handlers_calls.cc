#include "handlers_calls.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include <iterator>

#include "harm.h"

using namespace harm;

namespace {

int g_zero, g_null, g_file, g_epoll, g_listener, g_pair[2], g_shell;
int g_silent[2];  // nothing is ever sent: who does not wait takes no byte of a thread that does
sem_t g_semaphore;
char g_byte;
char* const kNobody[] = {const_cast<char*>("nobody"), nullptr};
char* const kSeven[] = {const_cast<char*>("sh"), const_cast<char*>("-c"), const_cast<char*>("exit 7"), nullptr};
const timespec kNanosecond{0, 1};
constexpr const char* kNowhere = "/nowhere/to/be/found";

void nothing(int) {}

// A call whose failure is of no interest here, but that it returns.
template <typename Result>
void made(Result) {}

iovec one_byte() {
  return {&g_byte, 1};
}

msghdr message(iovec* part) {
  msghdr header{};
  header.msg_iov = part;
  header.msg_iovlen = 1;
  return header;
}

// Plain, each ends as it is to end.
void await_child(pid_t child) {
  int status = 0;
  if (child < 0 || wait4(child, &status, 0, nullptr) != child) return;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) say("a child ended otherwise\n");
}

void with_child(pid_t child) {
  if (child == 0) _exit(0);
  await_child(child);
}

void call_fork() {
  with_child(fork());
}
void call_bare_fork() {
  with_child(_Fork());
}
void call_vfork() {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  await_child(child);
}
extern "C" pid_t __vfork() __attribute__((returns_twice));
void call_vfork_by_other_name() {
  const pid_t child = __vfork();
  if (child == 0) _exit(0);
  await_child(child);
}
void call_sigsuspend() {
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  raise(SIGUSR1);
  sigset_t without = before;
  sigdelset(&without, SIGUSR1);
  sigsuspend(&without);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
void call_sigwait() {
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  int number;
  raise(SIGUSR1);
  sigwait(&one, &number);
  raise(SIGUSR1);
  sigwaitinfo(&one, nullptr);
  raise(SIGUSR1);
  sigtimedwait(&one, nullptr, &kNanosecond);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
// An alarm for this thread every two milliseconds, so that none that came before the pause is missed.
void call_pause() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = static_cast<pid_t>(bare_call(SYS_gettid));
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
  const itimerspec every{{0, 2'000'000}, {0, 2'000'000}};
  timer_settime(timer, 0, &every, nullptr);
  pause();
  timer_delete(timer);
}
void call_select() {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(g_zero, &set);
  timeval none{};
  made(select(g_zero + 1, &set, nullptr, nullptr, &none));
}
void call_pselect() {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(g_zero, &set);
  made(pselect(g_zero + 1, &set, nullptr, nullptr, &kNanosecond, nullptr));
}
void call_connect() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, kNowhere);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  made(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  close(fd);
}
void call_socket_and_close() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t bytes = sizeof(address);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  made(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address.sun_family)));  // to a name that the kernel makes
  made(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes));
  close(fd);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  const int copy = dup(ends[0]);
  made(dup2(ends[1], copy));
  close(copy);
  close(ends[0]);
  close(ends[1]);
}
void call_sigaction() {
  struct sigaction action{}, before;
  action.sa_handler = nothing;
  sigaction(SIGUSR2, &action, &before);
  sigaction(SIGUSR2, &before, nullptr);
}
// The name that the library has it under: its declaration warns.
extern "C" sighandler_t old_sigset(int number, sighandler_t handler) __asm__("sigset");
void call_sigset() {
  old_sigset(SIGUSR2, nothing);
}
extern "C" sighandler_t old_bsd_signal(int number, sighandler_t handler) __asm__("bsd_signal");
extern "C" sighandler_t inner_sysv_signal(int number, sighandler_t handler) __asm__("__sysv_signal");
void call_signals() {
  signal(SIGUSR2, nothing);
  old_bsd_signal(SIGUSR2, nothing);
  ssignal(SIGUSR2, nothing);
  sysv_signal(SIGUSR2, nothing);
  inner_sysv_signal(SIGUSR2, nothing);
  signal(SIGUSR2, nothing);
}
void call_messages() {
  iovec part = one_byte();
  msghdr header = message(&part);
  made(sendmsg(g_pair[0], &header, 0));
  made(recvmsg(g_pair[1], &header, 0));
}
void call_datagrams() {
  made(sendto(g_pair[0], &g_byte, 1, 0, nullptr, 0));
  made(recvfrom(g_pair[1], &g_byte, 1, 0, nullptr, nullptr));
}
void call_vectors() {
  iovec part = one_byte();
  made(readv(g_zero, &part, 1));
  made(writev(g_null, &part, 1));
}
void call_preads() {
  made(pread(g_file, &g_byte, 1, 0));
  made(pread64(g_file, &g_byte, 1, 0));
}
void call_pwrites() {
  made(pwrite(g_file, &g_byte, 1, 0));
  made(pwrite64(g_file, &g_byte, 1, 0));
}
void call_epolls() {
  epoll_event event;
  made(epoll_wait(g_epoll, &event, 1, 0));
  made(epoll_pwait(g_epoll, &event, 1, 0, nullptr));
  made(epoll_pwait2(g_epoll, &event, 1, &kNanosecond, nullptr));
}
// As -D_FORTIFY_SOURCE calls them.
extern "C" ssize_t read_checked(int fd, void* to, size_t bytes, size_t room) __asm__("__read_chk");
extern "C" ssize_t recv_checked(int fd, void* to, size_t bytes, size_t room, int flags) __asm__("__recv_chk");
extern "C" int poll_checked(pollfd* fds, nfds_t count, int timeout_ms, size_t room) __asm__("__poll_chk");
void call_checked() {
  made(read_checked(g_zero, &g_byte, 1, 1));
  made(recv_checked(g_silent[1], &g_byte, 1, 1, MSG_DONTWAIT));
  pollfd one{g_zero, POLLIN, 0};
  made(poll_checked(&one, 1, 0, sizeof(one)));
}
void call_waits() {
  int status;
  siginfo_t info;
  made(wait(&status));
  made(waitpid(-1, &status, WNOHANG));
  made(waitid(P_ALL, 0, &info, WEXITED | WNOHANG));
  made(wait4(-1, &status, WNOHANG, nullptr));
}
void call_pthread_kill() {
  pthread_kill(pthread_self(), SIGUSR1);
}

void end_execve() {
  execve("/bin/sh", kSeven, environ);
}
void end_execv() {
  execv("/bin/sh", kSeven);
}
void end_execl() {
  execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr));
}
void end_execle() {
  execle("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr), environ);
}
void end_fexecve() {
  fexecve(g_shell, kSeven, environ);
}
void end_kill() {
  signal(SIGTERM, SIG_DFL);
  kill(getpid(), SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  for (;;) sigsuspend(&none);
}
void end_quickly() {
  quick_exit(7);
}
void end_abort() {
  abort();
}

}  // namespace

const Call kCalls[] = {
    {"read", [] { made(read(g_zero, &g_byte, 1)); }},
    {"write", [] { made(write(g_null, &g_byte, 1)); }},
    {"pread pread64", call_preads},
    {"pwrite pwrite64", call_pwrites},
    {"readv writev", call_vectors},
    {"poll",
     [] {
       pollfd one{g_zero, POLLIN, 0};
       made(poll(&one, 1, 0));
     }},
    {"ppoll",
     [] {
       pollfd one{g_zero, POLLIN, 0};
       made(ppoll(&one, 1, &kNanosecond, nullptr));
     }},
    {"select", call_select},
    {"pselect", call_pselect},
    {"epoll_wait epoll_pwait epoll_pwait2", call_epolls},
    {"__read_chk __recv_chk __poll_chk", call_checked},
    {"accept accept4",
     [] {
       made(accept(g_listener, nullptr, nullptr));
       made(accept4(g_listener, nullptr, nullptr, SOCK_CLOEXEC));
     }},
    {"connect", call_connect},
    {"socket bind getsockname close socketpair dup dup2", call_socket_and_close},
    {"send recv",
     [] {
       made(send(g_pair[0], &g_byte, 1, 0));
       made(recv(g_pair[1], &g_byte, 1, 0));
     }},
    {"sendto recvfrom", call_datagrams},
    {"sendmsg recvmsg", call_messages},
    {"sem_post",
     [] {
       sem_post(&g_semaphore);
       sem_trywait(&g_semaphore);
     }},
    {"sigaction", call_sigaction},
    {"signal bsd_signal ssignal sysv_signal __sysv_signal", call_signals},
    {"sigset", call_sigset},
    {"sigsuspend", call_sigsuspend},
    {"sigwait sigwaitinfo sigtimedwait", call_sigwait},
    {"pause", call_pause},
    {"sleep", [] { sleep(0); }},
    {"nanosleep", [] { nanosleep(&kNanosecond, nullptr); }},
    {"clock_nanosleep", [] { clock_nanosleep(CLOCK_MONOTONIC, 0, &kNanosecond, nullptr); }},
    {"usleep", [] { usleep(1); }},
    {"wait waitpid waitid wait4", call_waits},
    {"fsync", [] { made(fsync(g_file)); }},
    {"fdatasync", [] { made(fdatasync(g_file)); }},
    {"raise", [] { raise(SIGUSR1); }},
    {"kill", [] { kill(getpid(), SIGUSR1); }},
    {"pthread_kill", call_pthread_kill},
    {"_Fork", call_bare_fork},
    {"fork", call_fork, true},
    {"vfork", call_vfork},
    {"__vfork", call_vfork_by_other_name},
    {"execve, failing", [] { made(execve(kNowhere, kNobody, environ)); }},
    {"execv, failing", [] { made(execv(kNowhere, kNobody)); }},
    {"execl, failing", [] { made(execl(kNowhere, "nobody", static_cast<char*>(nullptr))); }},
    {"execle, failing", [] { made(execle(kNowhere, "nobody", static_cast<char*>(nullptr), environ)); }},
    {"fexecve, failing", [] { made(fexecve(g_null, kNobody, environ)); }},
    {"prctl", [] { prctl(PR_SET_NAME, "called"); }},
    {"syscall", [] { syscall(SYS_futex, &g_byte - (reinterpret_cast<size_t>(&g_byte) % 4), 1, 1, 0, 0, 0); }},
};
const size_t kCallCount = sizeof(kCalls) / sizeof(kCalls[0]);

void prepare_calls() {
  g_zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  g_null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  g_file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  expect(pwrite(g_file, "", 1, 0) == 1, "file");
  g_shell = open("/bin/sh", O_RDONLY | O_CLOEXEC);
  g_epoll = epoll_create1(EPOLL_CLOEXEC);
  expect(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, g_pair) == 0, "socketpair");
  expect(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, g_silent) == 0, "socketpair");
  g_listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  expect(listen(g_listener, 1) == 0, "listen");
  sem_init(&g_semaphore, 0, 0);
  signal(SIGUSR1, nothing);
  signal(SIGUSR2, nothing);
  signal(SIGALRM, nothing);
}

namespace {

const Call kEnds[] = {{"_exit", [] { _exit(7); }}, {"_Exit", [] { _Exit(7); }}, {"quick_exit", end_quickly},
                      {"execve", end_execve},      {"execv", end_execv},        {"execl", end_execl},
                      {"execle", end_execle},      {"fexecve", end_fexecve},    {"kill", end_kill},
                      {"abort", end_abort}};

}  // namespace

void (*end_named(const char* name))() {
  for (const Call& end : kEnds) {
    if (strcmp(end.name, name) == 0) return end.run;
  }
  return nullptr;
}

void print_names(const Call* calls, size_t count) {
  for (size_t i = 0; i < count; ++i) dprintf(1, "%s\n", calls[i].name);
}

void print_names_of_ends() {
  print_names(kEnds, std::size(kEnds));
}
