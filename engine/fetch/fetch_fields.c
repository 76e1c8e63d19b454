/* "fields" of a hit: stored fields, doc values, and what fetch_source_fields.c and script_fields.c add. */
#include "engine/collect/value_format.h"
#include "engine/fetch/fetch.h"
#include "engine/fetch/script_fields.h"

#include "engine/index/engine.h"

/* ---- doc values: which ----------------------------------------------------------------------------------------------------------- */

struct shown_column {
    struct str name; /* as asked for: may be an alias's */
    struct value_format format;
};

static enum err check_doc_value(const struct field *f, struct errmsg *em)
{
    if (f->class->needs_fielddata && !f->fielddata) {
        return field_without_values(f->path, em);
    }
    if (f->class->kind == VALUE_NONE) {
        return field_refuses_values(f, em);
    }
    return field_has_column(f) || f->class->constant != NULL
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "Can't load fielddata on [%.*s] because fielddata is unsupported on fields of type "
                         "[%s]. Use doc values instead.",
                         STR_ARG(f->path), f->class->name);
}

static enum err add_column(struct fetch *f, size_t *cap, const struct field *shown, struct str name,
                           struct str format)
{
    const struct field *field = shown->class->is_alias ? shown->alias_of : shown;
    struct shown_column c = {.name = name};
    enum err e = check_doc_value(field, f->em);
    e = e == ERR_OK ? value_format_new(&c.format, field, format, f->arena, f->em) : e;
    if (e != ERR_OK) {
        return e;
    }
    f->columns = arena_grow(f->arena, f->columns, f->n_columns, cap, sizeof(*f->columns));
    if (f->columns == NULL) {
        return err_no_memory(f->em);
    }
    f->columns[f->n_columns++] = c;
    return ERR_OK;
}

/* Patterns take metadata fields, too; the nested path is none that is known to the outside. */
static enum err add_columns(struct fetch *f, size_t *cap, const struct field_and_format *spec)
{
    const struct mapping *m = f->shard->view->mapping;
    const struct field **fields;
    size_t n;
    enum err e = ERR_OK;
    if (!mapping_match(m, spec->field, f->arena, &fields, &n)) {
        return err_no_memory(f->em);
    }
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        struct str name = fields[i]->key_prefix.n > 0 ? spec->field : fields[i]->path;
        e = !fields[i]->class->is_internal ? add_column(f, cap, fields[i], name, spec->format) : ERR_OK;
    }
    bool pattern = str_find(spec->field, '*', 0) != SIZE_MAX;
    for (uint32_t i = 0; e == ERR_OK && pattern && i < mapping_field_count(m); i++) {
        const struct field *meta = mapping_field_at(m, i);
        if (meta->class->is_metadata && !meta->class->is_internal && str_glob(spec->field, meta->path)) {
            e = add_column(f, cap, meta, meta->path, spec->format);
        }
    }
    return e;
}

static bool asked_for(const struct search_source *s, struct str field)
{
    for (uint32_t i = 0; i < s->n_docvalue_fields; i++) {
        if (str_eq(s->docvalue_fields[i].field, field)) {
            return true;
        }
    }
    return false;
}

/* Objects are not stored as such. */
static enum err check_leaves(const struct mapping *m, const struct str *names, uint32_t n, struct errmsg *em)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct field *field = mapping_field(m, names[i]);
        if (field != NULL && field->class->is_object) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] isn't a leaf field", STR_ARG(names[i]));
        }
    }
    return ERR_OK;
}

enum err fetch_fields_check(struct fetch *f)
{
    const struct search_source *s = f->source;
    const struct mapping *m = f->shard->view->mapping;
    size_t cap = 0;
    enum err e = check_leaves(m, s->stored_fields, s->n_stored_fields, f->em);
    for (uint32_t i = 0; e == ERR_OK && i < s->n_docvalue_fields; i++) {
        e = add_columns(f, &cap, &s->docvalue_fields[i]);
    }
    if (e == ERR_OK && s->collapse.field.p != NULL && !f->query_given && !asked_for(s, s->collapse.field)) {
        struct field_and_format group = {.field =
                                             s->collapse.field}; /* a group shows the value that made it */
        e = add_columns(f, &cap, &group);
    }
    return e == ERR_OK ? fetch_source_fields_prepare(f) : e;
}

