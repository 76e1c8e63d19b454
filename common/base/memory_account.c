#include "common/base/memory_account.h"

#include "common/base/err.h"
#include "common/base/jsonw.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUEST_BYTES_DEFAULT ((uint64_t)(0.6 * GIB))
#define AHEAD_BYTES           (32 * KIB) /* asked of the whole at a time for small pieces */
#define SAMPLE_BYTES          (2 * MIB) /* taken since the process was measured, at which it is measured again */

static const char *const names[] = {"request", "fielddata", "in_flight_requests", "accounting", "parent"};
static const char *const labels[] = {"<reused_arrays>", "<fielddata>", "<http_request>", "<accounting>",
                                     "<reused_arrays>"};

struct part {
    _Atomic uint64_t used, limit, tripped;
    _Atomic double overhead;
};

static struct {
    struct part part[MEMORY_PARTS];
    _Atomic uint64_t heap, request_bytes;
    _Atomic bool real;
    _Atomic uint32_t limits;   /* how often they were set */
    _Atomic uint64_t resident; /* as measured last */
    _Atomic uint64_t pending;  /* taken since, and not yet seen in a measurement */
    _Atomic(uint64_t (*)(bool)) measure;
} all = {.part = {[MEMORY_REQUEST] = {.limit = MEMORY_UNLIMITED, .overhead = 1.0},
                  [MEMORY_FIELDDATA] = {.limit = MEMORY_UNLIMITED, .overhead = 1.03},
                  [MEMORY_IN_FLIGHT] = {.limit = MEMORY_UNLIMITED, .overhead = 2.0},
                  [MEMORY_ACCOUNTING] = {.limit = MEMORY_UNLIMITED, .overhead = 1.0},
                  [MEMORY_PARENT] = {.limit = MEMORY_UNLIMITED, .overhead = 1.0}},
         .heap = GIB,
         .request_bytes = REQUEST_BYTES_DEFAULT};

/* What was refused last on this thread. */
struct refusal {
    bool is;
    enum memory_part part;
    const char *what;
    uint64_t wanted, limit, resident;
    size_t n;
};

static _Thread_local struct refusal refusal;
static _Thread_local bool guarded;
/* What this thread has asked of the whole, under which limits, and not yet used: small pieces need not ask each time. */
static _Thread_local struct {
    size_t n;
    uint32_t limits;
} ahead;

#define LOAD(x)     atomic_load_explicit(&(x), memory_order_relaxed)
#define STORE(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

uint64_t memory_heap_bytes(void)
{
    return LOAD(all.heap);
}

/* ---- the whole ---------------------------------------------------------------------------------------------------------- */

static uint64_t counted(void)
{
    double sum = 0;
    for (unsigned i = 0; i < MEMORY_PARENT; i++) {
        sum += (double)LOAD(all.part[i].used) * LOAD(all.part[i].overhead);
    }
    return (uint64_t)sum;
}

/* Measures. Memory taken meanwhile may not be touched yet: half of it stays counted until the next time. */
static void measure(bool refusing)
{
    uint64_t (*resident)(bool) = LOAD(all.measure);
    if (resident != NULL) {
        uint64_t pending = LOAD(all.pending);
        STORE(all.resident, resident(refusing));
        /* Another thread that has changed it meanwhile keeps it high: so be it until the next time. */
        atomic_compare_exchange_strong(&all.pending, &pending, pending / 2);
    }
}

void memory_limits_set(const struct memory_limits *l)
{
    for (unsigned i = 0; i < MEMORY_PARTS; i++) {
        STORE(all.part[i].limit, l->limit[i]);
        STORE(all.part[i].overhead, l->overhead[i]);
    }
    STORE(all.heap, l->heap);
    STORE(all.request_bytes, l->request_bytes);
    STORE(all.real, l->real);
    STORE(all.measure, l->resident);
    atomic_fetch_add_explicit(&all.limits, 1, memory_order_relaxed);
    measure(false);
}

static bool is_measured(void)
{
    return LOAD(all.real) && LOAD(all.measure) != NULL;
}

static uint64_t held(void)
{
    return is_measured() ? LOAD(all.resident) + LOAD(all.pending) : counted();
}

static void forget_pending(size_t n)
{
    uint64_t pending = LOAD(all.pending);
    while (!atomic_compare_exchange_weak(&all.pending, &pending, pending - MIN_OF(pending, n))) {
    }
}

static bool refuse(enum memory_part part, const char *what, size_t n, uint64_t wanted, uint64_t limit)
{
    refusal = (struct refusal){true, part, what, wanted, limit, LOAD(all.resident), n};
    atomic_fetch_add_explicit(&all.part[part].tripped, 1, memory_order_relaxed);
    return false;
}

/* Would n more bytes fit? Then they are pending until a measurement sees them. */
static bool fits(size_t n, uint64_t ceiling, uint64_t *wanted)
{
    atomic_fetch_add_explicit(&all.pending, n, memory_order_relaxed);
    *wanted = held();
    if (*wanted > ceiling) {
        forget_pending(n);
        return false;
    }
    return true;
}

