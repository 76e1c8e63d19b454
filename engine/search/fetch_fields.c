/* "fields" of a hit: stored fields, doc values, and what fetch_source_fields.c and script_fields.c add. */
#include "engine/search/fetch.h"
#include "engine/search/script_fields.h"
#include "engine/search/value_format.h"

#include "engine/index/engine.h"

/* ---- checks that need no document ------------------------------------------------------------------------------------------- */

static bool is_pattern(struct str name)
{
    return str_find(name, '*', 0) != SIZE_MAX;
}

static enum err check_doc_value(const struct field *f, struct str name, struct errmsg *em)
{
    if (f->type == FT_TEXT && !f->fielddata) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Text fields are not optimised for operations that require per-document field data like aggregations and "
                       "sorting, so these operations are disabled by default. Please use a keyword field instead. Alternatively, set "
                       "fielddata=true on [%.*s] in order to load field data by uninverting the inverted index. Note that this can use "
                       "significant memory.",
                       STR_ARG(name));
    }
    if (f->type < FT_META_ID && f->type != FT_TEXT && !f->doc_values && f->type != FT_CONSTANT_KEYWORD) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Can't load fielddata on [%.*s] because fielddata is unsupported on fields of type [%s]. Use doc values instead.",
                       STR_ARG(name), field_type_name(f->type));
    }
    return ERR_OK;
}

enum err fetch_fields_check(struct fetch *f)
{
    const struct search_source *s = f->source;
    const struct mapping *m = f->shard->view->mapping;
    struct value_format vf;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->n_docvalue_fields; i++) {
        const struct field *field = is_pattern(s->docvalue_fields[i].field) ? NULL : mapping_field(m, s->docvalue_fields[i].field);
        e = field != NULL ? check_doc_value(field, s->docvalue_fields[i].field, f->em) : ERR_OK;
        e = e == ERR_OK && field != NULL ? value_format_new(&vf, field, s->docvalue_fields[i].format, f->arena, f->em) : e;
    }
    for (uint32_t i = 0; e == ERR_OK && i < s->n_fields; i++) {
        const struct field *field = is_pattern(s->fields[i].field) ? NULL : mapping_field(m, s->fields[i].field);
        e = field != NULL ? value_format_new(&vf, field, s->fields[i].format, f->arena, f->em) : ERR_OK;
    }
    return e == ERR_OK ? fetch_source_fields_prepare(f) : e;
}

/* ---- doc values ----------------------------------------------------------------------------------------------------------------- */

static enum err write_doc_values(struct fetch *f, struct fetch_hit *h, const struct field_and_format *spec, struct jsonw *w)
{
    const struct field **fields;
    size_t n;
    if (!mapping_match(f->shard->view->mapping, spec->field, h->arena, &fields, &n)) {
        return err_no_memory(f->em);
    }
    for (size_t i = 0; i < n; i++) {
        const struct field *shown = fields[i], *field = shown->type == FT_ALIAS ? shown->alias_of : shown;
        struct value_format vf;
        if (check_doc_value(field, shown->path, NULL) != ERR_OK) {
            continue; /* a pattern takes what has doc values */
        }
        enum err e = value_format_new(&vf, field, spec->format, h->arena, f->em);
        if (e != ERR_OK) {
            return e;
        }
        doc_values_write(&vf, segment_field(h->leaf->segment, field->path), h->doc, shown->path, w);
    }
    return ERR_OK;
}

/* ---- stored fields ---------------------------------------------------------------------------------------------------------------- */

static bool wanted(const struct str *patterns, uint32_t n, struct str name)
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
    } else if (field->type == FT_BINARY) {
        value_write_binary(v->bytes, w);
    } else {
        value_write_term(&vf, v->bytes, w);
    }
}

static void write_stored(const struct mapping *m, const struct stored_doc *d, const struct str *patterns, uint32_t n, struct jsonw *w)
{
    for (size_t i = 0; i < d->n_values; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++) {
            first = first && !str_eq(d->values[k].name, d->values[i].name);
        }
        if (!first || !wanted(patterns, n, d->values[i].name)) {
            continue;
        }
        jw_key(w, d->values[i].name);
        jw_arr(w);
        for (size_t k = i; k < d->n_values; k++) {
            if (str_eq(d->values[k].name, d->values[i].name)) {
                write_stored_value(m, &d->values[k], w);
            }
        }
        jw_arr_end(w);
    }
}

enum err stored_fields_json(const struct view *v, const struct engine_doc *doc, const struct str *names, uint32_t n_names,
                            struct arena *arena, struct str *out, struct errmsg *em)
{
    struct stored_reader r;
    struct stored_doc d;
    struct buf b;
    struct jsonw w;
    *out = STR_NULL;
    stored_reader_init(&r, v->leaves[doc->leaf].segment);
    enum err e = stored_read(&r, doc->doc, STORED_VALUES, arena, &d, em);
    stored_reader_fini(&r);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    write_stored(v->mapping, &d, names, n_names, &w);
    jw_obj_end(&w);
    if (b.n > 2) {
        *out = arena_str(arena, buf_view(&b));
        e = b.failed || out->p == NULL ? err_no_memory(em) : ERR_OK;
    }
    buf_fini(&b);
    return e;
}

/* ---- the member --------------------------------------------------------------------------------------------------------------------- */

static bool asked_for(const struct search_source *s, struct str field)
{
    for (uint32_t i = 0; i < s->n_docvalue_fields; i++) {
        if (str_eq(s->docvalue_fields[i].field, field)) {
            return true;
        }
    }
    return false;
}

enum err fetch_fields(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    const struct search_source *s = f->source;
    struct buf b;
    struct jsonw inner;
    enum err e = ERR_OK;
    if (s->n_docvalue_fields == 0 && s->n_fields == 0 && s->n_stored_fields == 0 && s->n_script_fields == 0 && s->collapse.field.p == NULL) {
        return ERR_OK;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&inner, &b, false);
    jw_obj(&inner);
    if (s->n_stored_fields > 0 && !s->stored_none) {
        write_stored(f->shard->view->mapping, &h->stored, s->stored_fields, s->n_stored_fields, &inner);
    }
    for (uint32_t i = 0; e == ERR_OK && i < s->n_docvalue_fields; i++) {
        e = write_doc_values(f, h, &s->docvalue_fields[i], &inner);
    }
    if (e == ERR_OK && s->collapse.field.p != NULL && h->place == NULL && !asked_for(s, s->collapse.field)) { /* a group shows the value that made it */
        struct field_and_format group = {.field = s->collapse.field};
        e = write_doc_values(f, h, &group, &inner);
    }
    e = e == ERR_OK ? fetch_source_fields(f, h, &inner) : e;
    e = e == ERR_OK ? script_fields_write(f, h, &inner) : e;
    jw_obj_end(&inner);
    if (e == ERR_OK && b.n > 2) {
        jw_k(w, "fields");
        jw_raw(w, buf_view(&b));
    }
    e = e == ERR_OK && b.failed ? err_no_memory(f->em) : e;
    buf_fini(&b);
    return e;
}
