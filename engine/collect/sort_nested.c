/* Sort keys of nested documents: a document sorts by what its nested documents hold, taken together by the key's mode. */
#include "common/base/bits.h"
#include "common/base/geo.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "engine/collect/sort.h"

#include <math.h>

#define LEVELS_MAX 16

struct nested_level {
    const struct field *path;
    const struct weight *filter; /* NULL: none */
};

struct sort_nested {
    struct nested_level
        levels[LEVELS_MAX]; /* outermost first; values are those of the last one's documents */
    uint32_t n;
    int32_t max_children;
    const struct field *parent; /* whose documents are sorted; NULL: roots */
    struct arena arena;         /* of the current segment's bitmaps */
    const uint64_t *children, *parents;
};

/* ---- binding -------------------------------------------------------------------------------------------------------------------- */

static enum err sort_nested_refuse(const struct search_context *cx, struct errmsg *em, struct str path,
                                   const char *what)
{
    err_set(em, ERR_QUERY_SHARD, "[nested] %s [%.*s]%s", what, STR_ARG(path),
            strncmp(what, "failed", 6) == 0 ? "" : " is not of nested type");
    err_about_index(em, cx->shard->index_name, cx->shard->index_uuid);
    return ERR_QUERY_SHARD;
}

static enum err bind_level(const struct search_context *cx, const struct nested_sort_spec *s,
                           struct nested_level *out, struct errmsg *em)
{
    out->path = mapping_field(cx->shard->view->mapping, s->path);
    if (out->path == NULL || !out->path->class->is_object) {
        return sort_nested_refuse(cx, em, s->path, "failed to find nested object under path");
    }
    if (!out->path->class->is_nested) {
        return sort_nested_refuse(cx, em, s->path, "nested object under path");
    }
    if (s->filter == NULL) {
        return ERR_OK;
    }
    struct query_context qcx = cx->query;
    struct weight_context wcx = cx->weight;
    const struct query *q;
    qcx.nested = out->path;
    qcx.raw_errors = true;
    wcx.nested_too = true;
    enum err e = query_build(&q, &qcx, s->filter, em);
    return e == ERR_OK ? weight_new(&out->filter, &wcx, q, NEED_NO_SCORES, em) : e;
}

