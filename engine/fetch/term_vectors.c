/* The making of term vectors. */
#include "engine/fetch/term_vectors_int.h"

#include "common/base/arena_list.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/mapping/field_class.h"
#include "engine/mapping/java.h"

/* ---- fields -------------------------------------------------------------------------------------------- */

/* Its values are texts, and are searched for by them. */
static bool has_terms(const struct field *f)
{
    const struct field_class *c = f->class;
    bool text = c == &field_class_text || c == &field_class_keyword || c == &field_class_join
                || c == &field_class_join_parent;
    return text ? f->index : c == &field_class_meta_routing || c == &field_class_meta_ignored;
}

/* The form of vectors that the mapping asks for; p == NULL: none. */
static struct str vectors_of(const struct field *f)
{
    const struct json *v = f->class == &field_class_text ? json_get(f->def, "term_vector") : NULL;
    return v != NULL && !str_is(json_text(v), "no") ? json_text(v) : STR_NULL;
}

static bool is_selected(const struct vectors_run *r, struct str field)
{
    for (size_t i = 0; i < r->n_fields && !stop_worked(1); i++) {
        if (str_eq(r->fields[i], field)) {
            return true;
        }
    }
    return !r->fields_given;
}

/* The analyzer that the request wants for a field; p == NULL: none. */
static struct str override_of(const struct vectors_run *r, struct str field)
{
    struct str name = STR_NULL;
    for (uint32_t i = 0; i + 1 < r->o->n_analyzers && !stop_worked(1); i += 2) {
        name = str_eq(r->o->analyzers[i], field) ? r->o->analyzers[i + 1] : name; /* the last one counts */
    }
    return name;
}

static enum err select_field(struct vectors_run *r, struct str name)
{
    for (size_t i = 0; i < r->n_fields && !stop_worked(1); i++) {
        if (str_eq(r->fields[i], name)) {
            return ERR_OK;
        }
    }
    return ARENA_ADD(r->arena, r->fields, r->n_fields, r->cap_fields, name) ? ERR_OK : err_no_memory(r->em);
}

/* Patterns that match no field at all select as no patterns do. */
static enum err select_fields(struct vectors_run *r)
{
    const struct mapping *m = r->src->view->mapping;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < r->o->n_fields; i++) {
        struct str pattern = r->o->fields[i];
        if (str_find(pattern, '*', 0) == SIZE_MAX) {
            r->fields_given = true;
            e = select_field(r, pattern);
            continue;
        }
        for (uint32_t k = 0; e == ERR_OK && k < mapping_field_count(m) && !stop_worked(1); k++) {
            const struct field *f = mapping_field_at(m, k);
            bool matches = !f->class->is_object && str_glob(pattern, f->path);
            r->fields_given |= matches;
            e = has_terms(f) && matches ? select_field(r, f->path) : ERR_OK;
        }
    }
    return e;
}

/* ---- tokens -------------------------------------------------------------------------------------------- */

/* Units up to a byte, counted on from the last one asked for. */
struct unit_cursor {
    struct str text;
    size_t byte;
    uint32_t units;
};

static uint32_t units_at(struct unit_cursor *c, size_t to)
{
    if (to < c->byte) {
        c->byte = 0;
        c->units = 0;
    }
    while (c->byte < to && c->byte < c->text.n) {
        c->units += utf8_next(c->text, &c->byte) > 0xFFFF ? 2 : 1;
    }
    return c->units;
}

static enum err add_tokens(struct vectors_run *r, struct vector *v, struct str raw,
                           const struct token *tokens, size_t n, int32_t *position)
{
    struct unit_cursor from = {.text = raw}, to = {.text = raw};
    for (size_t i = 0; i < n && !token_stop(tokens[i].text.n); i++) {
        *position += tokens[i].pos_inc;
        struct vector_token t = {.term = tokens[i].text, .order = v->n_tokens, .position = *position};
        t.start = v->offset + units_at(&from, tokens[i].start);
        t.end = v->offset + units_at(&to, tokens[i].end);
        if (!ARENA_ADD(r->arena, v->tokens, v->n_tokens, v->cap, t)) {
            return err_no_memory(r->em);
        }
    }
    return ERR_OK;
}

static uint32_t units_of(struct str raw, uint32_t end)
{
    struct unit_cursor c = {.text = raw};
    return units_at(&c, end);
}

static int by_term(const void *a, const void *b)
{
    const struct vector_token *x = a, *y = b;
    int c = str_cmp(x->term, y->term);
    return c != 0 ? c : (x->order > y->order) - (x->order < y->order);
}

