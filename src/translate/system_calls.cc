#include "translate/system_calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>

#include <algorithm>
#include <cstring>

namespace contrafact::translate {
namespace {

enum Length : uint8_t {
  end,
  constant,     // `bytes`
  of_result,    // `bytes` for each unit of the result
  of_argument,  // `bytes` for each unit of argument `from`
  of_length,    // as many bytes as the integer says that argument `from` points to, which the kernel sets
  text,         // up to a zero byte
  vector_read,
  vector_written,  // argument `from` iovecs: the kernel reads, writes their memory, as far as the result says
  message_read,
  message_written,
};

// One piece of memory: what argument `argument` points to, if it is not null.
struct Piece {
  Length length = end;
  uint8_t argument = 0;
  bool is_written = false;
  uint8_t from = 0;
  uint16_t bytes = 1;
};

constexpr size_t kPiecesMax = 4;

struct Effect {
  long number;
  Piece piece[kPiecesMax];
};

constexpr bool kIn = false, kOut = true;
constexpr uint16_t kTimespec = sizeof(timespec), kTimeval = sizeof(timeval), kFdSet = sizeof(fd_set), kSigset = 8;

constexpr Effect kEffects[] = {
    {SYS_read, {{of_result, 1, kOut}}},
    {SYS_write, {{of_result, 1, kIn}}},
    {SYS_pread64, {{of_result, 1, kOut}}},
    {SYS_pwrite64, {{of_result, 1, kIn}}},
    {SYS_readv, {{vector_written, 1, kOut, 2}}},
    {SYS_writev, {{vector_read, 1, kIn, 2}}},
    {SYS_preadv, {{vector_written, 1, kOut, 2}}},
    {SYS_pwritev, {{vector_read, 1, kIn, 2}}},
    {SYS_preadv2, {{vector_written, 1, kOut, 2}}},
    {SYS_pwritev2, {{vector_read, 1, kIn, 2}}},
    {SYS_open, {{text, 0}}},
    {SYS_openat, {{text, 1}}},
    {SYS_creat, {{text, 0}}},
    {SYS_close, {}},
    {SYS_stat, {{text, 0}, {constant, 1, kOut, 0, sizeof(struct stat)}}},
    {SYS_lstat, {{text, 0}, {constant, 1, kOut, 0, sizeof(struct stat)}}},
    {SYS_fstat, {{constant, 1, kOut, 0, sizeof(struct stat)}}},
    {SYS_newfstatat, {{text, 1}, {constant, 2, kOut, 0, sizeof(struct stat)}}},
    {SYS_statx, {{text, 1}, {constant, 4, kOut, 0, sizeof(struct statx)}}},
    {SYS_statfs, {{text, 0}, {constant, 1, kOut, 0, sizeof(struct statfs)}}},
    {SYS_fstatfs, {{constant, 1, kOut, 0, sizeof(struct statfs)}}},
    {SYS_access, {{text, 0}}},
    {SYS_faccessat, {{text, 1}}},
    {SYS_faccessat2, {{text, 1}}},
    {SYS_poll, {{of_argument, 0, kIn, 1, sizeof(pollfd)}, {of_argument, 0, kOut, 1, sizeof(pollfd)}}},
    {SYS_ppoll,
     {{of_argument, 0, kIn, 1, sizeof(pollfd)},
      {of_argument, 0, kOut, 1, sizeof(pollfd)},
      {constant, 2, kIn, 0, kTimespec},
      {constant, 3, kIn, 0, kSigset}}},
    {SYS_select,
     {{constant, 1, kOut, 0, kFdSet},
      {constant, 2, kOut, 0, kFdSet},
      {constant, 3, kOut, 0, kFdSet},
      {constant, 4, kOut, 0, kTimeval}}},
    {SYS_pselect6,
     {{constant, 1, kOut, 0, kFdSet},
      {constant, 2, kOut, 0, kFdSet},
      {constant, 3, kOut, 0, kFdSet},
      {constant, 4, kOut, 0, kTimespec}}},
    {SYS_epoll_create1, {}},
    {SYS_epoll_ctl, {{constant, 3, kIn, 0, sizeof(epoll_event)}}},
    {SYS_epoll_wait, {{of_result, 1, kOut, 0, sizeof(epoll_event)}}},
    {SYS_epoll_pwait, {{of_result, 1, kOut, 0, sizeof(epoll_event)}, {constant, 4, kIn, 0, kSigset}}},
    {SYS_eventfd2, {}},
    {SYS_timerfd_create, {}},
    {SYS_timerfd_settime, {{constant, 2, kIn, 0, 2 * kTimespec}, {constant, 3, kOut, 0, 2 * kTimespec}}},
    {SYS_lseek, {}},
    {SYS_mmap, {}},
    {SYS_mprotect, {{of_argument, 0, kOut, 1}}},  // what others may find there changes
    {SYS_munmap, {{of_argument, 0, kOut, 1}}},
    {SYS_mremap, {{of_argument, 0, kOut, 1}}},
    {SYS_madvise, {{of_argument, 0, kOut, 1}}},  // some advice discards what is there
    {SYS_brk, {}},
    {SYS_msync, {}},
    {SYS_rt_sigprocmask, {{constant, 1, kIn, 0, kSigset}, {constant, 2, kOut, 0, kSigset}}},
    {SYS_rt_sigpending, {{constant, 0, kOut, 0, kSigset}}},
    {SYS_rt_sigtimedwait,
     {{constant, 0, kIn, 0, kSigset}, {constant, 1, kOut, 0, 128}, {constant, 2, kIn, 0, kTimespec}}},
    {SYS_sigaltstack, {{constant, 0, kIn, 0, 24}, {constant, 1, kOut, 0, 24}}},
    {SYS_kill, {}},
    {SYS_tkill, {}},
    {SYS_tgkill, {}},
    {SYS_getpid, {}},
    {SYS_gettid, {}},
    {SYS_getppid, {}},
    {SYS_getuid, {}},
    {SYS_geteuid, {}},
    {SYS_getgid, {}},
    {SYS_getegid, {}},
    {SYS_getpgid, {}},
    {SYS_sched_yield, {}},
    {SYS_sched_getaffinity, {{of_result, 2, kOut}}},
    {SYS_getcpu, {{constant, 0, kOut, 0, 4}, {constant, 1, kOut, 0, 4}}},
    {SYS_getrandom, {{of_result, 0, kOut}}},
    {SYS_getcwd, {{of_result, 0, kOut}}},
    {SYS_readlink, {{text, 0}, {of_result, 1, kOut}}},
    {SYS_readlinkat, {{text, 1}, {of_result, 2, kOut}}},
    {SYS_getdents64, {{of_result, 1, kOut}}},
    {SYS_clock_gettime, {{constant, 1, kOut, 0, kTimespec}}},
    {SYS_clock_getres, {{constant, 1, kOut, 0, kTimespec}}},
    {SYS_gettimeofday, {{constant, 0, kOut, 0, kTimeval}, {constant, 1, kOut, 0, 8}}},
    {SYS_time, {{constant, 0, kOut, 0, 8}}},
    {SYS_nanosleep, {{constant, 0, kIn, 0, kTimespec}}},
    {SYS_clock_nanosleep, {{constant, 2, kIn, 0, kTimespec}}},
    {SYS_futex, {{constant, 0, kIn, 0, 4}}},
    {SYS_getrusage, {{constant, 1, kOut, 0, sizeof(rusage)}}},
    {SYS_prlimit64, {{constant, 2, kIn, 0, sizeof(rlimit)}, {constant, 3, kOut, 0, sizeof(rlimit)}}},
    {SYS_getrlimit, {{constant, 1, kOut, 0, sizeof(rlimit)}}},
    {SYS_uname, {{constant, 0, kOut, 0, sizeof(utsname)}}},
    {SYS_fcntl, {}},  // a lock's description, which it reads, is on the stack as a rule
    {SYS_dup, {}},
    {SYS_dup2, {}},
    {SYS_dup3, {}},
    {SYS_pipe, {{constant, 0, kOut, 0, 8}}},
    {SYS_pipe2, {{constant, 0, kOut, 0, 8}}},
    {SYS_socket, {}},
    {SYS_socketpair, {{constant, 3, kOut, 0, 8}}},
    {SYS_bind, {{of_argument, 1, kIn, 2}}},
    {SYS_connect, {{of_argument, 1, kIn, 2}}},
    {SYS_listen, {}},
    {SYS_accept, {{of_length, 1, kOut, 2}, {constant, 2, kOut, 0, 4}}},
    {SYS_accept4, {{of_length, 1, kOut, 2}, {constant, 2, kOut, 0, 4}}},
    {SYS_getsockname, {{of_length, 1, kOut, 2}, {constant, 2, kOut, 0, 4}}},
    {SYS_getpeername, {{of_length, 1, kOut, 2}, {constant, 2, kOut, 0, 4}}},
    {SYS_setsockopt, {{of_argument, 3, kIn, 4}}},
    {SYS_getsockopt, {{of_length, 3, kOut, 4}, {constant, 4, kOut, 0, 4}}},
    {SYS_sendto, {{of_result, 1, kIn}, {of_argument, 4, kIn, 5}}},
    {SYS_recvfrom, {{of_result, 1, kOut}, {of_length, 4, kOut, 5}, {constant, 5, kOut, 0, 4}}},
    {SYS_sendmsg, {{message_read, 1}}},
    {SYS_recvmsg, {{message_written, 1, kOut}}},
    {SYS_shutdown, {}},
    {SYS_sendfile, {{constant, 2, kOut, 0, 8}}},
    {SYS_fsync, {}},
    {SYS_fdatasync, {}},
    {SYS_ftruncate, {}},
    {SYS_truncate, {{text, 0}}},
    {SYS_fallocate, {}},
    {SYS_flock, {}},
    {SYS_unlink, {{text, 0}}},
    {SYS_unlinkat, {{text, 1}}},
    {SYS_rename, {{text, 0}, {text, 1}}},
    {SYS_renameat, {{text, 1}, {text, 3}}},
    {SYS_mkdir, {{text, 0}}},
    {SYS_rmdir, {{text, 0}}},
    {SYS_chmod, {{text, 0}}},
    {SYS_fchmod, {}},
    {SYS_fchown, {}},
    {SYS_umask, {}},
    {SYS_utimensat, {{text, 1}, {constant, 2, kIn, 0, 2 * kTimespec}}},
    {SYS_fadvise64, {}},
    {SYS_sysinfo, {{constant, 0, kOut, 0, 112}}},
    {SYS_times, {{constant, 0, kOut, 0, 32}}},
    {SYS_getpriority, {}},
    {SYS_setpriority, {}},
    {SYS_sched_setaffinity, {{of_argument, 2, kIn, 1}}},
    {SYS_sched_get_priority_max, {}},
    {SYS_sched_get_priority_min, {}},
    {SYS_epoll_create, {}},
    {SYS_eventfd, {}},
    {SYS_inotify_init1, {}},
    {SYS_inotify_add_watch, {{text, 1}}},
    {SYS_chdir, {{text, 0}}},
    {SYS_fchdir, {}},
    {SYS_set_robust_list, {}},
    {SYS_membarrier, {}},
    {SYS_rseq, {}},
};

constexpr long kLeave[] = {SYS_clone,           SYS_clone3,  SYS_fork,       SYS_vfork,        SYS_execve,
                           SYS_execveat,        SYS_exit,    SYS_exit_group, SYS_rt_sigreturn, SYS_arch_prctl,
                           SYS_set_tid_address, SYS_unshare, SYS_seccomp,    SYS_ptrace};

// Most operations only compare a word.
bool futex_writes(long operation) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAKE:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAKE_BITSET:
      return false;
    default:
      return true;
  }
}

