/* The buffer that carries deferred calls from one producing thread to their processor. Its layout is an ABI: code that
 * is injected into a running program (Java bytecode through Unsafe, for one) appends to it with plain stores and
 * without a native call. Plain C. `src/deferred` owns it and documents the protocol.
 *
 * A buffer holds calls in typed columns: one column of call ids, and one for each distinct argument type, shared by all
 * the methods of an environment. All is written by one producer. A column has room for (capacity +
 * CONTRAFACT_BUFFER_SLACK) calls with as many arguments of its type as any method has; so only the number of calls is
 * ever checked.
 *
 * To append one call with id `k` and the arguments x (column 0) and y, z (column 1):
 *
 *   n = b->committed
 *   if (n >= b->capacity) {                     (a fresh producer starts with a buffer of capacity 0)
 *     b' = swap(b->owner); if (!b') return;     (null: no memory, this call is dropped and has been counted)
 *     b = b', remember it, n = b->committed
 *   }
 *   ((uint16_t*)b->ids)[n] = k
 *   ((int64_t*)b->column[0])[b->cursor[0]] = x;          b->cursor[0] += 1
 *   ((uint32_t*)b->column[1])[b->cursor[1]] = y, then z; b->cursor[1] += 2
 *   store with release: b->committed = n + 1
 *
 * Where every method has exactly one argument of a column, a call's place in it is n, and its cursor may be left alone:
 * the producer alone uses cursors.
 *
 * The slack lets a producer write up to two calls after one check: a `switch_thread` and the call it belongs to.
 * A call is visible to the processor once `committed` counts it, never in part.
 *
 * The traces' environment: id = event kind (format/event.h) or CONTRAFACT_CALL_SWITCH_THREAD; column 0 holds int64_t
 * (an event's time; the switch has none), column 1 holds uint32_t (operands in the schema's order; the switch has one,
 * the ThreadId). Before an event of another logical thread than `logical_thread`, append a switch and store the new one
 * there. The swap sets `logical_thread` of the buffer it returns to the producer's own, so compare after the check for
 * room. */
#ifndef CONTRAFACT_DEFERRED_BUFFER_H_
#define CONTRAFACT_DEFERRED_BUFFER_H_

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CONTRAFACT_COLUMNS_MAX 6
#define CONTRAFACT_BUFFER_SLACK 1 /* calls beyond `capacity` that there is room for */
#define CONTRAFACT_CALL_SWITCH_THREAD 0x100

struct contrafact_buffer {
  uint32_t committed;                      /* calls written completely; stored with release by the producer */
  uint32_t capacity;                       /* calls after which the producer asks for another buffer */
  uint32_t cursor[CONTRAFACT_COLUMNS_MAX]; /* next free element of each argument column; the producer's alone */
  uint64_t ids;                            /* address of the call-id column: uint16_t[] */
  uint64_t column[CONTRAFACT_COLUMNS_MAX]; /* addresses of the argument columns; 0 where the environment has none */
  uint64_t owner;                          /* the producer (contrafact::deferred::Client*) that the buffer belongs to */
  uint32_t logical_thread;                 /* of the last call; reset to the producer's own id with each buffer */
  uint32_t dropped;                        /* calls that this producer lost just before the first call of this buffer */
  uint64_t reserved[3];
};

#ifdef __cplusplus
#define CONTRAFACT_STATIC_ASSERT static_assert
#else
#define CONTRAFACT_STATIC_ASSERT _Static_assert
#endif
CONTRAFACT_STATIC_ASSERT(offsetof(struct contrafact_buffer, committed) == 0, "ABI");
CONTRAFACT_STATIC_ASSERT(offsetof(struct contrafact_buffer, capacity) == 4, "ABI");
CONTRAFACT_STATIC_ASSERT(offsetof(struct contrafact_buffer, cursor) == 8, "ABI");
CONTRAFACT_STATIC_ASSERT(offsetof(struct contrafact_buffer, ids) == 32, "ABI");
CONTRAFACT_STATIC_ASSERT(offsetof(struct contrafact_buffer, column) == 40, "ABI");
CONTRAFACT_STATIC_ASSERT(offsetof(struct contrafact_buffer, owner) == 88, "ABI");
CONTRAFACT_STATIC_ASSERT(offsetof(struct contrafact_buffer, logical_thread) == 96, "ABI");
CONTRAFACT_STATIC_ASSERT(offsetof(struct contrafact_buffer, dropped) == 100, "ABI");
CONTRAFACT_STATIC_ASSERT(sizeof(struct contrafact_buffer) == 128, "ABI");

#endif
