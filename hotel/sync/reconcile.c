#include "hotel/sync/reconcile.h"

#include "common/base/jsonw.h"
#include "common/base/num.h"
#include "common/sys/clock_real.h"

#define ROUNDS_MAX     50
#define BULK_BYTES_MAX (64 * MIB)
#define REFRESH_EVERY_MS \
    250 /* changes of single hotels are to be seen at once, floods are not to make many segments */

struct pair { /* a hotel on both sides */
    int64_t id;
    const struct hotel *row; /* NULL: there is none */
    const struct json *doc;  /* its _source; NULL: there is none */
    int64_t seq_no, primary_term;
    struct json wanted; /* of a row */
    enum agreement agreement;
};

void reconcile_init(struct reconcile *r, const struct hotel_config *config, struct db *db)
{
    *r = (struct reconcile){
        .remote = {.config = config, .tries = 1, .ms_max = 30000}, .db = db, .refreshed_ms = INT64_MIN / 2};
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
}

void reconcile_fini(struct reconcile *r)
{
    arena_fini(&r->arena);
}

/* ---- reading ---- */

static struct pair *pair_of(struct pair *v, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++) {
        if (v[i].id == id) {
            return &v[i];
        }
    }
    return NULL;
}

static enum err read_some_rows(struct reconcile *r, struct db_conn *c, struct pair *v, size_t n,
                               struct errmsg *em)
{
    int64_t ids[HOTELS_IDS_MAX];
    struct hotel *rows;
    size_t rows_n;
    for (size_t i = 0; i < n; i++) {
        ids[i] = v[i].id;
    }
    enum err e = hotels_get(c, ids, n, &r->arena, &rows, &rows_n, em);
    for (size_t i = 0; i < rows_n; i++) {
        struct pair *p = pair_of(v, n, rows[i].id);
        if (p != NULL) {
            p->row = &rows[i];
        }
    }
    return e;
}

/* A kept connection may have died since: then another one is tried, once. */
static enum err read_rows(struct reconcile *r, struct pair *v, size_t n, struct errmsg *em)
{
    enum err e = ERR_IO;
    for (unsigned tries = 0; tries < 2 && e == ERR_IO; tries++) {
        struct db_conn *c;
        e = db_take(r->db, &c, em);
        for (size_t i = 0; e == ERR_OK && i < n; i += HOTELS_IDS_MAX) {
            e = read_some_rows(r, c, v + i, MIN_OF(n - i, (size_t)HOTELS_IDS_MAX), em);
        }
        db_give(r->db, c);
    }
    return e;
}

static void write_ids(struct buf *out, const struct pair *v, size_t n)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_karr(&w, "ids");
    for (size_t i = 0; i < n; i++) {
        jw_strf(&w, "%lld", (long long)v[i].id);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
}

static enum err take_doc(struct pair *p, const struct json *doc, struct errmsg *em)
{
    const struct json *found = json_get(doc, "found"), *error = json_get(doc, "error");
    if (error != NULL) {
        struct str reason = json_text(json_get(error, "reason"));
        return err_set(em, ERR_IO, "the search service: hotel %lld: %.*s", (long long)p->id, STR_ARG(reason));
    }
    if (!json_is(found, JSON_BOOL)) {
        return err_set(em, ERR_PARSE, "the search service's answer to _mget is not understood");
    }
    if (found->b) {
        p->doc = json_get(doc, "_source");
        if (!json_is(p->doc, JSON_OBJECT) || !json_i64(json_get(doc, "_seq_no"), &p->seq_no)
            || !json_i64(json_get(doc, "_primary_term"), &p->primary_term)) {
            return err_set(em, ERR_PARSE, "the search service's answer to _mget lacks parts");
        }
    }
    return ERR_OK;
}

/* An answer of 429 or 503 is one of a service that is away for now. */
static enum err check_status(const struct remote_answer *a, const char *doing, struct errmsg *em)
{
    if (a->status == 200) {
        return ERR_OK;
    }
    enum err e = remote_refused(a, doing, em);
    return a->status == 429 || a->status >= 500
               ? err_set(em, ERR_REJECTED, "%s: the search service answered %d", doing, a->status)
               : e;
}

