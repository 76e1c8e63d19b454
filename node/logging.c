/* The log levels of the settings logger.*. */
#include "node/node.h"

#include <stdio.h>
#include <stdlib.h>

#define COMPONENTS_MAX 64

struct levels {
    enum log_level root;
    struct log_levels *t; /* room for COMPONENTS_MAX */
};

/* "logger.level" and "logger._root" are the whole log's, "logger.data" that of one component. */
static enum err read_levels(struct levels *l, const struct settings *s, struct errmsg *em)
{
    static const struct str prefix = {"logger.", sizeof("logger.") - 1};
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *v = &s->v[i];
        enum log_level level;
        if (!str_starts(v->key, prefix) || v->is_null || v->is_list) {
            continue;
        }
        struct str name = str_slice(v->key, prefix.n, v->key.n);
        if (str_eq_nocase(v->value, STR("fatal"))) {
            level = LOG_ERROR;
        } else if (str_eq_nocase(v->value, STR("all"))) {
            level = LOG_TRACE;
        } else if (!log_level_parse(v->value, &level)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown level constant [%.*s].", STR_ARG(v->value));
        }
        if (str_is(name, "level") || str_is(name, "_root")) {
            l->root = level;
            continue;
        }
        size_t at = 0;
        while (at < l->t->n && !str_is(name, l->t->v[at].component)) {
            at++;
        }
        if (at < COMPONENTS_MAX && name.n < sizeof(l->t->v[at].component)) {
            snprintf(l->t->v[at].component, sizeof(l->t->v[at].component), "%.*s", STR_ARG(name));
            l->t->v[at].level = level;
            l->t->n = MAX_OF(l->t->n, at + 1);
        }
    }
    return ERR_OK;
}

enum err node_log_levels(struct log *log, const struct settings *own, const struct cluster_state *state,
                         struct errmsg *em)
{
    struct levels l = {.root = LOG_INFO, .t = calloc(1, sizeof(*l.t) + COMPONENTS_MAX * sizeof(l.t->v[0]))};
    if (l.t == NULL) {
        return err_no_memory(em);
    }
    enum err e = read_levels(&l, own, em);
    if (e == ERR_OK && state != NULL && state->persistent != NULL) {
        e = read_levels(&l, &state->persistent->settings, em);
    }
    if (e == ERR_OK && state != NULL && state->transient != NULL) {
        e = read_levels(&l, &state->transient->settings, em);
    }
    if (e != ERR_OK) {
        free(l.t);
        return e;
    }
    log_set_level(log, l.root);
    if (l.t->n == 0 && log->levels == NULL) {
        free(l.t);
        return ERR_OK;
    }
    struct log_levels *fit =
        realloc(l.t, sizeof(*l.t) + l.t->n * sizeof(l.t->v[0])); /* they stay until the end */
    log_set_levels(log, fit != NULL ? fit : l.t);
    return ERR_OK;
}