static enum err count_terms(struct vectors_run *r, struct vector *v)
{
    sort_items(v->tokens, v->n_tokens, sizeof(*v->tokens), by_term);
    v->terms = ARENA_ARRAY(r->arena, struct vector_term, v->n_tokens);
    if (v->terms == NULL && v->n_tokens > 0) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; i < v->n_tokens; i++) {
        bool again = v->n_terms > 0 && str_eq(v->terms[v->n_terms - 1].text, v->tokens[i].term);
        if (!again) {
            v->terms[v->n_terms++] =
                (struct vector_term){.text = v->tokens[i].term, .first = i, .kept = true};
        }
        v->terms[v->n_terms - 1].freq++;
    }
    return ERR_OK;
}

static struct vector *vector_new(struct vectors_run *r, struct str field)
{
    if (!ARENA_ADD(r->arena, r->v, r->n, r->cap, (struct vector){.field = field, .position = -1})) {
        err_no_memory(r->em);
        return NULL;
    }
    return &r->v[r->n - 1];
}

/* A vector without terms is none. */
static enum err vector_done(struct vectors_run *r, struct vector *v)
{
    enum err e = count_terms(r, v);
    r->n -= v->n_terms == 0;
    return e;
}

/* ---- vectors as indexing makes them -------------------------------------------------------------------- */

static enum err parse_document(struct vectors_run *r, struct parsed_doc *out, const struct mapping *m,
                               struct str source, struct str routing)
{
    const struct source_to_parse in = {.index_name = r->src->index_name,
                                       .id = STR("_id_for_tv_api"),
                                       .routing = routing,
                                       .source = source,
                                       .dynamic_allowed = true};
    return document_parse(out, m, &in, r->arena, r->em);
}

/* The vector of f; its tokens are of values of `of`, which is f or has it as a hidden field. */
static enum err add_indexed(struct vectors_run *r, const struct doc_part *root, const struct field *f,
                            const struct field *of)
{
    struct str form = vectors_of(f), raw = STR_NULL;
    struct vector *v = form.p != NULL && is_selected(r, f->path) ? vector_new(r, f->path) : NULL;
    if (v == NULL) {
        return err_code(r->em);
    }
    enum err e = ERR_OK;
    v->positions = str_starts(form, STR("with_positions"));
    v->offsets = str_is(form, "with_offsets") || str_starts(form, STR("with_positions_offsets"));
    for (size_t i = 0; e == ERR_OK && i < root->n; i++) {
        const struct doc_value *d = &root->values[i];
        if (d->kind != DOC_TEXT || !d->to_index) {
            continue;
        }
        raw = str_eq(d->field->path, of->path) ? d->text.raw : raw;
        if (str_eq(d->field->path, f->path)) {
            e = add_tokens(r, v, raw, d->text.v, d->text.n, &v->position);
            v->position += d->text.end_pos_inc + f->position_increment_gap;
            v->offset += units_of(raw, d->text.end_offset) + 1;
        }
    }
    return e == ERR_OK ? vector_done(r, v) : e;
}

/* ---- vectors as MemoryIndex makes them ----------------------------------------------------------------- */

struct value_list {
    struct str *v;
    size_t n, cap;
};

static enum err field_analyzer(const struct vectors_run *r, const struct field *f,
                               const struct analyzer **out, int32_t *gap)
{
    struct str name = override_of(r, f->path);
    if (name.p != NULL) {
        *out = analysis_analyzer(mapping_analysis(r->src->view->mapping), name);
        *gap = *out != NULL ? (*out)->position_increment_gap : 0;
        return *out != NULL ? ERR_OK : err_set(r->em, ERR_ILLEGAL_ARGUMENT, "analyzer must not be null");
    }
    bool text = f->class->is_analysed;
    if (f->class == &field_class_meta_ignored) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "No analyzer configured for field %.*s",
                       STR_ARG(f->path));
    }
    *out = text ? f->analyzer : f->normalizer; /* NULL: the value is its one term */
    *gap = text ? f->position_increment_gap : 0;
    return ERR_OK;
}

