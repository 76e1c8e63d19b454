#include "coordinator/search.h"

#include "common/base/num.h"
#include "engine/aggs/aggs.h"
#include "engine/suggest/suggest.h"

#include <math.h>
#include <stdlib.h>

struct search_call *search_new(struct rest *r)
{
    struct search_call *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return NULL;
    }
    c->r = r;
    arena_init(&c->arena, NULL, ARENA_UNLIMITED);
    err_clear(&c->error);
    c->o.indices = EXPAND_OPTIONS_SEARCH;
    c->o.allow_partial = true;
    c->start_ns = r->co->o.clock->mono_ns(r->co->o.clock->self);
    c->now_ms = clock_wall_ms(r->co->o.clock);
    return c;
}

void search_free(struct search_call *c)
{
    for (uint32_t i = 0; c->queries != NULL && i < c->n_shards; i++) {
        shard_rq_fini(&c->queries[i].rq);
    }
    for (uint32_t i = 0; c->probes != NULL && i < c->n_shards; i++) {
        shard_rq_fini(&c->probes[i].rq);
    }
    for (uint32_t i = 0; c->fetches != NULL && i < c->n_shards; i++) {
        shard_rq_fini(&c->fetches[i].rq);
    }
    arena_fini(&c->arena);
    free(c);
}

static void finish(struct search_call *c)
{
    c->done(c);
}

static void fail(struct search_call *c)
{
    if (c->error.n == 0) {
        err_no_memory(&c->error);
    }
    finish(c);
}

/* ---- which shards ---------------------------------------------------------------------------------------------------------- */

static float index_boost(const struct search_call *c, const struct index_meta *m)
{
    const struct json *b = c->source.indices_boost;
    if (b == NULL) {
        return 1;
    }
    uint32_t n = b->type == JSON_ARRAY ? b->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct json *o = b->type == JSON_ARRAY ? &b->items[i] : b;
        for (uint32_t k = 0; o->type == JSON_OBJECT && k < o->n; k++) {
            struct str name = o->members[k].key;
            if (str_glob(name, m->name) || index_alias(m, name) != NULL) {
                return (float)json_double(&o->members[k].value);
            }
        }
    }
    return 1;
}

static enum err check_boosts(struct search_call *c)
{
    const struct json *b = c->source.indices_boost;
    uint32_t n = b == NULL ? 0 : b->type == JSON_ARRAY ? b->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct json *o = b->type == JSON_ARRAY ? &b->items[i] : b;
        for (uint32_t k = 0; o->type == JSON_OBJECT && k < o->n; k++) {
            const struct index_target *t;
            uint32_t found;
            enum err e = resolve_indices(c->r->state, o->members[k].key, &c->o.indices, c->now_ms, &c->arena, &t, &found, &c->error);
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    return ERR_OK;
}

bool search_routed_here(const struct index_meta *m, uint32_t shard, struct str routing)
{
    struct str rest = routing;
    if (routing.n == 0) {
        return true;
    }
    while (rest.p != NULL) {
        struct str one = str_cut(rest, ',', &rest);
        if (m->routing_partition == 1 && shard_of(m, one, one) == shard) {
            return true;
        }
        if (m->routing_partition > 1) { /* one value spreads over a range of shards */
            return true;
        }
    }
    return false;
}

bool search_preferred(struct str preference, uint32_t shard)
{
    struct str rest;
    if (!str_starts(preference, STR("_shards:"))) {
        return true;
    }
    struct str list = str_cut(str_slice(preference, 8, preference.n), '|', &rest);
    while (list.p != NULL) {
        int32_t n;
        struct str one = str_cut(list, ',', &list);
        if (num_parse_i32(one, &n) && n >= 0 && (uint32_t)n == shard) {
            return true;
        }
    }
    return false;
}

static void query_done(struct shard_rq *rq);
static void scroll_id_make(struct search_call *c);

static enum err choose_shards(struct search_call *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->n_targets; i++) {
        most += c->targets[i].meta->n_shards;
    }
    c->queries = ARENA_ARRAY(&c->arena, struct shard_query, most);
    if (c->queries == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < c->n_targets; i++) {
        const struct index_target *t = &c->targets[i];
        struct str routing = c->o.routing.n > 0 ? c->o.routing : t->search_routing;
        for (uint32_t s = 0; s < t->meta->n_shards; s++) {
            if (!search_routed_here(t->meta, s, routing) || !search_preferred(c->o.preference, s)) {
                continue;
            }
            struct shard_query *q = &c->queries[c->n_shards];
            shard_rq_init(&q->rq, query_done, c);
            q->rq.shard = (struct shard_ref){t->meta->name, t->meta->uuid, s};
            q->body = c->o.body;
            q->source = &c->source;
            q->slot = c->n_shards++;
            q->alias_filters = t->filters;
            q->n_alias_filters = t->n_filters;
            q->index_boost = index_boost(c, t->meta);
            q->now_ms = c->now_ms;
            q->scroll = c->o.scroll_ms > 0;
            q->keep = c->o.scroll_ms > 0;
            q->keep_alive_ms = c->o.scroll_ms;
        }
    }
    return ERR_OK;
}

