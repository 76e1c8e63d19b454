#include "engine/query/script_use.h"

#include "common/base/bits.h"
#include "common/base/hash.h"
#include "common/base/inet.h"
#include "common/base/java_hash.h"
#include "common/base/json.h"
#include "common/base/num.h"
#include "engine/mapping/vector.h"

#include <stdio.h>

static void release_script(void *p)
{
    script_unref(p);
}

enum err script_of_form(const struct query_context *cx, const struct json *form, enum script_context context,
                        struct script **out, struct errmsg *em)
{
    *out = NULL;
    struct script *s;
    enum err e = script_compile_form(&s, form, context, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!arena_defer(cx->arena, release_script, s)) {
        return err_no_memory(em);
    }
    *out = s;
    return script_link(s, json_get(form, "params"), em);
}

/* ---- a script's view of one document ---- */

struct doc_field { /* a field that the script asked for */
    struct str name;
    const struct field *field;
    struct num_column nums;
    struct ord_column ords;
    const struct seg_field *seg; /* of vectors; NULL: none there */
    bool is_ords;
    int64_t *i;
    double *d;
    struct str *s;
    struct geo_point *geo;
    uint32_t cap;
};

struct script_docs {
    struct script_docs_opts o;
    struct script_run *run;
    struct script_env env;
    struct doc_field *fields;
    size_t n, cap;
    doc_id doc;
    float score;
    struct buf term;
    struct arena values; /* texts of the current document */
    struct stored_reader stored;
    bool reading;
    struct json source;
};

static void release_docs(void *p)
{
    struct script_docs *s = p;
    script_run_free(s->run);
    buf_fini(&s->term);
    arena_fini(&s->values);
    if (s->reading) {
        stored_reader_fini(&s->stored);
    }
}

static bool room(struct script_docs *s, struct doc_field *f, uint32_t n)
{
    if (n <= f->cap) {
        return true;
    }
    uint32_t cap = MAX_OF(8U, n * 2);
    f->i = ARENA_ARRAY(s->o.arena, int64_t, cap);
    f->d = ARENA_ARRAY(s->o.arena, double, cap);
    f->s = ARENA_ARRAY(s->o.arena, struct str, cap);
    f->geo = ARENA_ARRAY(s->o.arena, struct geo_point, cap);
    f->cap = f->i != NULL && f->d != NULL && f->s != NULL && f->geo != NULL ? cap : 0;
    return f->cap > 0;
}

bool script_has_field(const struct mapping *mapping, struct str name)
{
    struct str key;
    const struct field *f = mapping_field(mapping, name);
    return f != NULL ? !f->class->is_object && !f->class->is_internal
                     : mapping_keyed(mapping, name, &key) != NULL;
}

enum err script_field(const struct mapping *mapping, struct str name, struct arena *arena,
                      const struct field **out, struct errmsg *em)
{
    const struct field *f = mapping_field_in(mapping, name, arena);
    if (f == NULL || !script_has_field(mapping, name)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No field found for [%.*s] in mapping", STR_ARG(name));
    }
    if (f->class->needs_fielddata && !f->fielddata) {
        return field_without_values(f->path, em);
    }
    if (f->class->kind == VALUE_NONE && !f->class->is_vector) {
        return field_refuses_values(f, em);
    }
    if (f->class->is_binary && f->doc_values) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "doc values of [%.*s] of type [binary] are not supported in scripts",
                       STR_ARG(f->path));
    }
    if (!field_has_column(f) && f->path.p[0] != '_') {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Can't load fielddata on [%.*s] because fielddata is unsupported on fields of type "
                       "[%s]. Use doc values instead.",
                       STR_ARG(f->path), f->class->name);
    }
    *out = f;
    return ERR_OK;
}

static enum err find_field(struct script_docs *s, struct str name, struct doc_field **out, struct errmsg *em)
{
    for (size_t i = 0; i < s->n; i++) {
        if (str_eq(s->fields[i].name, name)) {
            *out = &s->fields[i];
            return ERR_OK;
        }
    }
    const struct field *f;
    enum err e = script_field(s->o.mapping, name, s->o.arena, &f, em);
    if (e != ERR_OK) {
        return e;
    }
    struct doc_field *v = arena_grow(s->o.arena, s->fields, s->n, &s->cap, sizeof(*v));
    struct str copy = arena_str(s->o.arena, name);
    if (v == NULL || copy.p == NULL) {
        return err_no_memory(em);
    }
    s->fields = v;
    *out = &s->fields[s->n++];
    **out = (struct doc_field){.name = copy, .field = f};
    const struct seg_field *seg = segment_field_of(s->o.leaf->segment, f, s->o.arena);
    (*out)->seg = seg;
    if (seg != NULL && (seg->has & SEG_NUMS)) {
        num_column_init(&(*out)->nums, seg);
    } else if (seg != NULL && (seg->has & SEG_ORDS)) {
        ord_column_init(&(*out)->ords, seg);
        (*out)->is_ords = true;
    } else {
        num_column_init(&(*out)->nums, NULL);
    }
    return ERR_OK;
}

