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

/* A command on its way: `text` is the body's, *off where a reader of tokens stands. */
struct reading {
    struct str text;
    size_t *off;
    bool has_shard;
};

/* The parts of a command; whether its kind has one of this name. */
static enum err read_part(struct reroute_command *c, const struct command_form *f, struct reading *rd,
                          const struct json_member *m, bool *known, struct errmsg *em)
{
    const struct json *v = &m->value;
    *known = true;
    if (f->flag != NULL && str_is(m->key, f->flag)) {
        return jr_bool(v, c->kind == REROUTE_CANCEL ? &c->allow_primary : &c->accept_data_loss, em);
    }
    if (str_is(m->key, "shard")) {
        int32_t shard = 0;
        enum err e = jr_int(v, &shard, em);
        c->shard = (uint32_t)shard;
        rd->has_shard = shard >= 0;
        return e;
    }
    if (str_is(m->key, "index")) {
        c->index = json_text(v);
    } else if (str_is(m->key, f->moves ? "from_node" : "node")) {
        c->node = json_text(v);
    } else if (f->moves && str_is(m->key, "to_node")) {
        c->to_node = json_text(v);
    } else {
        *known = false;
    }
    return ERR_OK;
}

/* ---- move and cancel: read token by token -------------------------------------------------------------- */

static enum err missing(struct errmsg *em, const struct command_form *f, const char *what)
{
    return err_set(em, ERR_PARSE, "[%s] command missing the %s parameter", f->name, what);
}

static enum err complex_token(struct errmsg *em, const struct command_form *f, const char *token)
{
    return err_set(em, ERR_PARSE, "[%s] command does not support complex json tokens [%s]", f->name, token);
}

static bool is_plain(const struct json *v)
{
    return v->type != JSON_ARRAY && v->type != JSON_OBJECT && v->type != JSON_NULL;
}

/* A list where an object is due: its first token is looked at as if the object had begun. */
static enum err read_list(const struct command_form *f, const struct json *v, size_t *off, struct errmsg *em)
{
    *off = v->n > 0 ? v->items[0].off : v->end - 1;
    if (v->n > 0 && is_plain(&v->items[0])) {
        return err_set(em, ERR_PARSE, "[%s] command does not support field [null]", f->name);
    }
    return complex_token(em, f, v->n > 0 ? json_token_name(&v->items[0]) : "END_ARRAY");
}