static enum err analyse_value(struct vectors_run *r, struct vector *v, const struct analyzer *an, int32_t gap,
                              struct str text)
{
    struct token_list list;
    struct token whole = {.text = text, .end = (uint32_t)text.n, .pos_inc = 1};
    int32_t position = v->n_tokens > 0 ? v->position + gap : -1;
    token_list_init(&list, r->arena);
    enum err e = an == NULL          ? ERR_OK
                 : an->is_normalizer ? analyzer_normalize(an, text, r->arena, &whole.text, r->em)
                                     : analyzer_run(an, text, &list, r->em);
    bool run = an != NULL && !an->is_normalizer;
    v->offset += v->n_tokens > 0;
    if (e == ERR_OK) {
        e = add_tokens(r, v, text, run ? list.v : &whole, run ? list.n : 1, &position);
    }
    if (v->n_tokens > 0) {
        v->position = position;
        v->offset += units_of(text, run ? list.end_offset : (uint32_t)text.n);
    }
    return e;
}

static enum err add_generated(struct vectors_run *r, const struct field *f, const struct value_list *values)
{
    const struct analyzer *an;
    int32_t gap;
    struct vector *v = values->n > 0 ? vector_new(r, f->path) : NULL;
    if (v == NULL) {
        return values->n > 0 ? ERR_NO_MEMORY : ERR_OK;
    }
    v->positions = true;
    v->offsets = r->o->offsets;
    enum err e = field_analyzer(r, f, &an, &gap);
    for (size_t i = 0; e == ERR_OK && i < values->n; i++) {
        e = analyse_value(r, v, an, gap, values->v[i]);
    }
    return e == ERR_OK ? vector_done(r, v) : e;
}

/* ---- an indexed document ------------------------------------------------------------------------------- */

static enum err add_value(struct vectors_run *r, struct value_list *to, struct str text)
{
    return text.p != NULL && ARENA_ADD(r->arena, to->v, to->n, to->cap, text) ? ERR_OK : err_no_memory(r->em);
}

/* Values of the fields that are no part of the source. */
static enum err meta_values(struct vectors_run *r, const struct field *f, struct str routing,
                            const struct str *ignored, size_t n_ignored, struct value_list *out)
{
    enum err e = ERR_OK;
    if (f->class == &field_class_meta_routing && routing.p != NULL) {
        e = add_value(r, out, routing);
    }
    for (size_t i = 0; e == ERR_OK && f->class == &field_class_meta_ignored && i < n_ignored; i++) {
        e = add_value(r, out, arena_str(r->arena, ignored[i])); /* the same */
    }
    return e;
}

/* Stored values come before those of the source. */
static enum err document_values(struct vectors_run *r, const struct field *f, const struct stored_doc *d,
                                const struct json *source, struct value_list *out)
{
    const struct json **raw;
    size_t n = 0;
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < d->n_values; i++) {
        if (str_eq(d->values[i].name, f->path) && !d->values[i].is_num) {
            e = add_value(r, out, d->values[i].bytes);
        }
    }
    e = e == ERR_OK ? meta_values(r, f, d->routing, r->src->doc->ignored, r->src->doc->n_ignored, out) : e;
    if (e != ERR_OK || out->n > 0 || source == NULL) {
        return e;
    }
    if (!source_raw_values(source, f->path, r->arena, &raw, &n)) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        e = add_value(r, out, java_text(raw[i], r->arena));
    }
    return e;
}

static enum err read_document(struct vectors_run *r, struct stored_doc *d)
{
    struct stored_reader reader;
    stored_reader_init(&reader, r->src->view->leaves[r->src->doc->leaf].segment);
    enum err e = stored_read(&reader, r->src->doc->doc, STORED_SOURCE | STORED_VALUES, r->arena, d, r->em);
    stored_reader_fini(&reader);
    d->routing = r->src->routing;
    return e;
}

static bool is_generated(const struct vectors_run *r, const struct field *f)
{
    bool stored = vectors_of(f).p != NULL, other = override_of(r, f->path).p != NULL;
    return r->fields_given ? is_selected(r, f->path) && (!stored || other) : stored && other;
}

