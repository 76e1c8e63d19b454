/* verify.c - the index against the database, both ways: every row has its document, every document its row.
 *
 * Differences are checked again after a while, because a message may have been in flight. */
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "hotel/cli/commands.h"
#include "hotel/sync/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOKS_AGAIN   6
#define LOOK_AGAIN_MS 500
#define SCROLL_SIZE   500
#define SHOWN_MAX     100

struct verify {
    const struct hotel_config *config;
    struct db *db;
    struct reconcile reconcile;
    struct arena arena; /* ids that differ */
    int64_t *ids;
    size_t n, cap;
    uint64_t rows, strangers;
    bool failed; /* no memory */
};

static void note_difference(void *arg, int64_t id, enum agreement a, UNUSED struct str fields)
{
    struct verify *v = arg;
    if (a == AGREES) {
        return;
    }
    if (v->n == v->cap) {
        int64_t *grown = arena_grow(&v->arena, v->ids, v->n, &v->cap, sizeof(int64_t));
        v->failed = v->failed || grown == NULL;
        v->ids = grown != NULL ? grown : v->ids;
    }
    if (!v->failed) {
        v->ids[v->n++] = id;
    }
}

static void print_difference(void *arg, int64_t id, enum agreement a, struct str fields)
{
    struct verify *v = arg;
    if (a == AGREES) {
        return;
    }
    if (++v->n > SHOWN_MAX) {
        return;
    }
    if (a == NOT_INDEXED) {
        printf("hotel %lld: is not in the index\n", (long long)id);
    } else if (a == NO_ROW) {
        printf("hotel %lld: is in the index, and not in the database\n", (long long)id);
    } else {
        printf("hotel %lld: differs in %.*s\n", (long long)id, STR_ARG(fields));
    }
}

/* ---- rows ---- */

static enum err verify_rows(struct verify *v, struct errmsg *em)
{
    int64_t ids[RECONCILE_IDS_MAX];
    struct arena rows;
    struct hotel *h;
    size_t n = 1;
    int64_t after = 0;
    enum err e = ERR_OK;
    arena_init(&rows, NULL, ARENA_UNLIMITED);
    while (e == ERR_OK && n > 0) {
        struct db_conn *c;
        arena_reset(&rows);
        e = db_take(v->db, &c, em);
        e = e != ERR_OK ? e : hotels_after(c, v->rows == 0, after, RECONCILE_IDS_MAX, &rows, &h, &n, em);
        db_give(v->db, c);
        for (size_t i = 0; e == ERR_OK && i < n; i++) {
            after = ids[i] = h[i].id;
        }
        v->rows += e == ERR_OK ? n : 0;
        e = e != ERR_OK ? e : reconcile_look(&v->reconcile, ids, n, note_difference, v, em);
    }
    arena_fini(&rows);
    return e;
}

/* ---- documents ---- */

/* A portion of a scroll: those without a row are noted. */
static enum err verify_hits(struct verify *v, const struct json *hits, struct errmsg *em)
{
    int64_t ids[SCROLL_SIZE];
    size_t n = 0;
    for (uint32_t i = 0; i < hits->n && n < SCROLL_SIZE; i++) {
        struct str id = json_text(json_get(&hits->items[i], "_id"));
        if (num_parse_i64(id, &ids[n])) {
            n++;
        } else if (++v->strangers <= SHOWN_MAX) {
            printf("document [%.*s]: has an id that is no hotel's\n", STR_ARG(id));
        }
    }
    return reconcile_look(&v->reconcile, ids, n, note_difference, v, em);
}

