/* Scripts of aggregations: one bound to a segment's columns, run document by document. */
#include "engine/aggs/values.h"

#include "common/base/inet.h"
#include "engine/query/script_use.h"

#define FIELDS_MAX 32 /* different fields that one script may read */

struct script_column {
    struct str name;
    const struct field *field;
    bool open; /* on the current segment */
    const struct seg_field *seg;
    struct num_column nums;
    struct ord_column ords;
};

struct agg_script {
    struct agg_run *run;
    struct script *script;
    struct script_run *exec;
    struct script_states *states; /* of a scripted_metric */
    struct script_env env;
    struct script_column columns[FIELDS_MAX];
    uint32_t n_columns;
    doc_id doc;
    float score;
    struct stored_reader stored; /* of the current segment */
    bool reading;
    struct arena scratch; /* of one execution */
    struct arena *into;   /* what the values of a document are in: `scratch`, or the caller's */
    struct agg_script *next;
};

static bool has_field(void *self, struct str name)
{
    return script_has_field(((struct agg_script *)self)->run->cx->query.mapping, name);
}

static double current_score(void *self)
{
    return (double)((struct agg_script *)self)->score;
}

static enum err find_column(struct agg_script *s, struct str name, struct script_column **out,
                            struct errmsg *em)
{
    for (uint32_t i = 0; i < s->n_columns; i++) {
        if (str_eq(s->columns[i].name, name)) {
            *out = &s->columns[i];
            return ERR_OK;
        }
    }
    const struct field *f;
    enum err e = script_field(s->run->cx->query.mapping, name, s->run->arena, &f, em);
    if (e != ERR_OK) {
        return e;
    }
    if (s->n_columns == FIELDS_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a script may read at most %d fields", FIELDS_MAX);
    }
    struct script_column *c = &s->columns[s->n_columns];
    *c = (struct script_column){.name = arena_str(s->run->arena, name), .field = f};
    if (c->name.p == NULL) {
        return err_no_memory(em);
    }
    s->n_columns++;
    *out = c;
    return ERR_OK;
}

static void open_column(struct agg_script *s, struct script_column *c)
{
    c->open = true;
    c->seg = segment_field_of(s->run->leaf->segment, c->field, s->run->arena);
    num_column_init(&c->nums, c->seg != NULL && (c->seg->has & SEG_NUMS) != 0 ? c->seg : NULL);
    ord_column_init(&c->ords, c->seg != NULL && (c->seg->has & SEG_ORDS) != 0 ? c->seg : NULL);
}

static enum err text_values(struct agg_script *s, struct script_column *c, struct script_doc *out,
                            struct errmsg *em)
{
    uint64_t first;
    uint32_t n = ord_column_seek(&c->ords, s->doc, &first);
    struct str *v = ARENA_ARRAY(s->into, struct str, n);
    struct buf term, shown;
    if (v == NULL) {
        return err_no_memory(em);
    }
    buf_init(&term, NULL, BUF_UNLIMITED);
    buf_init(&shown, NULL, KIB);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = seg_term_by_ord(c->seg, ord_column_value(&c->ords, first + i), &term);
        struct str text = buf_view(&term);
        if (ok && c->field->class->kind == VALUE_ADDRESS && text.n == INET_BYTES) {
            buf_reset(&shown);
            inet_print((const uint8_t *)text.p, &shown);
            text = buf_view(&shown);
        }
        v[i] = ok ? arena_str(s->into, text) : STR_NULL;
        ok = v[i].p != NULL;
    }
    buf_fini(&term);
    buf_fini(&shown);
    *out = (struct script_doc){
        .type = c->field->class->kind == VALUE_ADDRESS ? SCRIPT_DOC_IP : SCRIPT_DOC_KEYWORD, .n = n, .s = v};
    return ok ? ERR_OK : err_no_memory(em);
}

static enum script_doc_type doc_type(const struct field *f)
{
    switch (f->class->kind) {
    case VALUE_BOOLEAN:
        return SCRIPT_DOC_BOOLEAN;
    case VALUE_DATE:
        return f->class->is_nanos ? SCRIPT_DOC_DATE_NANOS : SCRIPT_DOC_DATE;
    case VALUE_POINT:
        return SCRIPT_DOC_GEO;
    case VALUE_NUMBER:
        return field_is_fraction(f) ? SCRIPT_DOC_DOUBLE : SCRIPT_DOC_LONG;
    case VALUE_NONE:
    case VALUE_TEXT:
    case VALUE_ADDRESS:
    case VALUE_RANGE:
        break;
    }
    return SCRIPT_DOC_LONG;
}