enum err script_name_value(const struct field *f, struct str index_name, const struct leaf *leaf, doc_id doc,
                           struct stored_reader *stored, struct arena *arena, struct script_doc *out,
                           struct errmsg *em)
{
    struct str *name = ARENA_NEW(arena, struct str);
    struct stored_doc d;
    if (name == NULL) {
        return err_no_memory(em);
    }
    *name = f->class->constant != NULL ? f->class->constant(f, index_name) : STR_NULL;
    if (field_is_id(f)) {
        size_t root = leaf->roots == NULL ? doc : bits_next(leaf->roots, doc, leaf->doc_count);
        enum err e = stored_read(stored, (doc_id)root, STORED_ID, arena, &d, em);
        if (e != ERR_OK) {
            return e;
        }
        *name = d.id;
    }
    *out = (struct script_doc){.type = SCRIPT_DOC_KEYWORD, .n = 1, .s = name};
    return ERR_OK;
}

enum err script_vector_value(const struct field *f, const struct seg_field *seg, doc_id doc,
                             struct arena *arena, struct script_doc *out, struct errmsg *em)
{
    struct str bytes;
    uint32_t dims = (uint32_t)f->dims;
    *out = (struct script_doc){.type = SCRIPT_DOC_VECTOR, .vector = {.dims = dims}};
    if (seg == NULL || !(seg->has & SEG_BYTES) || !seg_bytes_value(seg, doc, 0, &bytes)) {
        return ERR_OK;
    }
    float *v = ARENA_ARRAY(arena, float, dims);
    if (v == NULL) {
        return err_no_memory(em);
    }
    if (!vector_read(bytes, dims, v, &out->vector.magnitude)) {
        return err_set(em, ERR_CORRUPT, "a vector of [%.*s] cannot be read", STR_ARG(f->path));
    }
    out->n = 1;
    out->vector.v = v;
    return ERR_OK;
}

/* The reader of the segment's stored documents. */
static struct stored_reader *stored_of(struct script_docs *s)
{
    if (!s->reading) {
        stored_reader_init(&s->stored, s->o.leaf->segment);
        s->reading = true;
    }
    return &s->stored;
}