/* Is there room in the whole for n bytes, which are counted already or never will be? */
static bool whole_allows(const char *what, size_t n)
{
    uint64_t limit = LOAD(all.part[MEMORY_PARENT].limit), wanted;
    if (limit == MEMORY_UNLIMITED) {
        return true;
    }
    if (n <= ahead.n && ahead.limits == LOAD(all.limits)) {
        ahead.n -= n;
        return true;
    }
    if (LOAD(all.pending) >= SAMPLE_BYTES) {
        measure(false);
    }
    uint64_t ceiling = n < MEMORY_BLOCK_SMALL ? limit + limit / 32 : limit;
    if (n < AHEAD_BYTES / 4 && is_measured() && fits(AHEAD_BYTES, limit, &wanted)) {
        ahead.n = AHEAD_BYTES - n;
        ahead.limits = LOAD(all.limits);
        return true;
    }
    if (fits(n, ceiling, &wanted)) {
        return true;
    }
    measure(true);
    return fits(n, ceiling, &wanted) || refuse(MEMORY_PARENT, what, n, wanted, limit);
}

/* ---- parts ---------------------------------------------------------------------------------------------------------------- */

void memory_add(enum memory_part part, size_t n)
{
    atomic_fetch_add_explicit(&all.part[part].used, n, memory_order_relaxed);
}

void memory_give(enum memory_part part, size_t n)
{
    atomic_fetch_sub_explicit(&all.part[part].used, n, memory_order_relaxed);
}

/* May the part have `used` bytes, n of them new? */
static bool part_allows(enum memory_part part, const char *what, size_t n, uint64_t used)
{
    uint64_t limit = LOAD(all.part[part].limit);
    uint64_t wanted = (uint64_t)((double)used * LOAD(all.part[part].overhead));
    return (limit > 0 && wanted <= limit) || refuse(part, what, n, wanted, limit);
}

bool memory_take(enum memory_part part, size_t n)
{
    struct part *p = &all.part[part];
    uint64_t used = atomic_fetch_add_explicit(&p->used, n, memory_order_relaxed) + n;
    bool small = part == MEMORY_REQUEST && n < MEMORY_BLOCK_SMALL;
    bool ok = (small || part_allows(part, labels[part], n, used)) && whole_allows(labels[part], n);
    if (!ok) {
        memory_give(part, n);
    }
    return ok;
}

bool memory_room(enum memory_part part, size_t n, const char *what)
{
    what = what != NULL ? what : labels[part];
    return part_allows(part, what, n, LOAD(all.part[part].used) + n) && whole_allows(what, n);
}

/* ---- allocators ------------------------------------------------------------------------------------------------------------ */

static enum memory_part part_of(const void *self)
{
    return (enum memory_part)((const struct part *)self - all.part);
}

static bool add_always(enum memory_part part, size_t n)
{
    memory_add(part, n);
    return true;
}

static void *resize(enum memory_part part, void *p, size_t n, bool (*take)(enum memory_part part, size_t n))
{
    size_t before = p != NULL ? malloc_usable_size(p) : 0;
    if (n > before && !take(part, n - before)) {
        return NULL;
    }
    void *to = realloc(p, n);
    /* Taken so far: `before`, and what n is more. Modulo 2^64, so that one addition does for more and for less. */
    memory_add(part, (to != NULL ? malloc_usable_size(to) : before) - MAX_OF(n, before));
    return to;
}

static void *counted_resize(void *self, void *p, size_t n)
{
    return resize(part_of(self), p, n, memory_take);
}

/* Bodies have a limit even for requests that have none: a request that lifts a limit needs a small body. */
static void *exempt_resize(void *self, void *p, size_t n)
{
    enum memory_part part = part_of(self);
    bool large = part == MEMORY_IN_FLIGHT && n >= MEMORY_BLOCK_SMALL;
    return resize(part, p, n, large ? memory_take : add_always);
}

static void counted_release(void *self, void *p)
{
    memory_give(part_of(self), malloc_usable_size(p));
    free(p);
}

#define OF_PART(part_name, resize) [part_name] = {&all.part[part_name], resize, counted_release}
#define OF_ALL(resize)                                                            \
    {                                                                             \
        OF_PART(MEMORY_REQUEST, resize), OF_PART(MEMORY_FIELDDATA, resize),       \
            OF_PART(MEMORY_IN_FLIGHT, resize), OF_PART(MEMORY_ACCOUNTING, resize) \
    }
static const struct allocator allocators[] = OF_ALL(counted_resize), exempt[] = OF_ALL(exempt_resize);

const struct allocator *memory_allocator(enum memory_part part)
{
    return &allocators[part];
}

const struct allocator *memory_allocator_exempt(enum memory_part part)
{
    return &exempt[part];
}

