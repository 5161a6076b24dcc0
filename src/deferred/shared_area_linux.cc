#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "deferred/rounding.h"
#include "deferred/shared_area.h"

namespace contrafact::deferred {
namespace {

constexpr uint64_t kMagic = 0x0231616572616663;  // "cfarea1" and a version, which changes with any of the structs
constexpr uint64_t kPageBytes = 4096;

constexpr uint64_t kClientsAt = round_up(sizeof(SharedHeader), kPageBytes);
constexpr uint64_t kNotesAt = round_up(kClientsAt + sizeof(SharedClient) * kSharedClientsMax, kPageBytes);
constexpr uint64_t kPoolAt = round_up(kNotesAt + kSharedNoteBytes * kSharedNotesMax, kPageBytes);

BufferPool::Options pool_options(const SharedHeader& header) {
  return {.capacities = kDrainCapacities, .memory_bytes_max = header.memory_bytes_max};
}

base::Error failed(const char* what) {
  return base::Error{std::string("cannot ") + what + " memory to share: " + strerrordesc_np(errno)};
}

SharedHeader* map_header(int fd, uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SharedHeader*>(memory);
}

}  // namespace

uint64_t SharedArea::bytes_for(uint64_t memory_bytes_max) {
  return kPoolAt + round_up(memory_bytes_max, kPageBytes);
}

base::Result<int> SharedArea::create(uint64_t memory_bytes_max) {
  const int fd = memfd_create("contrafact", MFD_CLOEXEC);
  if (fd < 0) return failed("make");
  SharedHeader header;
  header.area_bytes = bytes_for(memory_bytes_max);
  header.memory_bytes_max = memory_bytes_max;
  header.magic = kMagic;
  if (ftruncate(fd, static_cast<off_t>(header.area_bytes)) == 0 &&
      pwrite(fd, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header)) {
    return fd;
  }
  const base::Error error = failed("make");
  close(fd);
  return error;
}

base::Result<SharedArea> SharedArea::map(int fd, uint64_t area_bytes) {
  SharedHeader* header = map_header(fd, area_bytes);
  if (!header) return failed("map");
  if (header->magic != kMagic || header->area_bytes != area_bytes) {
    munmap(header, area_bytes);
    return base::Error{"the memory to share is of another version of contrafact"};
  }
  return SharedArea(header, true);
}

base::Result<SharedArea> SharedArea::open(int fd, uint64_t area_bytes, bool restricted) {
  auto area = map(fd, area_bytes);
  if (!area) return area.error();
  area->unmaps_ = false;
  SharedHeader* header = area->header_;
  if (!restricted) madvise(header, area_bytes, MADV_DONTDUMP);
  header->there.store(reinterpret_cast<uint64_t>(header), std::memory_order_release);
  return area;
}

// Others change the area meanwhile, so the copy need not be consistent. A thread in the middle of an append only needs
// buffers somewhere in it.
void SharedArea::keep_to_this_process() const {
  const uint64_t bytes = header_->area_bytes;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (copy == MAP_FAILED) return;
  const auto copy_part = [&](uint64_t at, uint64_t part_bytes) {
    std::memcpy(static_cast<uint8_t*>(copy) + at, reinterpret_cast<const uint8_t*>(header_) + at, part_bytes);
  };
  const uint64_t clients = std::min(header_->clients_made.load(std::memory_order_acquire), kSharedClientsMax);
  copy_part(0, sizeof(SharedHeader));
  copy_part(kClientsAt, clients * sizeof(SharedClient));
  copy_part(kNotesAt, std::min<uint64_t>(clients, kSharedNotesMax) * kSharedNoteBytes);
  copy_part(kPoolAt, std::min(header_->pool.carved_bytes.load(std::memory_order_acquire), bytes - kPoolAt));
  madvise(copy, bytes, MADV_DONTDUMP);
  if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, header_) == MAP_FAILED) munmap(copy, bytes);
}

SharedArea& SharedArea::operator=(SharedArea&& other) noexcept {
  std::swap(header_, other.header_);
  std::swap(unmaps_, other.unmaps_);
  return *this;
}

SharedArea::~SharedArea() {
  if (header_ && unmaps_) munmap(header_, header_->area_bytes);
}

uint8_t* SharedArea::pool_region() const {
  return reinterpret_cast<uint8_t*>(header_) + kPoolAt;
}
SharedClient* SharedArea::clients() const {
  return reinterpret_cast<SharedClient*>(reinterpret_cast<uint8_t*>(header_) + kClientsAt);
}

uint8_t* SharedArea::note_of(const Client& client) const {
  const auto at = reinterpret_cast<const uint8_t*>(&client) - reinterpret_cast<const uint8_t*>(clients());
  const auto number = static_cast<uint64_t>(at) / sizeof(SharedClient);
  if (number >= kSharedNotesMax) return nullptr;
  return reinterpret_cast<uint8_t*>(header_) + kNotesAt + number * kSharedNoteBytes;
}

// ---- producers

SharedProducers::SharedProducers(SharedArea area, const Layout& layout)
    : area_(std::move(area)), pool_(layout, pool_options(area_.header()), area_.header().pool, area_.pool_region()) {}

