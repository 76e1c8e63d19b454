/* Objects read by rows of fields (jsonr_object.h). */
#include "common/base/jsonr_object.h"

#include "common/base/arena.h"
#include "common/base/buf.h"

#include <string.h>

/* The last token of a value. */
static size_t end_of(const struct json *v)
{
    return v->type == JSON_OBJECT || v->type == JSON_ARRAY ? v->end - 1 : v->off;
}

static enum err built(struct jr_reader *rd, const struct jr_object *o, void *to)
{
    return o->build == NULL || o->build(rd, to) == ERR_OK
               ? ERR_OK
               : err_wrap(rd->em, ERR_X_CONTENT, "Failed to build [%s] after last required field arrived",
                          o->parser);
}

static enum err unknown_field(struct jr_reader *rd, const struct jr_object *o, const struct json_member *m)
{
    const char *known[16] = {0};
    for (size_t i = 0; i < o->n && i + 1 < ARRAY_LEN(known); i++) {
        known[i] = o->fields[i].name;
    }
    return jr_unknown_field(rd->text, m->key_off, o->parser, m->key, known, rd->em);
}

static enum err member_missing(struct jr_reader *rd, const struct jr_object *o, unsigned seen)
{
    struct buf names;
    enum err e = ERR_OK;
    buf_init(&names, NULL, KIB);
    for (size_t i = 0; i < o->n; i++) {
        if (o->fields[i].is == JR_REQUIRED && (seen >> i & 1) == 0) {
            buf_printf(&names, "%s%s", names.n > 0 ? ", " : "", o->fields[i].name);
        }
    }
    if (names.n > 0) {
        e = err_set(rd->em, ERR_ILLEGAL_ARGUMENT, "Required [%.*s]", STR_ARG(buf_view(&names)));
    }
    buf_fini(&names);
    return e;
}

static enum err read_field(struct jr_reader *rd, const struct jr_object *o, const struct jr_field *f,
                           void *to, const struct json *v)
{
    void *at = (char *)to + f->offset;
    switch (f->store) {
    case JR_TO_INT:
        return jr_int(v, at, rd->em);
    case JR_TO_BOOL:
        return jr_bool(v, at, rd->em);
    case JR_TO_STR:
        *(struct str *)at = v->s;
        return ERR_OK;
    case JR_TO_VALUE:
        *(const struct json **)at = v;
        return ERR_OK;
    case JR_TO_READER:
        break;
    }
    return o->read(rd, to, f->name, v);
}

enum err jr_read_object(struct jr_reader *rd, const struct jr_object *o, void *to, const struct json *v)
{
    unsigned seen = 0, arguments = 0;
    for (size_t i = 0; i < o->n; i++) {
        arguments |= o->fields[i].is != JR_SETTER ? 1U << i : 0;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        const bool complete = (seen & arguments) == arguments;
        size_t at = 0;
        while (at < o->n && !str_is(m->key, o->fields[at].name)) {
            at++;
        }
        if (at == o->n) {
            return unknown_field(rd, o, m);
        }
        enum err e = jr_expect(rd->text, o->parser, m, o->fields[at].kinds, rd->em);
        if (e != ERR_OK) {
            return e;
        }
        rd->at = end_of(&m->value);
        e = read_field(rd, o, &o->fields[at], to, &m->value);
        seen |= 1U << at;
        if (e == ERR_OK && !complete && (seen & arguments) == arguments) {
            rd->at = end_of(&m->value);
            e = built(rd, o, to);
        }
        if (e != ERR_OK) {
            return jr_wrap_field(rd->text, rd->at, o->parser, m->key, rd->em);
        }
    }
    rd->at = v->end - 1;
    enum err e = member_missing(rd, o, seen);
    return e != ERR_OK || (seen & arguments) == arguments ? e : built(rd, o, to);
}

enum err jr_read_objects(struct jr_reader *rd, const struct jr_object *o, const struct json *v, size_t size,
                         void **out, uint32_t *n)
{
    *n = v->type == JSON_ARRAY ? v->n : 1;
    char *items = arena_alloc(rd->arena, MAX_OF(*n, 1U) * size);
    *out = items;
    if (items == NULL) {
        return err_no_memory(rd->em);
    }
    memset(items, 0, MAX_OF(*n, 1U) * size);
    for (uint32_t i = 0; i < *n; i++) {
        const struct json *object;
        enum err e =
            jr_object(rd->text, o->parser, v->type == JSON_ARRAY ? &v->items[i] : v, &object, rd->em);
        if (e == ERR_OK && object != NULL) {
            e = jr_read_object(rd, o, items + i * size, object);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err jr_object_at(struct jr_reader *rd, const struct jr_object *o, void *to, const struct json *v)
{
    return v->type == JSON_OBJECT
               ? jr_read_object(rd, o, to, v)
               : jr_fail_xc(rd->text, v->off, rd->em, "[%s] Expected START_OBJECT but was: %s", o->parser,
                            json_token_name(v));
}

static const char wrong_token[] = "Failed to parse object: expecting token of type [%s] but found [%s]";

enum err jr_named_object(struct jr_reader *rd, const char *const *names, const struct json *v, size_t *at)
{
    char hint[JR_HINT_MAX];
    uint32_t line, col;
    *at = 0;
    if (v->n == 0) {
        return jr_fail(rd->text, v->end - 1, rd->em, wrong_token, "FIELD_NAME", "END_OBJECT");
    }
    const struct json_member *m = &v->members[0];
    while (names[*at] != NULL && !str_is(m->key, names[*at])) {
        (*at)++;
    }
    if (names[*at] != NULL) {
        return ERR_OK;
    }
    jr_did_you_mean(m->key, names, hint, sizeof(hint));
    rd->at = m->key_off;
    json_place(rd->text, m->key_off, &line, &col);
    return err_set(rd->em, ERR_NAMED_OBJECT, "[%u:%u] unknown field [%.*s]%s", line, col, STR_ARG(m->key),
                   hint);
}

enum err jr_named_end(struct jr_reader *rd, const struct json *v)
{
    return v->n == 1
               ? ERR_OK
               : jr_fail(rd->text, v->members[1].key_off, rd->em, wrong_token, "END_OBJECT", "FIELD_NAME");
}