/* ---- scroll ids: the contexts behind them, as URL-safe text ---------------------------------------------------------------- */

#define SCROLL_MAGIC 0x5C

static const char base64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void scroll_id_make(struct search_call *c)
{
    struct buf b, text;
    if (c->o.scroll_ms <= 0) {
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_init(&text, NULL, BUF_UNLIMITED);
    put_u8(&b, SCROLL_MAGIC);
    put_varint(&b, c->n_shards);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        const struct shard_query *q = &c->queries[i];
        put_str(&b, q->rq.shard.index);
        put_str(&b, q->rq.shard.uuid);
        put_varint(&b, q->rq.shard.shard);
        put_varint(&b, q->context);
    }
    for (size_t i = 0; i < b.n; i += 3) {
        uint32_t bits = 0;
        size_t n = MIN_OF(b.n - i, (size_t)3);
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (k < n ? (unsigned char)b.p[i + k] : 0U);
        }
        for (size_t k = 0; k <= n; k++) {
            buf_char(&text, base64url[(bits >> (18 - 6 * k)) & 63]);
        }
    }
    c->scroll_id = arena_str(&c->arena, buf_view(&text));
    buf_fini(&b);
    buf_fini(&text);
}

static bool decode_base64url(struct str text, struct buf *out)
{
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < text.n; i++) {
        const char *at = text.p[i] != '\0' ? strchr(base64url, text.p[i]) : NULL;
        if (at == NULL) {
            return text.p[i] == '='; /* padding that a client added */
        }
        bits = bits << 6 | (uint32_t)(at - base64url);
        have += 6;
        if (have >= 8) {
            have -= 8;
            buf_char(out, (char)(bits >> have));
        }
    }
    return !out->failed;
}

#define SCROLL_SHARDS_MAX (64 * KIB)

/* Calls each() with every shard and context of a scroll id, strings copied into `arena`. */
static enum err scroll_id_read(struct str id, struct arena *arena, struct shard_ref **refs, uint64_t **contexts, uint32_t *n,
                               struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, 16 * MIB);
    bool ok = decode_base64url(id, &b);
    struct str bytes = arena_str(arena, buf_view(&b));
    buf_fini(&b);
    struct bytes_in in = bytes_in(bytes);
    in.bad |= !ok || bytes.p == NULL || get_u8(&in) != SCROLL_MAGIC;
    size_t count = get_count(&in, 4);
    in.bad |= count == 0 || count > SCROLL_SHARDS_MAX;
    *refs = in.bad ? NULL : ARENA_ARRAY(arena, struct shard_ref, count);
    *contexts = in.bad ? NULL : ARENA_ARRAY(arena, uint64_t, count);
    in.bad |= *refs == NULL || *contexts == NULL;
    for (size_t i = 0; i < count && !in.bad; i++) {
        (*refs)[i].index = get_str(&in);
        (*refs)[i].uuid = get_str(&in);
        (*refs)[i].shard = (uint32_t)get_varint(&in);
        (*contexts)[i] = get_varint(&in);
    }
    *n = (uint32_t)count;
    return in.bad || bytes_left(&in) != 0 ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot parse scroll id") : ERR_OK;
}

enum err scroll_free(struct rest *r, struct str id, uint32_t *n, struct errmsg *em)
{
    struct shard_ref *refs;
    uint64_t *contexts;
    uint32_t count;
    const struct shard_api *api = r->co->o.shards;
    enum err e = scroll_id_read(id, r->arena, &refs, &contexts, &count, em);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        *n += api->free_context(api->self, contexts[i]);
    }
    return e;
}