static enum err load_terms(struct script_docs *s, struct doc_field *f, struct script_doc *out,
                           struct errmsg *em)
{
    uint64_t first;
    bool ip = f->field->class->kind == VALUE_ADDRESS;
    out->type = ip ? SCRIPT_DOC_IP : SCRIPT_DOC_KEYWORD;
    out->n = f->is_ords ? ord_column_seek(&f->ords, s->doc, &first) : 0;
    if (!room(s, f, out->n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < out->n; i++) {
        if (!seg_term_by_ord(f->ords.field, ord_column_value(&f->ords, first + i), &s->term)) {
            return err_set(em, ERR_CORRUPT, "a term of [%.*s] cannot be read", STR_ARG(f->name));
        }
        if (ip && s->term.n == INET_BYTES) {
            uint8_t address[INET_BYTES];
            memcpy(address, s->term.p, INET_BYTES);
            buf_reset(&s->term);
            inet_print(address, &s->term);
        }
        f->s[i] = arena_str(&s->values, buf_view(&s->term));
        if (f->s[i].p == NULL) {
            return err_no_memory(em);
        }
    }
    out->s = f->s;
    return ERR_OK;
}

static enum err load_numbers(struct script_docs *s, struct doc_field *f, struct script_doc *out,
                             struct errmsg *em)
{
    uint64_t first;
    const struct field_class *c = f->field->class;
    out->n = num_column_seek(&f->nums, s->doc, &first);
    if (!room(s, f, out->n)) {
        return err_no_memory(em);
    }
    bool fraction = field_is_fraction(f->field), point = field_is_point(f->field);
    for (uint32_t i = 0; i < out->n; i++) {
        int64_t v = num_column_value(&f->nums, first + i);
        if (point) {
            f->geo[i] = geo_unpack(v);
        } else if (fraction) {
            f->d[i] = field_num_to_double(f->field, v);
        } else {
            f->i[i] = v;
        }
    }
    if (point) {
        out->type = SCRIPT_DOC_GEO;
        out->geo = f->geo;
    } else if (fraction) {
        out->type = SCRIPT_DOC_DOUBLE;
        out->d = f->d;
    } else {
        out->type = c->kind == VALUE_BOOLEAN ? SCRIPT_DOC_BOOLEAN
                    : c->kind != VALUE_DATE  ? SCRIPT_DOC_LONG
                    : c->is_nanos            ? SCRIPT_DOC_DATE_NANOS
                                             : SCRIPT_DOC_DATE;
        out->i = f->i;
    }
    return ERR_OK;
}

static enum err doc_values(void *self, struct str name, struct script_doc *out, struct errmsg *em)
{
    struct script_docs *s = self;
    struct doc_field *f = NULL;
    enum err e = find_field(s, name, &f, em);
    if (e != ERR_OK) {
        return e;
    }
    if (script_field_is_name(f->field)) {
        return script_name_value(f->field, s->o.index_name, s->o.leaf, s->doc, stored_of(s), &s->values, out,
                                 em);
    }
    if (f->field->class->is_vector) {
        return script_vector_value(f->field, f->seg, s->doc, &s->values, out, em);
    }
    enum value_kind kind = f->field->class->kind;
    bool terms = f->is_ords || kind == VALUE_TEXT || kind == VALUE_ADDRESS;
    return terms ? load_terms(s, f, out, em) : load_numbers(s, f, out, em);
}

static bool has_field(void *self, struct str name)
{
    return script_has_field(((struct script_docs *)self)->o.mapping, name);
}

static double score_of(void *self)
{
    return (double)((struct script_docs *)self)->score;
}

static const struct json *source_of(void *self)
{
    static const struct json nothing = {.type = JSON_OBJECT};
    struct script_docs *s = self;
    struct stored_doc d;
    /* a nested document has none of its own */
    if (s->o.leaf->roots != NULL && !bits_test(s->o.leaf->roots, s->doc)) {
        return &nothing;
    }
    if (stored_read(stored_of(s), s->doc, STORED_SOURCE, &s->values, &d, NULL) != ERR_OK || d.source.p == NULL
        || json_parse(&s->source, d.source, &s->values, &json_limits_default, NULL) != ERR_OK) {
        return NULL;
    }
    return &s->source;
}

int32_t random_salt(const struct query_context *cx)
{
    return (int32_t)((uint32_t)java_string_hash(cx->index_name) << 10 | (uint32_t)cx->shard);
}

double random_number(uint32_t hash)
{
    return (double)((float)(hash & 0x00FFFFFF) / (float)(1 << 24));
}

static double random_of(void *self, int32_t seed, struct str text)
{
    struct script_docs *s = self;
    uint32_t salted = hash_mix32((uint32_t)seed ^ (uint32_t)s->o.random_salt);
    char number[16];
    if (text.p == NULL) {
        snprintf(number, sizeof(number), "%u", s->o.leaf->base + s->doc);
        text = str_of(number);
    }
    return random_number(hash_murmur3_32(text.p, text.n, salted));
}

enum err script_docs_new(struct script_docs **out, const struct script_docs_opts *o, struct errmsg *em)
{
    struct script_docs *s = *out = ARENA_NEW(o->arena, struct script_docs);
    if (s == NULL) {
        return err_no_memory(em);
    }
    s->o = *o;
    buf_init(&s->term, NULL, BUF_UNLIMITED);
    arena_init(&s->values, NULL, 64 * MIB);
    s->env = (struct script_env){.self = s,
                                 .doc_values = doc_values,
                                 .score = score_of,
                                 .source = source_of,
                                 .random = random_of,
                                 .has_field = has_field,
                                 .now_ms = o->now_ms};
    enum err e = script_run_new(&s->run, o->script, o->params, NULL, em);
    if (!arena_defer(o->arena, release_docs, s)) {
        return err_no_memory(em);
    }
    return e;
}

static void at_doc(struct script_docs *s, doc_id doc, float score)
{
    arena_reset(&s->values);
    s->doc = doc;
    s->score = score;
}

enum err script_docs_number(struct script_docs *s, doc_id doc, float score, double *out, bool *is_null,
                            struct errmsg *em)
{
    at_doc(s, doc, score);
    return script_number(s->run, &s->env, out, is_null, em);
}

enum err script_docs_bool(struct script_docs *s, doc_id doc, bool *out, struct errmsg *em)
{
    at_doc(s, doc, 0);
    return script_bool(s->run, &s->env, out, em);
}

enum err script_docs_text(struct script_docs *s, doc_id doc, float score, struct str *out, struct errmsg *em)
{
    at_doc(s, doc, score);
    return script_text(s->run, &s->env, out, em);
}

enum err script_docs_value(struct script_docs *s, doc_id doc, struct arena *arena, struct json *out,
                           struct errmsg *em)
{
    at_doc(s, doc, 0);
    return script_value(s->run, &s->env, arena, out, em);
}

const struct json *script_form_params(const struct json *form)
{
    const struct json *p = json_get(form, "params");
    return json_is(p, JSON_OBJECT) ? p : NULL;
}