/* ---- doc values of a hit --------------------------------------------------------------------------------------------------------- */

static enum err write_column(struct fetch *f, struct fetch_hit *h, const struct shown_column *c,
                             struct jsonw *w)
{
    const struct field *field = c->format.field;
    struct stored_doc stored;
    struct str from, to;
    enum err e = ERR_OK;
    if (field->class->constant != NULL) {
        struct str value = field->class->constant(field, f->shard->index_name);
        if (value.p != NULL) {
            jw_str(w, value);
        }
        return ERR_OK;
    }
    if (field_is_id(field)) {
        e = h->root == NULL ? stored_read(&f->stored, h->doc, STORED_ID, h->arena, &stored, f->em) : ERR_OK;
        if (e == ERR_OK && h->root == NULL) {
            jw_str(w, stored.id);
        }
        return e;
    }
    const struct seg_field *seg = segment_field_of(h->leaf->segment, field, h->arena);
    if (seg != NULL && (seg->has & SEG_RANGES) != 0 && seg_range_value(seg, h->doc, 0, &from, &to)) {
        /* Elasticsearch has no form for them: it fails, or shows the bytes as if they were text. */
        return err_set(f->em,
                       field->class->ends->kind == VALUE_DATE      ? ERR_UNSUPPORTED
                       : field->class->ends->kind == VALUE_ADDRESS ? ERR_ARRAY_BOUNDS
                                                                   : ERR_ILLEGAL_ARGUMENT,
                       "ranges have no printed doc values");
    }
    doc_values_write(&c->format, seg, h->doc, w);
    return ERR_OK;
}

static bool shown_before(const struct fetch *f, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        if (str_eq(f->columns[i].name, f->columns[at].name)) {
            return true;
        }
    }
    return false;
}

/* Fields named twice have their values twice, as each form wants them. */
static enum err write_columns(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < f->n_columns; i++) {
        struct buf b;
        struct jsonw values;
        if (shown_before(f, i)) {
            continue;
        }
        buf_init(&b, NULL, BUF_UNLIMITED);
        jsonw_init(&values, &b, false);
        jw_arr(&values);
        for (uint32_t k = i; e == ERR_OK && k < f->n_columns; k++) {
            e = str_eq(f->columns[k].name, f->columns[i].name) ? write_column(f, h, &f->columns[k], &values)
                                                               : ERR_OK;
        }
        jw_arr_end(&values);
        if (e == ERR_OK && b.n > 2) {
            jw_key(w, f->columns[i].name);
            jw_raw(w, buf_view(&b));
        }
        e = e == ERR_OK && b.failed ? err_no_memory(f->em) : e;
        buf_fini(&b);
    }
    return e;
}

/* ---- stored fields ---------------------------------------------------------------------------------------------------------------- */

static bool field_requested(const struct str *patterns, uint32_t n, struct str name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_glob(patterns[i], name)) {
            return true;
        }
    }
    return false;
}

static void write_stored_value(const struct mapping *m, const struct stored_value *v, struct jsonw *w)
{
    const struct field *field = mapping_field(m, v->name);
    if (field == NULL) {
        jw_str(w, v->bytes);
        return;
    }
    struct value_format vf = {.field = field, .date = field->format};
    if (v->is_num) {
        value_write_num(&vf, v->num, w);
    } else if (field->class->is_binary) {
        value_write_binary(v->bytes, true, w);
    } else if (field->class->kind == VALUE_BOOLEAN) {
        jw_bool(w, str_is(v->bytes, "T"));
    } else if (field->class->num == NUM_HALF_FLOAT) { /* as it came, not as it is indexed */
        jw_raw(w, v->bytes);
    } else if (field_is_point(field)) {
        jw_str(w, v->bytes);
    } else {
        value_write_term(&vf, v->bytes, w);
    }
}