void scroll_free_all(struct rest *r, uint32_t *n)
{
    const struct shard_api *api = r->co->o.shards;
    *n += api->free_all_contexts(api->self);
}

/* ---- fetching ------------------------------------------------------------------------------------------------------------------ */

/* What is to be fetched: the documents that suggestions show, then the page's. */
static enum err wanted_docs(struct search_call *c, struct top_doc **out, uint32_t *n, uint32_t *n_suggested)
{
    const struct top_doc *suggested = NULL;
    *n_suggested = c->suggest != NULL ? suggest_docs(c->suggest, &suggested) : 0;
    *n = c->reduced.n + *n_suggested;
    *out = ARENA_ARRAY(&c->arena, struct top_doc, *n);
    if (*out == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < *n; i++) {
        (*out)[i] = i < *n_suggested ? suggested[i] : c->reduced.docs[i - *n_suggested];
    }
    return ERR_OK;
}

static void all_fetched(struct search_call *c)
{
    struct top_doc *docs;
    uint32_t n, n_suggested;
    uint32_t *at = ARENA_ARRAY(&c->arena, uint32_t, c->n_shards);
    struct str *hits = wanted_docs(c, &docs, &n, &n_suggested) == ERR_OK ? ARENA_ARRAY(&c->arena, struct str, n) : NULL;
    if (at == NULL || hits == NULL) {
        fail(c);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct shard_fetch *f = &c->fetches[docs[i].slot];
        if (f->rq.error.n == 0 && f->hits != NULL) {
            hits[i] = f->hits[at[docs[i].slot]++];
        }
    }
    c->suggest_hits = hits;
    c->hits = hits + n_suggested;
    finish(c);
}

static void fetch_done(struct shard_rq *rq)
{
    struct search_call *c = rq->user;
    if (--c->pending == 0) {
        all_fetched(c);
    }
}

static void release_contexts(struct search_call *c)
{
    const struct shard_api *api = c->r->co->o.shards;
    for (uint32_t i = 0; c->o.scroll_ms <= 0 && i < c->n_shards; i++) {
        if (c->queries[i].context != 0 && (c->fetches == NULL || c->fetches[i].n == 0)) {
            api->free_context(api->self, c->queries[i].context);
        }
    }
}

static void fetch(struct search_call *c)
{
    const struct shard_api *api = c->r->co->o.shards;
    uint32_t asked = 0;
    c->fetches = ARENA_ARRAY(&c->arena, struct shard_fetch, c->n_shards);
    struct top_doc *wanted;
    uint32_t n_wanted, n_suggested;
    enum err e = wanted_docs(c, &wanted, &n_wanted, &n_suggested);
    struct top_doc *docs = e == ERR_OK ? ARENA_ARRAY(&c->arena, struct top_doc, n_wanted) : NULL;
    if (c->fetches == NULL || docs == NULL) {
        fail(c);
        return;
    }
    for (uint32_t s = 0; s < c->n_shards; s++) {
        struct shard_fetch *f = &c->fetches[s];
        shard_rq_init(&f->rq, fetch_done, c);
        f->rq.shard = c->queries[s].rq.shard;
        f->body = c->o.body;
        f->source = &c->source;
        f->context = c->queries[s].context;
        f->keep = c->o.scroll_ms > 0;
        f->now_ms = c->now_ms;
        f->n_shards = c->n_shards;
        f->docs = docs;
        for (uint32_t i = 0; i < n_wanted; i++) {
            if (wanted[i].slot == s) {
                docs[f->n++] = wanted[i];
                f->n_suggested += i < n_suggested;
            }
        }
        docs += f->n;
        asked += f->n > 0;
    }
    release_contexts(c);
    if (asked == 0) {
        all_fetched(c);
        return;
    }
    c->pending = asked;
    uint32_t n = c->n_shards; /* c may be gone after the last call */
    struct shard_fetch *f = c->fetches;
    for (uint32_t s = 0; s < n && asked > 0; s++) {
        if (f[s].n > 0) {
            asked--;
            api->fetch(api->self, &f[s]);
        }
    }
}

/* ---- gathering ------------------------------------------------------------------------------------------------------------------- */

