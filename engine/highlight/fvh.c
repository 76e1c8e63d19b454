/* The fast vector highlighter: phrases and terms where they stand, in fragments centred on them, moved to
 * boundaries.
 *
 * Its fields have term vectors with positions and offsets; analysing the text again gives the same. Follows
 * the behaviour of Lucene's vectorhighlight: SimpleFragListBuilder, BaseFragmentsBuilder,
 * SimpleBoundaryScanner. */
#include "engine/highlight/fvh.h"

#include "common/base/memory_account.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

bool hl_fvh_can(const struct field *f)
{
    const struct json *v = json_get(f->def, "term_vector");
    return v != NULL && str_starts(json_text(v), STR("with_positions_offsets"));
}

bool hl_has_offsets(const struct field *f)
{
    return f->options == INDEX_OFFSETS || hl_fvh_can(f);
}

enum err hl_fvh_check(const struct hl_target *t, struct errmsg *em)
{
    if (!str_is(t->o->type, "fvh")) {
        return ERR_OK;
    }
    if (!hl_fvh_can(t->field)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "the field [%.*s] should be indexed with term vector with position offsets to be used "
                       "with fast vector "
                       "highlighter",
                       STR_ARG(t->key));
    }
    int32_t margin = t->o->fragment_offset < 0 ? 6 : t->o->fragment_offset;
    int64_t least = MAX_OF((int64_t)1, (int64_t)margin * 3);
    if (t->o->number_of_fragments != 0 && t->o->fragment_size < least) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "fragCharSize(%d) is too small. It must be %lld or higher.",
                       t->o->fragment_size, (long long)least);
    }
    return ERR_OK;
}

/* ---- fragments
 * ------------------------------------------------------------------------------------------------------- */

static void add_fragment(struct vector *v, int64_t start, int64_t end, size_t first, size_t n)
{
    struct fragment *grown =
        arena_grow(v->arena, v->fragments, v->n_fragments, &v->cap_fragments, sizeof(*grown));
    if (grown == NULL) {
        v->failed = true;
        return;
    }
    struct fragment f = {.start = start, .end = end, .begin = start, .first = first, .n = n};
    for (size_t i = first; i < first + n; i++) {
        f.score += v->hits[i].boost;
    }
    v->fragments = grown;
    grown[v->n_fragments++] = f;
}

static void make_fragments(struct vector *v)
{
    const struct hl_options *o = v->t->o;
    int64_t from = 0, size = o->fragment_size, margin = o->fragment_offset < 0 ? 6 : o->fragment_offset;
    if (o->number_of_fragments == 0) {
        if (v->n_hits > 0) {
            add_fragment(v, 0, INT32_MAX, 0, v->n_hits);
        }
        return;
    }
    for (size_t i = 0; i < v->n_hits && !v->failed;) {
        size_t first = i;
        int64_t begin = v->hits[i].start, end = v->hits[i].end;
        if (begin < from || (v->hits[i].n > 1 && end - begin > size)) {
            i++;
            continue;
        }
        int64_t reach = MAX_OF(end, MAX_OF(begin - margin, from) + size);
        for (i++; i < v->n_hits && v->hits[i].end <= reach; i++) {
            end = v->hits[i].end;
        }
        int64_t start = MAX_OF(begin - MAX_OF((int64_t)0, (size - (end - begin)) / 2), from);
        from = start + MAX_OF(end - begin, size);
        add_fragment(v, start, from, first, i - first);
    }
}

/* Fragments that reach over several values fall apart into one a value. */
static void split_values(struct vector *v)
{
    struct fragment *whole = v->fragments;
    size_t n = v->n_fragments;
    v->fragments = NULL;
    v->n_fragments = v->cap_fragments = 0;
    for (size_t i = 0; i < n; i++) {
        size_t next = whole[i].first, last = whole[i].first + whole[i].n;
        for (uint32_t k = 0; k < v->x->n_values; k++) {
            int64_t start = v->x->values[k].start, end = (int64_t)v->x->values[k].end + 1;
            if (start + 1 == end) {
                continue;
            }
            if (next == whole[i].first && whole[i].start >= start && whole[i].end <= end) {
                add_fragment(v, whole[i].start, whole[i].end, next, whole[i].n);
                break;
            }
            size_t first = next;
            while (next < last && v->hits[next].start < end) {
                next++;
            }
            if (next > first) {
                add_fragment(v, MAX_OF(start, whole[i].start), MIN_OF(end, whole[i].end), first,
                             next - first);
            }
        }
    }
}

/* ---- boundaries
 * ---------------------------------------------------------------------------------------------------------
 */

static bool is_boundary(const struct hl_options *o, uint16_t c)
{
    return c < 0x80 && c != 0 && str_find(o->boundary_chars, (char)c, 0) != SIZE_MAX;
}

static bool scans_chars(const struct hl_options *o)
{
    return o->scanner == SCANNER_CHARS || (o->set & HL_SET_SCANNER) == 0;
}

static int64_t back_to_char(const struct hl_options *o, const uint16_t *u, int64_t at)
{
    int64_t to = at;
    for (int32_t left = o->boundary_max_scan; to > 0 && left > 0 && !stop_worked(1); left--, to--) {
        if (is_boundary(o, u[to - 1])) {
            return to;
        }
    }
    return to == 0 ? 0 : at;
}

