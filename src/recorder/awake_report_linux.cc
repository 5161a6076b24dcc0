#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "recorder/awake_report.h"

namespace contrafact::recorder {

base::Result<std::shared_ptr<AwakeReport>> AwakeReport::make() {
  const auto failed = [](const char* what) {
    return base::Error{std::string("cannot ") + what + " memory to share: " + std::strerror(errno)};
  };
  const int descriptor = memfd_create("contrafact awake", MFD_CLOEXEC);
  if (descriptor < 0) return failed("make");
  void* const memory = ftruncate(descriptor, sizeof(Page)) != 0
                           ? MAP_FAILED
                           : mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    const base::Error error = failed("map");
    close(descriptor);
    return error;
  }
  return std::shared_ptr<AwakeReport>(new AwakeReport(descriptor, new (memory) Page));
}

std::shared_ptr<const AwakeReport> AwakeReport::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  struct stat status{};
  const bool is_whole = fstat(descriptor, &status) == 0 && status.st_size == sizeof(Page);
  void* const memory = is_whole ? mmap(nullptr, sizeof(Page), PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  close(descriptor);
  if (memory == MAP_FAILED) return nullptr;
  return std::shared_ptr<const AwakeReport>(new AwakeReport(-1, static_cast<Page*>(memory)));
}

AwakeReport::~AwakeReport() {
  munmap(page_, sizeof(Page));
  if (descriptor_ >= 0) close(descriptor_);
}

std::string AwakeReport::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_);
}

int64_t AwakeReport::computed_ns(const cpu_set_t& cores) const {
  int64_t sum_ns = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) sum_ns += page_->cores[core].computed_ns.load(std::memory_order_relaxed);
  }
  return sum_ns;
}

}  // namespace contrafact::recorder