/* A later page's request comes from the shards' contexts. */
static enum err adopt_body(struct search_call *c)
{
    for (uint32_t i = 0; i < c->n_shards; i++) {
        struct shard_query *q = &c->queries[i];
        struct json *tree = q->rq.error.n == 0 && q->body.n > 0 ? ARENA_NEW(&c->arena, struct json) : NULL;
        if (tree == NULL) {
            continue;
        }
        enum err e = json_parse(tree, q->body, &c->arena, &json_limits_default, &c->error);
        e = e == ERR_OK ? search_source_parse(&c->source, tree, q->body, &c->arena, &c->error) : e;
        c->source.agg_spec = NULL;
        c->o.body = q->body;
        return e;
    }
    return ERR_OK;
}

/* Suggestions belong to a search's first page. */
static enum err reduce_suggestions(struct search_call *c)
{
    if (c->next_page || c->source.suggest_spec == NULL || suggest_is_empty(c->source.suggest_spec)) {
        return ERR_OK;
    }
    struct suggest_partial *partials = ARENA_ARRAY(&c->arena, struct suggest_partial, c->n_ok);
    if (partials == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < c->n_ok; i++) {
        partials[i] = (struct suggest_partial){c->results[i].suggest, c->results[i].slot};
    }
    return suggest_reduce(&c->suggest, c->source.suggest_spec, partials, c->n_ok, &c->arena, &c->error);
}

static void all_queried(struct search_call *c)
{
    if (c->next_page && adopt_body(c) != ERR_OK) {
        fail(c);
        return;
    }
    c->results = ARENA_ARRAY(&c->arena, struct query_result, c->n_shards);
    if (c->results == NULL) {
        fail(c);
        return;
    }
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (c->queries[i].rq.error.n > 0) {
            c->n_failed++;
        } else {
            c->results[c->n_ok++] = *c->queries[i].result;
        }
    }
    if (c->n_ok == 0 && c->n_failed > 0) {
        finish(c);
        return;
    }
    scroll_id_make(c);
    if (reduce_hits(&c->reduced, c->results, c->n_ok, &c->source, &c->arena, &c->error) != ERR_OK
        || reduce_suggestions(c) != ERR_OK) {
        fail(c);
        return;
    }
    if (c->n_shards == 1 && c->queries[0].fetch) {
        const struct top_doc *docs;
        uint32_t suggested = c->suggest != NULL ? suggest_docs(c->suggest, &docs) : 0;
        c->hits = c->queries[0].hits;
        c->suggest_hits = suggested <= c->queries[0].n_hits ? c->hits + (c->queries[0].n_hits - suggested) : NULL;
        finish(c);
        return;
    }
    fetch(c);
}

static void query_done(struct shard_rq *rq)
{
    struct search_call *c = rq->user;
    if (--c->pending == 0) {
        all_queried(c);
    }
}

/* ---- scattering ------------------------------------------------------------------------------------------------------------------ */

static void scatter(struct search_call *c)
{
    const struct shard_api *api = c->r->co->o.shards;
    uint32_t n = c->n_shards; /* c may be gone after the last call */
    struct shard_query *q = c->queries;
    c->pending = n;
    for (uint32_t i = 0; i < n; i++) {
        q[i].n_shards = n;
        q[i].fetch = n == 1;
        q[i].dfs = c->dfs;
    }
    for (uint32_t i = 0; i < n; i++) {
        api->query(api->self, &q[i]);
    }
}

/* Sums what the shards know of the query's terms. Terms that a shard does not have count nothing there. */
static enum err sum_stats(struct search_call *c)
{
    uint32_t terms = 0, fields = 0;
    struct dfs_stats *sum = ARENA_NEW(&c->arena, struct dfs_stats);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        terms += c->probes[i].dfs_out.n_terms;
        fields += c->probes[i].dfs_out.n_fields;
    }
    if (sum == NULL || (sum->terms = ARENA_ARRAY(&c->arena, struct dfs_term, terms)) == NULL
        || (sum->fields = ARENA_ARRAY(&c->arena, struct dfs_field, fields)) == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < c->n_shards; i++) {
        const struct dfs_stats *d = &c->probes[i].dfs_out;
        for (uint32_t k = 0; k < d->n_terms; k++) {
            uint32_t at = 0;
            while (at < sum->n_terms && !(str_eq(sum->terms[at].field, d->terms[k].field) && str_eq(sum->terms[at].term, d->terms[k].term))) {
                at++;
            }
            if (at == sum->n_terms) {
                sum->terms[sum->n_terms++] = d->terms[k];
            } else {
                sum->terms[at].doc_freq += d->terms[k].doc_freq;
                sum->terms[at].total_freq += d->terms[k].total_freq;
            }
        }
        for (uint32_t k = 0; k < d->n_fields; k++) {
            uint32_t at = 0;
            while (at < sum->n_fields && !str_eq(sum->fields[at].field, d->fields[k].field)) {
                at++;
            }
            if (at == sum->n_fields) {
                sum->fields[sum->n_fields++] = d->fields[k];
            } else {
                sum->fields[at].max_doc += d->fields[k].max_doc;
                sum->fields[at].doc_count += d->fields[k].doc_count;
                sum->fields[at].sum_df += d->fields[k].sum_df;
                sum->fields[at].sum_ttf += d->fields[k].sum_ttf;
            }
        }
    }
    c->dfs = sum;
    return ERR_OK;
}

