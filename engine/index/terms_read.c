/* Looking terms up. Keys (the first eight bytes behind the prefix that all terms share, in big-endian order)
 * narrow the search to blocks that begin alike; within a block, terms are compared without being rebuilt. */
#include "engine/index/seg_int.h"
#include "engine/mapping/mapping.h"

static inline uint64_t quick_varint(struct bytes_in *in)
{
    if (LIKELY(in->at < in->end && *in->at < 0x80)) {
        return *in->at++;
    }
    return get_varint(in);
}

/* A run of bytes without a call. */
static inline const uint8_t *quick_raw(struct bytes_in *in, uint64_t n)
{
    const uint8_t *p = in->at;
    if (UNLIKELY(n > bytes_left(in))) {
        in->bad = true;
        in->at = in->end;
        return p;
    }
    in->at += n;
    return p;
}

/* Where a block begins, its bytes found right; SIZE_MAX: damaged. */
static size_t place_block(const struct seg_field *f, uint64_t no)
{
    const struct field_impl *impl = impl_of(f);
    const uint8_t *row = impl->offsets + 4 * no;
    bool last = no + 1 == impl->n_blocks;
    if (!seg_check(f->segment, row, last ? 4 : 8)) {
        return SIZE_MAX;
    }
    size_t at = load_u32(row), end = last ? impl->blocks_n : load_u32(row + 4);
    if (end > impl->blocks_n || at > end || impl->blocks_n - at < 6) {
        seg_broken(f->segment, row);
        return SIZE_MAX;
    }
    return seg_check(f->segment, impl->blocks + at, end - at) ? at : SIZE_MAX;
}

static bool open_block(const struct seg_field *f, uint64_t no, struct terms_block *b)
{
    const struct field_impl *impl = impl_of(f);
    size_t at = place_block(f, no);
    if (at == SIZE_MAX) {
        return false;
    }
    b->n = (uint32_t)MIN_OF((uint64_t)TERMS_BLOCK, f->n_terms - no * TERMS_BLOCK);
    b->in = (struct bytes_in){impl->blocks + at + 4, impl->blocks + impl->blocks_n, false};
    unsigned sum = 0;
    bool wide = false;
    for (unsigned k = 0; k < 4; k++) {
        b->width[k] = impl->blocks[at + k];
        wide |= b->width[k] > 57;
        sum += b->width[k];
    }
    b->postings_base = quick_varint(&b->in);
    b->positions_base = quick_varint(&b->in);
    b->infos = quick_raw(&b->in, bits_bytes(b->n, sum));
    return (!wide && !b->in.bad) || seg_broken(f->segment, impl->blocks + at);
}

static uint64_t info_field(const struct terms_block *b, uint64_t at, unsigned k)
{
    return (load_u64(b->infos + (at >> 3)) >> (at & 7)) & bits_mask(b->width[k]);
}

static void read_info(const struct seg_field *f, const struct terms_block *b, uint64_t no, uint32_t i,
                      struct term_info *out)
{
    uint64_t at = i * (0ULL + b->width[0] + b->width[1] + b->width[2] + b->width[3]);
    out->doc_freq = (uint32_t)MIN_OF(info_field(b, at, 0), (uint64_t)INT32_MAX) + 1;
    at += b->width[0];
    out->total_freq = out->doc_freq + info_field(b, at, 1);
    at += b->width[1];
    out->postings_at = info_field(b, at, 2) + (out->doc_freq > 1 ? b->postings_base : 0);
    at += b->width[2];
    out->positions_at = b->positions_base + (f->has & SEG_POSITIONS ? info_field(b, at, 3) : 0);
    out->ord = no * TERMS_BLOCK + i;
}

/* The first term of a block; empty when damaged. */
static struct str first_term(const struct seg_field *f, uint64_t no)
{
    struct terms_block b;
    return open_block(f, no, &b) ? get_str(&b.in) : STR_NULL;
}

static uint64_t key_of(const struct str rest)
{
    if (rest.n >= 8) {
        return __builtin_bswap64(load_u64(rest.p));
    }
    uint64_t key = 0;
    for (size_t i = 0; i < 8; i++) {
        key = key << 8 | (i < rest.n ? (uint8_t)rest.p[i] : 0);
    }
    return key;
}

