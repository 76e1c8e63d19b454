/* POST /_aliases: the actions of its body. */
#include "coordinator/rest/alias_actions.h"

static const char *const add_fields[] = {"index",
                                         "indices",
                                         "alias",
                                         "aliases",
                                         "filter",
                                         "routing",
                                         "index_routing",
                                         "search_routing",
                                         "indexRouting",
                                         "searchRouting",
                                         "is_write_index",
                                         "is_hidden",
                                         NULL};
static const char *const remove_fields[] = {"index", "indices", "alias", "aliases", "must_exist", NULL};
static const char *const remove_index_fields[] = {"index", "indices", "alias", "aliases", NULL};

static enum err wrap(struct rest *r, const struct json *at, const char *parser, const char *field)
{
    return jr_wrap_field(r->body, at->off, parser, str_of(field), &r->em);
}

static bool is_name(const char *const *names, struct str s)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        if (str_is(s, names[i])) {
            return true;
        }
    }
    return false;
}

static bool alias_action_fits(struct str key, const struct json *v)
{
    if (str_is(key, "filter")) {
        return v->type == JSON_OBJECT || v->type == JSON_NULL;
    }
    if (str_is(key, "indices") || str_is(key, "aliases")) {
        return v->type == JSON_ARRAY || v->type == JSON_STRING;
    }
    if (str_is(key, "index") || str_is(key, "alias")) {
        return v->type == JSON_STRING;
    }
    if (str_ends(key, STR("outing"))) {
        return v->type == JSON_STRING || v->type == JSON_NUMBER;
    }
    return v->type == JSON_BOOL || v->type == JSON_STRING;
}

/* The first element that has no text; NULL: all have. */
static const struct json *not_a_text(const struct json *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        enum json_type t = list->items[i].type;
        if (t == JSON_NULL || t == JSON_ARRAY || t == JSON_OBJECT) {
            return &list->items[i];
        }
    }
    return NULL;
}

static bool has_empty(const struct json *v)
{
    bool found = v->type == JSON_STRING && v->s.n == 0;
    for (uint32_t i = 0; !found && v->type == JSON_ARRAY && i < v->n; i++) {
        found = has_empty(&v->items[i]);
    }
    return found;
}

/* A name, or a list of them. */
static enum err check_names(struct rest *r, const char *action, enum alias_kind kind,
                            const struct json_member *m)
{
    const struct json *v = &m->value;
    const bool list = v->type == JSON_ARRAY;
    const struct json *wrong = list ? not_a_text(v) : NULL;
    size_t off = list ? v->end - 1 : v->off;
    uint32_t line, col;
    if (wrong != NULL) {
        off = wrong->off;
        json_place(r->body, wrong->off, &line, &col);
        if (wrong->type == JSON_ARRAY) {
            err_set(&r->em, ERR_ILLEGAL_STATE, "expected value but got [START_ARRAY]");
        } else {
            err_set(&r->em, ERR_ILLEGAL_STATE, "Can't get text on a %s at %u:%u", json_token_name(wrong),
                    line, col);
        }
    } else if (kind == ALIAS_REMOVE_INDEX && str_starts(m->key, STR("alias"))) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] is unsupported for [REMOVE_INDEX]", STR_ARG(m->key));
    } else if (list && v->n == 0) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] can't be empty", STR_ARG(m->key));
    } else if (has_empty(v)) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] can't %s empty string", STR_ARG(m->key),
                str_is(m->key, "indices") || str_is(m->key, "aliases") ? "contain" : "be");
    } else {
        return ERR_OK;
    }
    return jr_wrap_field(r->body, off, action, m->key, &r->em);
}

static enum err check_field(struct rest *r, const char *action, enum alias_kind kind,
                            const struct json_member *m)
{
    const char *const *known = kind == ALIAS_ADD      ? add_fields
                               : kind == ALIAS_REMOVE ? remove_fields
                                                      : remove_index_fields;
    if (!is_name(known, m->key)) {
        return jr_unknown_field(r->body, m->key_off, action, m->key, known, &r->em);
    }
    if (!alias_action_fits(m->key, &m->value)) {
        return jr_fail_xc(r->body, m->value.off, &r->em, "[%s] %.*s doesn't support values of type: %s",
                          action, STR_ARG(m->key), json_token_name(&m->value));
    }
    if (is_name(remove_index_fields, m->key)) {
        return check_names(r, action, kind, m);
    }
    bool truth;
    const bool flag =
        str_is(m->key, "is_write_index") || str_is(m->key, "is_hidden") || str_is(m->key, "must_exist");
    return flag && jr_bool(&m->value, &truth, &r->em) != ERR_OK
               ? jr_wrap_field(r->body, m->value.off, action, m->key, &r->em)
               : ERR_OK;
}

/* "index" or "indices": one of them. */
static enum err names_of(struct rest *r, const struct json *body, const char *one, const char *many,
                         const char *action, const struct str **out, uint32_t *n)
{
    const struct json *a = json_get(body, one), *b = json_get(body, many);
    *n = 0;
    if (a != NULL && b != NULL) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Only one of [%s] and [%s] is supported", one, many);
        return jr_wrap_field(r->body, b->end - 1, action, str_of(many), &r->em);
    }
    a = a != NULL ? a : b;
    if (a == NULL) {
        return ERR_OK;
    }
    return jr_strings(a, r->arena, out, n) ? ERR_OK : err_no_memory(&r->em);
}