static enum err doc_values(void *self, struct str name, struct script_doc *out, struct errmsg *em)
{
    struct agg_script *s = self;
    struct script_column *c = NULL;
    enum err e = find_column(s, name, &c, em);
    if (e != ERR_OK) {
        return e;
    }
    if (script_field_is_name(c->field)) {
        if (!s->reading) {
            stored_reader_init(&s->stored, s->run->leaf->segment);
            s->reading = true;
        }
        return script_name_value(c->field, s->run->cx->shard->index_name, s->run->leaf, s->doc, &s->stored,
                                 s->into, out, em);
    }
    if (!c->open) {
        open_column(s, c);
    }
    if (c->field->class->is_vector) {
        return script_vector_value(c->field, c->seg, s->doc, s->into, out, em);
    }
    bool text = c->field->class->kind == VALUE_TEXT || c->field->class->kind == VALUE_ADDRESS;
    if (text) {
        return text_values(s, c, out, em);
    }
    uint64_t first;
    uint32_t n = num_column_seek(&c->nums, s->doc, &first);
    enum script_doc_type type = doc_type(c->field);
    int64_t *longs = ARENA_ARRAY(s->into, int64_t, n);
    double *doubles = type == SCRIPT_DOC_DOUBLE ? ARENA_ARRAY(s->into, double, n) : NULL;
    struct geo_point *points = type == SCRIPT_DOC_GEO ? ARENA_ARRAY(s->into, struct geo_point, n) : NULL;
    if (longs == NULL || (type == SCRIPT_DOC_DOUBLE && doubles == NULL)
        || (type == SCRIPT_DOC_GEO && points == NULL)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        longs[i] = num_column_value(&c->nums, first + i);
        if (doubles != NULL) {
            doubles[i] = field_num_to_double(c->field, longs[i]);
        } else if (points != NULL) {
            points[i] = geo_unpack(longs[i]);
        }
    }
    *out = (struct script_doc){.type = type, .n = n, .i = longs};
    if (doubles != NULL) {
        out->d = doubles;
    } else if (points != NULL) {
        out->geo = points;
    }
    return ERR_OK;
}

enum err agg_script_env(struct agg_script **out, struct agg_run *r, struct errmsg *em)
{
    struct agg_script *s = ARENA_NEW(r->arena, struct agg_script);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = s;
    s->run = r;
    s->into = &s->scratch;
    s->env = (struct script_env){.self = s,
                                 .doc_values = doc_values,
                                 .has_field = has_field,
                                 .score = current_score,
                                 .now_ms = r->cx->query.now_ms};
    arena_init(&s->scratch, r->arena->alloc, r->arena->bytes_max);
    s->next = r->scripts;
    r->scripts = s; /* from here on, agg_scripts_free() frees it */
    return ERR_OK;
}

enum err agg_script_new(struct agg_script **out, struct agg_run *r, const struct json *form,
                        struct errmsg *em)
{
    enum err e = agg_script_env(out, r, em);
    e = e == ERR_OK ? script_compile_form(&(*out)->script, form, SCRIPT_AGG, em) : e;
    return e == ERR_OK ? script_run_new(&(*out)->exec, (*out)->script, json_get(form, "params"), NULL, em)
                       : e;
}

const struct script_env *agg_script_at(struct agg_script *s, doc_id doc, float score)
{
    s->doc = doc;
    s->score = score;
    return &s->env;
}

void agg_script_states(struct agg_script *s, struct script_states *states)
{
    s->states = states;
    s->into = script_states_arena(states);
}

static void close_stored(struct agg_script *s)
{
    if (s->reading) {
        stored_reader_fini(&s->stored);
        s->reading = false;
    }
}

void agg_scripts_free(struct agg_run *r)
{
    for (struct agg_script *s = r->scripts; s != NULL; s = s->next) {
        close_stored(s);
        script_run_free(s->exec);
        script_states_free(s->states);
        script_unref(s->script);
        arena_fini(&s->scratch);
    }
    r->scripts = NULL;
}

enum err agg_script_leaf(struct agg_script *s, UNUSED struct errmsg *em)
{
    close_stored(s);
    for (uint32_t i = 0; i < s->n_columns; i++) {
        s->columns[i].open = false;
    }
    return ERR_OK;
}

enum err agg_script_value(struct agg_script *s, doc_id doc, float score, const struct script_given *given,
                          bool numbers, struct json *out, struct errmsg *em)
{
    arena_reset(&s->scratch);
    s->doc = doc;
    s->score = score;
    s->env.has_value = given->has;
    s->env.value_whole = given->whole;
    s->env.value_i = given->i;
    s->env.value_d = given->d;
    s->env.value_s = given->s;
    return script_values(s->exec, &s->env, numbers, &s->scratch, out, em);
}
