/* promote.c - marks hotels as promoted, or takes the mark away. */
#include "common/base/num.h"
#include "hotel/cli/commands.h"
#include "hotel/cli/remote.h"
#include "hotel/names.h"

#include <stdio.h>

static enum err promote_one(const struct remote *r, int64_t id, bool on, struct arena *arena,
                            struct errmsg *em)
{
    struct remote_answer a;
    char action[64], body[64];
    snprintf(action, sizeof(action), "/_update/%lld?retry_on_conflict=3", (long long)id);
    snprintf(body, sizeof(body), "{\"doc\":{\"" F_IS_AD "\":%s}}", on ? "true" : "false");
    enum err e = remote_index_call(r, "POST", action, str_of(body), arena, &a, em);
    if (e == ERR_OK && a.status == 404) {
        return err_set(em, ERR_DOCUMENT_MISSING, "there is no hotel %lld in the index %.*s", (long long)id,
                       STR_ARG(r->config->index));
    }
    if (e == ERR_OK && a.status != 200) {
        return remote_refused(&a, "promoting", em);
    }
    return e;
}

/* An update would create an index that is not there, without its mapping: so it is looked for first. */
static enum err find_index(const struct remote *r, struct arena *arena, struct errmsg *em)
{
    struct remote_answer a;
    enum err e = remote_index_call(r, "GET", "", STR_NULL, arena, &a, em);
    if (e == ERR_OK && a.status == 404) {
        return err_set(em, ERR_INDEX_NOT_FOUND, "there is no index %.*s yet: import hotels first",
                       STR_ARG(r->config->index));
    }
    return e != ERR_OK || a.status == 200 ? e : remote_refused(&a, "looking for the index", em);
}

static int run(const struct remote *r, const int64_t *ids, size_t n, bool on, struct arena *arena)
{
    struct remote_answer a;
    ERR_LOCAL(em);
    int status = EXIT_DONE;
    size_t done = 0;
    if (find_index(r, arena, &em) != ERR_OK) {
        return command_failed(err_code(&em), &em);
    }
    for (size_t i = 0; i < n; i++) {
        enum err e = promote_one(r, ids[i], on, arena, &em);
        done += e == ERR_OK ? 1 : 0;
        if (e != ERR_OK) {
            status = command_failed(e, &em);
        }
        if (status == EXIT_NO_SERVICE) {
            return status;
        }
    }
    enum err e = remote_index_call(r, "POST", "/_refresh", STR_NULL, arena, &a, &em);
    if (e != ERR_OK) {
        return command_failed(e, &em);
    }
    printf("%zu hotels are %s\n", done, on ? "promoted" : "not promoted any more");
    return status;
}

int command_promote(const struct hotel_config *c, const struct str *args, size_t n, struct arena *arena)
{
    struct remote r = {.config = c};
    bool on = true;
    size_t ids_n = 0;
    int64_t *ids = ARENA_ARRAY(arena, int64_t, n + 1);
    if (ids == NULL) {
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < n; i++) {
        if (str_is(args[i], "--off")) {
            on = false;
        } else if (!num_parse_i64(args[i], &ids[ids_n++])) {
            fprintf(stderr, "serai-hotel promote: [%.*s] is no hotel's id\n", STR_ARG(args[i]));
            return EXIT_USAGE_ERROR;
        }
    }
    if (ids_n == 0) {
        fputs("usage: serai-hotel promote ID... [--off]\n", stderr);
        return EXIT_USAGE_ERROR;
    }
    return run(&r, ids, ids_n, on, arena);
}
