#include "engine/fetch/term_vectors.h"

#include "common/base/arena_list.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/index/engine.h"
#include "engine/mapping/field_class.h"
#include "engine/mapping/java.h"
#include "engine/query/term_queue.h"

struct vector_token {
    struct str term;
    size_t order; /* as they stand in the document */
    int32_t position;
    uint32_t start, end; /* UTF-16 units of all values, joined by one */
};

struct vector_term {
    struct str text;
    size_t first; /* of its tokens, in their order */
    uint32_t freq;
    bool kept; /* by the filter */
    float score;
};

struct vector {
    struct str field;
    bool positions, offsets; /* it has them */
    struct vector_token *tokens;
    size_t n_tokens, cap;
    struct vector_term *terms; /* in the order of their bytes */
    size_t n_terms;
    /* while its values are read: where the last one ended */
    int32_t position;
    uint32_t offset;
};

struct run {
    const struct term_vectors_options *o;
    const struct term_vectors_source *src;
    struct arena *arena;
    struct errmsg *em;
    struct vector *v;
    size_t n, cap;
    struct str *fields; /* those selected, patterns resolved; of no use unless o->fields_given */
    size_t n_fields, cap_fields;
};

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

static bool is_selected(const struct run *r, struct str field)
{
    for (size_t i = 0; i < r->n_fields; i++) {
        if (str_eq(r->fields[i], field)) {
            return true;
        }
    }
    return !r->o->fields_given;
}

/* The analyzer that the request wants for a field; p == NULL: none. */
static struct str override_of(const struct run *r, struct str field)
{
    struct str name = STR_NULL;
    for (uint32_t i = 0; i + 1 < r->o->n_analyzers; i += 2) {
        name = str_eq(r->o->analyzers[i], field) ? r->o->analyzers[i + 1] : name; /* the last one counts */
    }
    return name;
}

static enum err select_field(struct run *r, struct str name)
{
    for (size_t i = 0; i < r->n_fields; i++) {
        if (str_eq(r->fields[i], name)) {
            return ERR_OK;
        }
    }
    return ARENA_ADD(r->arena, r->fields, r->n_fields, r->cap_fields, name) ? ERR_OK : err_no_memory(r->em);
}

