/* The fetch phase: chosen documents into the JSON of their hits. */
#include "common/base/bits.h"
#include "common/base/java_hash.h"
#include "engine/collect/whole_query.h"
#include "engine/fetch/fetch.h"
#include "engine/index/ignored.h"
#include "engine/mapping/field_class.h"
#include "engine/mapping/source_filter.h"
#include "engine/query/query_ops.h"

#include <math.h>

static bool wants_source(const struct search_source *s)
{
    for (uint32_t i = 0; i < s->n_stored_fields; i++) {
        if (str_is(s->stored_fields[i], "_source")) {
            return true; /* whatever else says that there is to be none */
        }
    }
    if (s->source.given) {
        return s->source.enabled;
    }
    /* Naming stored or script fields stands for the source. */
    return !s->stored_fields_given && s->n_script_fields == 0;
}

/* The query is needed again only by what looks into it. */
static enum err build_query(struct fetch *f)
{
    const struct search_source *s = f->source;
    if (s->query != NULL) {
        return query_build(&f->query, &f->cx.query, s->query, f->em);
    }
    struct query *all = ARENA_NEW(f->arena, struct query);
    if (all == NULL) {
        return err_no_memory(f->em);
    }
    all->ops = &q_match_all;
    all->boost = 1;
    f->query = all;
    return ERR_OK;
}

/* Inner hits have their query already: the inner one of a nested query or of a join. */
static enum err prepare_query(struct fetch *f)
{
    const struct search_source *s = f->source;
    const struct query *post_filter = NULL;
    enum err e = ERR_OK;
    bool given = f->query_given;
    if (!given && !s->names && !s->nested_hits && !s->percolates && !s->explain
        && s->highlight_spec == NULL) {
        return ERR_OK;
    }
    f->cx.weight.nested_too = f->query_is_nested;
    e = given ? ERR_OK : build_query(f);
    if (e == ERR_OK && !given && (s->nested_hits || s->names) && s->post_filter != NULL) {
        e = query_build(&post_filter, &f->cx.query, s->post_filter, f->em);
        if (e == ERR_OK && query_has_names(post_filter)) {
            e = weight_new(&f->post_filter, &f->cx.weight, post_filter, 0, f->em);
        }
    }
    f->has_names = e == ERR_OK && query_has_names(f->query);
    if (e == ERR_OK && (f->has_names || s->explain)) {
        const struct query *shown = f->query;
        e = s->explain && !given ? whole_query(&shown, &f->cx, QUERY_SHOWN, f->em) : ERR_OK;
        e = e == ERR_OK ? weight_new(&f->weight, &f->cx.weight, shown, NEED_SCORES, f->em) : e;
    }
    if (e == ERR_OK && s->explain && !given) {
        e = explain_rescores_prepare(f);
    }
    if (e == ERR_OK && s->highlight_spec != NULL) {
        e = highlighter_new(&f->highlighter, s->highlight_spec, &f->cx, f->query, f->em);
    }
    e = e == ERR_OK && !given && s->percolates ? percolated_prepare(f) : e;
    return e == ERR_OK && (given || s->nested_hits) ? inner_hits_prepare(f, f->query, post_filter) : e;
}

const struct json *fetch_source_tree(struct fetch *f, struct fetch_hit *h)
{
    if (!h->source_tried) {
        h->source_tried = true;
        struct json *tree = ARENA_NEW(h->arena, struct json);
        if (h->root != NULL) {
            const struct json *whole = fetch_source_tree(f, h->root);
            h->source = whole != NULL ? nested_source(whole, h->place, h->arena, &h->own_source) : NULL;
            return h->source;
        }
        if (h->stored.source.n > 0 && tree != NULL
            && json_parse(tree, h->stored.source, h->arena, &json_limits_default, f->em) == ERR_OK) {
            h->source = tree;
        }
    }
    return h->source;
}