SharedClient* SharedProducers::take_client() {
  SharedHeader& header = area_.header();
  SharedClient* const all = area_.clients();
  uint64_t head = header.free_clients.load(std::memory_order_acquire);
  while (const auto number = static_cast<uint32_t>(head)) {
    const uint64_t next = all[number - 1].free_next.load(std::memory_order_relaxed);
    const uint64_t wanted = ((head >> 32) + 1) << 32 | next;
    if (header.free_clients.compare_exchange_weak(head, wanted, std::memory_order_acquire)) return &all[number - 1];
  }
  uint32_t made = header.clients_made.load(std::memory_order_relaxed);
  do {
    if (made == kSharedClientsMax) return nullptr;
  } while (!header.clients_made.compare_exchange_weak(made, made + 1, std::memory_order_relaxed));
  return new (&all[made]) SharedClient(*this);
}

Client* SharedProducers::attach(uint64_t first_word, uint64_t second_word) {
  SharedClient* shared = take_client();
  if (!shared) return nullptr;
  shared->client.reset(area_.header().streams.fetch_add(1, std::memory_order_relaxed));
  shared->begin_words[0] = first_word;
  shared->begin_words[1] = second_word;
  if (uint8_t* note = note_of(shared->client)) std::memset(note, 0, kSharedNoteBytes);
  area_.header().drain.add(shared->client);
  return &shared->client;
}

contrafact_buffer* SharedProducers::swap(Client& client) {
  return swap_buffer(client, pool_, area_.header().drain).buffer;
}

void SharedProducers::detached(Client& client) {
  client.ended_.store(true, std::memory_order_release);
  area_.header().drain.waiting.fetch_add(1, std::memory_order_relaxed);
}

// ---- the drainer

SharedDrainer::SharedDrainer(SharedArea& area, const Layout& layout, Owner& owner)
    : area_(area), owner_(owner), pool_(layout, pool_options(area.header()), area.header().pool, area.pool_region()) {}

bool SharedDrainer::wants_pass() const {
  return area_.header().drain.waiting.load(std::memory_order_relaxed) >= kBuffersWorthAPass;
}

void SharedDrainer::pass(bool last) {
  SharedHeader& header = area_.header();
  const uint64_t there = header.there.load(std::memory_order_acquire);
  if (there == 0) return;
  mapping_ = Mapping(there, &header, header.area_bytes);
  header.drain.pass.fetch_add(1, std::memory_order_relaxed);
  header.drain.waiting.store(0, std::memory_order_relaxed);
  if (last) header.drain.stopped.store(true, std::memory_order_relaxed);
  owner_.begin_pass();
  take_new_clients();
  QueueReader reader(pool_, owner_, mapping_);
  std::erase_if(live_, [&](const Live& live) {
    Client& client = live.client->client;
    // Read before anything is taken: if set, no call comes after those taken.
    const bool ended = client.ended_.load(std::memory_order_acquire);
    const bool sound = reader.take(client, live.stream, last || ended);
    if (sound && !ended) return false;
    owner_.end_stream(live.stream);
    if (sound) {
      reader.give_back(client);
      recycle(*live.client);
    } else {
      ++broken_;
    }
    return true;
  });
  owner_.end_pass();
}

// The oldest first, so that they are numbered in their order.
void SharedDrainer::take_new_clients() {
  const size_t before = live_.size();
  for (Client* there = area_.header().drain.take_new(); there;) {
    auto* const client = mapping_.here(reinterpret_cast<SharedClient*>(there));
    if (!client || live_.size() - before > kSharedClientsMax) break;  // overwritten
    live_.push_back({client, 0});
    there = client->client.next_new_;
  }
  std::reverse(live_.begin() + static_cast<ptrdiff_t>(before), live_.end());
  for (size_t i = before; i < live_.size(); ++i) live_[i].stream = owner_.begin_stream(live_[i].client->begin_words);
}

void SharedDrainer::recycle(SharedClient& client) {
  SharedHeader& header = area_.header();
  const auto number = static_cast<uint64_t>(&client - area_.clients()) + 1;
  uint64_t head = header.free_clients.load(std::memory_order_relaxed);
  uint64_t wanted;
  do {
    client.free_next.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
    wanted = ((head >> 32) + 1) << 32 | number;
  } while (
      !header.free_clients.compare_exchange_weak(head, wanted, std::memory_order_acq_rel, std::memory_order_relaxed));
}

// A first touch of shared memory costs the producer some 30 ns for each event, as much as three events. Touches as much
// again as is used: thousands of processes that hardly do anything take little.
void SharedDrainer::prefault() {
  constexpr uint64_t kAheadBytesMin = 256 << 10, kAheadBytesMax = 2 << 20;
  const SharedHeader& header = area_.header();
  const uint64_t used = header.pool.carved_bytes.load(std::memory_order_relaxed);
  const uint64_t ahead = std::clamp(used, kAheadBytesMin, kAheadBytesMax);
  const uint64_t wanted = std::min(used + ahead, round_up(header.memory_bytes_max, kPageBytes));
  if (wanted < resident_bytes_ + ahead / 4) return;
  const uint64_t begin = resident_bytes_ / kPageBytes * kPageBytes, end = wanted / kPageBytes * kPageBytes;
  if (end > begin) madvise(area_.pool_region() + begin, end - begin, MADV_POPULATE_WRITE);
  resident_bytes_ = wanted;
}

}  // namespace contrafact::deferred