static enum err select_fields(struct run *r)
{
    const struct mapping *m = r->src->view->mapping;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < r->o->n_fields; i++) {
        struct str pattern = r->o->fields[i];
        if (str_find(pattern, '*', 0) == SIZE_MAX) {
            e = select_field(r, pattern);
            continue;
        }
        for (uint32_t k = 0; e == ERR_OK && k < mapping_field_count(m) && !stop_worked(1); k++) {
            const struct field *f = mapping_field_at(m, k);
            e = has_terms(f) && str_glob(pattern, f->path) ? select_field(r, f->path) : ERR_OK;
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

static enum err add_tokens(struct run *r, struct vector *v, struct str raw, const struct token *tokens,
                           size_t n, int32_t *position)
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

static enum err count_terms(struct run *r, struct vector *v)
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

static struct vector *vector_new(struct run *r, struct str field)
{
    if (!ARENA_ADD(r->arena, r->v, r->n, r->cap, (struct vector){.field = field, .position = -1})) {
        err_no_memory(r->em);
        return NULL;
    }
    return &r->v[r->n - 1];
}

/* A vector without terms is none. */
static enum err vector_done(struct run *r, struct vector *v)
{
    enum err e = count_terms(r, v);
    r->n -= v->n_terms == 0;
    return e;
}

/* ---- vectors as indexing makes them -------------------------------------------------------------------- */

static enum err parse_document(struct run *r, struct parsed_doc *out, const struct mapping *m,
                               struct str source, struct str routing)
{
    const struct source_to_parse in = {.index_name = r->src->index_name,
                                       .id = STR("_id_for_tv_api"),
                                       .routing = routing,
                                       .source = source,
                                       .dynamic_allowed = true};
    return document_parse(out, m, &in, r->arena, r->em);
}

static enum err add_indexed(struct run *r, const struct doc_part *root, const struct field *f)
{
    struct vector *v = vector_new(r, f->path);
    enum err e = v != NULL ? ERR_OK : ERR_NO_MEMORY;
    if (v == NULL) {
        return e;
    }
    struct str form = vectors_of(f);
    v->positions = str_starts(form, STR("with_positions"));
    v->offsets = str_is(form, "with_offsets") || str_starts(form, STR("with_positions_offsets"));
    for (size_t i = 0; e == ERR_OK && i < root->n; i++) {
        const struct doc_value *d = &root->values[i];
        if (d->kind != DOC_TEXT || !d->to_index || !str_eq(d->field->path, f->path)) {
            continue;
        }
        e = add_tokens(r, v, d->text.raw, d->text.v, d->text.n, &v->position);
        v->position += d->text.end_pos_inc + f->position_increment_gap;
        v->offset += units_of(d->text.raw, d->text.end_offset) + 1;
    }
    return e == ERR_OK ? vector_done(r, v) : e;
}

/* ---- vectors as MemoryIndex makes them ----------------------------------------------------------------- */

struct value_list {
    struct str *v;
    size_t n, cap;
};

static enum err field_analyzer(const struct run *r, const struct field *f, const struct analyzer **out,
                               int32_t *gap)
{
    struct str name = override_of(r, f->path);
    if (name.p != NULL) {
        *out = analysis_analyzer(mapping_analysis(r->src->view->mapping), name);
        *gap = *out != NULL ? (*out)->position_increment_gap : 0;
        return *out != NULL ? ERR_OK : err_set(r->em, ERR_ILLEGAL_ARGUMENT, "analyzer must not be null");
    }
    bool text = f->class->is_analysed;
    *out = text ? f->analyzer : f->normalizer; /* NULL: the value is its one term */
    *gap = text ? f->position_increment_gap : 0;
    return ERR_OK;
}

static enum err analyse_value(struct run *r, struct vector *v, const struct analyzer *an, int32_t gap,
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

static enum err add_generated(struct run *r, const struct field *f, const struct value_list *values)
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

static enum err add_value(struct run *r, struct value_list *to, struct str text)
{
    return text.p != NULL && ARENA_ADD(r->arena, to->v, to->n, to->cap, text) ? ERR_OK : err_no_memory(r->em);
}

/* Stored values come before those of the source. */
static enum err document_values(struct run *r, const struct field *f, const struct stored_doc *d,
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
    if (f->class == &field_class_meta_routing && d->routing.p != NULL) {
        e = add_value(r, out, d->routing);
    }
    for (uint32_t i = 0; f->class == &field_class_meta_ignored && i < r->src->doc->n_ignored; i++) {
        e = e == ERR_OK ? add_value(r, out, r->src->doc->ignored[i]) : e;
    }
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

static enum err read_document(struct run *r, struct stored_doc *d)
{
    struct stored_reader reader;
    stored_reader_init(&reader, r->src->view->leaves[r->src->doc->leaf].segment);
    enum err e = stored_read(&reader, r->src->doc->doc, STORED_SOURCE | STORED_VALUES, r->arena, d, r->em);
    stored_reader_fini(&reader);
    d->routing = r->src->routing;
    return e;
}

static bool is_generated(const struct run *r, const struct field *f)
{
    bool stored = vectors_of(f).p != NULL, other = override_of(r, f->path).p != NULL;
    return r->o->fields_given ? is_selected(r, f->path) && (!stored || other) : stored && other;
}

static enum err document_vectors(struct run *r)
{
    const struct mapping *m = r->src->view->mapping;
    struct stored_doc d;
    struct parsed_doc parsed = {0};
    struct json source;
    enum err e = read_document(r, &d);
    bool readable = e == ERR_OK && d.source.n > 0;
    e = readable ? json_parse(&source, d.source, r->arena, &json_limits_default, r->em) : e;
    for (uint32_t i = 0; e == ERR_OK && i < mapping_field_count(m) && !stop_worked(1); i++) {
        const struct field *f = mapping_field_at(m, i);
        if (!has_terms(f)) {
            continue;
        }
        bool generated = is_generated(r, f), stored = !generated && vectors_of(f).p != NULL;
        if (generated) {
            struct value_list values = {0};
            e = document_values(r, f, &d, readable ? &source : NULL, &values);
            e = e == ERR_OK ? add_generated(r, f, &values) : e;
        } else if (stored && readable && f->nested == NULL && is_selected(r, f->path)) {
            e = parsed.n_parts == 0 ? parse_document(r, &parsed, m, d.source, d.routing) : ERR_OK;
            e = e == ERR_OK && parsed.n_parts > 0 ? add_indexed(r, &parsed.parts[parsed.n_parts - 1], f) : e;
        }
    }
    return e;
}

/* ---- a document that is not indexed -------------------------------------------------------------------- */

/* Parsed by the mapping with what the document would add to it; the caller unrefs *grown, which may be NULL. */
static enum err parse_artificial(struct run *r, struct parsed_doc *out, struct mapping **grown)
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

static enum err artificial_values(struct run *r, const struct doc_part *root, struct str field,
                                  struct value_list *out)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < root->n; i++) {
        const struct doc_value *d = &root->values[i];
        if (d->to_index && (d->kind == DOC_TEXT || d->kind == DOC_TERM) && str_eq(d->field->path, field)) {
            e = add_value(r, out, d->kind == DOC_TEXT ? d->text.raw : d->bytes);
        }
    }
    return e;
}

static enum err artificial_vectors(struct run *r)
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
            e = artificial_values(r, &parsed.parts[parsed.n_parts - 1], f->path, &values);
            e = e == ERR_OK ? add_generated(r, f, &values) : e;
        }
    }
    mapping_unref(grown);
    return e;
}