static void probe_done(struct shard_rq *rq)
{
    struct search_call *c = rq->user;
    if (--c->pending > 0) {
        return;
    }
    if (sum_stats(c) != ERR_OK) {
        fail(c);
    } else {
        scatter(c); /* a shard that could not be probed will say why when it is searched */
    }
}

static void gather_stats(struct search_call *c)
{
    const struct shard_api *api = c->r->co->o.shards;
    uint32_t n = c->n_shards;
    c->probes = ARENA_ARRAY(&c->arena, struct shard_query, n);
    if (c->probes == NULL) {
        fail(c);
        return;
    }
    struct shard_query *p = c->probes;
    for (uint32_t i = 0; i < n; i++) {
        p[i] = c->queries[i];
        shard_rq_init(&p[i].rq, probe_done, c);
        p[i].dfs_only = true;
    }
    c->pending = n;
    for (uint32_t i = 0; i < n; i++) {
        api->query(api->self, &p[i]);
    }
}

#define SCROLL_MS_MAX (24 * 3600 * 1000)

/* What the request's parts forbid each other, before any shard is asked. */
static enum err check_request(struct search_call *c)
{
    const struct search_source *s = &c->source;
    struct buf b;
    unsigned n = 0;
    enum err e = ERR_OK;
    buf_init(&b, NULL, KIB);
    if (c->o.scroll_ms > 0) {
        if (s->track_total == TRACK_TOTAL_DISABLED) {
            buf_printf(&b, "%u: disabling [track_total_hits] is not allowed in a scroll context;", ++n);
        }
        if (s->from > 0) {
            buf_printf(&b, "%u: using [from] is not allowed in a scroll context;", ++n);
        }
        if (s->size == 0) {
            buf_printf(&b, "%u: [size] cannot be [0] in a scroll context;", ++n);
        }
        if (s->n_rescore > 0) {
            buf_printf(&b, "%u: using [rescore] is not allowed in a scroll context;", ++n);
        }
    }
    if (n > 0) {
        e = err_set(&c->error, ERR_ACTION_VALIDATION, "Validation Failed: %.*s", STR_ARG(buf_view(&b)));
    }
    buf_fini(&b);
    if (e == ERR_OK && c->o.total_as_int && s->track_total != TRACK_TOTAL_DISABLED && s->track_total != TRACK_TOTAL_ACCURATE) {
        if (s->track_total_given) {
            e = err_set(&c->error, ERR_ILLEGAL_ARGUMENT,
                        "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got %d", s->track_total);
        } else {
            c->source.track_total = TRACK_TOTAL_ACCURATE;
        }
    }
    return e;
}

/* Refusals that the shards would make alike: said as if all of them had. */
static bool refused_by_shards(struct search_call *c)
{
    if (c->source.track_total < TRACK_TOTAL_DISABLED) {
        err_set(&c->error, ERR_ILLEGAL_ARGUMENT, "value must be >= 0, got %d", c->source.track_total);
        c->bare_phase = "fetch";
    } else if (c->o.scroll_ms > SCROLL_MS_MAX) {
        err_set(&c->error, ERR_ILLEGAL_ARGUMENT,
                "Keep alive for request (%lldd) is too large. It must be less than (1d). This limit can be set by changing the "
                "[search.max_keep_alive] cluster level setting.",
                (long long)(c->o.scroll_ms / 86400000));
        for (uint32_t i = 0; i < c->n_shards; i++) {
            c->queries[i].rq.error = c->error;
        }
        err_clear(&c->error);
        c->n_failed = c->n_shards;
        return true;
    }
    return c->error.n > 0;
}

