/* From a request's options to what each hit shows: fields chosen, terms found, highlighters called. */
#include "engine/highlight/highlight_int.h"

#include "common/base/jsonw.h"
#include "common/base/settings.h"
#include "common/settings/setting_read.h"

struct highlighter {
    struct arena *arena;
    struct hl_target *targets; /* in the order of the answer */
    int64_t max_offset;        /* index.highlight.max_analyzed_offset */
    struct str index_name;
    const struct search_context *cx;
};

typedef enum err (*highlight_fn)(struct hl_fragments *out, const struct hl_target *t, struct hl_text *x,
                                 struct arena *arena, struct errmsg *em);

static highlight_fn highlighter_of(struct str type)
{
    static const struct {
        const char *name;
        highlight_fn run;
    } types[] = {{"unified", hl_unified}, {"plain", hl_plain}, {"fvh", hl_fvh}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (str_is(type, types[i].name)) {
            return types[i].run;
        }
    }
    return NULL;
}

/* ---- preparing
 * ----------------------------------------------------------------------------------------------------- */

static bool counts_for(const struct hl_target *t, struct str field)
{
    return !t->o->require_field_match || str_eq(field, t->field->path);
}

/* Words of spans that other fields have a part in. */
struct masked_words {
    struct hl_target *t;
    struct arena *arena;
    size_t *cap;
    float boost;
    uint32_t order;
};

