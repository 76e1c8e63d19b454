#include "coordinator/ops/lookups.h"

#include "common/base/num.h"
#include "coordinator/core/ask.h"

#include "engine/index/engine.h"
#include "engine/mapping/document.h"

#include <stdatomic.h>

struct lookup {
    struct get_call g; /* first: done() gets it */
    struct lookup *next;
    struct json *place; /* in the copy of the tree: becomes an array of values */
    struct str path;    /* p == NULL: the whole document, of a percolate query */
    bool sent;
};

/* Index, id and path, all texts: no aggregation's options look like that. */
static bool is_lookup(const struct json *v)
{
    return json_is(v, JSON_OBJECT) && json_is(json_get(v, "index"), JSON_STRING) && json_get(v, "id") != NULL
           && json_is(json_get(v, "path"), JSON_STRING);
}

/* The body of a percolate query that names a document. */
static bool is_document(const struct json_member *m)
{
    const struct json *v = &m->value;
    return str_is(m->key, "percolate") && json_is(v, JSON_OBJECT)
           && json_is(json_get(v, "index"), JSON_STRING) && json_is(json_get(v, "id"), JSON_STRING)
           && json_get(v, "document") == NULL;
}

bool lookups_needed(const struct json *tree)
{
    bool needed = false;
    for (uint32_t i = 0; json_is(tree, JSON_ARRAY) && i < tree->n && !needed; i++) {
        needed = lookups_needed(&tree->items[i]);
    }
    for (uint32_t i = 0; json_is(tree, JSON_OBJECT) && i < tree->n && !needed; i++) {
        const struct json *m = &tree->members[i].value;
        for (uint32_t k = 0; str_is(tree->members[i].key, "terms") && m->type == JSON_OBJECT && k < m->n;
             k++) {
            needed = needed || is_lookup(&m->members[k].value);
        }
        needed = needed || is_document(&tree->members[i]) || lookups_needed(m);
    }
    return needed;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* The document takes the place of what named it. */
static enum err fill_document(struct lookups *l, struct lookup *k)
{
    static const char *const named[] = {"index", "id", "routing", "preference", "version"};
    struct shard_get *rq = &k->g.rq;
    const struct json *was = k->place;
    struct json *tree = ARENA_NEW(l->arena, struct json);
    struct json now = json_mk_object();
    if (get_version_clashes(&k->g, &l->error)) {
        return ERR_CONFLICT;
    }
    if (!rq->found) {
        return err_set(&l->error, ERR_RESOURCE_NOT_FOUND, "indexed document [%.*s/%.*s] couldn't be found",
                       STR_ARG(json_get(was, "index")->s), STR_ARG(rq->id));
    }
    if (rq->source.n == 0) {
        return err_set(&l->error, ERR_ILLEGAL_ARGUMENT, "indexed document [%.*s/%.*s] source disabled",
                       STR_ARG(json_get(was, "index")->s), STR_ARG(rq->id));
    }
    struct str text = arena_str(l->arena, rq->source);
    enum err e = tree != NULL && text.p != NULL
                     ? json_parse(tree, text, l->arena, &json_limits_default, &l->error)
                     : err_no_memory(&l->error);
    for (uint32_t i = 0; e == ERR_OK && i < was->n; i++) {
        bool gone = false;
        for (size_t n = 0; n < ARRAY_LEN(named); n++) {
            gone |= str_is(was->members[i].key, named[n]);
        }
        if (!gone && !json_put(&now, l->arena, was->members[i].key, was->members[i].value)) {
            e = err_no_memory(&l->error);
        }
    }
    if (e == ERR_OK && !json_put(&now, l->arena, STR("document"), *tree)) {
        e = err_no_memory(&l->error);
    }
    *k->place = now;
    return e;
}

static enum err fill(struct lookups *l, struct lookup *k)
{
    const struct json **found = NULL;
    size_t n = 0;
    struct json tree;
    struct shard_get *rq = &k->g.rq;
    if (k->path.p == NULL) {
        return fill_document(l, k);
    }
    if (rq->found && rq->source.n > 0) {
        enum err e = json_parse(&tree, rq->source, &rq->rq.arena, &json_limits_default, &l->error);
        if (e != ERR_OK) {
            return e;
        }
        if (!source_raw_values(&tree, k->path, &rq->rq.arena, &found, &n)) {
            return err_no_memory(&l->error);
        }
    }
    struct json *items = ARENA_ARRAY(l->arena, struct json, n);
    bool ok = items != NULL || n == 0;
    for (size_t i = 0; ok && i < n; i++) {
        ok = json_copy(&items[i], found[i], l->arena);
    }
    *k->place = (struct json){.type = JSON_ARRAY, .n = ok ? (uint32_t)n : 0, .items = items};
    return ok ? ERR_OK : err_no_memory(&l->error);
}

/* The tree as text, and parsed again: places in it are those of what shards will read. */
static enum err print(struct lookups *l)
{
    struct buf b;
    struct jsonw w;
    struct json *tree = ARENA_NEW(l->arena, struct json);
    jsonw_start(&w, &b);
    jw_value(&w, l->tree);
    l->text = b.failed ? STR_NULL : arena_str(l->arena, buf_view(&b));
    buf_fini(&b);
    if (tree == NULL || l->text.p == NULL) {
        return err_no_memory(&l->error);
    }
    l->tree = tree;
    return json_parse(tree, l->text, l->arena, &json_limits_default, &l->error);
}

static void all_read(struct lookups *l)
{
    for (struct lookup *k = l->first; k != NULL; k = k->next) {
        if (!err_is(&l->error) && err_is(&k->g.rq.rq.error)) {
            err_copy(&l->error, &k->g.rq.rq.error);
        }
        if (!err_is(&l->error)) {
            (void)fill(l, k); /* its error is in l */
        }
        if (k->sent) {
            shard_rq_fini(&k->g.rq.rq);
        }
    }
    if (!err_is(&l->error)) {
        (void)print(l);
    }
    l->done(l);
}

static void read_done(struct shard_rq *rq)
{
    struct lookups *l = rq->user;
    if (atomic_fetch_sub(&l->pending, 1) == 1) {
        all_read(l);
    }
}

static void nothing_to_read(struct later *l)
{
    all_read(CONTAINER_OF(l, struct lookups, end));
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static bool note(struct lookups *l, struct json *v, struct str path)
{
    struct lookup *k = ARENA_NEW(l->arena, struct lookup);
    if (k == NULL) {
        err_no_memory(&l->error);
        return false;
    }
    *k = (struct lookup){.next = l->first, .place = v, .path = path};
    k->g.r = l->r;
    k->g.version = VERSION_ANY;
    const struct json *version = path.p == NULL ? json_get(v, "version") : NULL;
    if (version != NULL && !num_parse_i64(json_text(version), &k->g.version)) {
        err_set(&l->error, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(json_text(version)));
        return false;
    }
    k->g.rq.id = json_text(json_get(v, "id"));
    k->g.rq.realtime = k->g.rq.want_source = true;
    enum err e = get_locate(l->r, &k->g, json_get(v, "index")->s, json_text(json_get(v, "routing")), l->arena,
                            &l->error);
    struct shard_ref where = k->g.rq.rq.shard;
    shard_rq_init(&k->g.rq.rq, &shard_op_get, read_done, l);
    k->g.rq.rq.shard = where;
    k->sent = true;
    l->first = k;
    l->pending++;
    return e == ERR_OK;
}

/* Notes every lookup below v; false ends the walk. The parser has limited the depth. */
static bool note_all(struct lookups *l, struct json *v)
{
    if (v->type == JSON_ARRAY) {
        for (uint32_t i = 0; i < v->n; i++) {
            if (!note_all(l, &v->items[i])) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; v->type == JSON_OBJECT && i < v->n; i++) {
        struct json *m = &v->members[i].value;
        for (uint32_t k = 0; str_is(v->members[i].key, "terms") && m->type == JSON_OBJECT && k < m->n; k++) {
            if (is_lookup(&m->members[k].value)
                && !note(l, &m->members[k].value, json_get(&m->members[k].value, "path")->s)) {
                return false;
            }
        }
        if (is_document(&v->members[i])) {
            if (!note(l, m, STR_NULL)) {
                return false;
            }
            continue;
        }
        if (!note_all(l, m)) {
            return false;
        }
    }
    return true;
}

void lookups_run(struct lookups *l)
{
    struct json *tree = ARENA_NEW(l->arena, struct json);
    l->error = err_in(l->arena);
    l->first = NULL;
    l->pending = 0;
    if (tree == NULL || !json_copy(tree, l->tree, l->arena)) {
        err_no_memory(&l->error);
    } else {
        l->tree = tree;
    }
    if (err_is(&l->error) || !note_all(l, tree) || l->first == NULL) {
        later(&l->end, nothing_to_read);
        return;
    }
    struct coordinator *co = l->r->co;
    struct ask_where where = ask_anywhere(co, l->r->state, STR_NULL);
    for (struct lookup *k = l->first, *next; k != NULL; k = next) {
        next = k->next; /* l may be gone after the last call */
        ask_get(co, &where, &k->g.rq);
    }
}