static enum err prepare(struct search_call *c)
{
    struct rest *r = c->r;
    enum err e = ERR_OK;
    if (c->o.tree != NULL) {
        e = search_source_parse(&c->source, c->o.tree, c->o.body, &c->arena, &c->error);
    }
    e = e == ERR_OK ? check_request(c) : e;
    if (e == ERR_OK) {
        e = resolve_indices(r->state, c->o.index, &c->o.indices, c->now_ms, &c->arena, &c->targets, &c->n_targets, &c->error);
    }
    e = e == ERR_OK ? check_boosts(c) : e;
    return e == ERR_OK ? choose_shards(c) : e;
}

static void ask_shards(struct search_call *c)
{
    if (prepare(c) != ERR_OK) {
        fail(c);
        return;
    }
    c->no_indices = c->n_targets == 0;
    if (refused_by_shards(c)) {
        finish(c);
        return;
    }
    if (c->n_shards == 0) {
        c->reduced = (struct reduced){.max_score = 0};
        finish(c);
        return;
    }
    if (c->o.dfs && c->n_shards > 1) {
        gather_stats(c);
    } else {
        scatter(c);
    }
}

static void looked_up(struct lookups *l)
{
    struct search_call *c = l->user;
    if (l->error.n > 0) {
        c->error = l->error;
        fail(c);
        return;
    }
    c->o.tree = l->tree;
    c->o.body = l->text;
    search_source_init(&c->source);
    ask_shards(c);
}

/* Documents that terms come from are read once the request is known to be well formed: its places are still the client's. */
void search_run(struct search_call *c)
{
    search_source_init(&c->source);
    if (!lookups_needed(c->o.tree)) {
        ask_shards(c);
        return;
    }
    if (search_source_parse(&c->source, c->o.tree, c->o.body, &c->arena, &c->error) != ERR_OK) {
        fail(c);
        return;
    }
    c->lookups = (struct lookups){.r = c->r, .arena = &c->arena, .tree = c->o.tree, .done = looked_up, .user = c};
    lookups_run(&c->lookups);
}

void search_run_scroll(struct search_call *c, struct str id)
{
    struct shard_ref *refs;
    uint64_t *contexts;
    search_source_init(&c->source);
    c->next_page = true;
    if (scroll_id_read(id, &c->arena, &refs, &contexts, &c->n_shards, &c->error) != ERR_OK) {
        c->n_shards = 0;
        fail(c);
        return;
    }
    c->queries = ARENA_ARRAY(&c->arena, struct shard_query, c->n_shards);
    if (c->queries == NULL) {
        c->n_shards = 0;
        fail(c);
        return;
    }
    uint32_t n = c->n_shards;
    for (uint32_t i = 0; i < n; i++) {
        struct shard_query *q = &c->queries[i];
        shard_rq_init(&q->rq, query_done, c);
        q->rq.shard = refs[i];
        q->slot = i;
        q->n_shards = n;
        q->context = contexts[i];
        q->next_page = q->keep = q->scroll = true;
        q->keep_alive_ms = c->o.scroll_ms;
        q->fetch = n == 1;
    }
    c->pending = n;
    const struct shard_api *api = c->r->co->o.shards;
    struct shard_query *q = c->queries;
    for (uint32_t i = 0; i < n; i++) {
        api->query(api->self, &q[i]);
    }
}

/* ---- printing ------------------------------------------------------------------------------------------------------------------------ */

static void write_failure(struct search_call *c, struct jsonw *w, const struct shard_query *q)
{
    jw_obj(w);
    if (err_code(&q->rq.error) == ERR_SEARCH_CONTEXT_MISSING) { /* whose it was is not known any more */
        jw_ki64(w, "shard", -1);
        jw_k(w, "index");
        jw_null(w);
    } else {
        jw_ki64(w, "shard", q->rq.shard.shard);
        jw_kstr(w, "index", q->rq.shard.index);
        jw_kstr(w, "node", c->r->co->o.node_id);
    }
    jw_k(w, "reason");
    jw_obj(w);
    error_write_cause(w, &q->rq.error);
    jw_obj_end(w);
    jw_obj_end(w);
}

/* Failures that differ only in their shard are shown once an index ("grouped"). */
static bool seen_before(const struct search_call *c, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        const struct shard_rq *a = &c->queries[i].rq, *b = &c->queries[at].rq;
        if (a->error.n > 0 && str_eq(a->shard.index, b->shard.index) && a->error.frame[0].code == b->error.frame[0].code
            && strcmp(a->error.frame[0].reason, b->error.frame[0].reason) == 0) {
            return true;
        }
    }
    return false;
}

