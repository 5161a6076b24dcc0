#include "translate/kernel_state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace contrafact::translate {
namespace {

enum class Piece : uint8_t {
  none,
  // Of the open file that descriptor `argument` stands for.
  position,    // where it is read and written next
  input,       // what was not read yet; what an epoll descriptor reports
  output,      // the order of what is sent
  settings,    // options, address, size, owner, locks
  content,     // all of it
  content_at,  // as many bytes as the result says, from the place in argument `more` on
  durable,     // that earlier writes outlive a power failure
  watched,     // by an epoll descriptor: descriptor `more`
  descriptor,  // that it stands for this file
  polled,      // of the `more` pollfds at `argument`
  selected,    // of the first `argument` descriptors, in the sets at the arguments from `more` on
  // By the text at `argument`; relative to descriptor `more` - 1, if it is not 0.
  path,
  opened,  // likewise; the argument behind it says whether the file is changed
  entry,   // likewise: that its folder has it
  // By argument `argument`.
  action,
  signals,
  limit,
  scheduling,
  // By themselves.
  working_folder,
  mode_mask,
  own_signals,
  children,
};

constexpr bool kLooks = false, kChanges = true;

struct Touch {
  Piece piece = Piece::none;
  uint8_t argument = 0;
  bool changes = false;
  uint8_t more = 0;
};

constexpr size_t kTouchesMax = 5;

struct Effect {
  long number;
  Touch touch[kTouchesMax];
};

// Calls that are not here touch nothing that sections share, or make a set incomplete (system_calls.cc). Clocks and
// random numbers are nobody's state.
using enum Piece;
constexpr Effect kEffects[] = {
    {SYS_read, {{position, 0, kChanges}, {input, 0, kChanges}, {content, 0, kLooks}}},
    {SYS_readv, {{position, 0, kChanges}, {input, 0, kChanges}, {content, 0, kLooks}}},
    {SYS_write, {{position, 0, kChanges}, {output, 0, kChanges}, {content, 0, kChanges}}},
    {SYS_writev, {{position, 0, kChanges}, {output, 0, kChanges}, {content, 0, kChanges}}},
    {SYS_pread64, {{content_at, 0, kLooks, 3}}},
    {SYS_pwrite64, {{content_at, 0, kChanges, 3}}},
    {SYS_preadv, {{content_at, 0, kLooks, 3}}},
    {SYS_pwritev, {{content_at, 0, kChanges, 3}}},
    {SYS_preadv2, {{position, 0, kChanges}, {content, 0, kLooks}}},  // its place may be the position
    {SYS_pwritev2, {{position, 0, kChanges}, {content, 0, kChanges}}},
    {SYS_lseek, {{position, 0, kChanges}}},
    {SYS_getdents64, {{position, 0, kChanges}}},
    {SYS_sendfile,
     {{position, 0, kChanges},
      {output, 0, kChanges},
      {content, 0, kChanges},
      {position, 1, kChanges},
      {content, 1, kLooks}}},
    {SYS_fsync, {{durable, 0, kLooks}}},
    {SYS_fdatasync, {{durable, 0, kLooks}}},
    {SYS_ftruncate, {{content, 0, kChanges}, {settings, 0, kChanges}}},
    {SYS_fallocate, {{content, 0, kChanges}}},
    {SYS_fstat, {{settings, 0, kLooks}, {content, 0, kLooks}}},
    {SYS_flock, {{settings, 0, kChanges}}},
    {SYS_fchmod, {{settings, 0, kChanges}}},
    {SYS_fchown, {{settings, 0, kChanges}}},
    {SYS_mmap, {{content, 4, kLooks}}},

    {SYS_open, {{opened, 0, kLooks}}},
    {SYS_openat, {{opened, 1, kLooks, 1}}},
    {SYS_creat, {{path, 0, kChanges}, {mode_mask, 0, kLooks}}},
    {SYS_close, {{descriptor, 0, kChanges}}},
    {SYS_dup, {{descriptor, 0, kLooks}}},
    {SYS_dup2, {{descriptor, 0, kLooks}, {descriptor, 1, kChanges}}},
    {SYS_dup3, {{descriptor, 0, kLooks}, {descriptor, 1, kChanges}}},
    {SYS_stat, {{path, 0, kLooks}}},
    {SYS_lstat, {{path, 0, kLooks}}},
    {SYS_newfstatat, {{path, 1, kLooks, 1}}},
    {SYS_statx, {{path, 1, kLooks, 1}}},
    {SYS_access, {{path, 0, kLooks}}},
    {SYS_faccessat, {{path, 1, kLooks, 1}}},
    {SYS_faccessat2, {{path, 1, kLooks, 1}}},
    {SYS_readlink, {{path, 0, kLooks}}},
    {SYS_readlinkat, {{path, 1, kLooks, 1}}},
    {SYS_truncate, {{path, 0, kChanges}}},
    {SYS_chmod, {{path, 0, kChanges}}},
    {SYS_utimensat, {{path, 1, kChanges, 1}}},
    {SYS_unlink, {{path, 0, kChanges}, {entry, 0, kChanges}}},
    {SYS_unlinkat, {{path, 1, kChanges, 1}, {entry, 1, kChanges, 1}}},
    {SYS_rename, {{path, 0, kChanges}, {path, 1, kChanges}, {entry, 0, kChanges}, {entry, 1, kChanges}}},
    {SYS_renameat, {{path, 1, kChanges, 1}, {path, 3, kChanges, 3}, {entry, 1, kChanges, 1}, {entry, 3, kChanges, 3}}},
    {SYS_mkdir, {{path, 0, kChanges}, {entry, 0, kChanges}, {mode_mask, 0, kLooks}}},
    {SYS_rmdir, {{path, 0, kChanges}, {entry, 0, kChanges}}},
    {SYS_inotify_add_watch, {{settings, 0, kChanges}, {path, 1, kLooks}}},

    {SYS_sendto, {{output, 0, kChanges}}},
    {SYS_sendmsg, {{output, 0, kChanges}}},
    {SYS_recvfrom, {{input, 0, kChanges}}},
    {SYS_recvmsg, {{input, 0, kChanges}}},
    {SYS_accept, {{input, 0, kChanges}}},
    {SYS_accept4, {{input, 0, kChanges}}},
    {SYS_connect, {{output, 0, kChanges}, {settings, 0, kChanges}}},
    {SYS_bind, {{settings, 0, kChanges}}},
    {SYS_listen, {{settings, 0, kChanges}}},
    {SYS_shutdown, {{input, 0, kChanges}, {output, 0, kChanges}}},
    {SYS_setsockopt, {{settings, 0, kChanges}}},
    {SYS_getsockopt, {{settings, 0, kLooks}}},
    {SYS_getsockname, {{settings, 0, kLooks}}},
    {SYS_getpeername, {{settings, 0, kLooks}}},
    {SYS_poll, {{polled, 0, kLooks, 1}}},
    {SYS_ppoll, {{polled, 0, kLooks, 1}}},
    {SYS_select, {{selected, 0, kLooks, 1}}},
    {SYS_pselect6, {{selected, 0, kLooks, 1}}},
    {SYS_epoll_ctl, {{watched, 0, kChanges, 2}}},
    {SYS_epoll_wait, {{input, 0, kChanges}}},
    {SYS_epoll_pwait, {{input, 0, kChanges}}},
    {SYS_timerfd_settime, {{input, 0, kChanges}, {settings, 0, kChanges}}},

    {SYS_chdir, {{path, 0, kLooks}, {working_folder, 0, kChanges}}},
    {SYS_fchdir, {{working_folder, 0, kChanges}}},
    {SYS_getcwd, {{working_folder, 0, kLooks}}},
    {SYS_umask, {{mode_mask, 0, kChanges}}},
    {SYS_kill, {{signals, 0, kChanges}}},
    {SYS_tgkill, {{signals, 0, kChanges}}},
    {SYS_tkill, {{own_signals, 0, kChanges}}},
    {SYS_rt_sigtimedwait, {{own_signals, 0, kChanges}}},
    {SYS_rt_sigpending, {{own_signals, 0, kLooks}}},
    {SYS_wait4, {{children, 0, kChanges}}},
    {SYS_waitid, {{children, 0, kChanges}}},
    {SYS_getrlimit, {{limit, 0, kLooks}}},
    {SYS_getpriority, {{scheduling, 1, kLooks}}},
    {SYS_setpriority, {{scheduling, 1, kChanges}}},
    {SYS_sched_getaffinity, {{scheduling, 0, kLooks}}},
    {SYS_sched_setaffinity, {{scheduling, 0, kChanges}}},
};

// Bytes of an open file's state.
enum FileByte : uint64_t { kDescriptor, kPosition, kInput, kOutput, kSettings };
constexpr uint64_t kContent = uint64_t{1} << 31;  // its place modulo 2 GiB: that can only add conflicts
constexpr uint64_t kPathBits = (uint64_t{1} << 56) - 1;

const Effect* find(long number) {
  for (const Effect& effect : kEffects) {
    if (effect.number == number) return &effect;
  }
  return nullptr;
}

bool changes_file(long flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
}

// Parts of a path, as the kernel sees them; ".." is a part like others.
struct PathHash {
  uint64_t whole, folder;
};
PathHash hash_path(const char* text, uint64_t start) {
  uint64_t hash = start, folder = start;
  const char* at = text;
  while (*at != '\0') {
    while (*at == '/') ++at;
    const char* const begin = at;
    while (*at != '/' && *at != '\0') ++at;
    if (at == begin || (at == begin + 1 && *begin == '.')) continue;
    folder = hash;
    hash = (hash ^ '/') * 0x100000001b3;
    for (const char* each = begin; each != at; ++each) hash = (hash ^ static_cast<uint8_t>(*each)) * 0x100000001b3;
  }
  const auto mixed = [](uint64_t value) { return (value ^ value >> 29) * 0x9e3779b97f4a7c15 >> 8 & kPathBits; };
  return {mixed(hash), mixed(folder)};
}

class Call {
 public:
  Call(const long* call, long result, int process, const OpenFiles& files, Segment& segment)
      : arguments_(call + 1), result_(result), process_(process), files_(files), segment_(segment) {}