/* Number of keys below `key` (or, with `equal`, at most `key`). */
static uint64_t keys_below(const uint8_t *keys, uint64_t n, uint64_t key, bool equal)
{
    uint64_t base = 0;
    if (equal && key == UINT64_MAX) {
        return n;
    }
    key += equal;
    while (n > 0) {
        uint64_t half = (n + 1) / 2;
        base += load_u64(keys + 8 * (base + half - 1)) < key ? half : 0;
        n -= half;
    }
    return base;
}

/* The last block whose first term is at most `term`; UINT64_MAX: the term sorts before all (block 0 is where
 * a seek begins). `term` begins with the field's prefix. */
static uint64_t find_block(const struct seg_field *f, struct str term)
{
    const struct field_impl *impl = impl_of(f);
    if (!seg_check(f->segment, impl->keys, (size_t)(8 * impl->n_blocks))) {
        return UINT64_MAX;
    }
    uint64_t key = key_of(str_slice(term, impl->prefix.n, term.n));
    uint64_t lo = keys_below(impl->keys, impl->n_blocks, key, false);
    uint64_t hi = lo;
    if (lo < impl->n_blocks && load_u64(impl->keys + 8 * lo) == key) {
        hi = lo + keys_below(impl->keys + 8 * lo, impl->n_blocks - lo, key, true);
    }
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (str_cmp(first_term(f, mid), term) <= 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo - 1;
}

/* The index of `term` within an opened block, or -1. `same` is how many bytes the last term read shares with
 * it; terms are in order, so one that shares less than its forerunner did is already past the target. */
static int find_in_block(struct terms_block *b, struct str term)
{
    struct bytes_in in = b->in;
    uint64_t same = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        uint64_t shared = i > 0 ? quick_varint(&in) : 0, n = quick_varint(&in);
        const uint8_t *rest = quick_raw(&in, n);
        if (in.bad || shared < same) {
            return -1;
        }
        if (shared > same) {
            continue;
        }
        size_t left = term.n - (size_t)same, k = 0, most = MIN_OF(left, (size_t)n);
        const uint8_t *target = (const uint8_t *)term.p + same;
        while (k < most && rest[k] == target[k]) {
            k++;
        }
        if (k == n && k == left) {
            return (int)i;
        }
        if (k == left || (k < n && rest[k] > target[k])) {
            return -1;
        }
        same += k;
    }
    return -1;
}

static bool find_term(const struct seg_field *f, struct str term, struct term_info *out)
{
    const struct field_impl *impl = impl_of(f);
    if (impl->n_blocks == 0 || !str_starts(term, impl->prefix)) {
        return false;
    }
    struct terms_block b;
    uint64_t no = find_block(f, term);
    if (no == UINT64_MAX || !open_block(f, no, &b)) {
        return false;
    }
    int i = find_in_block(&b, term);
    if (i < 0) {
        return false;
    }
    read_info(f, &b, no, (uint32_t)i, out);
    return true;
}

bool seg_term(const struct seg_field *f, struct str term, struct term_info *out)
{
    if (f->prefix.n == 0) {
        return find_term(f, term, out);
    }
    struct buf whole;
    buf_init(&whole, NULL, BUF_UNLIMITED);
    buf_str(&whole, f->prefix);
    buf_str(&whole, term);
    bool found = !whole.failed && find_term(f, buf_view(&whole), out);
    buf_fini(&whole);
    return found;
}

void term_iter_init(struct term_iter *it, const struct seg_field *f)
{
    *it = (struct term_iter){.field = f, .block = UINT64_MAX};
    buf_init(&it->bytes, NULL, BUF_UNLIMITED);
}

void term_iter_fini(struct term_iter *it)
{
    buf_fini(&it->bytes);
}

static bool at_end(struct term_iter *it)
{
    it->term = STR_NULL;
    it->block = impl_of(it->field)->n_blocks;
    it->b.n = it->in_block = 0;
    return false;
}

static bool enter_block(struct term_iter *it, uint64_t no)
{
    it->block = no;
    it->in_block = 0;
    return no < impl_of(it->field)->n_blocks && open_block(it->field, no, &it->b);
}

/* Rebuilds the next term of the block into it->bytes. */
static bool read_term(struct buf *bytes, struct terms_block *b, bool first)
{
    uint64_t shared = first ? 0 : quick_varint(&b->in), n = quick_varint(&b->in);
    const uint8_t *rest = quick_raw(&b->in, n);
    if (b->in.bad || shared > bytes->n) {
        return false;
    }
    bytes->n = (size_t)shared;
    buf_add(bytes, rest, (size_t)n);
    return !bytes->failed;
}

