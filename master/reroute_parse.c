/* Bodies of _cluster/reroute. */
#include "master/allocation_int.h"

#include "common/base/jsonr.h"

const struct command_form reroute_forms[REROUTE_KINDS] = {
    [REROUTE_MOVE] = {"move", "move_allocation_command", NULL, true},
    [REROUTE_CANCEL] = {"cancel", "cancel_allocation_command", "allow_primary", false},
    [REROUTE_ALLOCATE_REPLICA] = {"allocate_replica", "allocate_replica (allocation command)", NULL, false},
    [REROUTE_ALLOCATE_STALE] = {"allocate_stale_primary", "allocate_stale_primary (allocation command)",
                                "accept_data_loss", false},
    [REROUTE_ALLOCATE_EMPTY] = {"allocate_empty_primary", "allocate_empty_primary (allocation command)",
                                "accept_data_loss", false}};

static const char parser[] = "cluster_reroute";

static enum err missing(struct errmsg *em, const struct command_form *f, const char *what)
{
    return err_set(em, ERR_PARSE, "[%s] command missing the %s parameter", f->name, what);
}

static enum err read_field(struct reroute_command *c, const struct command_form *f, struct str key,
                           const struct json *v, bool *has_shard, struct errmsg *em)
{
    int32_t shard;
    if (f->flag != NULL && str_is(key, f->flag)) {
        return jr_bool(v, c->kind == REROUTE_CANCEL ? &c->allow_primary : &c->accept_data_loss, em);
    }
    if (str_is(key, "index")) {
        c->index = json_text(v);
        return ERR_OK;
    }
    if (str_is(key, "shard")) {
        enum err e = jr_int(v, &shard, em);
        c->shard = e == ERR_OK ? (uint32_t)shard : 0;
        *has_shard = true;
        return e;
    }
    if (str_is(key, f->moves ? "from_node" : "node")) {
        c->node = json_text(v);
        return ERR_OK;
    }
    if (f->moves && str_is(key, "to_node")) {
        c->to_node = json_text(v);
        return ERR_OK;
    }
    return err_set(em, ERR_PARSE, "[%s] command does not support field [%.*s]", f->name, STR_ARG(key));
}

static enum err read_command(struct reroute_command *c, const struct json *v, size_t *off, struct errmsg *em)
{
    const struct command_form *f = &reroute_forms[c->kind];
    bool has_shard = false;
    enum err e = ERR_OK;
    *off = v->end > 0 ? v->end - 1 : v->off; /* where a reader stands that has read all of it */
    for (uint32_t i = 0; e == ERR_OK && v->type == JSON_OBJECT && i < v->n; i++) {
        *off = v->members[i].value.off;
        e = read_field(c, f, v->members[i].key, &v->members[i].value, &has_shard, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    *off = v->type == JSON_OBJECT ? v->end - 1 : v->end;
    if (c->index.p == NULL) {
        return missing(em, f, "index");
    }
    if (!has_shard) {
        return missing(em, f, "shard");
    }
    if (c->node.p == NULL) {
        return missing(em, f, f->moves ? "from_node" : "node");
    }
    return f->moves && c->to_node.p == NULL ? missing(em, f, "to_node") : ERR_OK;
}

static enum err read_item(struct reroute_command *c, const struct json *item, size_t *off, struct errmsg *em)
{
    *off = item->off;
    if (item->type != JSON_OBJECT) {
        return err_set(em, ERR_PARSE, "allocation command is malformed, got [%s] instead",
                       json_token_name(item));
    }
    if (item->n == 0) {
        *off = item->end - 1;
        return err_set(em, ERR_PARSE, "allocation command is malformed, got [END_OBJECT] instead");
    }
    for (size_t i = 0; i < ARRAY_LEN(reroute_forms); i++) {
        if (str_is(item->members[0].key, reroute_forms[i].name)) {
            c->kind = (enum reroute_kind)i;
            enum err e = read_command(c, &item->members[0].value, off, em);
            if (e != ERR_OK || item->n == 1) {
                return e;
            }
            *off = item->members[1].key_off;
            return err_set(
                em, ERR_PARSE,
                "allocation command is malformed, done parsing a command, but didn't get END_OBJECT, "
                "got [START_OBJECT] instead");
        }
    }
    *off = item->members[0].value.off;
    return err_set(em, ERR_NAMED_OBJECT, "unknown field [%.*s]", STR_ARG(item->members[0].key));
}

enum err reroute_parse(struct reroute_command **out, uint32_t *n, const struct json *body, struct str text,
                       struct arena *arena, struct errmsg *em)
{
    static const char *const known[] = {"commands", "dry_run", NULL};
    *n = 0;
    *out = NULL;
    if (body == NULL || body->type == JSON_NULL) {
        return ERR_OK;
    }
    if (body->type != JSON_OBJECT) {
        return jr_fail_xc(text, body->off, em, "[%s] Expected START_OBJECT but was: %s", parser,
                          json_token_name(body));
    }
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        size_t off = m->value.off;
        enum err e = ERR_OK;
        if (str_is(m->key, "dry_run")) {
            bool ignored; /* the URL's counts */
            e = jr_bool(&m->value, &ignored, em);
        } else if (!str_is(m->key, "commands")) {
            return jr_unknown_field(text, m->key_off, parser, m->key, known, em);
        } else if (m->value.type != JSON_ARRAY) {
            e = err_set(em, ERR_PARSE,
                        "expected either field name [commands], or start array, got [%s] instead",
                        json_token_name(&m->value));
        } else {
            *out = ARENA_ARRAY(arena, struct reroute_command, m->value.n);
            if (*out == NULL) {
                return err_no_memory(em);
            }
            for (uint32_t k = 0; e == ERR_OK && k < m->value.n; k++) {
                (*out)[k] = (struct reroute_command){0};
                e = read_item(&(*out)[k], &m->value.items[k], &off, em);
            }
            *n = e == ERR_OK ? m->value.n : 0;
        }
        if (e != ERR_OK) {
            return jr_wrap_field(text, off, parser, m->key, em);
        }
    }
    return ERR_OK;
}
