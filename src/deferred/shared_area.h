// SharedArea: memory through which the threads of one process hand their calls to another process, which drains them.
// Calls that a thread has committed are out of its process' hands: they are drained even if that process is killed the
// moment after. And the process needs no thread, no descriptor and no system call for them.
//
//   process that drains                        process with the producers
//   SharedArea::create(bytes) ── memfd ──────> SharedArea::open(memfd)
//   SharedDrainer::pass()  <── area: clients, buffers, DrainState ── SharedProducers::attach, Client::swap
//
//   | SharedHeader | clients, kSharedClientsMax | notes of the first kSharedNotesMax | buffers, memory_bytes_max |
//
// The memory is mapped at another address in each process. What lies in it points by addresses of the producers'
// process; the drainer translates and checks each, for a faulty program may have written anything.
//
// If the draining process dies the producers find no free buffers after a while, and drop and count. A forked child of
// the producers' process has the same memory: it must not append to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "deferred/batch.h"
#include "deferred/buffer_pool.h"
#include "deferred/carrier.h"
#include "deferred/client.h"
#include "deferred/drain_queue.h"

namespace contrafact::deferred {

inline constexpr uint32_t kSharedClientsMax = 1 << 14;  // that live at one time
inline constexpr size_t kSharedOwnerBytes = 4096;
// A producer's own, for what it wants to know again. Not on or beside its stack: that is the program's.
inline constexpr size_t kSharedNoteBytes = 512;
inline constexpr uint32_t kSharedNotesMax = 1 << 12;

struct SharedHeader {
  uint64_t magic = 0;
  uint64_t area_bytes = 0;
  uint64_t memory_bytes_max = 0;   // of buffers
  std::atomic<uint64_t> there{0};  // the area's address in the producers' process; 0 before it opened the area
  std::atomic<uint32_t> clients_made{0};
  std::atomic<uint64_t> free_clients{0};  // as PoolState::FreeList::head, by number + 1
  std::atomic<uint32_t> streams{0};
  DrainState drain;
  PoolState pool;
  // Further messages between the two processes.
  alignas(64) uint8_t owner[kSharedOwnerBytes] = {};
};

// A client's place, and what its producer said when it began.
struct SharedClient {
  explicit SharedClient(Carrier& carrier) : client(carrier) {}
  Client client;
  uint64_t begin_words[2] = {};
  std::atomic<uint32_t> free_next{0};
};

// One process' view. Movable; unmaps at its end.
class SharedArea {
 public:
  // Bytes of an area with so much memory for buffers.
  static uint64_t bytes_for(uint64_t memory_bytes_max);
  // New memory's descriptor, which the caller closes. Only what is touched becomes resident; nothing is mapped yet.
  static base::Result<int> create(uint64_t memory_bytes_max);
  // The draining process' view of what a descriptor of `create` stands for, which is left open.
  static base::Result<SharedArea> map(int fd, uint64_t area_bytes);
  // The producers' process' view. It stays mapped for as long as the process lives: its threads may use it until the
  // very end. Makes one system call if the process is restricted, else another one that keeps it out of core files.
  static base::Result<SharedArea> open(int fd, uint64_t area_bytes, bool restricted);

  // In a forked child of the producers' process: from here on it has a copy of its own in the area's place, which
  // nobody drains. Allocates as much memory as is in use; if it gets none, all stays as it is.
  void keep_to_this_process() const;

  SharedArea() = default;
  SharedArea(SharedArea&& other) noexcept : header_(other.header_), unmaps_(other.unmaps_) { other.header_ = nullptr; }
  SharedArea& operator=(SharedArea&& other) noexcept;
  ~SharedArea();

  SharedHeader& header() const { return *header_; }
  uint8_t* pool_region() const;
  SharedClient* clients() const;
  // Of a client of this area; null where it has none.
  uint8_t* note_of(const Client& client) const;

 private:
  SharedArea(SharedHeader* header, bool unmaps) : header_(header), unmaps_(unmaps) {}
  SharedHeader* header_ = nullptr;
  bool unmaps_ = false;
};

// The producers' side. Thread safety: everything, also in a signal's handler: it neither locks nor allocates nor calls
// the kernel.
class SharedProducers final : public Carrier {
 public:
  SharedProducers(SharedArea area, const Layout& layout);

  // A producer begins; `begin_words` reach the drainer before its first call. Null where kSharedClientsMax producers
  // live already.
  Client* attach(uint64_t first_word, uint64_t second_word);
  // kSharedNoteBytes that are all 0 when the producer begins, and which nobody else looks at; null for producers for
  // whom there are none.
  uint8_t* note_of(const Client& client) const { return area_.note_of(client); }
  // It ended; the client must not be used again, nor its note.
  void detach(Client* client) { detached(*client); }
  SharedHeader& header() const { return area_.header(); }
  SharedArea& area() { return area_; }
  const SharedArea& area() const { return area_; }

  contrafact_buffer* swap(Client& client) override;
  void attached(Client&) override {}
  void detached(Client& client) override;

 private:
  SharedClient* take_client();
  SharedArea area_;
  BufferPool pool_;
};

// The other side. Thread safety: one thread at a time.
class SharedDrainer {
 public:
  class Owner : public Consumer {
   public:
    // A producer begins: the stream that its calls are shown as.
    virtual uint32_t begin_stream(const uint64_t (&begin_words)[2]) = 0;
    virtual void end_stream(uint32_t stream) = 0;
  };
  SharedDrainer(SharedArea& area, const Layout& layout, Owner& owner);

  // Shows the owner what was committed; nothing before the producers' process has opened the area. `last`: it lives no
  // more, or is not waited for. What it appends then is lost.
  void pass(bool last);
  // Enough is waiting.
  bool wants_pass() const;
  // A queue made no sense (QueueReader::take) and was given up.
  uint32_t broken_queues() const { return broken_; }
  // Makes the memory that will be handed out next resident, so that the producers need not wait for it.
  void prefault();

 private:
  struct Live {
    SharedClient* client;
    uint32_t stream;
  };
  void take_new_clients();
  void recycle(SharedClient& client);

  SharedArea& area_;
  Owner& owner_;
  BufferPool pool_;
  Mapping mapping_;
  std::vector<Live> live_;
  uint32_t broken_ = 0;
  uint64_t resident_bytes_ = 0;  // of the pool's region
};

}  // namespace contrafact::deferred