void memory_request_arena(struct arena *a)
{
    arena_init(a, &allocators[MEMORY_REQUEST], (size_t)LOAD(all.request_bytes));
}

void memory_request_buf(struct buf *b)
{
    buf_init(b, &allocators[MEMORY_REQUEST], (size_t)LOAD(all.request_bytes));
}

void memory_adopt(enum memory_part part, struct buf *b)
{
    if (b->p != NULL && b->alloc == alloc_default()) {
        memory_add(part, malloc_usable_size(b->p));
        b->alloc = &allocators[part];
    }
}

bool memory_guard(bool on)
{
    bool was = guarded;
    guarded = on;
    return was;
}

bool memory_guard_allows(size_t n)
{
    return !guarded || whole_allows(labels[MEMORY_REQUEST], n);
}

/* ---- words --------------------------------------------------------------------------------------------------------------------- */

void memory_print_bytes(struct buf *b, uint64_t v)
{
    static const char *const units[] = {"b", "kb", "mb", "gb", "tb", "pb"};
    size_t i = 0;
    uint64_t tenths = 0;
    for (; v >= KIB && i + 1 < ARRAY_LEN(units); i++) {
        tenths = (v % KIB) * 10 / KIB;
        v /= KIB;
    }
    buf_u64(b, v);
    if (tenths > 0) {
        buf_printf(b, ".%u", (unsigned)tenths);
    }
    buf_z(b, units[i]);
}

/* Whether what is in the way stays until it is thrown away: what requests have goes by itself. */
static bool is_lasting(enum memory_part part)
{
    if (part == MEMORY_PARENT) {
        return LOAD(all.part[MEMORY_REQUEST].used) + LOAD(all.part[MEMORY_IN_FLIGHT].used)
               < LOAD(all.part[MEMORY_FIELDDATA].used) + LOAD(all.part[MEMORY_ACCOUNTING].used);
    }
    return part == MEMORY_FIELDDATA || part == MEMORY_ACCOUNTING;
}

void memory_write_refusal(struct jsonw *w, const struct err_refused *r)
{
    jw_ki64(w, "bytes_wanted", r->bytes_wanted);
    jw_ki64(w, "bytes_limit", r->bytes_limit);
    jw_kz(w, "durability", r->lasting ? "PERMANENT" : "TRANSIENT");
}

/* "1073741824/1gb" */
static void print_both(struct buf *b, uint64_t v)
{
    buf_u64(b, v);
    buf_char(b, '/');
    memory_print_bytes(b, v);
}

static void print_parent(struct buf *b)
{
    buf_z(b, ", real usage: [");
    print_both(b, refusal.resident);
    buf_z(b, "], new bytes reserved: [");
    print_both(b, refusal.n);
    buf_z(b, "], usages [");
    for (unsigned i = 0; i < MEMORY_PARENT; i++) {
        buf_printf(b, "%s%s=", i > 0 ? ", " : "", names[i]);
        print_both(b, LOAD(all.part[i].used));
    }
    buf_char(b, ']');
}

bool memory_refusal(char *out, size_t n, struct err_refused *refused)
{
    if (!refusal.is) {
        return false;
    }
    refusal.is = false;
    *refused =
        (struct err_refused){(int64_t)refusal.wanted, (int64_t)refusal.limit, is_lasting(refusal.part)};
    bool was = memory_guard(false);
    struct buf b;
    buf_init(&b, NULL, KIB);
    buf_printf(&b, "[%s] Data too large, data for [%s] would be [", names[refusal.part], refusal.what);
    print_both(&b, refusal.wanted);
    buf_z(&b, "], which is larger than the limit of [");
    print_both(&b, refusal.limit);
    buf_char(&b, ']');
    if (refusal.part == MEMORY_PARENT) {
        print_parent(&b);
    }
    snprintf(out, n, "%s", b.p != NULL ? b.p : "");
    buf_fini(&b);
    memory_guard(was);
    return true;
}

void memory_ceiling(const struct allocator *alloc, uint64_t wanted, uint64_t limit)
{
    if (alloc == &allocators[MEMORY_REQUEST] || alloc == &exempt[MEMORY_REQUEST]) {
        refuse(MEMORY_REQUEST, labels[MEMORY_REQUEST], 0, wanted, limit);
    }
}

void memory_stats(struct memory_stats *out)
{
    for (unsigned i = 0; i < MEMORY_PARTS; i++) {
        const struct part *p = &all.part[i];
        out->part[i] =
            (struct memory_part_stats){LOAD(p->limit), LOAD(p->used), LOAD(p->tripped), LOAD(p->overhead)};
    }
    uint64_t (*resident)(bool) = LOAD(all.measure);
    bool real = LOAD(all.real) && resident != NULL;
    out->part[MEMORY_PARENT].used = real ? resident(false) : counted();
}

const char *memory_part_name(enum memory_part part)
{
    return names[part];
}
