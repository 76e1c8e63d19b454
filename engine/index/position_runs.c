/* Positions as running sums over whole blocks: what is compared with the positions of other terms, document for document, is
 * not copied out of its block first. */
#include "engine/index/seg_int.h"

void position_runs_init(struct position_runs *r, struct postings *p)
{
    memset(r, 0, sizeof(*r));
    r->postings = p;
    r->doc_block = UINT32_MAX;
}

void position_runs_fini(struct position_runs *r)
{
    alloc_put(alloc_default(), r->sums);
    r->sums = NULL;
}

static const struct section *section_of(const struct position_runs *r)
{
    return &impl_of(r->postings->field)->positions;
}

/* How many positions the cursor's block holds: the last one of a term may be short, or there may be none. */
static uint32_t block_length(const struct position_runs *r)
{
    const struct postings *p = r->postings;
    uint64_t at = (uint64_t)(r->cursor - section_of(r)->p) - p->info.positions_at;
    bool last = p->positions_at != NULL ? at == p->pos_tail
                                        : r->next / POSTINGS_BLOCK == p->info.total_freq / POSTINGS_BLOCK;
    return last ? (uint32_t)(p->info.total_freq % POSTINGS_BLOCK) : POSTINGS_BLOCK;
}

/* sums[0] is there; the sums behind it. */
static void sum_up(const uint8_t *at, uint32_t n, unsigned width, uint32_t *sums)
{
    uint32_t base = sums[0];
    if (n == POSTINGS_BLOCK) {
        bitpack_unpack_gaps(at, width, base, sums + 1); /* which counts each value for one more than it is */
        for (uint32_t i = 0; i < POSTINGS_BLOCK; i++) {
            sums[i + 1] -= i + 1;
        }
        return;
    }
    bits_unpack32(at, n, width, sums + 1);
    for (uint32_t i = 1; i <= n; i++) {
        sums[i] = base += sums[i];
    }
}

/* Moves past the cursor's block; its sums go behind sums[] when given. */
static bool try_step(struct position_runs *r, uint32_t *sums)
{
    const struct section *section = section_of(r);
    unsigned parts = (r->postings->field->has & SEG_OFFSETS) != 0 ? 3 : 1;
    uint32_t n = block_length(r);
    size_t left = (size_t)(section->p + section->n - r->cursor);
    if (n == 0 || left < parts || r->next % POSTINGS_BLOCK != 0) { /* a short block is a term's last */
        return false;
    }
    const struct segment *s = r->postings->field->segment;
    const uint8_t *widths = r->cursor, *at = widths + parts;
    left -= parts;
    if (!seg_check(s, widths, parts)) {
        return false;
    }
    for (unsigned k = 0; k < parts; k++) {
        size_t bytes = n == POSTINGS_BLOCK ? bitpack_bytes(widths[k]) : bits_bytes(n, widths[k]);
        if (widths[k] > 32 || bytes > left) {
            return false;
        }
        if (k == 0 && sums != NULL) {
            if (!seg_check(s, at, bytes)) {
                return false;
            }
            sum_up(at, n, widths[k], sums);
        }
        at += bytes;
        left -= bytes;
    }
    r->cursor = at;
    r->next += n;
    return true;
}

static bool position_runs_step(struct position_runs *r, uint32_t *sums)
{
    return try_step(r, sums) || seg_broken(r->postings->field->segment, r->cursor);
}

/* To the first position block of the cursor's block of documents. */
static bool position_runs_enter(struct position_runs *r)
{
    struct postings *p = r->postings;
    uint64_t at = p->info.positions_at, place = 0;
    if (!(p->field->has & SEG_POSITIONS) || p->n == 0) {
        return false;
    }
    if (p->positions_at != NULL) {
        uint64_t row = load_u64(p->positions_at + 8 * (size_t)p->block);
        at += row >> 7;
        place = row & 127;
    }
    if (at > section_of(r)->n) {
        return seg_broken(p->field->segment, section_of(r)->p);
    }
    if (!p->freqs_ready) {
        postings_load_freqs(p);
    }
    for (uint32_t i = 0; i < p->n; i++) {
        r->first[i] = (uint32_t)place;
        place += p->freqs[i];
    }
    r->cursor = section_of(r)->p + at;
    r->lo = r->hi = r->next = 0;
    r->doc_block = p->block;
    return place <= INT32_MAX;
}

#define WINDOW_BLOCKS 8 /* a run of so many is kept before it is begun anew */

/* Room for `blocks`, at least a window. */
static bool make_room(struct position_runs *r, uint32_t blocks)
{
    /* A block takes at least a byte: more positions than that cannot be there. The window may well be larger than a small section. */
    if (blocks > section_of(r)->n + 1) {
        return false;
    }
    blocks = MAX_OF(blocks, (uint32_t)WINDOW_BLOCKS);
    if (blocks <= r->cap) {
        return true;
    }
    const struct allocator *heap = alloc_default();
    size_t n = (size_t)blocks * POSTINGS_BLOCK + 1 + POSITION_RUNS_SLACK;
    uint32_t *sums = heap->resize(heap->self, r->sums, n * sizeof(*sums));
    if (sums == NULL) {
        return false;
    }
    memset(sums, 0, n * sizeof(*sums));
    r->sums = sums;
    r->cap = blocks;
    return true;
}

/* Makes sums[] begin at the block of `from`, keeping what is decoded of it. */
static bool begin_at(struct position_runs *r, uint32_t from, uint32_t blocks)
{
    uint32_t lo = from - from % POSTINGS_BLOCK;
    if (from < r->hi) { /* its block is the last one that is decoded: it goes on in the next */
        uint32_t kept[POSTINGS_BLOCK + 1], n = r->hi - lo + 1;
        memcpy(kept, r->sums + (lo - r->lo), n * sizeof(*kept));
        if (!make_room(r, blocks)) {
            return false;
        }
        memcpy(r->sums, kept, n * sizeof(*kept));
    } else {
        while (r->next < lo) {
            if (!position_runs_step(r, NULL)) {
                return false;
            }
        }
        if (!make_room(r, blocks)) {
            return false;
        }
        r->sums[0] = 0;
        r->hi = lo;
    }
    r->lo = lo;
    return true;
}

static bool load(struct position_runs *r)
{
    const struct postings *p = r->postings;
    if ((p->block != r->doc_block || r->first[p->at] < r->lo) && !position_runs_enter(r)) {
        return false;
    }
    uint32_t from = r->first[p->at], to = from + p->freqs[p->at];
    uint32_t blocks = (to - 1) / POSTINGS_BLOCK - from / POSTINGS_BLOCK + 1;
    bool goes_on = from < r->hi || (r->hi > 0 && from - r->hi < POSTINGS_BLOCK);
    bool fits = goes_on && (to - r->lo + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK <= r->cap;
    if (!fits && !begin_at(r, from, blocks)) {
        return false;
    }
    while (r->hi < to) {
        if (!position_runs_step(r, r->sums + (r->hi - r->lo))) {
            return false;
        }
        r->hi = r->next;
    }
    return true;
}

bool position_runs_load(struct position_runs *r)
{
    if (r->failed || r->postings->doc >= POSTINGS_UNPOSITIONED) {
        return false;
    }
    r->failed = !load(r);
    return !r->failed;
}