static int by_start(const void *a, const void *b)
{
    const struct fragment *x = *(struct fragment *const *)a, *y = *(struct fragment *const *)b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Moves the beginnings of the first n fragments to boundaries, in the order of the text: its sentences and words are searched once. */
static void scan_starts(struct vector *v, const struct hl_text *joined, size_t n)
{
    const struct hl_options *o = v->t->o;
    struct hl_cuts cuts = {.u = joined->u, .words = o->scanner == SCANNER_WORD};
    struct fragment **order = ARENA_ARRAY(v->arena, struct fragment *, n);
    if (order == NULL) {
        v->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = &v->fragments[i];
    }
    sort_items(order, n, sizeof(struct fragment *), by_start);
    for (size_t i = 0; i < n && !v->failed; i++) {
        int64_t at = order[i]->start;
        if (at >= 1 && at <= (int64_t)joined->n) {
            order[i]->begin =
                scans_chars(o) ? back_to_char(o, joined->u, at) : (int64_t)hl_cut_before(&cuts, (uint32_t)at);
        }
    }
}

static int64_t scan_end(const struct hl_options *o, const uint16_t *u, int64_t n, int64_t at)
{
    if (at > n || at < 0) {
        return at;
    }
    if (scans_chars(o)) {
        int64_t to = at;
        for (int32_t left = o->boundary_max_scan; to < n && left > 0 && !stop_worked(1); left--, to++) {
            if (is_boundary(o, u[to])) {
                return to;
            }
        }
        return at;
    }
    return at + (int64_t)hl_first_break(u + at, (uint32_t)(n - at), o->scanner == SCANNER_WORD);
}

/* ---- output
 * ---------------------------------------------------------------------------------------------------------------
 */

/* The text as the original joins it: values up to the one that the fragment ends in, a blank behind each. */
static int64_t joined_length(const struct vector *v, int64_t end, int64_t already)
{
    int64_t n = already;
    for (uint32_t k = 0; k < v->x->n_values && n < end; k++) {
        n = MAX_OF(n, (int64_t)v->x->values[k].end + 1);
    }
    return n;
}

static void write_fragment(struct vector *v, const struct hl_text *joined, const struct fragment *f,
                           int64_t *length, struct buf *b)
{
    const struct hl_options *o = v->t->o;
    *length = joined_length(v, f->end, *length);
    int64_t n = *length;
    int64_t end = n - 1 < f->end ? n - 1 : scan_end(o, joined->u, n, f->end);
    int64_t at = MIN_OF(f->begin, end);
    for (size_t i = f->first; i < f->first + f->n; i++) {
        const struct hit *h = &v->hits[i];
        for (uint32_t k = 0; k < h->n; k++) {
            int64_t from = MAX_OF((int64_t)h->marks[k].start, at), to = MIN_OF((int64_t)h->marks[k].end, end);
            if (from >= to) {
                continue;
            }
            hl_append(b, joined, (uint32_t)at, (uint32_t)from, o->html);
            buf_str(b, o->pre_tags.v[h->number % o->pre_tags.n]);
            hl_append(b, joined, (uint32_t)from, (uint32_t)to, o->html);
            buf_str(b, o->post_tags.v[h->number % o->post_tags.n]);
            at = to;
        }
    }
    hl_append(b, joined, (uint32_t)at, (uint32_t)MAX_OF(at, end), o->html);
}

static int by_score(const void *a, const void *b)
{
    const struct fragment *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->start < y->start ? -1 : x->start > y->start;
}

static bool join_values(struct hl_text *out, const struct vector *v)
{
    *out = (struct hl_text){.u = ARENA_ARRAY(v->arena, uint16_t, (size_t)v->x->n + 1), .n = v->x->n + 1};
    if (out->u == NULL) {
        return false;
    }
    memcpy(out->u, v->x->u, v->x->n * sizeof(*out->u));
    for (uint32_t k = 0; k < v->x->n_values; k++) {
        out->u[v->x->values[k].end] = ' ';
    }
    return true;
}

enum err hl_fvh(struct hl_fragments *out, const struct hl_target *t, struct hl_text *x, struct arena *arena,
                struct errmsg *em)
{
    struct vector v = {.t = t, .x = x, .arena = arena};
    struct hl_text joined;
    enum err e = t->o->matched_fields.n > 0 ? fvh_matched_hits(&v, em)
                 : fvh_hits(&v)             ? ERR_OK
                                            : err_no_memory(em);
    if (e != ERR_OK || !join_values(&joined, &v)) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    make_fragments(&v);
    if (v.n_fragments == 0 && t->o->no_match_size > 0) {
        add_fragment(&v, 0, t->o->no_match_size, 0, 0);
    }
    if (x->n_values > 1) {
        split_values(&v);
    }
    if (t->o->score_ordered && v.n_fragments > 1) {
        sort_items(v.fragments, v.n_fragments, sizeof(*v.fragments), by_score);
    }
    size_t max = t->o->number_of_fragments > 0 ? (size_t)t->o->number_of_fragments : SIZE_MAX;
    scan_starts(&v, &joined, MIN_OF(v.n_fragments, max));
    int64_t length = 0;
    struct buf b;
    memory_request_buf(&b);
    for (size_t i = 0; i < v.n_fragments && i < max && !v.failed; i++) {
        write_fragment(&v, &joined, &v.fragments[i], &length, &b);
        v.failed = v.failed || !hl_fragment_add(out, &b);
        buf_reset(&b);
    }
    buf_fini(&b);
    return v.failed ? err_no_memory(em) : ERR_OK;
}