  void add_made(long descriptor) { add_file(descriptor, kDescriptor, kChanges); }

  void add(const Touch& touch) {
    const bool changes = touch.changes && result_ >= 0;
    const long argument = integer(touch.argument);
    switch (touch.piece) {
      case none:
        break;
      case position:
        if (!files_.is_stream(argument)) add_file(argument, kPosition, changes);
        break;
      case input:
        add_file(argument, kInput, changes);
        break;
      case output:
        add_file(argument, kOutput, changes);
        break;
      case settings:
        add_file(argument, kSettings, changes);
        break;
      case content:
        if (!files_.is_stream(argument)) add_file(argument, kContent, changes, kContent);
        break;
      case content_at:
        add_content(argument, static_cast<uint64_t>(arguments_[touch.more]), changes);
        break;
      case durable:
        return add_durable(argument);
      case watched:
        add_file(argument, kContent + (static_cast<uint64_t>(arguments_[touch.more]) & (kContent - 1)), changes);
        break;
      case descriptor:
        add_file(argument, kDescriptor, changes);
        break;
      case polled:
        add_polled(arguments_[touch.argument], arguments_[touch.more]);
        break;
      case selected:
        add_selected(argument, arguments_ + touch.more);
        break;
      case path:
      case opened:
      case entry:
        add_path(touch, changes);
        break;
      default:
        add_of_process(touch, argument, changes);
        break;
    }
  }