static enum err add_masked_word(void *self, struct str field, struct str text, struct errmsg *em)
{
    struct masked_words *m = self;
    struct hl_terms *own = &m->t->terms;
    if (!counts_for(m->t, field)) {
        return ERR_OK;
    }
    struct hl_term *v = arena_grow(m->arena, own->terms, own->n_terms, m->cap, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    own->terms = v;
    v[own->n_terms++] = (struct hl_term){field, text, m->boost, m->order, m->order, false, false};
    return ERR_OK;
}

/* A phrase whose last word another field's terms find is none of this field's: unified takes its other words as terms, where
 * there are no phrases; plain has taken it as a phrase; fvh does not take it. */
static enum err add_masked(struct hl_target *t, const struct hl_terms *all, struct errmsg *em)
{
    struct hl_terms *own = &t->terms;
    size_t cap = own->n_terms;
    bool takes =
        str_is(t->o->type, "unified") && t->o->require_field_match && own->n_phrases + own->n_spans == 0;
    for (size_t i = 0; takes && i < all->n_phrases; i++) {
        const struct query *q = all->phrases[i].query;
        if (q->phrase.last_field == NULL || q->phrase.boosted_span || !counts_for(t, q->field_name)) {
            continue; /* Elasticsearch does not look into one that is boosted */
        }
        for (uint32_t k = 0; k + 1 < q->phrase.n; k++) {
            for (uint32_t j = 0; j < q->phrase.v[k].n; j++) {
                struct hl_term *v = arena_grow(all->arena, own->terms, own->n_terms, &cap, sizeof(*v));
                if (v == NULL) {
                    return err_no_memory(em);
                }
                own->terms = v;
                v += own->n_terms++;
                *v = (struct hl_term){q->field_name,
                                      q->phrase.v[k].terms[j],
                                      all->phrases[i].boost,
                                      all->phrases[i].order,
                                      all->phrases[i].number,
                                      false,
                                      false};
            }
        }
    }
    struct masked_words m = {t, all->arena, &cap, 0, 0};
    for (size_t i = 0; takes && i < all->n_spans; i++) {
        m.boost = all->spans[i].boost;
        m.order = all->spans[i].order;
        enum err e = hl_span_words(all->spans[i].query, NULL, 0, add_masked_word, &m, all->arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    for (size_t i = 0; i < own->n_terms; i++) { /* they may have moved */
        if (!map_put(&t->by_text, own->terms[i].text, &own->terms[i])) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

/* Of what the query looks for, what counts for this field. */
static enum err choose_terms(struct hl_target *t, const struct hl_terms *all, struct arena *arena,
                             struct errmsg *em)
{
    struct hl_terms *own = &t->terms;
    own->terms = ARENA_ARRAY(arena, struct hl_term, all->n_terms);
    own->multis = ARENA_ARRAY(arena, struct hl_multi, all->n_multis);
    own->phrases = ARENA_ARRAY(arena, struct hl_phrase, all->n_phrases);
    bool unified = str_is(t->o->type, "unified"), fvh = str_is(t->o->type, "fvh"),
         all_fields = !t->o->require_field_match || str_is(t->o->type, "plain");
    map_init(&t->by_text, arena);
    own->spans = ARENA_ARRAY(arena, struct hl_span_query, all->n_spans);
    if (own->terms == NULL || own->multis == NULL || own->phrases == NULL || own->spans == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < all->n_terms; i++) {
        if (counts_for(t, all->terms[i].field) && (fvh ? !all->terms[i].loose : !all->terms[i].of_spans)) {
            own->terms[own->n_terms++] = all->terms[i];
        }
    }
    for (size_t i = 0; i < all->n_multis; i++) {
        if (counts_for(t, all->multis[i].field) && (unified || !all->multis[i].loose)) {
            own->multis[own->n_multis++] = all->multis[i];
        }
    }
    for (size_t i = 0; i < all->n_phrases; i++) {
        const struct query *q = all->phrases[i].query;
        bool plain = str_is(t->o->type, "plain");
        if ((q->phrase.last_field == NULL || plain) && counts_for(t, q->field_name)) {
            own->phrases[own->n_phrases++] = all->phrases[i];
        }
    }
    for (size_t i = 0; i < all->n_spans && !fvh; i++) {
        if (all_fields || hl_spans_within(all->spans[i].query, t->field->path)) {
            own->spans[own->n_spans++] = all->spans[i];
        }
    }
    return add_masked(t, all, em);
}

/* A field named twice keeps its first place and takes the last options. */
static struct hl_target *target_of(struct highlighter *h, struct str key)
{
    struct hl_target **at = &h->targets;
    while (*at != NULL && !str_eq((*at)->key, key)) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        *at = ARENA_NEW(h->arena, struct hl_target);
        if (*at != NULL) {
            (*at)->key = key;
        }
    }
    return *at;
}

/* Those of matched_fields that have term vectors: others match nothing. */
static enum err add_matched(struct highlighter *h, const struct search_context *cx, struct hl_target *t,
                            const struct hl_terms *terms, struct errmsg *em)
{
    const struct hl_strings *names = &t->o->matched_fields;
    t->matched = ARENA_ARRAY(h->arena, struct hl_target *, names->n);
    enum err e = t->matched == NULL ? err_no_memory(em) : ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < names->n; i++) {
        const struct field *f = mapping_field(cx->query.mapping, names->v[i]);
        if (f == NULL || !f->class->is_analysed || !hl_fvh_can(f)) {
            continue;
        }
        struct hl_target *m = ARENA_NEW(h->arena, struct hl_target);
        if (m == NULL) {
            return err_no_memory(em);
        }
        *m = (struct hl_target){.key = t->key, .field = f, .o = t->o};
        t->matched[t->n_matched++] = m;
        e = choose_terms(m, terms, h->arena, em);
    }
    return e;
}

static enum err add_target(struct highlighter *h, const struct search_context *cx, const struct field *f,
                           const struct hl_field *spec, const struct hl_terms *terms, struct errmsg *em)
{
    struct hl_target *t = target_of(h, f->path);
    if (t == NULL) {
        return err_no_memory(em);
    }
    *t = (struct hl_target){
        .key = f->path, .field = f->alias_of != NULL ? f->alias_of : f, .o = &spec->o, .next = t->next};
    for (const struct hl_target *other = h->targets; other != t; other = other->next) {
        /* Under its alias a field is highlighted as it was before: one highlighter serves both names. */
        if (other->field == t->field && str_is(other->o->type, "unified")
            && str_is(spec->o.type, "unified")) {
            t->o = other->o;
        }
    }
    enum err e = hl_target_paths(t, cx->query.mapping, h->arena, em);
    e = e == ERR_OK ? choose_terms(t, terms, h->arena, em) : e;
    bool matched = e == ERR_OK && str_is(spec->o.type, "fvh") && spec->o.matched_fields.n > 0;
    return matched ? add_matched(h, cx, t, terms, em) : e;
}

static enum err add_fields(struct highlighter *h, const struct search_context *cx,
                           const struct hl_field *spec, const struct hl_terms *terms, struct errmsg *em)
{
    bool pattern = str_find(spec->name, '*', 0) != SIZE_MAX;
    if (!pattern) {
        const struct field *f = mapping_field_raw(cx->query.mapping, spec->name);
        bool leaf = f != NULL && !f->class->is_object;
        return leaf ? add_target(h, cx, f, spec, terms, em) : ERR_OK;
    }
    const struct field **found;
    size_t n;
    if (!mapping_match(cx->query.mapping, spec->name, h->arena, &found, &n)) {
        return err_no_memory(em);
    }
    enum err e = ERR_OK;
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        const struct field *real = found[i]->alias_of != NULL ? found[i]->alias_of : found[i];
        if (real->class->is_string && (!str_is(spec->o.type, "fvh") || hl_fvh_can(real))) {
            e = add_target(h, cx, found[i], spec, terms, em);
        }
    }
    return e;
}

static enum err build_own(const struct query **out, const struct search_context *cx, const struct json *dsl,
                          struct errmsg *em)
{
    struct query_context own = cx->query;
    own.raw_errors = true;
    enum err e = query_build(out, &own, dsl, em);
    /* what cannot run on a field is the request's fault, and no 500 */
    return e == ERR_ILLEGAL_STATE ? query_build(out, &cx->query, dsl, em) : e;
}

enum err highlight_check(const struct highlight_spec *spec, const struct search_context *cx,
                         struct errmsg *em)
{
    const struct query *built;
    enum err e = spec->query != NULL ? build_own(&built, cx, spec->query, em) : ERR_OK;
    for (uint32_t i = 0; i < spec->n && e == ERR_OK; i++) {
        const struct json *own = spec->fields[i].o.query;
        e = own != NULL && own != spec->query ? build_own(&built, cx, own, em) : ERR_OK;
    }
    return e;
}

enum err highlighter_new(struct highlighter **out, const struct highlight_spec *spec,
                         const struct search_context *cx, const struct query *query, struct errmsg *em)
{
    struct highlighter *h = ARENA_NEW(cx->arena, struct highlighter);
    struct hl_terms main_terms;
    enum err e = h == NULL ? err_no_memory(em) : hl_terms_collect(&main_terms, query, &cx->weight, em);
    if (e != ERR_OK) {
        return e;
    }
    h->arena = cx->arena;
    h->cx = cx;
    h->index_name = cx->shard->index_name;
    h->max_offset = setting_i64(cx->shard->index_settings, SET_INDEX_HIGHLIGHT_MAX_ANALYZED_OFFSET);
    for (uint32_t i = 0; i < spec->n && e == ERR_OK; i++) {
        const struct hl_field *f = &spec->fields[i];
        struct hl_terms terms = main_terms;
        if (highlighter_of(f->o.type) == NULL) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown highlighter type [%.*s] for the field [%.*s]",
                           STR_ARG(f->o.type), STR_ARG(f->name));
        }
        if (f->o.query != NULL) {
            const struct query *own;
            e = build_own(&own, cx, f->o.query, em);
            e = e == ERR_OK ? hl_terms_collect(&terms, own, &cx->weight, em) : e;
        }
        e = e == ERR_OK ? add_fields(h, cx, f, &terms, em) : e;
    }
    *out = h;
    return e;
}