static void write_failures(struct search_call *c, struct jsonw *w)
{
    jw_arr(w);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (c->queries[i].rq.error.n > 0 && !seen_before(c, i)) {
            write_failure(c, w, &c->queries[i]);
        }
    }
    jw_arr_end(w);
}

static void write_root_causes(struct search_call *c, struct jsonw *w)
{
    jw_k(w, "root_cause");
    jw_arr(w);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (c->queries[i].rq.error.n > 0 && !seen_before(c, i)) {
            struct errmsg root = c->queries[i].rq.error;
            unsigned at = err_root(&root);
            root.frame[0] = root.frame[at];
            root.n = 1;
            jw_obj(w);
            error_write_cause(w, &root);
            jw_obj_end(w);
        }
    }
    jw_arr_end(w);
}

static const struct errmsg *first_failure(const struct search_call *c)
{
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (c->queries[i].rq.error.n > 0) {
            return &c->queries[i].rq.error;
        }
    }
    return &c->error;
}

/* The first failure's root cause stands behind the whole, unless it is that failure itself. What is no exception of
 * Elasticsearch's own is shown wrapped in one, and bare inside. */
static void write_guessed_cause(struct jsonw *w, const struct errmsg *first)
{
    unsigned at = err_root(first);
    struct errmsg root = *first;
    memmove(&root.frame[0], &root.frame[at], (first->n - at) * sizeof(root.frame[0]));
    root.n = first->n - at;
    bool own = err_family(root.frame[0].code) == ERR_FAMILY_ES;
    if (own && at == 0 && root.frame[0].code != ERR_SEARCH_CONTEXT_MISSING) {
        return;
    }
    jw_k(w, "caused_by");
    jw_obj(w);
    if (!own) {
        struct errmsg wrapper = root;
        wrapper.n = 1;
        error_write_cause(w, &wrapper);
        jw_k(w, "caused_by");
        jw_obj(w);
    }
    error_write_cause(w, &root);
    if (!own) {
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

/* Several shards sorted by a field are asked first whether they can match at all: that is where its absence is seen. */
static const char *failed_phase(const struct search_call *c, const struct errmsg *first)
{
    bool by_field = c->source.n_sort > 0 && c->source.sort[0].kind == SORT_FIELD;
    bool no_mapping = err_code(first) == ERR_QUERY_SHARD && strncmp(first->frame[0].reason, "No mapping found for", 20) == 0;
    return c->n_shards > 1 && by_field && no_mapping ? "can_match" : "query";
}

/* An error that no shard is named for. */
static void write_bare_phase(struct search_call *c, struct jsonw *w, int *status)
{
    *status = err_http_status(&c->error);
    jw_k(w, "error");
    jw_obj(w);
    jw_k(w, "root_cause");
    jw_arr(w);
    jw_arr_end(w);
    jw_kz(w, "type", err_type(ERR_SEARCH_PHASE));
    jw_kz(w, "reason", "");
    jw_kz(w, "phase", c->bare_phase);
    jw_kbool(w, "grouped", true);
    jw_k(w, "failed_shards");
    jw_arr(w);
    jw_arr_end(w);
    jw_k(w, "caused_by");
    jw_obj(w);
    error_write_cause(w, &c->error);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_ki64(w, "status", *status);
}

/* search_phase_execution_exception: what it is when no shard answered. */
static void write_all_failed(struct search_call *c, struct jsonw *w, int *status)
{
    const struct errmsg *first = first_failure(c);
    *status = err_http_status(first);
    jw_k(w, "error");
    jw_obj(w);
    write_root_causes(c, w);
    jw_kz(w, "type", err_type(ERR_SEARCH_PHASE));
    jw_kz(w, "reason", "all shards failed");
    jw_kz(w, "phase", failed_phase(c, first));
    jw_kbool(w, "grouped", true);
    jw_k(w, "failed_shards");
    write_failures(c, w);
    write_guessed_cause(w, first);
    jw_obj_end(w);
    jw_ki64(w, "status", *status);
}

static void write_shards(struct search_call *c, struct jsonw *w)
{
    jw_k(w, "_shards");
    jw_obj(w);
    jw_ki64(w, "total", c->n_shards);
    jw_ki64(w, "successful", c->n_shards - c->n_failed);
    jw_ki64(w, "skipped", 0);
    jw_ki64(w, "failed", c->n_failed);
    if (c->n_failed > 0) {
        jw_k(w, "failures");
        write_failures(c, w);
    }
    jw_obj_end(w);
}

static void write_total(struct search_call *c, struct jsonw *w)
{
    if (c->reduced.relation == TOTAL_NONE) {
        if (c->o.total_as_int) {
            jw_ki64(w, "total", -1);
        }
        return;
    }
    jw_k(w, "total");
    if (c->o.total_as_int) {
        jw_i64(w, c->reduced.total);
        return;
    }
    jw_obj(w);
    jw_ki64(w, "value", c->reduced.total);
    jw_kz(w, "relation", c->reduced.relation == TOTAL_GTE ? "gte" : "eq");
    jw_obj_end(w);
}

static void write_hits(struct search_call *c, struct jsonw *w)
{
    jw_k(w, "hits");
    jw_obj(w);
    write_total(c, w);
    jw_k(w, "max_score");
    if (c->n_shards == 0) {
        jw_float(w, 0);
    } else if (isnan(c->reduced.max_score)) {
        jw_null(w);
    } else {
        jw_float(w, c->reduced.max_score);
    }
    jw_k(w, "hits");
    jw_arr(w);
    for (uint32_t i = 0; c->hits != NULL && i < c->reduced.n; i++) {
        if (c->hits[i].n > 0) {
            jw_raw(w, c->hits[i]);
        }
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static enum err write_aggs(struct search_call *c, struct jsonw *w)
{
    if (c->source.agg_spec == NULL || c->source.aggs->n == 0) {
        return ERR_OK;
    }
    struct str *partials = ARENA_ARRAY(&c->arena, struct str, c->n_ok);
    for (uint32_t i = 0; partials != NULL && i < c->n_ok; i++) {
        partials[i] = c->results[i].aggs;
    }
    jw_k(w, "aggregations");
    return partials != NULL ? aggs_reduce(c->source.agg_spec, partials, c->n_ok, c->o.typed_keys, &c->arena, w, &c->error)
                            : err_no_memory(&c->error);
}

static enum err write_body(struct search_call *c, struct jsonw *w)
{
    int64_t took = (c->r->co->o.clock->mono_ns(c->r->co->o.clock->self) - c->start_ns) / 1000000;
    if (c->o.scroll_ms > 0 && c->scroll_id.n > 0) {
        jw_kstr(w, "_scroll_id", c->scroll_id);
    }
    jw_ki64(w, "took", took);
    jw_kbool(w, "timed_out", c->reduced.timed_out);
    if (c->reduced.terminated_early || (c->source.terminate_after != 0 && c->n_shards > 0)) {
        jw_kbool(w, "terminated_early", c->reduced.terminated_early);
    }
    write_shards(c, w);
    write_hits(c, w);
    enum err e = write_aggs(c, w);
    if (e == ERR_OK && c->suggest != NULL) {
        jw_k(w, "suggest");
        suggest_write(c->suggest, c->suggest_hits, c->o.typed_keys, w);
    }
    return e;
}

void search_write(struct search_call *c, struct jsonw *w, int *status)
{
    size_t start = w->out->n;
    struct jsonw saved = *w;
    *status = 200;
    jw_obj(w);
    enum err e = ERR_OK;
    if (c->error.n == 0 && c->n_ok == 0 && c->n_failed > 0) {
        write_all_failed(c, w, status);
    } else if (c->error.n == 0) {
        e = write_body(c, w);
        if (e != ERR_OK && c->bare_phase == NULL) { /* what shards found could not be put together */
            buf_truncate(w->out, start);
            *w = saved;
            jw_obj(w);
            c->bare_phase = "fetch";
        }
    }
    if (c->bare_phase != NULL) {
        write_bare_phase(c, w, status);
        jw_obj_end(w);
        return;
    }
    if (c->error.n > 0 || e != ERR_OK) {
        buf_truncate(w->out, start);
        *w = saved;
        jw_obj(w);
        jw_k(w, "error");
        jw_obj(w);
        error_write(w, &c->error);
        jw_obj_end(w);
        *status = err_http_status(&c->error);
        jw_ki64(w, "status", *status);
    }
    jw_obj_end(w);
}