static enum err write_source(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    const struct source_filter *sf = &f->source->source;
    if (!wants_source(f->source)) {
        return ERR_OK;
    }
    if (h->root != NULL) {
        return nested_source_write(f, h, w);
    }
    if (h->stored.source.n == 0) {
        return ERR_OK;
    }
    jw_k(w, "_source");
    if (sf->n_includes == 0 && sf->n_excludes == 0) {
        jw_raw(w, h->stored.source);
        return ERR_OK;
    }
    const struct json *tree = fetch_source_tree(f, h);
    struct source_patterns p = {sf->includes, sf->excludes, sf->n_includes, sf->n_excludes};
    if (tree != NULL) {
        source_filter_write(tree, &p, w);
    } else {
        jw_raw(w, h->stored.source);
    }
    return ERR_OK;
}

static int64_t column(const struct leaf *leaf, const char *name, doc_id doc)
{
    struct num_column c;
    int64_t v = 0;
    num_column_init(&c, segment_field(leaf->segment, str_of(name)));
    return num_column_first(&c, doc, &v) ? v : 0;
}

static void write_versions(const struct fetch *f, const struct fetch_hit *h, struct jsonw *w)
{
    if (f->source->version) { /* nested documents have the first one for ever */
        jw_ki64(w, "_version", h->root != NULL ? 1 : column(h->leaf, "_version", h->doc));
    }
    if (f->source->seq_no_primary_term && h->root == NULL) {
        jw_ki64(w, "_seq_no", column(h->leaf, "_seq_no", h->doc));
        jw_ki64(w, "_primary_term", column(h->leaf, "_primary_term", h->doc));
    }
}

static enum err write_names(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    struct str *names = NULL, *more = NULL;
    uint32_t n = 0, n_more = 0;
    enum err e =
        f->has_names ? weight_matched_names(f->weight, h->leaf, h->doc, h->arena, &names, &n, f->em) : ERR_OK;
    if (e == ERR_OK && f->post_filter != NULL) {
        e = weight_matched_names(f->post_filter, h->leaf, h->doc, h->arena, &more, &n_more, f->em);
    }
    for (uint32_t i = 0; e == ERR_OK && f->post_filter != NULL && i < n;) { /* its names stand for itself */
        if (weight_has_name(f->post_filter, names[i])) {
            names[i] = names[--n];
        } else {
            i++;
        }
    }
    if (e != ERR_OK || n + n_more == 0) {
        return e;
    }
    struct str *all = ARENA_ARRAY(h->arena, struct str, n + n_more);
    if (all == NULL) {
        return err_no_memory(f->em);
    }
    for (uint32_t i = 0; i < n + n_more; i++) {
        all[i] = i < n ? names[i] : more[i - n];
    }
    java_set_order(all, n + n_more); /* as Elasticsearch's map gives them */
    jw_karr(w, "matched_queries");
    for (uint32_t i = 0; i < n + n_more; i++) {
        jw_str(w, all[i]);
    }
    jw_arr_end(w);
    return ERR_OK;
}

/* Sorting by nothing but the score, best first, is not sorting; nor is it either way round where hits are grouped. */
static void write_sort(const struct fetch *f, const struct fetch_hit *h, struct jsonw *w)
{
    const struct search_source *s = f->source;
    if (h->top->sort == NULL
        || (s->collapse.field.p != NULL && s->n_sort == 1 && s->sort[0].kind == SORT_SCORE)) {
        return;
    }
    jw_karr(w, "sort");
    for (uint32_t i = 0; i < s->n_sort; i++) {
        sort_value_write(&h->top->sort[i], w);
    }
    jw_arr_end(w);
}

static enum err write_highlight(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    if (f->highlighter == NULL) {
        return ERR_OK;
    }
    if (f->n_percolates > 0) {
        return percolated_highlight(f, h, w);
    }
    struct buf b;
    struct jsonw inner;
    bool any = false;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&inner, &b, false);
    const struct json *source;
    enum err e = fetch_highlight_source(f, h, &source);
    e = e == ERR_OK ? highlight_doc(f->highlighter, h->leaf, h->doc, source, h->arena, &inner, &any, f->em)
                    : e;
    if (e == ERR_OK && any) {
        jw_k(w, "highlight");
        jw_raw(w, buf_view(&b));
    }
    buf_fini(&b);
    return e;
}