 private:
  // The kernel takes the lower half of the register: the upper one may hold anything.
  int integer(size_t argument) const { return static_cast<int>(arguments_[argument]); }

  void add_of_process(const Touch& touch, long argument, bool changes) {
    const auto number = static_cast<uint64_t>(argument);
    switch (touch.piece) {
      case action:
        return add(KernelThing::signal_action, number, changes);
      case signals:
        return add(KernelThing::signals, argument == process_ ? 0 : number, changes);
      case own_signals:
        return add(KernelThing::signals, 0, changes);
      case limit:
        return add(KernelThing::resource_limit, number, changes);
      case scheduling:
        return add(KernelThing::scheduling, number, changes);
      case working_folder:
        return add(KernelThing::working_folder, 0, changes);
      case mode_mask:
        return add(KernelThing::mode_mask, 0, changes);
      case children:
        return add(KernelThing::children, 0, changes);
      default:
        return;
    }
  }

  void add(KernelThing thing, uint64_t number, bool changes, uint64_t bytes = 1) {
    const uint32_t flags = changes ? kAccessRead | kAccessWrite | kAccessChanged : kAccessRead;
    segment_.add_kernel_state(kernel_address(thing, number), bytes, flags);
  }

  // Every use of a descriptor relies on the file that it stands for.
  void add_file(long descriptor, uint64_t at, bool changes, uint64_t bytes = 1) {
    if (descriptor < 0) return;
    const uint64_t file = files_.of(descriptor) << 32;
    add(KernelThing::open_file, file + at, changes, bytes);
    if (at != kDescriptor) add(KernelThing::open_file, file + kDescriptor, kLooks);
  }