enum err sort_nested_bind(const struct search_context *cx, struct sort_key *k, struct errmsg *em)
{
    const struct nested_sort_spec *s = k->spec->nested;
    if (s == NULL || s->path.p == NULL) {
        return ERR_OK;
    }
    struct sort_nested *n = ARENA_NEW(cx->arena, struct sort_nested);
    if (n == NULL) {
        return err_no_memory(em);
    }
    arena_init(&n->arena, cx->arena->alloc, cx->arena->bytes_max);
    k->nested = n;
    n->parent = cx->nested;
    n->max_children = s->max_children;
    for (; s != NULL; s = s->inside) {
        if (n->n > 0 && s->max_children != INT32_MAX) {
            err_set(em, ERR_QUERY_SHARD, "max_children is only supported on top level of nested sort");
            err_about_index(em, cx->shard->index_name, cx->shard->index_uuid);
            return ERR_QUERY_SHARD;
        }
        if (n->n == LEVELS_MAX) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "nested sorts are nested deeper than %d levels",
                           LEVELS_MAX);
        }
        enum err e = bind_level(cx, s, &n->levels[n->n++], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

void sort_nested_fini(struct sort_key *k)
{
    if (k->nested != NULL) {
        arena_fini(&k->nested->arena);
    }
}

/* ---- a segment ------------------------------------------------------------------------------------------------------------------ */

static enum err path_bits(struct sort_nested *n, const struct leaf *leaf, const struct field *path,
                          uint64_t **out, struct errmsg *em)
{
    const struct seg_field *f = segment_field(leaf->segment, STR("_nested_path"));
    struct term_info t;
    struct postings p;
    uint64_t *bits = *out = ARENA_ARRAY(&n->arena, uint64_t, bits_words(leaf->doc_count));
    if (bits == NULL) {
        return err_no_memory(em);
    }
    if (f != NULL && seg_term(f, path->path, &t)) {
        postings_init(&p, f, &t, false);
        for (doc_id d = postings_next(&p); d < leaf->doc_count; d = postings_next(&p)) {
            bits_set(bits, d);
        }
    }
    return ERR_OK;
}

static enum err apply_filter(struct sort_nested *n, const struct leaf *leaf, const struct weight *filter,
                             uint64_t *bits, struct errmsg *em)
{
    struct scorer *s;
    uint64_t *match = ARENA_ARRAY(&n->arena, uint64_t, bits_words(leaf->doc_count));
    if (match == NULL) {
        return err_no_memory(em);
    }
    enum err e = weight_scorer(filter, leaf, &n->arena, &s, em);
    for (doc_id d = e == ERR_OK && s != NULL ? s->ops->next(s) : DOC_END; d != DOC_END; d = s->ops->next(s)) {
        if (scorer_accepts(s)) {
            bits_set(match, d);
        }
    }
    for (size_t i = 0; i < bits_words(leaf->doc_count); i++) {
        bits[i] &= match[i];
    }
    return e == ERR_OK ? weight_error(filter, em) : e;
}

/* Leaves those whose parent on the level above was let through. */
static void keep_below(uint64_t *bits, const uint64_t *all_above, const uint64_t *above, uint32_t n_docs)
{
    for (size_t d = bits_next(bits, 0, n_docs); d < n_docs; d = bits_next(bits, d + 1, n_docs)) {
        size_t parent = bits_next(all_above, d, n_docs);
        if (parent >= n_docs || !bits_test(above, parent)) {
            bits[d >> 6] &= ~((uint64_t)1 << (d & 63));
        }
    }
}

enum err sort_nested_leaf(struct sort_key *k, const struct leaf *leaf, struct errmsg *em)
{
    struct sort_nested *n = k->nested;
    uint64_t *above = NULL, *all_above = NULL;
    enum err e = ERR_OK;
    if (k->mode
        == SORT_MODE_MEDIAN) { /* said by the first segment that is searched: without one nobody notices */
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unsupported sort mode: MEDIAN");
    }
    arena_reset(&n->arena);
    n->children = NULL;
    n->parents = leaf->roots;
    if (leaf->roots == NULL) {
        return ERR_OK;
    }
    for (uint32_t i = 0; e == ERR_OK && i < n->n; i++) {
        uint64_t *all, *bits;
        e = path_bits(n, leaf, n->levels[i].path, &all, em);
        e = e == ERR_OK ? path_bits(n, leaf, n->levels[i].path, &bits, em) : e;
        if (e == ERR_OK && n->levels[i].filter != NULL) {
            e = apply_filter(n, leaf, n->levels[i].filter, bits, em);
        }
        if (e == ERR_OK && above != NULL) {
            keep_below(bits, all_above, above, leaf->doc_count);
        }
        above = e == ERR_OK ? bits : NULL;
        all_above = e == ERR_OK ? all : NULL;
    }
    n->children = above;
    if (e == ERR_OK && n->parent != NULL) {
        uint64_t *parents;
        e = path_bits(n, leaf, n->parent, &parents, em);
        n->parents = parents;
    }
    return e;
}

bool sort_nested_next(const struct sort_key *k, doc_id parent, struct sort_children *c)
{
    const struct sort_nested *n = k->nested;
    if (n->children == NULL || c->used >= n->max_children) {
        return false;
    }
    if (!c->begun) {
        c->begun = true;
        c->at = parent;
        while (c->at > 0 && !bits_test(n->parents, c->at - 1)) {
            c->at--;
        }
    } else {
        c->at++;
    }
    c->at = (doc_id)bits_next(n->children, c->at, parent);
    return c->at < parent;
}

/* ---- a document's key ------------------------------------------------------------------------------------------------------------ */

/* Values one by one, combined as the mode says. */
struct combined {
    uint64_t n;
    double sum, least, most;
    int64_t whole_sum, whole_least, whole_most;
};

static void add_double(struct combined *c, double v)
{
    c->least = c->n == 0 || v < c->least ? v : c->least;
    c->most = c->n == 0 || v > c->most ? v : c->most;
    c->sum += v;
    c->n++;
}

static double combined_double(const struct combined *c, enum sort_mode mode)
{
    switch (mode) {
    case SORT_MODE_MAX:
        return c->most;
    case SORT_MODE_SUM:
        return c->sum;
    case SORT_MODE_AVG:
        return c->sum / (double)c->n;
    case SORT_MODE_DEFAULT:
    case SORT_MODE_MIN:
    case SORT_MODE_MEDIAN: /* refused for nested values */
        break;
    }
    return c->least;
}

static void add_whole(struct combined *c, int64_t v)
{
    c->whole_least = c->n == 0 || v < c->whole_least ? v : c->whole_least;
    c->whole_most = c->n == 0 || v > c->whole_most ? v : c->whole_most;
    c->whole_sum = (int64_t)((uint64_t)c->whole_sum + (uint64_t)v);
    c->n++;
}

static int64_t combined_whole(const struct combined *c, enum sort_mode mode)
{
    switch (mode) {
    case SORT_MODE_MAX:
        return c->whole_most;
    case SORT_MODE_SUM:
        return c->whole_sum;
    case SORT_MODE_AVG:
        return c->n > 1 ? (int64_t)floor((double)c->whole_sum / (double)c->n + 0.5) : c->whole_sum;
    case SORT_MODE_DEFAULT:
    case SORT_MODE_MIN:
    case SORT_MODE_MEDIAN:
        break;
    }
    return c->whole_least;
}

static void add_distances(const struct sort_key *k, int64_t packed, struct combined *c)
{
    const struct sort_spec *s = k->spec;
    struct geo_point g = geo_unpack(packed);
    for (uint32_t j = 0; j < s->n_points && !stop_often(); j++) {
        add_double(c, geo_distance(s->plane ? GEO_PLANE : GEO_ARC, s->lats[j], s->lons[j], g.lat, g.lon)
                          / s->unit_metres);
    }
}

void sort_nested_number(struct sort_plan *p, const struct sort_key *k, doc_id parent, struct sort_cell *out)
{
    struct sort_children it = {0};
    struct combined c = {0};
    while (sort_nested_next(k, parent, &it)) {
        uint64_t first;
        uint32_t n = num_column_seek(&k->nums, it.at, &first);
        it.used += n > 0;
        for (uint32_t i = 0; i < n; i++) {
            int64_t v = num_column_value(&k->nums, first + i);
            if (k->spec->numeric_type.p != NULL) {
                sort_check_nanos(p, k, v);
            }
            if (k->is_geo) {
                add_distances(k, v, &c);
            } else if (k->floating) {
                add_double(&c, sort_fraction(k, v));
            } else {
                add_whole(&c, v);
            }
        }
    }
    if (c.n == 0) {
        out->num = k->missing_num;
    } else if (k->floating) {
        out->num = num_from_double(combined_double(&c, k->mode));
    } else {
        int64_t v = combined_whole(&c, k->mode);
        out->num = k->spec->numeric_type.p != NULL ? sort_cast(k, v) : v;
    }
}

bool sort_nested_ord(const struct sort_key *k, doc_id parent, uint64_t *ord)
{
    struct sort_children it = {0};
    bool any = false, most = k->mode == SORT_MODE_MAX;
    while (sort_nested_next(k, parent, &it)) {
        uint64_t first;
        uint32_t n = ord_column_seek(&k->ords, it.at, &first);
        if (n == 0) {
            continue;
        }
        it.used++;
        uint64_t o = ord_column_value(&k->ords, most ? first + n - 1 : first);
        *ord = !any ? o : most ? MAX_OF(*ord, o) : MIN_OF(*ord, o);
        any = true;
    }
    return any;
}