/* All stored values of d's field, which `name` is shown for. */
static void write_stored_field(const struct mapping *m, const struct stored_doc *d, struct str field,
                               struct str name, struct jsonw *w)
{
    jw_key(w, name);
    jw_arr(w);
    for (size_t i = 0; i < d->n_values; i++) {
        if (str_eq(d->values[i].name, field)) {
            write_stored_value(m, &d->values[i], w);
        }
    }
    jw_arr_end(w);
}

/* Fields that the patterns name by themselves or by an alias. */
static void write_stored(const struct mapping *m, const struct stored_doc *d, const struct str *patterns,
                         uint32_t n, struct jsonw *w)
{
    for (size_t i = 0; i < d->n_values; i++) {
        struct str field = d->values[i].name;
        bool first = true;
        for (size_t k = 0; k < i; k++) {
            first = first && !str_eq(d->values[k].name, field);
        }
        if (!first) {
            continue;
        }
        if (field_requested(patterns, n, field)) {
            write_stored_field(m, d, field, field, w);
        }
        for (uint32_t k = 0; k < mapping_field_count(m); k++) {
            const struct field *alias = mapping_field_at(m, k);
            if (alias->class->is_alias && alias->alias_of != NULL && str_eq(alias->alias_of->path, field)
                && field_requested(patterns, n, alias->path)) {
                write_stored_field(m, d, field, alias->path, w);
            }
        }
    }
}

enum err stored_fields_json(const struct view *v, const struct engine_doc *doc, const struct str *names,
                            uint32_t n_names, struct arena *arena, struct str *out, struct errmsg *em)
{
    struct stored_reader r;
    struct stored_doc d;
    struct buf b;
    struct jsonw w;
    struct str *plain = ARENA_ARRAY(arena, struct str, n_names);
    uint32_t n = 0;
    *out = STR_NULL;
    if (plain == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n_names; i++) {
        if (str_find(names[i], '*', 0) == SIZE_MAX) { /* patterns match nothing here */
            plain[n++] = names[i];
        }
    }
    if (check_leaves(v->mapping, plain, n, em) != ERR_OK) {
        return err_code(em);
    }
    stored_reader_init(&r, v->leaves[doc->leaf].segment);
    enum err e = stored_read(&r, doc->doc, STORED_VALUES, arena, &d, em);
    stored_reader_fini(&r);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    write_stored(v->mapping, &d, plain, n, &w);
    jw_obj_end(&w);
    if (b.n > 2) {
        *out = arena_str(arena, buf_view(&b));
        e = b.failed || out->p == NULL ? err_no_memory(em) : ERR_OK;
    }
    buf_fini(&b);
    return e;
}

/* ---- the member --------------------------------------------------------------------------------------------------------------------- */

enum err fetch_fields(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    const struct search_source *s = f->source;
    struct buf b;
    struct jsonw inner;
    enum err e = ERR_OK;
    if (s->n_docvalue_fields == 0 && s->n_fields == 0 && s->n_stored_fields == 0 && s->n_script_fields == 0
        && s->collapse.field.p == NULL && f->n_percolates == 0) {
        return ERR_OK;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&inner, &b, false);
    jw_obj(&inner);
    if (s->n_stored_fields > 0 && !s->stored_none) {
        write_stored(f->shard->view->mapping, &h->stored, s->stored_fields, s->n_stored_fields, &inner);
    }
    e = write_columns(f, h, &inner);
    e = e == ERR_OK ? fetch_source_fields(f, h, &inner) : e;
    e = e == ERR_OK ? script_fields_write(f, h, &inner) : e;
    e = e == ERR_OK ? percolated_slots(f, h, &inner) : e;
    jw_obj_end(&inner);
    if (e == ERR_OK && b.n > 2) {
        jw_k(w, "fields");
        jw_raw(w, buf_view(&b));
    }
    e = e == ERR_OK && b.failed ? err_no_memory(f->em) : e;
    buf_fini(&b);
    return e;
}
