/* memory_account.h - one account of the process's memory: what requests may still take, and who has what.
 *
 * A part is what Elasticsearch calls a circuit breaker: requests (their arenas and answers), fielddata, requests in flight (bodies as
 * received and as unpacked, frames of other nodes), accounting. Each has a limit of its own, the whole has another one, the
 * parent's. What is taken is counted in blocks (an arena's chunk, a buffer's growth), with atomic adds; what no part counts (the
 * engine's buffers, the allocator's free pages) the parent sees by what the process really holds, measured anew after each few
 * megabytes that were taken.
 *
 * Without limits (tests, the simulator, until the node sets them) all is counted and nothing is refused. Everything here may be
 * called by any thread. */
#ifndef BASE_MEMORY_ACCOUNT_H
#define BASE_MEMORY_ACCOUNT_H

#include "common/base/arena.h"
#include "common/base/buf.h"

enum memory_part {
    MEMORY_REQUEST,
    MEMORY_FIELDDATA,
    MEMORY_IN_FLIGHT,
    MEMORY_ACCOUNTING,
    MEMORY_PARENT, /* the whole; nothing is taken from it directly */
    MEMORY_PARTS
};

/* Blocks below this are refused only when the whole is past its limit by a thirty-second: small requests are answered while large
 * ones are refused. */
#define MEMORY_BLOCK_SMALL (64 * KIB)
/* No limit. */
#define MEMORY_UNLIMITED UINT64_MAX

struct memory_limits {
    uint64_t heap;                /* what percentages are of, for one request: see memory_heap_bytes() */
    uint64_t limit[MEMORY_PARTS]; /* bytes; 0: nothing is taken at all */
    double overhead[MEMORY_PARTS];
    uint64_t request_bytes; /* the ceiling of one request's arena */
    bool real;              /* the parent uses the memory of the process, not only the counted part */
    uint64_t (*resident)(
        bool refusing); /* what it holds; `refusing`: free pages go back to the system first. NULL: unknown */
};

void memory_limits_set(const struct memory_limits *l);
/* The base of a request's share of memory ("60%"): 1 GiB, or less where the process may have less. */
uint64_t memory_heap_bytes(void);

/* Counts n bytes more. false: over a limit, nothing was counted, and the thread's refusal says so. Of requests' memory small blocks
 * are refused by the parent alone: whoever needs little is answered, however low the part's limit is. */
bool memory_take(enum memory_part part, size_t n) NODISCARD;
/* Is there room for n bytes, small or not, which are not counted? `what`: whose they are, for the refusal ("<http_request>"); NULL:
 * what all of the part are. */
bool memory_room(enum memory_part part, size_t n, const char *what) NODISCARD;
/* Counts n bytes that are there already, whatever the limits say. */
void memory_add(enum memory_part part, size_t n);
void memory_give(enum memory_part part, size_t n);

/* The heap, counted: what it gives out is taken from the part. Never NULL. */
const struct allocator *memory_allocator(enum memory_part part);
/* The same for what must go on whatever the limits say: it counts, and refuses nothing but large blocks of what is in flight. What comes from either of the two may be given
 * back by the other: an empty buffer, or an arena at any time, may change from one to the other. */
const struct allocator *memory_allocator_exempt(enum memory_part part);
/* An arena and a buffer for what one request needs: counted, with the request's ceiling. */
void memory_request_arena(struct arena *a);
void memory_request_buf(struct buf *b);
/* Counts what a filled buffer holds as the part's from now on; it must be of the default allocator, or counted already. Any other is
 * left as it is. */
void memory_adopt(enum memory_part part, struct buf *b);

/* On a thread that works for requests, large blocks of the default allocator are refused too when the whole is at its limit, so
 * that scratch memory which nobody counts has an end. Off at first; work for the node itself (shards, states) switches it off.
 * Returns what it was. */
bool memory_guard(bool on);
/* What the default allocator asks for each block. */
bool memory_guard_allows(size_t n);

/* The reason for the thread's last refusal, as Elasticsearch words it, and what goes with it; forgets it. false: there was none. */
struct err_refused;
bool memory_refusal(char *out, size_t n, struct err_refused *refused);
/* The members of a circuit_breaking_exception behind its reason: bytes_wanted, bytes_limit, durability. */
struct jsonw;
void memory_write_refusal(struct jsonw *w, const struct err_refused *r);
/* An arena or a buffer came to a ceiling of its own: the thread's refusal, if it counts for requests. */
void memory_ceiling(const struct allocator *alloc, uint64_t wanted, uint64_t limit);

struct memory_part_stats {
    uint64_t limit, used, tripped;
    double overhead;
};
struct memory_stats {
    struct memory_part_stats part[MEMORY_PARTS];
};
void memory_stats(struct memory_stats *out);
/* "request", "in_flight_requests"... */
const char *memory_part_name(enum memory_part part);

/* "95mb", "1.2gb", as Elasticsearch prints sizes: the largest unit, one digit behind the point, cut off and left out when zero. */
void memory_print_bytes(struct buf *b, uint64_t v);

#endif