  void add_durable(long descriptor) {
    if (descriptor < 0) return;
    add(KernelThing::durable, files_.of(descriptor), kLooks);
    add_file(descriptor, kDescriptor, kLooks);
  }

  void add_content(long descriptor, uint64_t place, bool changes) {
    const uint64_t bytes = std::min(static_cast<uint64_t>(std::max(result_, 0L)), kContent);
    const uint64_t begin = place & (kContent - 1), first = std::min(bytes, kContent - begin);
    if (first > 0) add_file(descriptor, kContent + begin, changes, first);
    if (bytes > first) add_file(descriptor, kContent, changes, bytes - first);
  }

  void add_polled(long fds, long count) {
    if (result_ < 0) return;
    const auto* each = reinterpret_cast<const pollfd*>(fds);
    for (long i = 0; i < count; ++i)
      add_waited_for(each[i].fd, (each[i].events & POLLIN) != 0, (each[i].events & POLLOUT) != 0);
  }
  // By now its sets hold the result: of the other descriptors the program learnt only that they are not ready.
  void add_selected(long count, const long* sets) {
    if (result_ < 0) return;
    const auto has = [&](int which, int fd) {
      const auto* set = reinterpret_cast<const fd_set*>(sets[which]);
      return set && FD_ISSET(fd, set);
    };
    for (int fd = 0; fd < std::min<long>(count, FD_SETSIZE); ++fd) add_waited_for(fd, has(0, fd), has(1, fd));
  }
  void add_waited_for(int fd, bool for_input, bool for_output) {
    if (for_input) add_file(fd, kInput, kLooks);
    if (for_output) add_file(fd, kOutput, kLooks);
  }

  // If the C library returned -1, it is not known whether the call failed because its text cannot be read.
  void add_path(const Touch& touch, bool changes) {
    const auto* text = reinterpret_cast<const char*>(arguments_[touch.argument]);
    if (!text || result_ == -1 || result_ == -EFAULT) return;
    uint64_t start = 0;
    const int folder = touch.more == 0 ? AT_FDCWD : integer(touch.more - 1);
    if (*text == '\0' && folder >= 0) {  // the descriptor's file itself
      add_file(folder, kContent, kLooks, kContent);
      return add_file(folder, kSettings, changes);
    }
    if (*text != '/' && folder == AT_FDCWD) {
      add(KernelThing::working_folder, 0, kLooks);
      start = 1;
    } else if (*text != '/') {
      add_file(folder, kDescriptor, kLooks);
      start = 2 + files_.of(folder);
    }
    const PathHash hash = hash_path(text, start);
    if (touch.piece == entry) return add(KernelThing::folder, hash.folder, changes);
    if (touch.piece == opened) {
      const long flags = arguments_[touch.argument + 1];
      changes = changes_file(flags) && result_ >= 0;
      if ((flags & O_CREAT) != 0) add(KernelThing::mode_mask, 0, kLooks);
      if ((flags & O_DIRECTORY) != 0) add(KernelThing::folder, hash.whole, kLooks);
    }
    add(KernelThing::path, hash.whole, changes);
  }

