// Calls whose pointers lead nowhere, or to memory that ends too early. Each fails as the kernel has it fail, and says
// so in a line; the program goes on.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include <initializer_list>
#include <iterator>

#include "harm.h"

using namespace harm;

namespace {

constexpr long kSections = 100;
constexpr char kTrue[] = "/bin/true";

// Two pages, and behind them nothing.
char *g_pages, *g_end;
int g_pipe[2], g_pair[2], g_epoll, g_listener;

template <typename Type>
Type* nowhere() {
  return reinterpret_cast<Type*>(g_end);
}

void tell(const char* what, long result) {
  const int error = errno;
  dprintf(1, "%s: %ld %s\n", what, result, result < 0 ? strerrorname_np(error) : "");
  sections(kSections);
}

void prepare() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* at = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect(at != MAP_FAILED, "mmap");
  g_pages = static_cast<char*>(at);
  g_end = g_pages + 2 * page;
  expect(mprotect(g_end, page, PROT_NONE) == 0, "mprotect");
  expect(pipe2(g_pipe, O_CLOEXEC) == 0 && write(g_pipe[1], "some bytes", 10) == 10, "pipe");
  expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, g_pair) == 0 && write(g_pair[1], "some bytes", 10) == 10,
         "socketpair");
  expect((g_epoll = epoll_create1(EPOLL_CLOEXEC)) >= 0, "epoll_create1");
  epoll_event readable{EPOLLIN, {}};
  expect(epoll_ctl(g_epoll, EPOLL_CTL_ADD, g_pipe[0], &readable) == 0, "epoll_ctl");
  expect((g_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0, "socket");
}

void input_and_output() {
  tell("read", read(g_pipe[0], nowhere<char>(), 4));
  tell("write", write(g_pipe[1], nowhere<char>(), 4));
  tell("pread", pread(g_pipe[0], nowhere<char>(), 4, 0));
  tell("readv", readv(g_pipe[0], nowhere<iovec>(), 2));
  tell("writev", writev(g_pipe[1], nowhere<iovec>(), 2));
  // The first of two parts is good.
  iovec parts[] = {{g_pages, 2}, {g_end, 2}};
  tell("readv, half", readv(g_pipe[0], parts, 2));
  tell("writev, half", writev(g_pipe[1], parts, 2));
  tell("readv, of no parts", readv(g_pipe[0], nowhere<iovec>(), 0));
  tell("recv", recv(g_pair[0], nowhere<char>(), 4, 0));
  tell("recvfrom", recvfrom(g_pair[0], g_pages, 4, 0, nowhere<sockaddr>(), nowhere<socklen_t>()));
  tell("recvmsg", recvmsg(g_pair[0], nowhere<msghdr>(), 0));
  tell("send", send(g_pair[0], nowhere<char>(), 4, 0));
  tell("sendto", sendto(g_pair[0], g_pages, 4, 0, nowhere<sockaddr>(), sizeof(sockaddr_un)));
  tell("sendmsg", sendmsg(g_pair[0], nowhere<msghdr>(), 0));
  msghdr message{};
  message.msg_iov = nowhere<iovec>();
  message.msg_iovlen = 3;
  tell("sendmsg, of no parts", sendmsg(g_pair[0], &message, 0));
  tell("connect", connect(g_listener, nowhere<sockaddr>(), sizeof(sockaddr_un)));
  tell("accept", accept(g_listener, nowhere<sockaddr>(), nowhere<socklen_t>()));
}