static enum err document_vectors(struct vectors_run *r)
{
    const struct mapping *m = r->src->view->mapping;
    struct stored_doc d;
    struct parsed_doc parsed = {0};
    struct json source;
    enum err e = read_document(r, &d);
    bool readable = e == ERR_OK && d.source.n > 0, any = false;
    e = readable ? json_parse(&source, d.source, r->arena, &json_limits_default, r->em) : e;
    for (uint32_t i = 0; e == ERR_OK && i < mapping_field_count(m) && !stop_worked(1); i++) {
        const struct field *f = mapping_field_at(m, i);
        if (!has_terms(f)) {
            continue;
        }
        bool generated = is_generated(r, f),
             stored = readable && vectors_of(f).p != NULL && f->nested == NULL;
        if (generated) {
            struct value_list values = {0};
            e = document_values(r, f, &d, readable ? &source : NULL, &values);
            any |= values.n > 0;
            e = e == ERR_OK ? add_generated(r, f, &values) : e;
        }
        if (e == ERR_OK && stored) {
            e = parsed.n_parts == 0 ? parse_document(r, &parsed, m, d.source, d.routing) : ERR_OK;
        }
        const struct field *const all[] = {generated ? NULL : f, f->prefix_field, f->phrase_field};
        for (size_t k = 0; e == ERR_OK && stored && parsed.n_parts > 0 && k < ARRAY_LEN(all); k++) {
            e = all[k] != NULL ? add_indexed(r, &parsed.parts[parsed.n_parts - 1], all[k], f) : ERR_OK;
        }
    }
    if (e == ERR_OK && !r->fields_given && r->o->n_analyzers > 0 && !any && r->n == 0) {
        e = err_set(
            r->em, ERR_NULL_POINTER,
            "Cannot invoke \"org.apache.lucene.index.Fields.iterator()\" because \"fieldsObject\" is null");
    }
    return e;
}

/* ---- a document that is not indexed -------------------------------------------------------------------- */

/* Parsed by the mapping with what the document would add to it; the caller unrefs *grown, which may be NULL. */
static enum err parse_artificial(struct vectors_run *r, struct parsed_doc *out, struct mapping **grown)
{
    const struct mapping *m = r->src->view->mapping;
    enum err e = parse_document(r, out, m, r->src->text, r->src->routing);
    for (int round = 0; e == ERR_OK && out->mapping_update != NULL && round < 8; round++) {
        struct mapping *more;
        e = mapping_merge(&more, m, out->mapping_update, r->em);
        if (e == ERR_OK) {
            mapping_unref(*grown);
            m = *grown = more;
            e = parse_document(r, out, m, r->src->text, r->src->routing);
        }
    }
    return e;
}

static enum err artificial_values(struct vectors_run *r, const struct parsed_doc *parsed,
                                  const struct field *f, struct value_list *out)
{
    const struct doc_part *root = &parsed->parts[parsed->n_parts - 1];
    enum err e = meta_values(r, f, r->src->routing, parsed->ignored, parsed->n_ignored, out);
    for (size_t i = 0; e == ERR_OK && i < root->n; i++) {
        const struct doc_value *d = &root->values[i];
        if (d->to_index && (d->kind == DOC_TEXT || d->kind == DOC_TERM) && str_eq(d->field->path, f->path)) {
            struct str text = d->kind == DOC_TEXT ? d->text.raw : d->bytes;
            e = add_value(r, out, arena_str(r->arena, text)); /* it may be the grown mapping's, which goes */
        }
    }
    return e;
}

static enum err artificial_vectors(struct vectors_run *r)
{
    const struct mapping *m = r->src->view->mapping;
    struct parsed_doc parsed = {0};
    struct mapping *grown = NULL;
    enum err e = parse_artificial(r, &parsed, &grown);
    for (uint32_t i = 0; e == ERR_OK && parsed.n_parts > 0 && i < mapping_field_count(m) && !stop_worked(1);
         i++) {
        const struct field *f = mapping_field_at(m, i);
        struct value_list values = {0};
        if (has_terms(f) && is_selected(r, f->path)) {
            e = artificial_values(r, &parsed, f, &values);
            e = e == ERR_OK ? add_generated(r, f, &values) : e;
        }
    }
    mapping_unref(grown);
    return e;
}

enum err term_vectors_json(struct str *out, const struct term_vectors_options *o,
                           const struct term_vectors_source *src, struct arena *arena, struct errmsg *em)
{
    struct vectors_run r = {.o = o, .src = src, .arena = arena, .em = em};
    enum err e = select_fields(&r);
    if (e == ERR_OK) {
        e = src->doc != NULL ? document_vectors(&r) : artificial_vectors(&r);
    }
    for (size_t i = 0; e == ERR_OK && o->filtered && i < r.n; i++) {
        e = vector_filter(&r, &r.v[i]);
    }
    e = e == ERR_OK ? vectors_write(&r, out) : e;
    return e == ERR_OK || e == ERR_NO_MEMORY
               ? e
               : err_wrap(em, ERR_INTERNAL, "failed to execute term vector request");
}