static enum err read_tokens(struct reroute_command *c, const struct command_form *f, struct reading *rd,
                            const struct json *v, struct errmsg *em)
{
    if (v->type == JSON_ARRAY) {
        return read_list(f, v, rd->off, em);
    }
    for (uint32_t i = 0; v->type == JSON_OBJECT && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool known;
        *rd->off = m->value.off;
        if (!is_plain(&m->value)) {
            return complex_token(em, f, json_token_name(&m->value));
        }
        enum err e = read_part(c, f, rd, m, &known, em);
        if (e == ERR_OK && !known) {
            e = err_set(em, ERR_PARSE, "[%s] command does not support field [%.*s]", f->name,
                        STR_ARG(m->key));
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    *rd->off =
        v->type == JSON_OBJECT ? v->end - 1 : v->end; /* without braces the command ends with the item */
    if (c->index.p == NULL) {
        return missing(em, f, "index");
    }
    if (!rd->has_shard) {
        return missing(em, f, "shard");
    }
    if (c->node.p == NULL) {
        return missing(em, f, f->moves ? "from_node" : "node");
    }
    return f->moves && c->to_node.p == NULL ? missing(em, f, "to_node") : ERR_OK;
}

/* ---- allocations: read by an ObjectParser -------------------------------------------------------------- */

/* What an ObjectParser says that was given no object: it has looked one token further. */
static enum err no_object(const struct command_form *f, struct reading *rd, const struct json *v,
                          struct errmsg *em)
{
    const char *token = "END_OBJECT";
    *rd->off = v->end;
    if (v->type == JSON_ARRAY) {
        *rd->off = v->n > 0 ? v->items[0].off : v->end - 1;
        token = v->n > 0 ? json_token_name(&v->items[0]) : "END_ARRAY";
    }
    return jr_fail_xc(rd->text, *rd->off, em, "[%s] Expected START_OBJECT but was: %s", f->name, token);
}

static enum err read_object(struct reroute_command *c, const struct command_form *f, struct reading *rd,
                            const struct json *v, struct errmsg *em)
{
    const char *const known[] = {"index", "shard", "node", f->flag, NULL};
    if (v->type != JSON_OBJECT) {
        return no_object(f, rd, v, em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        size_t k = 0;
        bool is_known;
        while (known[k] != NULL && !str_is(m->key, known[k])) {
            k++;
        }
        *rd->off = m->value.off;
        if (known[k] == NULL) {
            return jr_unknown_field(rd->text, m->key_off, f->name, m->key, known, em);
        }
        unsigned kinds = JR_STRING | (k == 1 ? JR_NUMBER : 0) | (k == 3 ? JR_BOOL : 0);
        enum err e = jr_expect(rd->text, f->name, m, kinds, em);
        if (e != ERR_OK) {
            return e;
        }
        if (read_part(c, f, rd, m, &is_known, em) != ERR_OK) {
            return jr_wrap_field(rd->text, m->value.off, f->name, m->key, em);
        }
    }
    *rd->off = v->end - 1;
    if (c->index.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Argument [index] must be defined");
    }
    if (!rd->has_shard) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Argument [shard] must be defined and non-negative");
    }
    return c->node.p == NULL ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Argument [node] must be defined") : ERR_OK;
}

/* ---- the list of commands ------------------------------------------------------------------------------ */

static enum err unknown_command(struct str text, size_t off, struct str name, struct errmsg *em)
{
    uint32_t line, col;
    json_place(text, off, &line, &col);
    return err_set(em, ERR_NAMED_OBJECT, "[%u:%u] unknown field [%.*s]", line, col, STR_ARG(name));
}

static enum err read_item(struct reroute_command *c, const struct json *list, uint32_t at, struct str text,
                          size_t *off, struct errmsg *em)
{
    const struct json *item = &list->items[at];
    struct reading rd = {.text = text, .off = off};
    *off = item->off;
    if (item->type != JSON_OBJECT) {
        return err_set(em, ERR_PARSE, "allocation command is malformed, got [%s] instead",
                       json_token_name(item));
    }
    if (item->n == 0) { /* the token behind its end is taken for a value */
        *off = at + 1 < list->n ? list->items[at + 1].off : list->end - 1;
        return unknown_command(text, *off, STR("null"), em);
    }
    const struct json_member *m = &item->members[0];
    for (size_t i = 0; i < ARRAY_LEN(reroute_forms); i++) {
        if (str_is(m->key, reroute_forms[i].name)) {
            c->kind = (enum reroute_kind)i;
            bool tokens = c->kind == REROUTE_MOVE || c->kind == REROUTE_CANCEL;
            enum err e = (tokens ? read_tokens : read_object)(c, &reroute_forms[i], &rd, &m->value, em);
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
    *off = m->value.off;
    return unknown_command(text, *off, m->key, em);
}

enum err reroute_parse(struct reroute_command **out, uint32_t *n, const struct json *body, struct str text,
                       struct arena *arena, struct errmsg *em)
{
    static const char *const known[] = {"commands", "dry_run", NULL};
    *n = 0;
    *out = NULL;
    if (body == NULL) {
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
        if (str_is(m->key, "dry_run") || str_is(m->key, "commands")) {
            const bool flag = str_is(m->key, "dry_run");
            e = jr_expect(text, parser, m, flag ? JR_BOOL | JR_STRING : JR_ARRAY | JR_OBJECT, em);
            if (e != ERR_OK) {
                return e;
            }
        }
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
                e = read_item(&(*out)[k], &m->value, k, text, &off, em);
            }
            *n = e == ERR_OK ? m->value.n : 0;
        }
        if (e != ERR_OK) {
            return jr_wrap_field(text, off, parser, m->key, em);
        }
    }
    return ERR_OK;
}
