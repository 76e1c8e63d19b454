/* Partial updates: the body, and the request. The shard makes the new document. */
#include "coordinator/ops/get.h"
#include "coordinator/rest/document.h"
#include "coordinator/rest/source_param.h"
#include "coordinator/rest/types.h"
#include "engine/index/engine.h"
#include "engine/query/query.h"

#define UPDATE "UpdateRequest"

/* ---- the body ------------------------------------------------------------------------------------------------------------------ */

struct update_reader {
    struct rest *r;
    struct str text;
    struct write_entry *e;
    struct update_parts *parts;
};

static enum err wrap(struct update_reader *u, const struct json_member *m, enum err e)
{
    return e == ERR_OK || e == ERR_NO_MEMORY
               ? e
               : jr_wrap_field(u->text, m->value.off, UPDATE, m->key, &u->r->em);
}

static enum err read_condition(struct update_reader *u, const struct json_member *m)
{
    bool is_seq_no = str_is(m->key, "if_seq_no");
    struct errmsg *em = &u->r->em;
    int64_t v = 0;
    enum err e = jr_long(&m->value, &v, em);
    if (e == ERR_OK && v < 0) {
        e = is_seq_no ? err_set(em, ERR_ILLEGAL_ARGUMENT,
                                "sequence numbers must be non negative. got [%lld].", (long long)v)
                      : err_set(em, ERR_ILLEGAL_ARGUMENT, "primary term must be non negative. got [%lld]",
                                (long long)v);
    }
    *(is_seq_no ? &u->e->item.if_seq_no : &u->e->item.if_primary_term) = v;
    return wrap(u, m, e);
}

static enum err read_flag(struct update_reader *u, const struct json_member *m)
{
    bool v = false;
    enum err e = jr_bool(&m->value, &v, &u->r->em);
    if (e == ERR_OK && str_is(m->key, "doc_as_upsert")) {
        u->e->item.doc_as_upsert = v;
    }
    return wrap(u, m, e);
}

static enum err read_source(struct update_reader *u, const struct json_member *m)
{
    struct source_filter probe = {.enabled = true};
    const struct json *v = &m->value;
    u->e->item.want_get = !(v->type == JSON_BOOL && !v->b);
    u->e->item.get_filter = v;
    return wrap(u, m, source_filter_parse(&probe, v, u->text, u->r->arena, &u->r->em));
}

static enum err read_object(struct update_reader *u, const struct json_member *m)
{
    *(str_is(m->key, "doc") ? &u->parts->doc : &u->parts->upsert) = true;
    return ERR_OK;
}

static enum err read_script(struct update_reader *u, const struct json_member *m)
{
    u->parts->script = true;
    enum err e = script_check(&m->value, u->text, u->r->arena, &u->r->em);
    return e == ERR_ILLEGAL_ARGUMENT /* of the script as a whole: at its end */
               ? jr_wrap_field(u->text, m->value.end - 1, UPDATE, m->key, &u->r->em)
               : wrap(u, m, e);
}

enum {
    T_OBJECT = 1 << JSON_OBJECT,
    T_ARRAY = 1 << JSON_ARRAY,
    T_STRING = 1 << JSON_STRING,
    T_NUMBER = 1 << JSON_NUMBER,
    T_BOOL = 1 << JSON_BOOL
};

static const struct {
    const char *name;
    unsigned types;
    enum err (*read)(struct update_reader *u, const struct json_member *m);
} members[] = {
    {"script", T_OBJECT | T_STRING, read_script},
    {"scripted_upsert", T_BOOL | T_STRING, read_flag},
    {"upsert", T_OBJECT, read_object},
    {"doc", T_OBJECT, read_object},
    {"doc_as_upsert", T_BOOL | T_STRING, read_flag},
    {"detect_noop", T_BOOL | T_STRING, read_flag},
    {"_source", T_OBJECT | T_ARRAY | T_BOOL | T_STRING, read_source},
    {"if_seq_no", T_NUMBER | T_STRING, read_condition},
    {"if_primary_term", T_NUMBER | T_STRING, read_condition},
};

static enum err read_member(struct update_reader *u, const struct json_member *m)
{
    const char *known[ARRAY_LEN(members) + 1];
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        known[i] = members[i].name;
        if (!str_is(m->key, members[i].name)) {
            continue;
        }
        if ((members[i].types & 1U << m->value.type) == 0) {
            return jr_fail_xc(u->text, m->value.off, &u->r->em,
                              "[" UPDATE "] %.*s doesn't support values of type: %s", STR_ARG(m->key),
                              json_token_name(&m->value));
        }
        return members[i].read(u, m);
    }
    known[ARRAY_LEN(members)] = NULL;
    return jr_unknown_field(u->text, m->key_off, UPDATE, m->key, known, &u->r->em);
}