static enum err scroll(struct verify *v, struct errmsg *em)
{
    struct remote_answer a;
    struct arena arena;
    struct str id = STR_NULL;
    const struct json *hits;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    enum err e = remote_index_call(&v->reconcile.remote, "POST", "/_refresh", STR_NULL, &arena, &a, em);
    e = e != ERR_OK
            ? e
            : remote_index_call(&v->reconcile.remote, "POST", "/_search?scroll=1m",
                                STR("{\"size\":500,\"_source\":false,\"sort\":[\"_doc\"]}"), &arena, &a, em);
    for (;;) {
        if (e == ERR_OK && a.status != 200) {
            e = remote_refused(&a, "reading the index", em);
        }
        hits = e == ERR_OK ? json_path(&a.body, "hits.hits") : NULL;
        if (e == ERR_OK && !json_is(hits, JSON_ARRAY)) {
            e = err_set(em, ERR_PARSE, "the search service's answer has no hits");
        }
        if (e != ERR_OK || hits->n == 0) {
            break;
        }
        e = verify_hits(v, hits, em);
        id = json_text(json_get(&a.body, "_scroll_id"));
        struct str body = arena_printf(&arena, "{\"scroll\":\"1m\",\"scroll_id\":\"%.*s\"}", STR_ARG(id));
        e = e != ERR_OK ? e
                        : remote_call(&v->reconcile.remote, "POST", STR("_search/scroll"), body,
                                      "application/json", &arena, &a, em);
    }
    if (id.n > 0) { /* it would go by itself, later */
        struct str body = arena_printf(&arena, "{\"scroll_id\":\"%.*s\"}", STR_ARG(id));
        ERR_LOCAL(ignored);
        if (remote_call(&v->reconcile.remote, "DELETE", STR("_search/scroll"), body, "application/json",
                        &arena, &a, &ignored)
            != ERR_OK) {
            fputs("the scroll could not be closed\n", stderr);
        }
    }
    arena_fini(&arena);
    return e;
}

/* ---- both ---- */

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Each once: what differs was seen from both sides. */
static size_t unique(int64_t *ids, size_t n)
{
    size_t kept = 0;
    sort_items(ids, n, sizeof(*ids), compare_ids);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || ids[kept - 1] != ids[i]) {
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

/* Looks at those noted once more, in portions. */
static enum err verify_again(struct verify *v, void (*found)(void *, int64_t, enum agreement, struct str),
                             struct errmsg *em)
{
    int64_t *ids = v->ids;
    size_t n = unique(ids, v->n);
    enum err e = ERR_OK;
    v->ids = NULL;
    v->n = v->cap = 0;
    for (size_t i = 0; i < n && e == ERR_OK; i += RECONCILE_IDS_MAX) {
        e = reconcile_look(&v->reconcile, ids + i, MIN_OF(n - i, (size_t)RECONCILE_IDS_MAX), found, v, em);
    }
    return e;
}

static enum err verify_all(struct verify *v, struct errmsg *em)
{
    enum err e = verify_rows(v, em);
    e = e != ERR_OK ? e : scroll(v, em);
    for (unsigned i = 0; i < LOOKS_AGAIN && e == ERR_OK && v->n > 0 && !v->failed; i++) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_MS * 1000000L}, NULL);
        e = verify_again(v, note_difference, em);
    }
    e = e != ERR_OK ? e : verify_again(v, print_difference, em);
    return e == ERR_OK && v->failed ? err_no_memory(em) : e;
}

int command_verify(const struct hotel_config *c, const struct str *args, size_t n)
{
    struct verify v = {.config = c};
    ERR_LOCAL(em);
    if (n > 0 || !c->has_mysql) {
        fprintf(stderr,
                n > 0 ? "serai-hotel verify: unknown argument %.*s\n"
                      : "serai-hotel verify: the setting [mysql.url] is needed%.*s\n",
                n > 0 ? (int)args[0].n : 0, n > 0 ? args[0].p : "");
        return EXIT_USAGE_ERROR;
    }
    arena_init(&v.arena, NULL, ARENA_UNLIMITED);
    enum err e = database_open(&v.db, c, &em);
    reconcile_init(&v.reconcile, c, v.db);
    v.reconcile.remote.tries = 0;
    e = e != ERR_OK ? e : verify_all(&v, &em);
    reconcile_fini(&v.reconcile);
    db_free(v.db);
    arena_fini(&v.arena);
    if (e != ERR_OK) {
        return command_failed(e, &em);
    }
    uint64_t differences = v.n + v.strangers;
    printf("%llu hotels in the database, %llu differences\n", (unsigned long long)v.rows,
           (unsigned long long)differences);
    return differences > 0 ? EXIT_FAILED : EXIT_DONE;
}