bool fcntl_writes(long command) {
  return command == F_GETLK || command == F_OFD_GETLK || command == F_GETOWN_EX;
}

const Effect* find(long number) {
  for (const Effect& effect : kEffects) {
    if (effect.number == number) return &effect;
  }
  return nullptr;
}

uint32_t flags_of(bool is_written) {
  return is_written ? kAccessWrite | kAccessChanged : kAccessRead;
}

void add_vectors(const iovec* vectors, size_t count, long result, bool is_written, Segment& segment) {
  segment.add(reinterpret_cast<uint64_t>(vectors), count * sizeof(iovec), kAccessRead);
  auto left = static_cast<size_t>(std::max(result, 0L));
  for (size_t i = 0; i < count && left > 0; ++i) {
    const size_t bytes = std::min(left, vectors[i].iov_len);
    segment.add(reinterpret_cast<uint64_t>(vectors[i].iov_base), bytes, flags_of(is_written));
    left -= bytes;
  }
}

void add_piece(const Piece& piece, const long* arguments, long result, Segment& segment) {
  const auto address = static_cast<uint64_t>(arguments[piece.argument]);
  if (address == 0) return;
  const uint32_t flags = flags_of(piece.is_written);
  switch (piece.length) {
    case end:
      break;
    case constant:
      segment.add(address, piece.bytes, flags);
      break;
    case of_result:
      segment.add(address, static_cast<uint64_t>(std::max(result, 0L)) * piece.bytes, flags);
      break;
    case of_argument:
      segment.add(address, static_cast<uint64_t>(arguments[piece.from]) * piece.bytes, flags);
      break;
    case of_length:
      if (const auto* length = reinterpret_cast<const uint32_t*>(arguments[piece.from])) {
        segment.add(address, *length, flags);
      }
      break;
    case text:
      segment.add(address, std::strlen(reinterpret_cast<const char*>(address)) + 1, flags);
      break;
    case vector_read:
    case vector_written:
      add_vectors(reinterpret_cast<const iovec*>(address), static_cast<size_t>(arguments[piece.from]), result,
                  piece.length == vector_written, segment);
      break;
    case message_read:
    case message_written: {
      const auto& message = *reinterpret_cast<const msghdr*>(address);
      segment.add(address, sizeof(msghdr), flags);
      segment.add(reinterpret_cast<uint64_t>(message.msg_name), message.msg_name ? message.msg_namelen : 0, flags);
      segment.add(reinterpret_cast<uint64_t>(message.msg_control), message.msg_control ? message.msg_controllen : 0,
                  flags);
      add_vectors(message.msg_iov, message.msg_iovlen, result, piece.length == message_written, segment);
      break;
    }
  }
}

}  // namespace