static bool broken_inside(const struct json *v)
{
    if (v->n == 0 || (v->type != JSON_OBJECT && v->type != JSON_ARRAY)) {
        return false;
    }
    const struct json *last = v->type == JSON_OBJECT ? &v->members[v->n - 1].value : &v->items[v->n - 1];
    return json_is_broken(last) || broken_inside(last);
}

/* A mistake of syntax inside a field's value is that field's; what comes behind the body is nobody's. */
static enum err parse(struct update_reader *u, struct json *tree)
{
    size_t behind;
    enum err e = json_parse_until(tree, &behind, u->text, u->r->arena, &json_limits_default, &u->r->em);
    if (behind != SIZE_MAX) {
        u->text = str_slice(u->text, 0, behind);
        return ERR_OK;
    }
    if ((e == ERR_JSON || e == ERR_JSON_EOF) && json_is(tree, JSON_OBJECT) && tree->n > 0) {
        const struct json_member *last = &tree->members[tree->n - 1];
        if (broken_inside(&last->value)) {
            if (str_is(last->key, "script")) {
                err_wrap(&u->r->em, ERR_X_CONTENT, "[script] failed to parse object");
            }
            e = jr_wrap_field(u->text, last->value.off, UPDATE, last->key, &u->r->em);
        }
    }
    return e;
}

enum err update_body_read(struct rest *r, struct write_entry *e, struct str text)
{
    struct json *tree = ARENA_NEW(r->arena, struct json);
    struct update_reader u = {
        .r = r, .text = text, .e = e, .parts = ARENA_NEW(r->arena, struct update_parts)};
    e->update = u.parts;
    if (tree == NULL || u.parts == NULL) {
        return err_no_memory(&r->em);
    }
    enum err err = ERR_OK;
    if (str_trim(text).n > 0) {
        err = parse(&u, tree);
        if (err == ERR_OK && tree->type != JSON_OBJECT) {
            err = jr_fail_xc(u.text, tree->off, &r->em, "[" UPDATE "] Expected START_OBJECT but was: %s",
                             json_token_name(tree));
        }
        for (uint32_t i = 0; err == ERR_OK && i < tree->n; i++) {
            err = read_member(&u, &tree->members[i]);
        }
    }
    e->item.source = u.text;
    return err;
}

/* ---- the request --------------------------------------------------------------------------------------------------------------- */

static enum err params(struct rest *r, struct write_entry *entry)
{
    struct write_item *it = &entry->item;
    if (rest_has(r, "version") || rest_has(r, "version_type")) {
        return err_set(&r->em, ERR_ACTION_VALIDATION,
                       "Validation Failed: 1: internal versioning can not be used for optimistic concurrency "
                       "control. Please use "
                       "`if_seq_no` and `if_primary_term` instead;");
    }
    const struct json *filter = rest_source_filter(r);
    if (filter != NULL) {
        it->get_filter = filter;
        it->want_get = !(filter->type == JSON_BOOL && !filter->b);
    }
    enum err e = rest_bool(r, "doc_as_upsert", false, &it->doc_as_upsert);
    return e == ERR_OK ? rest_int(r, "retry_on_conflict", 0, &it->retry_on_conflict) : e;
}

static void post_update(struct rest *r)
{
    struct write_set *w = document_write_new(r);
    const bool versioned = rest_has(r, "version") || rest_has(r, "version_type");
    (void)rest_type(r, TYPED_UPDATE);
    enum err e = w == NULL ? ERR_NO_MEMORY : versioned ? ERR_OK : document_write_params(r, w);
    if (e == ERR_OK) {
        struct write_entry *entry = &w->v[0];
        entry->item.kind = WRITE_UPDATE;
        entry->action = "update";
        w->refresh = w->refresh == REFRESH_NOW ? REFRESH_CHANGED : w->refresh;
        e = params(r, entry);
        struct str text = r->body;
        r->body_read = true;
        if (text.n == 0 && rest_given(r, "source")) {
            struct str source = rest_param(r, "source");
            rest_accept(r, "source_content_type");
            text = source.n > 0 ? source : text;
        }
        e = e == ERR_OK ? update_body_read(r, entry, text) : e;
        entry->item.reroutes = rest_has(r, "routing") && entry->update != NULL && entry->update->doc;
    }
    document_write_run(r, w, e);
}

const struct route routes_update[] = {
    {M_POST, "/{index}/_update/{id}", post_update},
    {M_POST, "/{index}/{type}/{id}/_update", post_update},
};
const size_t routes_update_n = ARRAY_LEN(routes_update);