static enum err write_explanation(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    if (!f->source->explain) {
        return ERR_OK;
    }
    bool matched;
    jw_k(w, "_explanation");
    return f->rescorers != NULL ? explain_rescores(f, h, w)
                                : weight_explain(f->weight, h->leaf, h->doc, h->arena, w, &matched, f->em);
}

/* Elasticsearch reads a document's stored fields, in their order, until it has what it needs: id, routing and perhaps the
 * source stand first, then the fields of the mapping, then _ignored. Without a routing it never has all, and reads on. */
static enum err shows_ignored(struct fetch *f, const struct fetch_hit *h, bool *shown)
{
    const struct search_source *s = f->source;
    *shown = !s->stored_none && (h->stored.routing.p == NULL || h->root != NULL);
    for (uint32_t i = 0; !*shown && !s->stored_none && i < s->n_stored_fields; i++) {
        const struct field *field = mapping_field(f->shard->view->mapping, s->stored_fields[i]);
        *shown = (field != NULL && field->class != &field_class_meta_source)
                 || str_find(s->stored_fields[i], '*', 0) != SIZE_MAX;
    }
    bool source_last = wants_source(s) || s->n_fields > 0;
    if (*shown || s->stored_none || !source_last) {
        return ERR_OK;
    }
    struct stored_doc values;
    enum err e = stored_read(&f->stored, h->doc, STORED_VALUES, h->arena, &values, f->em);
    *shown = e == ERR_OK && values.n_values == 0;
    return e;
}

static enum err write_ignored(struct fetch *f, const struct fetch_hit *h, struct jsonw *w)
{
    struct str *names;
    uint32_t n;
    bool shown = false;
    enum err e = segment_ignored(h->leaf->segment, h->doc, h->arena, &names, &n, f->em);
    e = e == ERR_OK && n > 0 ? shows_ignored(f, h, &shown) : e;
    if (e != ERR_OK || !shown) {
        return e;
    }
    jw_karr(w, "_ignored");
    for (uint32_t i = 0; i < n; i++) {
        jw_str(w, names[i]);
    }
    jw_arr_end(w);
    return ERR_OK;
}

static enum err write_identity(struct fetch *f, const struct fetch_hit *h, struct jsonw *w)
{
    if (f->source->explain) {
        jw_k(w, "_shard");
        jw_strf(w, "[%.*s][%d]", STR_ARG(f->shard->index_name), f->shard->shard);
        jw_kstr(w, "_node", f->shard->node_id);
    }
    jw_kstr(w, "_index", f->shard->index_name);
    jw_kstr(w, "_type", mapping_type(f->shard->view->mapping));
    if (h->root != NULL && h->root->stored.id.p != NULL) {
        jw_kstr(w, "_id", h->root->stored.id);
    } else if (h->root == NULL && !f->source->stored_none) {
        jw_kstr(w, "_id", h->stored.id);
    }
    if (h->place != NULL) {
        nested_place_write(h->place, w);
    }
    write_versions(f, h, w);
    jw_k(w, "_score");
    if (isnan(h->top->score)) {
        jw_null(w);
    } else {
        jw_float(w, h->top->score);
    }
    if (h->stored.routing.p != NULL && !f->source->stored_none) {
        jw_kstr(w, "_routing", h->stored.routing);
    }
    return write_ignored(f, h, w);
}

enum err fetch_write_hit(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    jw_obj(w);
    enum err e = write_identity(f, h, w);
    e = e == ERR_OK ? write_source(f, h, w) : e;
    e = e == ERR_OK ? fetch_fields(f, h, w) : e;
    e = e == ERR_OK ? write_highlight(f, h, w) : e;
    if (e == ERR_OK) {
        write_sort(f, h, w);
        e = write_names(f, h, w);
    }
    e = e == ERR_OK ? write_explanation(f, h, w) : e;
    e = e == ERR_OK ? inner_hits_write(f, h, w) : e;
    jw_obj_end(w);
    return e;
}