static bool next_term(struct term_iter *it)
{
    const struct field_impl *impl = impl_of(it->field);
    if (it->block == UINT64_MAX || it->in_block == it->b.n) {
        if (it->block == impl->n_blocks || !enter_block(it, it->block + 1)) {
            return at_end(it);
        }
    }
    if (!read_term(&it->bytes, &it->b, it->in_block == 0)) {
        if (!it->bytes.failed) {
            seg_broken(it->field->segment, it->b.infos);
        }
        return at_end(it);
    }
    it->term = it->bytes.p != NULL ? buf_view(&it->bytes) : str_mk("", 0);
    read_info(it->field, &it->b, it->block, it->in_block++, &it->info);
    return true;
}

static bool seek_term(struct term_iter *it, struct str target)
{
    const struct field_impl *impl = impl_of(it->field);
    size_t common = MIN_OF(impl->prefix.n, target.n);
    int order = common > 0 ? memcmp(target.p, impl->prefix.p, common) : 0;
    if (impl->n_blocks == 0 || order > 0) {
        return at_end(it);
    }
    uint64_t no = order < 0 || target.n < impl->prefix.n ? 0 : find_block(it->field, target);
    if (!enter_block(it, no == UINT64_MAX ? 0 : no)) {
        return at_end(it);
    }
    while (next_term(it)) {
        if (str_cmp(it->term, target) >= 0) {
            return true;
        }
    }
    return false;
}

/* The term of a view without what all of them begin with; behind the last of these is the end. */
static bool shown(struct term_iter *it)
{
    if (!str_starts(it->term, it->field->prefix)) {
        return at_end(it);
    }
    it->term = str_slice(it->term, it->field->prefix.n, it->term.n);
    return true;
}

bool term_iter_next(struct term_iter *it)
{
    const struct seg_field *f = it->field;
    if (f->prefix.n == 0) {
        return next_term(it);
    }
    return (it->block == UINT64_MAX ? seek_term(it, f->prefix) : next_term(it)) && shown(it);
}

bool term_iter_seek(struct term_iter *it, struct str target)
{
    const struct seg_field *f = it->field;
    if (f->prefix.n == 0) {
        return seek_term(it, target);
    }
    struct buf whole;
    buf_init(&whole, NULL, BUF_UNLIMITED);
    buf_str(&whole, f->prefix);
    buf_str(&whole, target);
    bool there = !whole.failed && seek_term(it, buf_view(&whole));
    buf_fini(&whole);
    return there && shown(it);
}

bool seg_term_by_ord(const struct seg_field *f, uint64_t ord, struct buf *out)
{
    struct terms_block b;
    buf_reset(out);
    if (ord >= f->n_terms || !open_block(f, ord / TERMS_BLOCK, &b)) {
        return false;
    }
    for (uint32_t i = 0; i <= ord % TERMS_BLOCK; i++) {
        if (!read_term(out, &b, i == 0)) {
            return !out->failed && seg_broken(f->segment, b.infos);
        }
    }
    if (f->prefix.n > 0 && out->n >= f->prefix.n) {
        out->n -= f->prefix.n;
        memmove(out->p, out->p + f->prefix.n, out->n);
    }
    return true;
}

static const struct seg_field *view_of(const struct seg_field *all, struct str prefix, struct arena *arena)
{
    struct seg_field *view = ARENA_NEW(arena, struct seg_field);
    char *end = arena_alloc(arena, prefix.n);
    struct term_iter it;
    if (view == NULL || end == NULL) {
        return NULL;
    }
    memcpy(end, prefix.p, prefix.n);
    end[prefix.n - 1]++; /* it ends in 0: the first text behind all that begin so */
    term_iter_init(&it, all);
    bool some = term_iter_seek(&it, prefix) && str_starts(it.term, prefix);
    if (some) {
        *view = *all;
        view->prefix = prefix;
        view->ord_lo = it.info.ord;
        view->ord_hi = term_iter_seek(&it, str_mk(end, prefix.n)) ? it.info.ord : all->n_terms;
    }
    term_iter_fini(&it);
    return some ? view : NULL;
}

const struct seg_field *segment_field_of(const struct segment *s, const struct field *f, struct arena *arena)
{
    const struct seg_field *all = segment_field(s, f->path);
    return all != NULL && f->key_prefix.n > 0 ? view_of(all, f->key_prefix, arena) : all;
}