void waits() {
  tell("poll", poll(nowhere<pollfd>(), 1, 0));
  tell("poll, waiting", poll(nowhere<pollfd>(), 1, 1));
  tell("epoll_wait", epoll_wait(g_epoll, nowhere<epoll_event>(), 1, 0));
  tell("epoll_pwait", epoll_pwait(g_epoll, nowhere<epoll_event>(), 1, 1, nullptr));
  epoll_event event;
  tell("epoll_pwait2, for a time", epoll_pwait2(g_epoll, &event, 1, nowhere<timespec>(), nullptr));
  tell("epoll_pwait2, with signals", epoll_pwait2(g_epoll, &event, 1, nullptr, nowhere<sigset_t>()));
  tell("nanosleep", nanosleep(nowhere<timespec>(), nullptr));
  tell("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, nowhere<timespec>(), nullptr));
  tell("sigtimedwait", sigtimedwait(nowhere<sigset_t>(), nullptr, nullptr));
  tell("sigsuspend", sigsuspend(nowhere<sigset_t>()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  tell("waitpid", waitpid(child, nowhere<int>(), 0) == child ? 0 : -1);
  tell("wait4", wait4(child, nullptr, 0, nowhere<rusage>()));
}

void system_calls() {
  tell("futex", syscall(SYS_futex, g_end, FUTEX_WAIT_PRIVATE, 0, nullptr));
  tell("futex, for a time", syscall(SYS_futex, g_pages, FUTEX_WAIT_PRIVATE, 0, g_end));
  tell("futex, waking", syscall(SYS_futex, g_end, FUTEX_WAKE_PRIVATE, 1));
  tell("rt_sigaction", syscall(SYS_rt_sigaction, SIGUSR1, g_end, nullptr, 8));
  tell("rt_sigaction, the one before", syscall(SYS_rt_sigaction, SIGUSR1, nullptr, g_end, 8));
  tell("read", syscall(SYS_read, g_pipe[0], g_end, 4));
  tell("writev", syscall(SYS_writev, g_pipe[1], g_end, 2));
  tell("openat", syscall(SYS_openat, AT_FDCWD, g_end, O_RDONLY));
  tell("clone3", syscall(SYS_clone3, g_end, 88));
  tell("prctl, a name", prctl(PR_SET_NAME, g_end));
  tell("prctl, a name", syscall(SYS_prctl, PR_SET_NAME, g_end));
  tell("process_vm_readv", syscall(SYS_process_vm_readv, getpid(), g_end, 1, g_end, 1, 0));
}

// Of `entries`, behind which nothing may be read: what fits in front of the end.
char** before_end(std::initializer_list<const char*> entries) {
  char** at = reinterpret_cast<char**>(g_end) - entries.size();
  size_t n = 0;
  for (const char* entry : entries) at[n++] = const_cast<char*>(entry);
  return at;
}

void executions() {
  char* arguments[] = {const_cast<char*>("true"), nullptr};
  char* no_entries[] = {nullptr};
  tell("execve, the path", execve(nowhere<char>(), arguments, no_entries));
  tell("execve, the arguments", execve(kTrue, nowhere<char*>(), no_entries));
  tell("execve, the environment", execve(kTrue, arguments, nowhere<char*>()));
  char* const low = reinterpret_cast<char*>(8);
  tell("execve, the environment near zero", execve(kTrue, arguments, reinterpret_cast<char**>(low)));
  tell("execve, an entry near zero", execve(kTrue, arguments, before_end({low, nullptr})));
  // Of its last entry the last byte.
  char** const across = reinterpret_cast<char**>(g_end - sizeof(char*) + 1);
  tell("execve, an environment across the end", execve(kTrue, arguments, across));
  tell("execve, an environment without end", execve(kTrue, arguments, before_end({"A=1", "B=2"})));
  tell("execve, an entry", execve(kTrue, arguments, before_end({"A=1", g_end, nullptr})));
  char* unended = g_end - 4;
  memcpy(unended, "C=34", 4);
  char* entries[] = {const_cast<char*>("A=1"), unended, nullptr};
  tell("execve, an entry without end", execve(kTrue, arguments, entries));
  tell("execvpe, an entry without end", execvpe(kTrue, arguments, entries));
  const int fd = open(kTrue, O_RDONLY | O_CLOEXEC);
  expect(fd >= 0, kTrue);
  tell("fexecve, the environment", fexecve(fd, arguments, nowhere<char*>()));
  tell("execle, the environment", execle(kTrue, "true", static_cast<char*>(nullptr), nowhere<char*>()));
  char** const own = environ;
  environ = before_end({"A=1"});
  tell("execv, the process's own environment", execv(kTrue, arguments));
  environ = own;
}

void restrictions() {
  tell("prctl, a filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, g_end));
  sock_fprog filter{2, nowhere<sock_filter>()};
  tell("seccomp, a filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter));
  tell("seccomp, a program", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, g_end));
}

int bad() {
  prepare();
  input_and_output();
  waits();
  system_calls();
  executions();
  restrictions();
  return 51;
}

constexpr Case kCases[] = {{"bad", bad}};

}  // namespace

int main(int count, char** arguments) {
  return count == 2 ? run_case(kCases, std::size(kCases), arguments[1]) : 2;
}
