#include "engine/index/term_sort.h"

/* A term with its first eight bytes as a number: most comparisons end there. */
struct keyed {
    uint64_t key;
    uint32_t term;
};

static uint64_t key_of(struct str s, size_t from)
{
    uint64_t key = 0;
    if (s.n >= from + 8) {
        return __builtin_bswap64(load_u64(s.p + from));
    }
    for (size_t i = 0; i < 8; i++) {
        key = key << 8 | (from + i < s.n ? (uint8_t)s.p[from + i] : 0);
    }
    return key;
}

static bool below(const struct index_buffer *b, const struct keyed *x, const struct keyed *y)
{
    if (x->key != y->key) {
        return x->key < y->key;
    }
    return str_cmp(term_text(b, &b->terms[x->term]), term_text(b, &b->terms[y->term])) < 0;
}

static void insertion_sort(const struct index_buffer *b, struct keyed *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct keyed k = v[i];
        size_t at = i;
        for (; at > 0 && below(b, &k, &v[at - 1]); at--) {
            v[at] = v[at - 1];
        }
        v[at] = k;
    }
}

static void sift(const struct index_buffer *b, struct keyed *v, size_t at, size_t n)
{
    struct keyed k = v[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && below(b, &v[child], &v[child + 1]);
        if (!below(b, &k, &v[child])) {
            break;
        }
        v[at] = v[child];
    }
    v[at] = k;
}

static void heap_sort(const struct index_buffer *b, struct keyed *v, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) {
        sift(b, v, i, n);
    }
    while (n > 1) {
        struct keyed k = v[--n];
        v[n] = v[0];
        v[0] = k;
        sift(b, v, 0, n);
    }
}

static void swap(struct keyed *a, struct keyed *b)
{
    struct keyed t = *a;
    *a = *b;
    *b = t;
}

/* Quicksort with the median of three; terms are distinct. Falls back on heapsort when it degenerates (Musser
 * 1997). */
static void quick_sort(const struct index_buffer *b, struct keyed *v, size_t n, unsigned depth)
{
    while (n > 24) {
        if (depth-- == 0) {
            heap_sort(b, v, n);
            return;
        }
        size_t mid = n / 2;
        if (below(b, &v[mid], &v[0])) {
            swap(&v[mid], &v[0]);
        }
        if (below(b, &v[n - 1], &v[0])) {
            swap(&v[n - 1], &v[0]);
        }
        if (below(b, &v[n - 1], &v[mid])) {
            swap(&v[n - 1], &v[mid]);
        }
        struct keyed pivot = v[mid];
        size_t i = 0, k = n - 1;
        for (;;) {
            while (below(b, &v[i], &pivot)) {
                i++;
            }
            while (below(b, &pivot, &v[k])) {
                k--;
            }
            if (i >= k) {
                break;
            }
            swap(&v[i++], &v[k--]);
        }
        size_t left = i;
        if (left < n - left) {
            quick_sort(b, v, left, depth);
            v += left;
            n -= left;
        } else {
            quick_sort(b, v + left, n - left, depth);
            n = left;
        }
    }
    insertion_sort(b, v, n);
}

bool term_sort(const struct index_buffer *b, uint32_t *order, const uint32_t **runs)
{
    struct keyed *v = alloc_get(b->alloc, ((size_t)b->n_terms + 1) * sizeof(*v));
    uint32_t *at = alloc_get(b->alloc, ((size_t)b->n_fields + 1) * sizeof(*at));
    bool ok = v != NULL && at != NULL;
    if (ok) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < b->n_fields; i++) {
            runs[i] = order + sum;
            at[i] = sum;
            sum += b->fields[i].n_terms;
        }
        for (uint32_t i = 0; i < b->n_terms; i++) {
            const struct term_head *t = &b->terms[i];
            v[at[t->field]++] = (struct keyed){key_of(term_text(b, t), 0), i};
        }
        for (uint32_t i = 0; i < b->n_fields; i++) {
            uint32_t n = b->fields[i].n_terms;
            quick_sort(b, v + (at[i] - n), n, 64);
        }
        for (uint32_t i = 0; i < b->n_terms; i++) {
            order[i] = v[i].term;
        }
    }
    alloc_put(b->alloc, v);
    alloc_put(b->alloc, at);
    return ok;
}

/* Least significant byte first; bytes that all keys share are passed over. */
bool point_sort(struct point_sort *v, uint64_t n)
{
    struct point_sort *other = alloc_get(alloc_default(), (size_t)(n + 1) * sizeof(*other));
    uint64_t any = 0, all = UINT64_MAX;
    if (other == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        any |= v[i].key;
        all &= v[i].key;
    }
    struct point_sort *from = v, *to = other;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((((any ^ all) >> shift) & 0xFF) == 0) {
            continue;
        }
        uint64_t at[257] = {0};
        for (uint64_t i = 0; i < n; i++) {
            at[((from[i].key >> shift) & 0xFF) + 1]++;
        }
        for (unsigned i = 1; i < 257; i++) {
            at[i] += at[i - 1];
        }
        for (uint64_t i = 0; i < n; i++) {
            to[at[(from[i].key >> shift) & 0xFF]++] = from[i];
        }
        struct point_sort *t = from;
        from = to;
        to = t;
    }
    if (from != v) {
        memcpy(v, from, (size_t)n * sizeof(*v));
    }
    alloc_put(alloc_default(), other);
    return true;
}