/* ---- frequencies in the shard -------------------------------------------------------------------------- */

struct field_sums {
    int64_t doc_count, sum_df, sum_ttf;
    bool own; /* no document has the field: the vector stands for all */
};

struct term_sums {
    int64_t doc_freq, total_freq;
};

static const struct seg_field *terms_at(const struct run *r, uint32_t leaf, struct str field)
{
    const struct seg_field *f = segment_field(r->src->view->leaves[leaf].segment, field);
    return f != NULL && (f->has & SEG_TERMS) != 0 && f->n_terms > 0 ? f : NULL;
}

static struct field_sums field_sums(const struct run *r, const struct vector *v)
{
    struct field_sums s = {.own = true};
    for (uint32_t i = 0; i < r->src->view->n_leaves; i++) {
        const struct seg_field *f = terms_at(r, i, v->field);
        if (f != NULL) {
            s.doc_count += f->doc_count;
            s.sum_df += (int64_t)f->sum_df;
            s.sum_ttf += (int64_t)f->sum_ttf;
            s.own = false;
        }
    }
    return s.own ? (struct field_sums){1, (int64_t)v->n_terms, (int64_t)v->n_tokens, true} : s;
}

/* false: no document has the term. */
static bool term_sums(const struct run *r, const struct vector *v, const struct field_sums *all,
                      const struct vector_term *t, struct term_sums *out)
{
    *out = all->own ? (struct term_sums){1, t->freq} : (struct term_sums){0};
    for (uint32_t i = 0; !all->own && i < r->src->view->n_leaves; i++) {
        const struct seg_field *f = terms_at(r, i, v->field);
        struct term_info info;
        if (f != NULL && seg_term(f, t->text, &info)) {
            out->doc_freq += info.doc_freq;
            out->total_freq += (int64_t)info.total_freq;
        }
    }
    return out->doc_freq > 0;
}

/* ---- the filter ---------------------------------------------------------------------------------------- */

/* The segment that alone has the field; NULL: there are several, or none. */
static const struct seg_field *only_terms(const struct run *r, struct str field)
{
    return r->src->view->n_leaves == 1 ? terms_at(r, 0, field) : NULL;
}

/* The frequency of a term that the shard lacks: in a single segment Lucene gives that of the next term, of the last one it stood at
 * where the term is outside of the dictionary. */
static int64_t missing_freq(const struct seg_field *only, struct str term, int64_t last)
{
    struct term_iter it;
    if (only == NULL) {
        return 0;
    }
    term_iter_init(&it, only);
    bool inside = term_iter_next(&it) && str_cmp(it.term, term) < 0 && term_iter_seek(&it, term);
    int64_t freq = inside ? it.info.doc_freq : last;
    term_iter_fini(&it);
    return freq;
}

static bool is_noise(const struct term_filter *f, const struct vector_term *t)
{
    int64_t units = (int64_t)utf16_length(t->text);
    return (f->min_word_length > 0 && units < f->min_word_length)
           || (f->max_word_length > 0 && units > f->max_word_length)
           || (f->min_term_freq > 0 && (int64_t)t->freq < f->min_term_freq)
           || (int64_t)t->freq > f->max_term_freq;
}

