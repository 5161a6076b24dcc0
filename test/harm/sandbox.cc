// Programs that restrict themselves or others: after that, a system call that the program does not make itself ends it.
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <initializer_list>
#include <iterator>

#include "harm.h"

using namespace harm;

namespace {

constexpr long kMany = 400'000;  // sections: more events than any buffer holds

using Numbers = std::initializer_list<unsigned>;

// A filter that does `listed` at the calls of the list, and `others` at the rest.
struct Filter {
  sock_filter code[128];
  sock_fprog program;

  Filter(Numbers numbers, unsigned listed, unsigned others) {
    unsigned short n = 0;
    code[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (const unsigned number : numbers) {
      code[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
      code[n++] = BPF_STMT(BPF_RET | BPF_K, listed);
    }
    code[n++] = BPF_STMT(BPF_RET | BPF_K, others);
    program = {n, code};
  }
};

constexpr Numbers kFew{SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn};
constexpr Numbers kThreads{SYS_read,         SYS_write,           SYS_exit,          SYS_exit_group,
                           SYS_rt_sigreturn, SYS_futex,           SYS_clone,         SYS_clone3,
                           SYS_mmap,         SYS_munmap,          SYS_mprotect,      SYS_madvise,
                           SYS_rseq,         SYS_set_robust_list, SYS_rt_sigprocmask};
// What a program never asks for that locks, starts others and ends; a recorder may.
constexpr Numbers kSuspicious{
    SYS_memfd_create,  SYS_socket,      SYS_connect,     SYS_sendmsg,      SYS_perf_event_open, SYS_sched_setscheduler,
    SYS_sched_setattr, SYS_setpriority, SYS_ftruncate,   SYS_timer_create, SYS_clone,           SYS_clone3,
    SYS_unlink,        SYS_rename,      SYS_fsync,       SYS_ptrace,       SYS_pipe2,           SYS_kill,
    SYS_tgkill,        SYS_shmat,       SYS_userfaultfd, SYS_membarrier,   SYS_nanosleep,       SYS_clock_nanosleep};

void no_new_privileges() {
  expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
}

enum class By { prctl, syscall, bare };

void install(const Filter& filter, By by, unsigned flags = 0) {
  no_new_privileges();
  const auto at = reinterpret_cast<long>(&filter.program);
  long status = -1;
  if (by == By::prctl) status = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, at, 0, 0);
  if (by == By::syscall) status = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, at);
  if (by == By::bare) status = bare_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, at);
  expect(status == 0, "seccomp");
}

void allow_few(By by, unsigned flags = 0) {
  install(Filter(kFew, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS), by, flags);
}

// Says whether it may, and goes on.
void tell(const char* what, long status) {
  const int error = errno;
  dprintf(1, "%s: %s\n", what, status < 0 ? strerror(error) : "yes");
}

// What a machine without the feature, or one that forbids it, answers: nothing is measured then. A recorded run that gets
// one of these where the plain one did not has another status.
bool is_forbidden(int error) {
  return error == EPERM || error == EACCES || error == ENOSYS || error == EOPNOTSUPP || error == ENOSPC;
}

void tell_if_allowed(const char* what, long status) {
  need(status >= 0 || !is_forbidden(errno), what);
  tell(what, status);
}

// All can be recorded: the sections of this thread and of another, their sets, and a child.
int go_on_unrestricted() {
  sections(kMany);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(1000L)), nullptr);
  const pid_t child = fork();
  if (child == 0) {
    sections(1000);
    _exit(3);
  }
  int status = 0;
  expect(waitpid(child, &status, 0) == child, "waitpid");
  dprintf(1, "child ended with %d\n", WEXITSTATUS(status));
  return 21;
}

int early(By by) {
  allow_few(by);
  say("restricted\n");
  sections(kMany);
  say("after many sections\n");
  return 3;
}

