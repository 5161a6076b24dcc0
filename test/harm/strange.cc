// Programs that do what is allowed and seldom seen: an allocator that hides its blocks' beginnings, coroutines that
// return nowhere, threads that free what they were made from, and those that walk past their environment.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <iterator>
#include <new>
#include <string>
#include <thread>

#include "harm.h"

using namespace harm;

// Each block has a word in front that looks like no allocator's. As from another file: what callers tell them stays.
[[gnu::noipa]] void* operator new(size_t bytes) {
  auto* const block = static_cast<uint64_t*>(malloc(bytes + 16));
  if (!block) throw std::bad_alloc();
  block[1] = 0xfeedfacecafef000;
  return block + 2;
}
[[gnu::noipa]] void operator delete(void* block) noexcept {
  if (block) free(static_cast<uint64_t*>(block) - 2);
}
[[gnu::noipa]] void operator delete(void* block, size_t) noexcept {
  operator delete(block);
}

namespace {

constexpr long kSome = 1000;
std::string g_programs;

std::string beside(const char* name) {
  return g_programs + "/" + name;
}

struct Shop {
  void open(long count) { sections(count); }
};

int own_blocks() {
  Shop shop;
  std::thread(sections, kSome).join();
  std::thread(&Shop::open, &shop, kSome).join();
  std::thread([](const std::string& name) { say(name.c_str()); }, "a thread with an object\n").join();
  std::thread([] { sections(kSome); }).join();
  return 50;
}

// What a coroutine's library puts where the outermost frame returns to: no address at all, data, or what cannot be
// read.
char g_data[64];
void* g_outside;

[[gnu::noinline]] void coroutine() {
  sections(100);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(10L)), nullptr);
  usleep(1000);
}

// Runs coroutine() on `top`, and comes back without its return.
[[gnu::noinline]] void run_on(uint64_t* top, uint64_t return_address) {
  static jmp_buf back;
  static void (*body)() = [] {
    coroutine();
    longjmp(back, 1);
  };
  *--top = return_address;
  if (setjmp(back) != 0) return;
  __asm__ volatile(
      "movq %[top], %%rsp\n\t"
      "xorl %%ebp, %%ebp\n\t"
      "jmp *%[body]"
      :
      : [top] "r"(top), [body] "r"(body)
      : "memory");
  __builtin_unreachable();
}

int coroutines_return_nowhere() {
  constexpr size_t kBytes = 256 << 10;
  void* const closed = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const stack =
      static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  // Right at the end of what can be read, too.
  expect(mprotect(stack + kBytes - 4096, 4096, PROT_NONE) == 0, "mprotect");
  auto* const top = reinterpret_cast<uint64_t*>(stack + kBytes - 4096);
  for (const uint64_t return_address :
       {uint64_t{0xdeaddeaddeaddead}, uint64_t{0xdeadc0c0}, uint64_t{0}, uint64_t{1}, UINT64_MAX,
        reinterpret_cast<uint64_t>(closed) + 8, reinterpret_cast<uint64_t>(g_data)}) {
    run_on(top, return_address);
  }
  say("coroutines ended\n");
  return 51;
}

// A request that has its thread's handle and is gone when it has been served.
struct Request {
  pthread_t thread;
  char text[1 << 16];
};
std::atomic<long> g_served{0};

void* serve(void* request) {
  munmap(request, sizeof(Request));
  pthread_mutex_lock(&g_mutex);
  pthread_mutex_unlock(&g_mutex);
  ++g_served;
  return nullptr;
}
void* serve_alone(void* request) {
  pthread_detach(pthread_self());
  return serve(request);
}

int threads_free_requests(bool detach_themselves) {
  constexpr long kRequests = 4000;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (long i = 0; i < kRequests; ++i) {
    auto* const request = static_cast<Request*>(
        mmap(nullptr, sizeof(Request), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    expect(request != MAP_FAILED, "mmap");
    errno = pthread_create(&request->thread, detach_themselves ? nullptr : &detached,
                           detach_themselves ? serve_alone : serve, request);
    expect(errno == 0, "pthread_create");
    while (i - g_served > 50) sched_yield();
  }
  while (g_served < kRequests) sched_yield();
  return 52;
}

// The auxiliary vector, found as runtimes find it: behind the environment.
int walks_past_environment() {
  char** entry = environ;
  while (*entry) ++entry;
  const auto* const vector = reinterpret_cast<const Elf64_auxv_t*>(entry + 1);
  const Elf64_auxv_t* each = vector;
  for (; each->a_type != AT_NULL; ++each) {
    if (each->a_type == AT_PAGESZ) dprintf(1, "pages of %lu bytes\n", each->a_un.a_val);
    if (each->a_type == AT_PHENT) dprintf(1, "headers of %lu bytes\n", each->a_un.a_val);
  }
  sections(kSome);
  return 53;
}

// A daemon whose own file has the number of standard error, and no room for another.
int own_file_at_two() {
  close(2);
  expect(open("own", O_RDWR | O_CREAT | O_TRUNC, 0600) == 2, "open");
  rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  const rlimit few{3, files.rlim_max};
  expect(setrlimit(RLIMIT_NOFILE, &few) == 0, "setrlimit");
  sections(kSome);
  for (const bool becomes_another : {false, true}) {
    const pid_t child = fork();
    if (child == 0) {
      sections(kSome);
      if (becomes_another) execl(beside("harm_static").c_str(), "static", static_cast<char*>(nullptr));
      _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    dprintf(1, "child %d\n", status);
  }
  return 54;
}

constexpr Case kCases[] = {
    {"own_blocks", own_blocks},
    {"coroutines_return_nowhere", coroutines_return_nowhere},
    {"threads_free_requests", [] { return threads_free_requests(false); }},
    {"threads_free_requests_alone", [] { return threads_free_requests(true); }},
    {"walks_past_environment", walks_past_environment},
    {"own_file_at_two", own_file_at_two},
};

}  // namespace

int main(int count, char** arguments) {
  const std::string self = arguments[0];
  g_programs = self.substr(0, self.rfind('/'));
  return run_case(kCases, std::size(kCases), count > 1 ? arguments[1] : "");
}