static enum err read_docs(struct reconcile *r, struct pair *v, size_t n, struct errmsg *em)
{
    struct remote_answer a;
    struct buf body;
    buf_init(&body, NULL, BUF_UNLIMITED);
    write_ids(&body, v, n);
    enum err e = body.failed
                     ? err_no_memory(em)
                     : remote_index_call(&r->remote, "POST", "/_mget", buf_view(&body), &r->arena, &a, em);
    buf_fini(&body);
    e = e != ERR_OK ? e : check_status(&a, "reading documents", em);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *docs = json_get(&a.body, "docs");
    if (!json_is(docs, JSON_ARRAY) || docs->n != n) {
        return err_set(em, ERR_PARSE, "the search service's answer to _mget has another number of documents");
    }
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        e = take_doc(&v[i], &docs->items[i], em);
    }
    return e;
}

/* ---- comparing ---- */

/* The row's document, with what only the index has behind it. */
static enum err row_document(struct reconcile *r, struct pair *p, struct errmsg *em)
{
    struct buf text;
    buf_init(&text, NULL, BUF_UNLIMITED);
    hotel_write(&text, p->row);
    struct str copy = text.failed ? STR_NULL : arena_str(&r->arena, buf_view(&text));
    buf_fini(&text);
    enum err e = copy.p == NULL ? err_no_memory(em)
                                : json_parse(&p->wanted, copy, &r->arena, &json_limits_default, em);
    for (uint32_t i = 0; e == ERR_OK && p->doc != NULL && i < p->doc->n; i++) {
        const struct json_member *m = &p->doc->members[i];
        if (json_get_str(&p->wanted, m->key) == NULL && !json_put(&p->wanted, &r->arena, m->key, m->value)) {
            e = err_no_memory(em);
        }
    }
    return e;
}

static enum err reconcile_compare(struct reconcile *r, struct pair *p, struct errmsg *em)
{
    if (p->row == NULL) {
        p->agreement = p->doc == NULL ? AGREES : NO_ROW;
        return ERR_OK;
    }
    enum err e = row_document(r, p, em);
    p->agreement = p->doc == NULL ? NOT_INDEXED : json_equal(&p->wanted, p->doc) ? AGREES : DIFFERS;
    return e;
}

static enum err read_pairs(struct reconcile *r, struct pair *v, size_t n, struct errmsg *em)
{
    for (size_t i = 0; i < n; i++) {
        v[i] = (struct pair){.id = v[i].id};
    }
    /* The document first: a row that is read after it is never older than what the document was made of. */
    enum err e = read_docs(r, v, n, em);
    e = e != ERR_OK ? e : read_rows(r, v, n, em);
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        e = reconcile_compare(r, &v[i], em);
    }
    return e;
}

/* ---- writing ---- */