  const long* const arguments_;
  const long result_;
  const int process_;
  const OpenFiles& files_;
  Segment& segment_;
};

bool copies(int command) {
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

// Those whose effect depends on an argument.
void add_special(const long* call, Call& of) {
  switch (call[0]) {
    case SYS_fcntl: {
      const auto command = static_cast<int>(call[2]);
      if (copies(command)) return of.add({descriptor, 0, kLooks});
      const bool looks = command == F_GETFD || command == F_GETFL || command == F_GETPIPE_SZ || command == F_GET_SEALS;
      return of.add({settings, 0, !looks});
    }
    case SYS_rt_sigaction:
      return of.add({action, 0, call[2] != 0});
    case SYS_prlimit64:
      return of.add({limit, 1, call[3] != 0});
    default:
      return;
  }
}

struct Made {
  long descriptor = -1;
  bool is_stream = false;
  long copied = -1;  // the descriptor that it is a copy of
};

// Two ends, as the kernel wrote them.
size_t made_pair(long ends, Made* made) {
  const auto* each = reinterpret_cast<const int*>(ends);
  if (!each) return 0;
  for (int i = 0; i < 2; ++i) made[i] = {each[i], true};
  return 2;
}

// Which descriptors the call made; at most two.
size_t made_by(const long* call, long result, Made* made) {
  if (result < 0) return 0;
  switch (call[0]) {
    case SYS_open:
    case SYS_openat:
    case SYS_creat:
      *made = {result};
      return 1;
    case SYS_socket:
    case SYS_accept:
    case SYS_accept4:
    case SYS_epoll_create:
    case SYS_epoll_create1:
    case SYS_eventfd:
    case SYS_eventfd2:
    case SYS_timerfd_create:
    case SYS_inotify_init1:
      *made = {result, true};
      return 1;
    case SYS_pipe:
    case SYS_pipe2:
      return made_pair(call[1], made);
    case SYS_socketpair:
      return made_pair(call[4], made);
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
      *made = {result, false, static_cast<int>(call[1])};
      return result == made->copied ? 0 : 1;
    case SYS_fcntl:
      *made = {result, false, static_cast<int>(call[1])};
      return copies(static_cast<int>(call[2])) ? 1 : 0;
    default:
      return 0;
  }
}

}  // namespace

uint64_t OpenFiles::of(long descriptor) const {
  const uint32_t file = descriptor < kKnown ? file_[descriptor].load(std::memory_order_acquire) : 0;
  return file != 0 ? file & (kStream - 1) : static_cast<uint64_t>(descriptor) & (kOwnNumber - 1);
}

bool OpenFiles::is_stream(long descriptor) const {
  return descriptor >= 0 && descriptor < kKnown && (file_[descriptor].load(std::memory_order_acquire) & kStream) != 0;
}

void OpenFiles::add(long descriptor, bool is_stream) {
  if (descriptor < 0 || descriptor >= kKnown) return;
  const uint32_t number = made_.fetch_add(1, std::memory_order_relaxed) & (kOwnNumber - 1);
  file_[descriptor].store(kOwnNumber | number | (is_stream ? kStream : 0), std::memory_order_release);
}

// The copy of a descriptor that is known by its number alone is known by the same number.
void OpenFiles::add_copy(long descriptor, long copy) {
  if (descriptor < 0 || copy < 0 || copy >= kKnown) return;
  const uint32_t stream = is_stream(descriptor) ? kStream : 0;
  file_[copy].store(static_cast<uint32_t>(of(descriptor)) | stream, std::memory_order_release);
}

void note_descriptors(const long* call, long result, OpenFiles& files) {
  Made made[2];
  const size_t count = made_by(call, result, made);
  for (size_t i = 0; i < count; ++i) {
    if (made[i].copied >= 0) {
      files.add_copy(made[i].copied, made[i].descriptor);
    } else {
      files.add(made[i].descriptor, made[i].is_stream);
    }
  }
}

// The file behind a new descriptor is new as well: sections that use it come after the section that made it.
void add_kernel_state(const long* call, long result, int process, OpenFiles& files, Segment& segment) {
  Call of(call, result, process, files, segment);
  if (const Effect* effect = find(call[0])) {
    for (const Touch& touch : effect->touch) of.add(touch);
  }
  add_special(call, of);
  note_descriptors(call, result, files);
  Made made[2];
  const size_t count = made_by(call, result, made);
  for (size_t i = 0; i < count; ++i) {
    if (made[i].copied < 0 || call[0] == SYS_dup2 || call[0] == SYS_dup3) of.add_made(made[i].descriptor);
  }
}

}  // namespace contrafact::translate