int late(By by) {
  pthread_t threads[4];
  for (pthread_t& thread : threads) thread = start(sections_of_thread, reinterpret_cast<void*>(50'000L));
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  sections(kMany);
  return early(by);
}

int strict() {
  sections(1000);
  expect(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0, "strict");
  say("strict\n");
  sections(kMany);
  say("after many sections\n");
  bare_call(SYS_exit, 5);  // the group's exit is not allowed
  return 0;
}

// Ends as the C library does, which strict mode kills.
int strict_and_exit() {
  expect(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0, "strict");
  sections(1000);
  _exit(5);
}

volatile bool g_restricted = false;
volatile bool g_stop = false;

void* lock_on(void*) {
  while (!g_stop) sections(100);
  return nullptr;
}

// Threads whose start, with its system calls, is over.
std::atomic<int> g_running{0};
constexpr int kOthers = 4;

void wait_for_all_to_run() {
  while (g_running < kOthers + 1) {
  }
}

void* restrict_all(void*) {
  wait_for_all_to_run();
  allow_few(By::syscall, SECCOMP_FILTER_FLAG_TSYNC);
  g_restricted = true;
  for (;;) sections(1000);
}

void* restrict_all_bare(void*) {
  wait_for_all_to_run();
  allow_few(By::bare, SECCOMP_FILTER_FLAG_TSYNC);
  g_restricted = true;
  for (;;) sections(1000);
}

// The other threads use locks that nobody else wants: no futex.
void* lock_own(void*) {
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  ++g_running;
  for (;;) {
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
  }
}

int synchronised(void* (*restricting)(void*)) {
  for (int i = 0; i < kOthers; ++i) start(lock_own);
  sections(1000);
  start(restricting);
  ++g_running;
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  while (!g_restricted) {
  }
  for (long i = 0; i < kMany; ++i) {
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
  }
  say("all are restricted\n");
  _exit(6);
}

// Threads that run already, and others that start afterwards, under a filter that allows what threads need.
int with_threads() {
  pthread_t before[3], after[3];
  for (pthread_t& thread : before) thread = start(lock_on);
  install(Filter(kThreads, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS), By::syscall, SECCOMP_FILTER_FLAG_TSYNC);
  for (pthread_t& thread : after) thread = start(sections_of_thread, reinterpret_cast<void*>(50'000L));
  for (pthread_t thread : after) pthread_join(thread, nullptr);
  g_stop = true;
  for (pthread_t thread : before) pthread_join(thread, nullptr);
  say("threads of before and after ended\n");
  _exit(7);
}

int exec_after() {
  install(Filter(kSuspicious, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW), By::prctl);
  sections(1000);
  execl("/proc/self/exe", "harm_sandbox", "locks", static_cast<char*>(nullptr));
  return 1;
}

// The path of another program of this folder.
const char* beside(const char* name) {
  static char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
  expect(length > 0, "readlink");
  path[length] = 0;
  strcpy(strrchr(path, '/') + 1, name);
  return path;
}

// The child shares its parent's memory, and is no part of it.
int vfork_after() {
  install(Filter({SYS_ptrace}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW), By::prctl);
  sections(1000);
  const char* const path = beside("harm_ends");
  for (int i = 0; i < 3; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      execl(path, path, "returns", static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    expect(waitpid(child, &status, 0) == child, "waitpid");
    dprintf(1, "child %d\n", status);
  }
  sections(1000);
  execl(path, path, "exits", static_cast<char*>(nullptr));
  return 1;
}

// What the child does to itself concerns nobody else, though it shares its parent's memory.
int vfork_child_restricts(By by) {
  const Filter filter({SYS_ptrace}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
  for (const bool clock : {false, true}) {
    const pid_t child = vfork();
    if (child == 0) {
      if (clock) {
        expect(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0, "no time stamps");
      } else {
        install(filter, by);
      }
      _exit(5);
    }
    int status = 0;
    expect(waitpid(child, &status, 0) == child, "waitpid");
    dprintf(1, "child %d\n", WEXITSTATUS(status));
  }
  return go_on_unrestricted();
}

// Restrictions that the kernel refuses: of filters that are none.
int failing_restrictions() {
  no_new_privileges();
  sock_filter nonsense = BPF_STMT(0xffff, 0);
  const sock_fprog programs[] = {{0, &nonsense}, {1, &nonsense}};
  for (const sock_fprog& program : programs) {
    const auto at = reinterpret_cast<long>(&program);
    tell("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, at, 0, 0));
    tell("seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, at));
  }
  return go_on_unrestricted();
}

// A thread that has a filter cannot have the strict mode, which would end its recording.
int failing_strict() {
  install(Filter({SYS_ptrace}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW), By::prctl);
  tell("strict", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0));
  sections(kMany);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(1000L)), nullptr);
  return 22;
}

// A child that no handler of forks knows of, in a program that began restricted.
int library_child_after() {
  install(Filter({SYS_ptrace}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW), By::prctl);
  const char* const path = beside("harm_becomes");
  execl(path, path, "library_child", static_cast<char*>(nullptr));
  return 1;
}

// What a recorder may need to hand itself on to the new image, and a program without a loader does not: where nobody
// saw the restriction it has to ask at least which process it is.
constexpr Numbers kHandingOn{SYS_mmap, SYS_munmap, SYS_mremap, SYS_access, SYS_faccessat, SYS_getpid};
constexpr Numbers kMapping{SYS_mmap, SYS_munmap, SYS_mremap};

// The first ones fail, and leave what they need to the next.
int exec_static_after(By by) {
  const char* const path = beside("harm_static");
  sections(1000);
  install(Filter(by == By::bare ? kMapping : kHandingOn, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW), by);
  for (int i = 0; i < 3; ++i) execl("/nowhere/to/be/found", "nobody", static_cast<char*>(nullptr));
  execl(path, "harm_static", static_cast<char*>(nullptr));
  return 1;
}

// Errors instead of signals: what fails is tried on, and the program sees nothing of it.
int errors_instead() {
  install(Filter(kFew, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM), By::prctl);
  sections(kMany);
  say("errors instead\n");
  return 8;
}

// No thread may read the processor's time stamps, as in strict mode.
int no_time_stamps() {
  sections(1000);
  tell("no time stamps", prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
  sections(kMany);
  return 19;
}

int locks() {
  sections(kMany);
  say("sections done\n");
  return 4;
}

int unshare_one(int flags, const char* name) {
  sections(1000);
  tell_if_allowed(name, unshare(flags));
  sections(kMany);
  return 9;
}

int unshare_and_fork() {
  tell_if_allowed("unshare", unshare(CLONE_NEWUSER | CLONE_NEWPID));
  sections(1000);
  const pid_t child = fork();
  if (child == 0) {
    sections(1000);
    dprintf(1, "child %d\n", getpid() == 1 ? 1 : 0);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  dprintf(1, "child ended with %d\n", WEXITSTATUS(status));
  return 10;
}

int enter_namespaces() {
  int gone[2];
  expect(pipe(gone) == 0, "pipe");
  const pid_t child = fork();
  if (child == 0) {
    const int error = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : errno;
    expect(write(gone[1], &error, sizeof error) == sizeof error, "write");
    pause();
  }
  int error = 0, errors[2];
  expect(read(gone[0], &error, sizeof error) == sizeof error, "read");
  constexpr const char* kKinds[] = {"user", "mnt"};
  char name[64];
  for (int i = 0; i < 2; ++i) {
    snprintf(name, sizeof(name), "/proc/%d/ns/%s", child, kKinds[i]);
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    errors[i] = setns(fd, 0) == 0 ? 0 : errno;
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  tell_if_allowed("unshare", (errno = error) == 0 ? 0 : -1);
  for (int i = 0; i < 2; ++i) tell_if_allowed(kKinds[i], (errno = errors[i]) == 0 ? 0 : -1);
  sections(kMany);
  return 11;
}

int change_root() {
  expect(mkdir("root", 0700) == 0, "mkdir");
  tell_if_allowed("chroot", chroot("root"));
  expect(chdir("/") == 0, "chdir");
  sections(kMany);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(1000L)), nullptr);
  return 12;
}

int become_nobody() {
  sections(1000);
  tell_if_allowed("setgroups", setgroups(0, nullptr));
  tell_if_allowed("setgid", setgid(65534));
  tell_if_allowed("setuid", setuid(65534));
  sections(kMany);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(1000L)), nullptr);
  return 13;
}

int not_dumpable() {
  tell("not dumpable", prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
  tell("no new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  sections(kMany);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(1000L)), nullptr);
  return 14;
}

constexpr size_t kRoomBytes = 4 << 20;

// Four mebibytes more than it has now, of all memory or of its own: threads with small stacks, and a block of one
// mebibyte, must still be possible.
int little_memory(__rlimit_resource_t resource) {
  long all = 0, data = 0;
  FILE* in = fopen("/proc/self/statm", "r");
  expect(in && fscanf(in, "%ld %*d %*d %*d %*d %ld", &all, &data) == 2, "statm");
  fclose(in);
  const rlim_t most = static_cast<rlim_t>(resource == RLIMIT_AS ? all : data) * 4096 + kRoomBytes;
  const rlimit limit{most, most};
  expect(setrlimit(resource, &limit) == 0, "setrlimit");
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  for (int i = 0; i < 8; ++i) {
    pthread_t thread;
    expect((errno = pthread_create(&thread, &attributes, sections_of_thread, reinterpret_cast<void*>(50'000L))) == 0,
           "thread");
    pthread_join(thread, nullptr);
  }
  sections(kMany);
  void* block = malloc(1 << 20);
  tell("block", block ? 0 : -1);
  free(block);
  return 15;
}

// From here on it may open no file for writing.
int no_files() {
  const struct {
    unsigned long files;
  } rights{LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_READ_FILE};
  no_new_privileges();
  const long rules = bare_call(SYS_landlock_create_ruleset, reinterpret_cast<long>(&rights), sizeof(rights), 0);
  errno = rules < 0 ? static_cast<int>(-rules) : 0;
  tell_if_allowed("rules", rules);
  const long restricted = bare_call(SYS_landlock_restrict_self, rules, 0);
  errno = restricted < 0 ? static_cast<int>(-restricted) : 0;
  tell_if_allowed("restricted", restricted);
  sections(kMany);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(1000L)), nullptr);
  return 20;
}

int small_files() {
  const rlimit limit{4096, 4096};
  expect(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
  sections(2 * kMany);
  const int own = open("own", O_WRONLY | O_CREAT, 0600);
  char page[4096] = {'x'};
  expect(write(own, page, sizeof(page)) == sizeof(page), "write");
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(kMany)), nullptr);
  say("no file grew too large\n");
  return 16;
}

// As nobody, with as many processes as there are: neither a thread nor a process can be created.
int no_processes() {
  need(setgid(65534) == 0 && setuid(65534) == 0, "setuid");
  const rlimit limit{1, 1};
  expect(setrlimit(RLIMIT_NPROC, &limit) == 0, "setrlimit");
  sections(kMany);
  say("without processes\n");
  return 17;
}

constexpr Case kCases[] = {
    {"early_prctl", [] { return early(By::prctl); }},
    {"early_syscall", [] { return early(By::syscall); }},
    {"early_bare", [] { return early(By::bare); }},
    {"late_prctl", [] { return late(By::prctl); }},
    {"late_syscall", [] { return late(By::syscall); }},
    {"late_bare", [] { return late(By::bare); }},
    {"strict", strict},
    {"strict_and_exit", strict_and_exit},
    {"synchronised", [] { return synchronised(restrict_all); }},
    {"synchronised_bare", [] { return synchronised(restrict_all_bare); }},
    {"with_threads", with_threads},
    {"exec_after", exec_after},
    {"vfork_after", vfork_after},
    {"vfork_child_restricts_prctl", [] { return vfork_child_restricts(By::prctl); }},
    {"vfork_child_restricts_syscall", [] { return vfork_child_restricts(By::syscall); }},
    {"failing_restrictions", failing_restrictions},
    {"failing_strict", failing_strict},
    {"library_child_after", library_child_after},
    {"exec_static_after_prctl", [] { return exec_static_after(By::prctl); }},
    {"exec_static_after_syscall", [] { return exec_static_after(By::syscall); }},
    {"exec_static_after_bare", [] { return exec_static_after(By::bare); }},
    {"errors_instead", errors_instead},
    {"no_time_stamps", no_time_stamps},
    {"locks", locks},
    {"unshare_user", [] { return unshare_one(CLONE_NEWUSER, "user"); }},
    {"unshare_mounts", [] { return unshare_one(CLONE_NEWNS, "mounts"); }},
    {"unshare_thread", [] { return unshare_one(CLONE_THREAD, "thread"); }},
    {"unshare_and_fork", unshare_and_fork},
    {"enter_namespaces", enter_namespaces},
    {"change_root", change_root},
    {"become_nobody", become_nobody},
    {"not_dumpable", not_dumpable},
    {"little_memory", [] { return little_memory(RLIMIT_AS); }},
    {"little_data", [] { return little_memory(RLIMIT_DATA); }},
    {"no_files", no_files},
    {"small_files", small_files},
    {"no_processes", no_processes},
};

}  // namespace

int main(int count, char** arguments) {
  return run_case(kCases, std::size(kCases), count > 1 ? arguments[1] : "");
}