static enum err read_fields(struct rest *r, const char *action, struct given_action *g,
                            const struct json *body)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        e = check_field(r, action, g->kind, &body->members[i]);
    }
    e = e == ERR_OK ? names_of(r, body, "index", "indices", action, &g->indices, &g->n_indices) : e;
    e = e == ERR_OK ? names_of(r, body, "alias", "aliases", action, &g->aliases, &g->n_aliases) : e;
    e = e == ERR_OK ? alias_from_json(&g->alias, body, true, r->arena, &r->em) : e;
    const struct json *must = json_get(body, "must_exist");
    g->must_exist = must != NULL && str_is(json_text(must), "true");
    return e;
}

static enum err read_action(struct rest *r, const struct json *v, struct given_action *g)
{
    static const char *const known[] = {"add", "remove", "remove_index", NULL};
    const struct json_member *m = v->n > 0 ? &v->members[0] : NULL;
    for (uint32_t i = 0; i < v->n; i++) {
        if (!is_name(known, v->members[i].key)) {
            return jr_unknown_field(r->body, v->members[i].key_off, "alias_action", v->members[i].key, known,
                                    &r->em);
        }
    }
    if (v->n == 0) {
        g->empty = true;
        return ERR_OK;
    }
    if (v->n > 1) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Too many operations declared on operation entry");
        return err_wrap(&r->em, ERR_X_CONTENT,
                        "Failed to build [alias_action] after last required field arrived");
    }
    if (m->value.type != JSON_OBJECT) {
        return jr_fail_xc(r->body, m->value.off, &r->em,
                          "[alias_action] %.*s doesn't support values of type: %s", STR_ARG(m->key),
                          json_token_name(&m->value));
    }
    g->kind = str_is(m->key, "add")      ? ALIAS_ADD
              : str_is(m->key, "remove") ? ALIAS_REMOVE
                                         : ALIAS_REMOVE_INDEX;
    const char *action = g->kind == ALIAS_ADD ? "add" : g->kind == ALIAS_REMOVE ? "remove" : "remove_index";
    if (read_fields(r, action, g, &m->value) != ERR_OK) {
        return wrap(r, &m->value, "alias_action", action);
    }
    return ERR_OK;
}

/* The checks after all actions are read. */
static enum err check_actions(const struct action_list *l)
{
    for (uint32_t i = 0; i < l->n_given; i++) {
        const struct given_action *g = &l->given[i];
        const char *wanted = g->empty            ? "No operation declared on operation entry"
                             : g->n_indices == 0 ? "One of [index] or [indices] is required"
                             : g->kind != ALIAS_REMOVE_INDEX && g->n_aliases == 0
                                 ? "One of [alias] or [aliases] is required"
                                 : NULL;
        if (wanted != NULL) {
            return err_set(&l->r->em, ERR_ILLEGAL_ARGUMENT, "%s", wanted);
        }
    }
    return ERR_OK;
}

/* What stands before an action and is none: a value is passed over, and then the next one has to be an object. A list among the
 * actions is refused. *at moves to the action. */
static enum err find_action(struct rest *r, const struct json *list, uint32_t *at)
{
    const struct json *v = &list->items[*at];
    if (v->type == JSON_OBJECT) {
        return ERR_OK;
    }
    if (v->type == JSON_ARRAY) {
        err_set(&r->em, ERR_ILLEGAL_STATE, "expected value but got [START_ARRAY]");
        return jr_wrap_field(r->body, v->off, "aliases", STR("actions"), &r->em);
    }
    const struct json *next = ++*at < list->n ? &list->items[*at] : NULL;
    if (next != NULL && next->type == JSON_OBJECT) {
        return ERR_OK;
    }
    size_t off = next != NULL ? next->off : list->end - 1;
    jr_fail_xc(r->body, off, &r->em, "[alias_action] Expected START_OBJECT but was: %s",
               next != NULL ? json_token_name(next) : "END_ARRAY");
    return jr_wrap_field(r->body, off, "aliases", STR("actions"), &r->em);
}

enum err alias_actions_read(struct rest *r, const struct json *body, struct action_list *l)
{
    static const char *const known[] = {"actions", NULL};
    if (body->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, body->off, &r->em, "[aliases] Expected START_OBJECT but was: %s",
                          json_token_name(body));
    }
    const struct json *v = json_get(body, "actions");
    struct given_action *given =
        ARENA_ARRAY(r->arena, struct given_action, v != NULL && v->type == JSON_ARRAY ? v->n : 1);
    if (given == NULL) {
        return err_no_memory(&r->em);
    }
    for (uint32_t i = 0; i < body->n; i++) {
        if (!str_is(body->members[i].key, "actions")) {
            return jr_unknown_field(r->body, body->members[i].key_off, "aliases", body->members[i].key, known,
                                    &r->em);
        }
    }
    if (v != NULL && v->type != JSON_ARRAY && v->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, v->off, &r->em, "[aliases] actions doesn't support values of type: %s",
                          json_token_name(v));
    }
    if (v != NULL && v->type == JSON_OBJECT) {
        l->given = given;
        l->n_given = 1;
        return read_action(r, v, &given[0]) == ERR_OK && check_actions(l) == ERR_OK
                   ? ERR_OK
                   : jr_wrap_field(r->body, v->end - 1, "aliases", STR("actions"), &r->em);
    }
    if (v == NULL || v->n == 0 || v->type != JSON_ARRAY) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "No action specified");
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        enum err found = find_action(r, v, &i);
        if (found != ERR_OK) {
            return found;
        }
        if (read_action(r, &v->items[i], &given[n++])
            != ERR_OK) { /* reported at the end of the action, unless a place is given */
            size_t end = v->items[i].end - (v->items[i].n > 1); /* of several, the last brace tells */
            return jr_wrap_field(r->body, end, "aliases", STR("actions"), &r->em);
        }
    }
    l->given = given;
    l->n_given = n;
    return check_actions(l) == ERR_OK ? ERR_OK
                                      : jr_wrap_field(r->body, v->end - 1, "aliases", STR("actions"), &r->em);
}
