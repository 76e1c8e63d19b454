/* from_mysql.c - all rows of the database into the index, in portions, in the order of their ids.
 *
 * Goes the way of the synchronisation (reconcile.h), so that it may run beside it, and promoted hotels stay
 * promoted. After each portion the last id is written to a state file; a run that finds one goes on there. */
#include "hotel/cli/commands.h"
#include "hotel/cli/prepare.h"
#include "hotel/cli/progress.h"
#include "hotel/sync/reconcile.h"

#include <stdio.h>
#include <unistd.h>

#define REFUSALS_SHOWN 10
#define STATE_MAGIC    "serai-hotel import"
#define STATE_BYTES    1024

struct import {
    const struct hotel_config *config;
    const char *state_file;
    struct db *db;
    struct reconcile reconcile;
    bool begun;    /* `after` counts */
    int64_t after; /* the last id that is done */
    uint64_t done, refused;
};

static void on_refused(void *arg, int64_t id, struct str type, struct str reason)
{
    struct import *im = arg;
    if (++im->refused <= REFUSALS_SHOWN) {
        fprintf(stderr, "hotel %lld was refused: %.*s: %.*s\n", (long long)id, STR_ARG(type),
                STR_ARG(reason));
    }
}

/* ---- the state file: "serai-hotel import INDEX LAST_ID DONE" ---- */

static void read_state(struct import *im)
{
    char index[256], line[STATE_BYTES];
    long long after;
    unsigned long long done;
    FILE *f = fopen(im->state_file, "r");
    if (f == NULL) {
        return;
    }
    if (fgets(line, sizeof(line), f) != NULL
        && sscanf(line, STATE_MAGIC " %255s %lld %llu", index, &after, &done) == 3
        && str_is(im->config->index, index)) {
        im->begun = true;
        im->after = after;
        im->done = done;
        fprintf(stderr, "going on behind hotel %lld, as %s says\n", after, im->state_file);
    }
    fclose(f);
}

static enum err write_state(const struct import *im, struct errmsg *em)
{
    char next[STATE_BYTES];
    snprintf(next, sizeof(next), "%s.new", im->state_file);
    FILE *f = fopen(next, "w");
    bool ok = f != NULL
              && fprintf(f, STATE_MAGIC " %.*s %lld %llu\n", STR_ARG(im->config->index), (long long)im->after,
                         (unsigned long long)im->done)
                     > 0;
    ok = f != NULL && fclose(f) == 0 && ok && rename(next, im->state_file) == 0;
    return ok ? ERR_OK : err_set(em, ERR_STATUS, "%s cannot be written", im->state_file);
}

/* ---- rows ---- */

static enum err count_rows(struct import *im, struct arena *arena, int64_t *out, struct errmsg *em)
{
    struct db_conn *c;
    enum err e = db_take(im->db, &c, em);
    e = e != ERR_OK ? e : hotels_count(c, STR_NULL, arena, out, em);
    db_give(im->db, c);
    return e;
}

static enum err next_ids(struct import *im, int64_t *ids, size_t *n, struct arena *arena, struct errmsg *em)
{
    struct db_conn *c;
    struct hotel *rows;
    enum err e = db_take(im->db, &c, em);
    e = e != ERR_OK ? e : hotels_after(c, !im->begun, im->after, RECONCILE_IDS_MAX, arena, &rows, n, em);
    db_give(im->db, c);
    for (size_t i = 0; e == ERR_OK && i < *n; i++) {
        ids[i] = rows[i].id;
    }
    return e;
}

static enum err load(struct import *im, struct progress *progress, struct errmsg *em)
{
    int64_t ids[RECONCILE_IDS_MAX];
    size_t n = 1;
    struct arena rows;
    enum err e = ERR_OK;
    arena_init(&rows, NULL, ARENA_UNLIMITED);
    while (e == ERR_OK && n > 0) {
        arena_reset(&rows);
        e = next_ids(im, ids, &n, &rows, em);
        if (e == ERR_OK && n > 0) {
            e = reconcile(&im->reconcile, ids, n, em);
        }
        if (e == ERR_OK && n > 0) {
            im->begun = true;
            im->after = ids[n - 1];
            im->done += n;
            e = write_state(im, em);
            progress_show(progress, im->done);
        }
    }
    arena_fini(&rows);
    return e;
}

static enum err import_all(struct import *im, struct arena *arena, struct errmsg *em)
{
    struct progress progress;
    int64_t total = 0;
    enum err e = index_prepare(&im->reconcile.remote, false, arena, em);
    e = e != ERR_OK ? e : count_rows(im, arena, &total, em);
    if (e != ERR_OK) {
        return e;
    }
    read_state(im);
    progress_start(&progress, "hotels", MAX_OF((uint64_t)total, im->done));
    e = load(im, &progress, em);
    int64_t ms = progress_end(&progress, im->done);
    if (e != ERR_OK) {
        fprintf(stderr, "the same command goes on behind hotel %lld\n", (long long)im->after);
        return e;
    }
    struct remote_answer a;
    e = remote_index_call(&im->reconcile.remote, "POST", "/_refresh", STR_NULL, arena, &a, em);
    if (e == ERR_OK) {
        unlink(im->state_file);
        printf("%llu hotels imported in %.1f s, %llu documents written\n", (unsigned long long)im->done,
               (double)ms / 1000, (unsigned long long)im->reconcile.written);
    }
    return e;
}

int command_import_mysql(const struct hotel_config *c, const char *state_file, struct arena *arena)
{
    struct import im = {.config = c};
    ERR_LOCAL(em);
    struct str name = arena_printf(arena, "serai-hotel-import-%.*s.state", STR_ARG(c->index));
    im.state_file = state_file != NULL ? state_file : name.p;
    if (!c->has_mysql) {
        fputs("serai-hotel import: --from-mysql needs the setting [mysql.url]\n", stderr);
        return EXIT_USAGE_ERROR;
    }
    enum err e = name.p == NULL ? err_no_memory(&em) : database_open(&im.db, c, &em);
    reconcile_init(&im.reconcile, c, im.db);
    im.reconcile.remote.tries = 0; /* with the commands' patience */
    im.reconcile.on_refused = on_refused;
    im.reconcile.arg = &im;
    e = e != ERR_OK ? e : import_all(&im, arena, &em);
    reconcile_fini(&im.reconcile);
    db_free(im.db);
    return e != ERR_OK ? command_failed(e, &em) : im.refused > 0 ? EXIT_FAILED : EXIT_DONE;
}