static enum err filter_terms(struct run *r, struct vector *v)
{
    const struct term_filter *f = &r->o->filter;
    const struct field_sums all = field_sums(r, v);
    const struct seg_field *only = all.own ? NULL : only_terms(r, v->field);
    struct term_queue q;
    struct scored_term best;
    int64_t last = 0;
    if (f->max_num_terms < 0) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "maxSize must be >= 0 and < 2147483630; got: %d",
                       f->max_num_terms);
    }
    if (!term_queue_init(&q, MIN_OF((size_t)f->max_num_terms, v->n_terms), r->arena)) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; i < v->n_terms && !stop_worked(4); i++) {
        struct vector_term *t = &v->terms[i];
        struct term_sums s;
        t->kept = false;
        int64_t freq = term_sums(r, v, &all, t, &s) ? s.doc_freq : missing_freq(only, t->text, last);
        last = freq;
        if (!is_noise(f, t) && freq > 0 && freq <= f->max_doc_freq
            && (f->min_doc_freq <= 0 || freq >= f->min_doc_freq)) {
            float score = (float)t->freq * term_classic_idf(freq, all.doc_count);
            term_queue_offer(&q, (struct scored_term){.score = score, .at = i});
        }
    }
    while (term_queue_take(&q, &best)) {
        v->terms[best.at].kept = true;
        v->terms[best.at].score = best.score;
    }
    return ERR_OK;
}

/* ---- output -------------------------------------------------------------------------------------------- */

static void write_tokens(const struct run *r, const struct vector *v, const struct vector_term *t,
                         struct jsonw *w)
{
    bool positions = v->positions && r->o->positions, offsets = v->offsets && r->o->offsets;
    if (!positions && !offsets) {
        return;
    }
    jw_karr(w, "tokens");
    for (uint32_t i = 0; i < t->freq && !stop_worked(1); i++) {
        const struct vector_token *k = &v->tokens[t->first + i];
        jw_obj(w);
        if (positions) {
            jw_ki64(w, "position", k->position);
        }
        if (offsets) {
            jw_ki64(w, "start_offset", k->start);
            jw_ki64(w, "end_offset", k->end);
        }
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

static void write_vector(const struct run *r, const struct vector *v, struct jsonw *w)
{
    const struct field_sums all = field_sums(r, v);
    jw_key(w, v->field);
    jw_obj(w);
    if (r->o->field_statistics) {
        jw_kobj(w, "field_statistics");
        jw_ki64(w, "sum_doc_freq", all.sum_df);
        jw_ki64(w, "doc_count", all.doc_count);
        jw_ki64(w, "sum_ttf", all.sum_ttf);
        jw_obj_end(w);
    }
    jw_kobj(w, "terms");
    for (size_t i = 0; i < v->n_terms && !stop_worked(4); i++) {
        const struct vector_term *t = &v->terms[i];
        struct term_sums s;
        if (!t->kept) {
            continue;
        }
        jw_key(w, t->text);
        jw_obj(w);
        if (r->o->term_statistics && term_sums(r, v, &all, t, &s)) {
            jw_ki64(w, "doc_freq", s.doc_freq);
            jw_ki64(w, "ttf", s.total_freq);
        }
        jw_ki64(w, "term_freq", t->freq);
        write_tokens(r, v, t, w);
        if (r->o->filtered) {
            jw_k(w, "score");
            jw_float(w, t->score);
        }
        jw_obj_end(w);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static enum err write_vectors(struct run *r, struct str *out)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    for (size_t i = 0; i < r->n; i++) {
        write_vector(r, &r->v[i], &w);
    }
    jw_obj_end(&w);
    *out = b.failed ? STR_NULL : arena_str(r->arena, buf_view(&b));
    buf_fini(&b);
    return out->p != NULL ? ERR_OK : err_no_memory(r->em);
}

enum err term_vectors_json(struct str *out, const struct term_vectors_options *o,
                           const struct term_vectors_source *src, struct arena *arena, struct errmsg *em)
{
    struct run r = {.o = o, .src = src, .arena = arena, .em = em};
    enum err e = select_fields(&r);
    if (e == ERR_OK) {
        e = src->doc != NULL ? document_vectors(&r) : artificial_vectors(&r);
    }
    for (size_t i = 0; e == ERR_OK && o->filtered && i < r.n; i++) {
        e = filter_terms(&r, &r.v[i]);
    }
    e = e == ERR_OK ? write_vectors(&r, out) : e;
    return e == ERR_OK || e == ERR_NO_MEMORY
               ? e
               : err_wrap(em, ERR_INTERNAL, "failed to execute term vector request");
}