enum err fetch_read(struct fetch *f, struct fetch_hit *h)
{
    if (h->leaf != f->leaf) {
        if (f->leaf != NULL) {
            stored_reader_fini(&f->stored);
        }
        stored_reader_init(&f->stored, h->leaf->segment);
        f->leaf = h->leaf;
    }
    unsigned want = h->root != NULL ? f->want & STORED_VALUES : f->want;
    return want != 0 ? stored_read(&f->stored, h->doc, want, h->arena, &h->stored, f->em) : ERR_OK;
}

/* A nested document among the hits is shown through its root. */
static enum err find_root(struct fetch *f, struct fetch_hit *h, struct fetch_hit *root)
{
    if (h->leaf->roots == NULL || bits_test(h->leaf->roots, h->doc)) {
        return ERR_OK;
    }
    const struct field *path = nested_path_of(f->shard->view->mapping, h->leaf, h->doc);
    h->place = path != NULL ? nested_place_of(h->leaf, h->doc, path, h->arena) : NULL;
    if (h->place == NULL) {
        return path != NULL ? err_no_memory(f->em) : ERR_OK;
    }
    *root = (struct fetch_hit){
        .top = h->top, .leaf = h->leaf, .doc = nested_root(h->leaf, h->doc), .arena = h->arena};
    h->root = root;
    return fetch_read(f, root);
}

static enum err fetch_one(struct fetch *f, const struct top_doc *top, struct arena *scratch, struct str *out)
{
    const struct leaf *leaf = view_leaf(f->shard->view, top->doc);
    struct fetch_hit h = {.top = top, .leaf = leaf, .doc = top->doc - leaf->base, .arena = scratch}, root;
    enum err e = find_root(f, &h, &root);
    e = e == ERR_OK ? fetch_read(f, &h) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    e = fetch_write_hit(f, &h, &w);
    if (e == ERR_OK) {
        *out = arena_str(f->arena, buf_view(&b));
        e = b.failed || out->p == NULL ? err_no_memory(f->em) : ERR_OK;
    }
    buf_fini(&b);
    return e;
}

enum err fetch_prepare(struct fetch *f)
{
    const struct search_source *s = f->source;
    search_context_init(&f->cx, f->shard, s, f->arena);
    enum err e = prepare_query(f);
    e = e == ERR_OK ? fetch_fields_check(f) : e;
    f->need_source = wants_source(s) || s->n_fields > 0 || s->highlight_spec != NULL || s->n_script_fields > 0
                     || inner_hits_need_source(f);
    f->want = s->stored_none ? 0 : STORED_ID;
    if (f->need_source) {
        f->want |= STORED_SOURCE;
    }
    if (s->stored_fields_given && !s->stored_none) {
        f->want |= STORED_VALUES;
    }
    return e;
}

void fetch_fini(struct fetch *f)
{
    if (f->leaf != NULL) {
        stored_reader_fini(&f->stored);
    }
    inner_hits_fini(f);
}

enum err search_fetch_phase(struct str *hits, const struct search_shard *shard,
                            const struct search_source *source, const struct top_doc *docs, uint32_t n,
                            struct arena *arena, struct errmsg *em)
{
    ERR_LOCAL(own);
    struct fetch f = {.shard = shard, .source = source, .arena = arena, .em = em != NULL ? em : &own};
    err_clear(f.em);
    if (n == 0) { /* what fetching would refuse goes unnoticed */
        return ERR_OK;
    }
    enum err e = fetch_prepare(&f);
    struct arena scratch;
    arena_init(&scratch, arena->alloc, arena->bytes_max);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        if (shard->cancelled != NULL && shard->cancelled(shard->self)) {
            e = err_set(f.em, ERR_CANCELLED, "task cancelled");
            break;
        }
        e = fetch_one(&f, &docs[i], &scratch, &hits[i]);
        arena_reset(&scratch);
    }
    fetch_fini(&f);
    arena_fini(&scratch);
    return e;
}
