/* import.c - the index made in its final form, and a CSV file of hotels into it.
 *
 * The whole file is checked before anything is changed, so that a bad line leaves everything as it was. */
#include "common/sys/fs_posix.h"
#include "hotel/cli/bulk.h"
#include "hotel/cli/commands.h"
#include "hotel/cli/prepare.h"
#include "hotel/cli/progress.h"
#include "hotel/table.h"

#include <stdio.h>

#define REFUSALS_SHOWN 10

struct import {
    struct remote remote;
    const char *file;
    bool recreate;
    struct fs_map map;
    uint64_t total; /* hotels in the file */
    struct bulk *bulk;
};

static struct str text_of(const struct import *im)
{
    return str_mk(im->map.p, im->map.n);
}

/* Reads all hotels: counts them, or hands them to the bulk. */
static enum err read_hotels(struct import *im, struct progress *progress, struct errmsg *em)
{
    struct arena rows;
    struct table t;
    struct hotel h;
    bool got = true;
    uint64_t n = 0;
    arena_init(&rows, NULL, ARENA_UNLIMITED);
    enum err e = table_open(&t, text_of(im), &rows, em);
    while (e == ERR_OK && got) {
        arena_reset(&rows);
        e = table_next(&t, &rows, &h, &got, em);
        n += e == ERR_OK && got ? 1 : 0;
        if (e == ERR_OK && got && im->bulk != NULL) {
            e = bulk_add(im->bulk, &h, table_line(&t), em);
            progress_show(progress, im->bulk->done + im->bulk->refused);
        }
    }
    arena_fini(&rows);
    im->total = n;
    return e;
}

static void on_refused(void *arg, const struct bulk_item *item, struct str type, struct str reason)
{
    struct import *im = arg;
    if (im->bulk->refused <= REFUSALS_SHOWN) {
        fprintf(stderr, "%s:%llu: hotel %lld was refused: %.*s: %.*s\n", im->file,
                (unsigned long long)item->line, (long long)item->id, STR_ARG(type), STR_ARG(reason));
    } else if (im->bulk->refused == REFUSALS_SHOWN + 1) {
        fputs("further ones are not shown\n", stderr);
    }
}

static enum err load(struct import *im, struct errmsg *em)
{
    struct progress progress;
    im->bulk->on_refused = on_refused;
    im->bulk->arg = im;
    uint64_t total = im->total;
    progress_start(&progress, "hotels", total);
    enum err e = read_hotels(im, &progress, em);
    e = e != ERR_OK ? e : bulk_send(im->bulk, em);
    int64_t ms = progress_end(&progress, im->bulk->done + im->bulk->refused);
    if (e == ERR_OK) {
        printf("%llu hotels imported in %.1f s", (unsigned long long)im->bulk->done, (double)ms / 1000);
    }
    return e;
}

/* Makes it all visible and says how many hotels there are now. */
static enum err import_finish(struct import *im, struct arena *arena, struct errmsg *em)
{
    struct remote_answer a;
    int64_t count = 0;
    enum err e = remote_index_call(&im->remote, "POST", "/_refresh", STR_NULL, arena, &a, em);
    e = e != ERR_OK ? e : remote_index_call(&im->remote, "GET", "/_count", STR_NULL, arena, &a, em);
    if (e == ERR_OK && (a.status != 200 || !json_i64(json_get(&a.body, "count"), &count))) {
        e = remote_refused(&a, "counting", em);
    }
    if (e == ERR_OK) {
        printf("; the index %.*s holds %lld\n", STR_ARG(im->remote.config->index), (long long)count);
    }
    return e;
}

static int run(struct import *im, struct arena *arena)
{
    ERR_LOCAL(em);
    const struct fs *fs = fs_posix();
    if (fs->map(fs->self, im->file, &im->map, &em) != ERR_OK) {
        fprintf(stderr, "serai-hotel: %s\n", err_reason(&em));
        return EXIT_NO_INPUT;
    }
    enum err e = read_hotels(im, NULL, &em);
    if (e != ERR_OK) {
        err_prefix(&em, e, "%s", im->file);
    }
    e = e != ERR_OK ? e : index_prepare(&im->remote, im->recreate, arena, &em);
    struct bulk *bulk = e == ERR_OK ? ARENA_NEW(arena, struct bulk) : NULL;
    if (e == ERR_OK && bulk == NULL) {
        e = err_no_memory(&em);
    }
    if (e == ERR_OK) {
        bulk_init(bulk, &im->remote);
        im->bulk = bulk;
        e = load(im, &em);
        e = e != ERR_OK ? e : import_finish(im, arena, &em);
        bulk_fini(bulk);
    }
    fs->unmap(fs->self, &im->map);
    if (e != ERR_OK) {
        return command_failed(e, &em);
    }
    return bulk->refused > 0 ? EXIT_FAILED : EXIT_DONE;
}

enum err database_open(struct db **out, const struct hotel_config *c, struct errmsg *em)
{
    return db_new(out,
                  &(struct db_opts){.url = &c->mysql,
                                    .connect_ms_max = c->mysql_ms_max,
                                    .ms_max = c->mysql_ms_max,
                                    .connections_max = 1},
                  em);
}

static int usage_error(void)
{
    fputs("usage: serai-hotel import FILE.csv [--recreate]\n"
          "       serai-hotel import --from-mysql [--state FILE]\n",
          stderr);
    return EXIT_USAGE_ERROR;
}

int command_import(const struct hotel_config *c, const struct str *args, size_t n, struct arena *arena)
{
    struct import im = {.remote = {.config = c}};
    bool from_mysql = false;
    const char *state_file = NULL;
    for (size_t i = 0; i < n; i++) {
        if (str_is(args[i], "--recreate")) {
            im.recreate = true;
        } else if (str_is(args[i], "--from-mysql")) {
            from_mysql = true;
        } else if (str_is(args[i], "--state") && i + 1 < n) {
            state_file = args[++i].p;
        } else if (im.file == NULL && args[i].p[0] != '-') {
            im.file = args[i].p;
        } else {
            fprintf(stderr, "serai-hotel import: unknown argument %.*s\n", STR_ARG(args[i]));
            return EXIT_USAGE_ERROR;
        }
    }
    if (from_mysql ? im.file != NULL || im.recreate : im.file == NULL || state_file != NULL) {
        return usage_error();
    }
    return from_mysql ? command_import_mysql(c, state_file, arena) : run(&im, arena);
}