/* ---- one hit
 * -----------------------------------------------------------------------------------------------------------
 */

static enum err check_length(const struct highlighter *h, const struct hl_target *t, const struct hl_text *x,
                             doc_id doc, struct errmsg *em)
{
    bool plain = str_is(t->o->type, "plain");
    if (str_is(t->o->type, "fvh") || hl_has_offsets(t->field)) {
        return ERR_OK;
    }
    int64_t longest = plain ? 0 : (int64_t)x->n;
    for (uint32_t i = 0; plain && i < x->n_values; i++) {
        longest = MAX_OF(longest, (int64_t)x->values[i].end - x->values[i].start);
    }
    if (longest <= h->max_offset
        || (t->o->max_analyzed_offset > 0 && t->o->max_analyzed_offset <= h->max_offset)) {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "The length [%lld] of field [%.*s] in doc[%u]/index[%.*s] exceeds the "
                   "[index.highlight.max_analyzed_offset] limit [%lld]. To avoid this error, set the query "
                   "parameter [max_analyzed_offset] to a value less than index setting [%lld] and this will "
                   "tolerate long field values by truncating them.",
                   (long long)longest, STR_ARG(t->key), (unsigned)doc, STR_ARG(h->index_name),
                   (long long)h->max_offset, (long long)h->max_offset);
}