SystemCallKind system_call_kind(const long* call) {
  const long number = call[0];
  for (const long leave : kLeave) {
    if (number == leave) return SystemCallKind::leave;
  }
  const bool is_known = find(number) != nullptr && !(number == SYS_futex && futex_writes(call[2])) &&
                        !(number == SYS_fcntl && fcntl_writes(call[2]));
  return is_known ? SystemCallKind::known : SystemCallKind::unknown;
}

bool restricts_system_calls(const long* call) {
  const bool is_seccomp = call[0] == SYS_seccomp, is_prctl = call[0] == SYS_prctl && call[1] == PR_SET_SECCOMP;
  if (is_seccomp && call[1] == SECCOMP_SET_MODE_STRICT) return call[2] == 0 && call[3] == 0;
  if (is_seccomp && call[1] == SECCOMP_SET_MODE_FILTER) return call[3] != 0;
  if (is_prctl && call[2] == SECCOMP_MODE_FILTER) return call[3] != 0;
  return is_prctl && call[2] == SECCOMP_MODE_STRICT;
}

// A call that failed may have read its arguments; the memory that they point to may not be readable, so it is left out.
void add_system_call_accesses(const long* call, long result, Segment& segment) {
  const Effect* effect = find(call[0]);
  if (!effect || result < 0) return;
  for (const Piece& piece : effect->piece) add_piece(piece, call + 1, result, segment);
}

}  // namespace contrafact::translate