static void write_action(struct jsonw *w, const struct pair *p)
{
    jw_obj(w);
    jw_kobj(w, p->row == NULL ? "delete" : p->doc == NULL ? "create" : "index");
    jw_k(w, "_id");
    jw_strf(w, "%lld", (long long)p->id);
    if (p->doc != NULL) {
        jw_ki64(w, "if_seq_no", p->seq_no);
        jw_ki64(w, "if_primary_term", p->primary_term);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_bulk(struct buf *out, const struct pair *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct jsonw w;
        if (v[i].agreement == AGREES) {
            continue;
        }
        jsonw_init(&w, out, false);
        write_action(&w, &v[i]);
        buf_char(out, '\n');
        if (v[i].row != NULL) {
            jsonw_init(&w, out, false);
            jw_value(&w, &v[i].wanted);
            buf_char(out, '\n');
        }
    }
}

struct outcome {
    bool busy, refused;
};

/* 409 is no failure: somebody else wrote in between, and the next round reads anew. */
static enum err take_item(struct reconcile *r, const struct pair *p, const struct json *item,
                          struct outcome *out, struct errmsg *em)
{
    const struct json *result = json_is(item, JSON_OBJECT) && item->n == 1 ? &item->members[0].value : NULL;
    const struct json *error = json_get(result, "error");
    int64_t status;
    *out = (struct outcome){false, false};
    if (!json_i64(json_get(result, "status"), &status)) {
        return err_set(em, ERR_PARSE, "the search service's answer to a bulk lacks items");
    }
    if (error == NULL) {
        r->written++;
    } else if (status == 429 || status >= 500) {
        struct str reason = json_text(json_get(error, "reason"));
        out->busy = true;
        err_set(em, ERR_REJECTED, "the search service: %.*s", STR_ARG(reason));
    } else if (status != 409 && status != 404) {
        out->refused = true;
        r->on_refused(r->arg, p->id, json_text(json_get(error, "type")),
                      json_text(json_get(error, "reason")));
    }
    return ERR_OK;
}

/* Leaves in v, in *n, what is to be looked at again. */
static enum err take_items(struct reconcile *r, struct pair *v, size_t *n, const struct json *items,
                           struct errmsg *em)
{
    size_t kept = 0;
    uint32_t at = 0;
    bool busy = false;
    for (size_t i = 0; i < *n; i++) {
        struct outcome o;
        if (v[i].agreement == AGREES) {
            continue;
        }
        if (!json_is(items, JSON_ARRAY) || at >= items->n) {
            return err_set(em, ERR_PARSE, "the search service's answer to a bulk lacks items");
        }
        enum err e = take_item(r, &v[i], &items->items[at++], &o, em);
        if (e != ERR_OK) {
            return e;
        }
        busy = busy || o.busy;
        if (!o.refused) {
            v[kept++] = v[i];
        }
    }
    *n = kept;
    return busy ? ERR_REJECTED : ERR_OK;
}

static enum err write_pairs(struct reconcile *r, struct pair *v, size_t *n, struct errmsg *em)
{
    struct remote_answer a;
    struct buf body;
    int64_t now = clock_mono_ms(clock_real());
    bool refresh = now - r->refreshed_ms >= REFRESH_EVERY_MS;
    buf_init(&body, NULL, BULK_BYTES_MAX);
    write_bulk(&body, v, *n);
    enum err e = ERR_OK;
    if (body.failed) {
        e = err_no_memory(em);
    } else if (body.n == 0) {
        *n = 0;
    } else {
        e = remote_index_call(&r->remote, "POST", refresh ? "/_bulk?refresh=true" : "/_bulk", buf_view(&body),
                              &r->arena, &a, em);
        e = e != ERR_OK ? e : check_status(&a, "writing documents", em);
        e = e != ERR_OK ? e : take_items(r, v, n, json_get(&a.body, "items"), em);
        r->refreshed_ms = refresh ? now : r->refreshed_ms;
        r->unseen = !refresh;
    }
    buf_fini(&body);
    return e;
}

/* ---- both ---- */

static struct pair *pairs_of(struct reconcile *r, const int64_t *ids, size_t n)
{
    assert(n <= RECONCILE_IDS_MAX);
    struct pair *v = ARENA_ARRAY(&r->arena, struct pair, n + 1);
    for (size_t i = 0; v != NULL && i < n; i++) {
        v[i].id = ids[i];
    }
    return v;
}

enum err reconcile(struct reconcile *r, const int64_t *ids, size_t n, struct errmsg *em)
{
    arena_reset(&r->arena);
    struct pair *v = pairs_of(r, ids, n);
    enum err e = v == NULL ? err_no_memory(em) : ERR_OK;
    for (unsigned rounds = 0; e == ERR_OK && n > 0; rounds++) {
        if (rounds == ROUNDS_MAX) {
            return err_set(em, ERR_CONFLICT, "hotel %lld keeps being changed", (long long)v[0].id);
        }
        e = read_pairs(r, v, n, em);
        e = e != ERR_OK ? e : write_pairs(r, v, &n, em);
    }
    return e;
}

void reconcile_show(struct reconcile *r)
{
    struct remote_answer a;
    if (!r->unseen) {
        return;
    }
    arena_reset(&r->arena);
    if (remote_index_call(&r->remote, "POST", "/_refresh", STR_NULL, &r->arena, &a, NULL) == ERR_OK) {
        r->unseen = false;
    }
}

/* The names of the members that are not the same. */
static struct str differing(struct reconcile *r, const struct pair *p)
{
    struct buf out;
    buf_init(&out, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < p->wanted.n; i++) {
        const struct json_member *m = &p->wanted.members[i];
        const struct json *have = json_get_str(p->doc, m->key);
        if (have == NULL || !json_equal(&m->value, have)) {
            buf_z(&out, out.n > 0 ? ", " : "");
            buf_str(&out, m->key);
        }
    }
    struct str s = arena_str(&r->arena, buf_view(&out));
    buf_fini(&out);
    return s;
}

enum err reconcile_look(struct reconcile *r, const int64_t *ids, size_t n,
                        void (*found)(void *arg, int64_t id, enum agreement a, struct str fields), void *arg,
                        struct errmsg *em)
{
    arena_reset(&r->arena);
    struct pair *v = pairs_of(r, ids, n);
    enum err e = v == NULL ? err_no_memory(em) : n > 0 ? read_pairs(r, v, n, em) : ERR_OK;
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        found(arg, v[i].id, v[i].agreement, v[i].agreement == DIFFERS ? differing(r, &v[i]) : STR_NULL);
    }
    return e;
}