/* The vector highlighter finds nothing in a list by the name of a multi-field. */
static bool is_list(const struct json *source, struct str path)
{
    while (source != NULL && path.p != NULL && source->type == JSON_OBJECT) {
        const struct json *whole = json_get_str(source, path);
        source = whole != NULL ? whole : json_get_str(source, str_cut(path, '.', &path));
        if (whole != NULL) {
            break;
        }
    }
    return source != NULL && source->type == JSON_ARRAY;
}

/* Whether the words' places are read from the index, where those of a nested document are not the hit's. */
static bool reads_places(const struct hl_target *t)
{
    if (str_is(t->o->type, "unified")) {
        bool postings = t->field->options == INDEX_OFFSETS && t->terms.n_multis == 0;
        return t->field->class->is_analysed && (postings || hl_fvh_can(t->field));
    }
    return str_is(t->o->type, "fvh");
}

static enum err one_field(struct hl_fragments *out, const struct highlighter *h, const struct hl_target *t,
                          doc_id doc, const struct json *source, struct errmsg *em)
{
    bool elsewhere = t->field->nested != h->cx->nested, unified = str_is(t->o->type, "unified");
    if (t->field->store && elsewhere && !t->o->force_source) {
        return hl_fvh_check(t, em); /* stored values are read from the hit itself, which has none of them */
    }
    struct hl_target without = *t;
    if (elsewhere && reads_places(t)) {
        memset(&without.terms, 0, sizeof(without.terms));
        memset(&without.by_text, 0, sizeof(without.by_text));
        t = &without;
    }
    const struct hl_terms *terms = &t->terms;
    if (unified && t->o->scanner == SCANNER_CHARS && t->o->number_of_fragments != 0
        && t->field->class->is_analysed) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Invalid boundary scanner type: chars");
    }
    if (unified && t->o->no_match_size <= 0
        && terms->n_terms + terms->n_multis + terms->n_phrases + terms->n_spans == 0) {
        return ERR_OK;
    }
    if (t->o->pre_tags.n == 0 || t->o->post_tags.n == 0) {
        return err_set(em, ERR_ARRAY_BOUNDS, "Index 0 out of bounds for length 0");
    }
    struct hl_text x;
    enum err e = hl_fvh_check(t, em);
    if (e == ERR_OK && str_is(t->o->type, "fvh") && t->field->is_multi_field && t->n_paths > 0
        && is_list(source, t->paths[0])) {
        return ERR_OK;
    }
    e = e == ERR_OK ? hl_text_load(&x, t, source, out->arena, em) : e;
    if (e != ERR_OK || x.n_values == 0) {
        return e;
    }
    e = check_length(h, t, &x, doc, em);
    e = e == ERR_OK ? hl_text_analyse(&x, t, out->arena, em) : e;
    return e == ERR_OK ? highlighter_of(t->o->type)(out, t, &x, out->arena, em) : e;
}

enum err highlight_doc(struct highlighter *h, UNUSED const struct leaf *leaf, doc_id doc,
                       const struct json *source, struct arena *arena, struct jsonw *w, bool *any,
                       struct errmsg *em)
{
    *any = false;
    for (const struct hl_target *t = h->targets; t != NULL && source != NULL; t = t->next) {
        struct hl_fragments found = {.arena = arena};
        enum err e = one_field(&found, h, t, doc, source, em);
        if (e != ERR_OK) {
            return e;
        }
        if (found.n == 0) {
            continue;
        }
        if (!*any) {
            jw_obj(w);
            *any = true;
        }
        jw_key(w, t->key);
        jw_arr(w);
        for (size_t i = 0; i < found.n; i++) {
            jw_str(w, found.v[i]);
        }
        jw_arr_end(w);
    }
    if (*any) {
        jw_obj_end(w);
    }
    return ERR_OK;
}
