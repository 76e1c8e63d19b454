/* The _analyze endpoint: which analyzer the request means, and what is printed. */
#include "common/base/memory_account.h"
#include "common/base/utf8.h"
#include "engine/analysis/analyze_int.h"

/* The settings of a definition, all of them: flat, and sorted by name. */
static void write_flat(struct jsonw *w, const struct settings *s)
{
    jw_obj(w);
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *t = &s->v[i];
        jw_key(w, t->key);
        if (t->is_null) {
            jw_null(w);
            continue;
        }
        if (!t->is_list) {
            jw_str(w, t->value);
            continue;
        }
        jw_arr(w);
        for (uint32_t k = 0; k < t->n; k++) {
            jw_str(w, t->items[k]);
        }
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

static enum err missing_type(const char *component, const struct settings *s, struct errmsg *em)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, ERR_REASON_MAX);
    jsonw_init(&w, &b, false);
    write_flat(&w, s);
    enum err e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Missing [type] setting for anonymous %s: %.*s", component,
                         (int)b.n, b.n > 0 ? b.p : "");
    buf_fini(&b);
    return e;
}

/* A part by name or by its definition. */
static enum err resolve(const void **out, struct str *shown, enum part_kind kind, const struct json *v,
                        const struct analyze_request *r, const struct part_builder *b, struct errmsg *em)
{
    const char *component = part_kind_name(kind);
    enum err e;
    if (v->type == JSON_STRING) {
        *shown = v->s;
        e = part_by_name(out, kind, v->s, b, em);
        if (e == ERR_OK && *out == NULL) {
            e = part_not_found(kind, v->s, b, em);
        }
        return e;
    }
    struct settings s;
    settings_init(&s, r->arena);
    e = settings_from_json(&s, v, STR(""), em);
    if (e != ERR_OK) {
        return e;
    }
    struct str type = part_type(&s, r->arena);
    if (type.p == NULL) {
        return missing_type(component, &s, em);
    }
    *shown = arena_printf(r->arena, "__anonymous__%.*s", STR_ARG(type));
    if (shown->p == NULL) {
        return err_no_memory(em);
    }
    bool known;
    e = part_new(out, kind, type, *shown, &s, b, &known, em);
    if (e == ERR_OK && !known) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "failed to find global %s under [%.*s]", component,
                    STR_ARG(type));
    }
    return e;
}

static enum err build_custom(const struct analyzer **out, const struct analyze_request *r, struct errmsg *em)
{
    struct part_builder b = {.a = r->cx->analysis,
                             .arena = r->arena,
                             .env = &r->env,
                             .bare = r->cx->has_index ? BARE_IN_INDEX : BARE_WITHOUT_INDEX};
    struct chain c;
    const struct json keyword = json_mk_str(STR("keyword"));
    const void *part;
    struct str name;
    chain_init(&c, &b, STR("__custom__"));
    c.an.is_custom = true;
    enum err e =
        resolve(&part, &name, PART_TOKENIZER, r->tokenizer != NULL ? r->tokenizer : &keyword, r, &b, em);
    if (e != ERR_OK) {
        return e;
    }
    c.an.tokenizer = part;
    c.an.tokenizer_name = name;
    for (size_t i = 0; i < r->n_char_filters && e == ERR_OK; i++) {
        e = resolve(&part, &name, PART_CHAR_FILTER, &r->char_filters[i], r, &b, em);
        e = e == ERR_OK ? chain_add_char_filter(&c, part, name, em) : e;
    }
    bool normalizer = r->tokenizer == NULL;
    for (size_t i = 0; i < r->n_filters && e == ERR_OK; i++) {
        e = resolve(&part, &name, PART_TOKEN_FILTER, &r->filters[i], r, &b, em);
        if (e == ERR_OK && normalizer && ((const struct token_filter *)part)->normal == NULL) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Custom normalizer may not use filter [%.*s]",
                        STR_ARG(name));
        }
        e = e == ERR_OK ? chain_add_filter(&c, part, name, em) : e;
    }
    return e == ERR_OK ? chain_end(&c, out, em) : e;
}

static enum err analyzer_of_field(const struct analyzer **out, struct analyze_request *r, struct errmsg *em)
{
    const struct analyze_context *cx = r->cx;
    if (!cx->has_index) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "analysis based on a specific field requires an index");
    }
    switch (cx->field_analyzer != NULL ? cx->field_analyzer(cx->self, r->field, out) : FIELD_UNMAPPED) {
    case FIELD_UNMAPPED:
        *out = analysis_default(cx->analysis);
        break;
    case FIELD_WHOLE:
        *out = analysis_analyzer(cx->analysis, STR("keyword"));
        r->whole_field = true;
        break;
    case FIELD_NO_ANALYZER:
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No analyzer configured for field %.*s", STR_ARG(r->field));
    case FIELD_NO_TEXT:
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Can't process field [%.*s], Analysis requests are only supported on tokenized fields",
                       STR_ARG(r->field));
    case FIELD_ANALYZED:
        break;
    }
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

static enum err choose(const struct analyzer **out, struct str *shown, struct analyze_request *r,
                       struct errmsg *em)
{
    const struct analyze_context *cx = r->cx;
    if (r->tokenizer != NULL || r->n_filters > 0 || r->n_char_filters > 0) {
        return build_custom(out, r, em);
    }
    enum err e = ERR_OK;
    if (r->analyzer.p != NULL) {
        *out = analysis_analyzer(cx->analysis, r->analyzer);
        *shown = r->analyzer;
        e = *out == NULL ? analyzer_not_built(r->analyzer, em) : ERR_OK;
        return *out != NULL || e != ERR_OK
                   ? e
                   : err_set(em, ERR_ILLEGAL_ARGUMENT, "failed to find %sanalyzer [%.*s]",
                             cx->has_index ? "" : "global ", STR_ARG(r->analyzer));
    }
    if (r->normalizer.p != NULL) {
        *out = analysis_normalizer(cx->analysis, r->normalizer);
        *shown = r->normalizer;
        return *out != NULL ? ERR_OK
                            : err_set(em, ERR_ILLEGAL_ARGUMENT, "failed to find normalizer under [%.*s]",
                                      STR_ARG(r->normalizer));
    }
    if (r->field.p != NULL) {
        e = analyzer_of_field(out, r, em);
    } else {
        *out = analysis_default(cx->analysis);
    }
    if (e == ERR_OK) {
        bool nameless = !cx->has_index && *out == analysis_default(cx->analysis);
        *shown = r->whole_field ? STR("_keyword") : nameless ? STR("standard") : (*out)->name;
    }
    return e;
}

/* How filters meet their tokens (token_list.first_use): those of an index's analyzer have had some; an
 * analyzer given in the request gets its first; explaining builds the filters anew for each text. */
enum filter_use { USE_LATER, USE_FIRST, USE_ALWAYS_FIRST };

/* What is printed of one stage. */
struct listing {
    enum filter_use use;
    const struct analyze_request *r;
    struct jsonw *w;
    bool attributes; /* explain */
    bool shows_keyword, hides_frequency;
    int32_t gap;
    /* where the texts before ended */
    int64_t position, offset;
    int64_t count;
};

static bool wants(const struct analyze_request *r, const char *attribute)
{
    if (r->n_attributes == 0) {
        return true;
    }
    for (size_t i = 0; i < r->n_attributes; i++) {
        if (str_eq_nocase(r->attributes[i], str_of(attribute))) {
            return true;
        }
    }
    return false;
}

static void write_bytes(struct jsonw *w, struct str s)
{
    struct buf b;
    memory_request_buf(&b);
    buf_char(&b, '[');
    for (size_t i = 0; i < s.n; i++) {
        buf_printf(&b, "%s%x", i > 0 ? " " : "", (unsigned)(unsigned char)s.p[i]);
    }
    buf_char(&b, ']');
    jw_kstr(w, "bytes", buf_view(&b));
    if (b.failed) {
        w->out->failed = true;
    }
    buf_fini(&b);
}

static void write_attributes(struct listing *g, const struct token *t)
{
    if (wants(g->r, "bytes")) {
        write_bytes(g->w, t->text);
    }
    if (g->shows_keyword && wants(g->r, "keyword")) {
        jw_kbool(g->w, "keyword", t->keyword);
    }
    if (wants(g->r, "positionLength") && t->pos_len <= 1) {
        jw_ki64(g->w, "positionLength", t->pos_len);
    }
    if (!g->hides_frequency && wants(g->r, "termFrequency")) {
        jw_ki64(g->w, "termFrequency", 1);
    }
}

/* Walks a text forward, turning byte offsets into UTF-16 units; tokens mostly come in order. */
struct unit_cursor {
    struct str text;
    size_t at;
    int64_t units;
};

static int64_t units_of(struct unit_cursor *c, size_t byte)
{
    while (byte < c->at) { /* grams begin a little before the end of the one before */
        c->units -= utf8_prev(c->text, &c->at) >= 0x10000 ? 2 : 1;
    }
    while (c->at < byte && c->at < c->text.n) {
        c->units += utf8_next(c->text, &c->at) >= 0x10000 ? 2 : 1;
    }
    return c->units;
}

static enum err write_tokens(struct listing *g, struct str text, const struct token_list *l,
                             struct errmsg *em)
{
    struct unit_cursor starts = {.text = text}, ends = {.text = text};
    int64_t max = g->r->cx->max_token_count;
    for (size_t i = 0; token_next(l, i); i++) {
        const struct token *t = &l->v[i];
        g->position += t->pos_inc > 0 ? t->pos_inc : 0;
        if (++g->count > max) {
            return err_set(em, ERR_ILLEGAL_STATE,
                           "The number of tokens produced by calling _analyze has exceeded the allowed "
                           "maximum of [%lld]. This limit "
                           "can be set by changing the [index.analyze.max_token_count] index level setting.",
                           (long long)max);
        }
        jw_obj(g->w);
        jw_kstr(g->w, "token", t->text);
        jw_ki64(g->w, "start_offset", g->offset + units_of(&starts, t->start));
        jw_ki64(g->w, "end_offset", g->offset + units_of(&ends, t->end));
        jw_kz(g->w, "type", t->type);
        jw_ki64(g->w, "position", g->position);
        if (t->pos_len > 1) {
            jw_ki64(g->w, "positionLength", t->pos_len);
        }
        if (g->attributes) {
            write_attributes(g, t);
        }
        jw_obj_end(g->w);
    }
    g->offset += units_of(&ends, l->end_offset) + 1;
    g->position += l->end_pos_inc + g->gap;
    return ERR_OK;
}

/* The tokens of all texts behind `stages` of the analyzer's filters, as an array. */
static enum err write_stage(struct listing *g, const struct analyzer *an, size_t stages, struct errmsg *em)
{
    const struct analyze_request *r = g->r;
    g->position = -1;
    g->offset = g->count = 0;
    enum err e = ERR_OK;
    jw_karr(g->w, "tokens");
    bool first_use = g->use != USE_LATER;
    for (size_t i = 0; i < r->n_texts && e == ERR_OK; i++) {
        struct token_list l;
        token_list_init(&l, r->arena);
        l.first_use = first_use;
        e = analyzer_run_stages(an, r->texts[i], stages, &l, em);
        first_use = g->use == USE_ALWAYS_FIRST || (first_use && l.n == 0);
        e = e == ERR_OK ? write_tokens(g, r->texts[i], &l, em) : e;
    }
    jw_arr_end(g->w);
    return e;
}

static enum err write_char_filters(const struct analyze_request *r, const struct analyzer *an,
                                   struct jsonw *w, struct errmsg *em)
{
    jw_karr(w, "charfilters");
    for (size_t i = 0; i < an->n_char_filters; i++) {
        jw_obj(w);
        jw_kstr(w, "name", an->char_filter_names[i]);
        jw_karr(w, "filtered_text");
        for (size_t t = 0; t < r->n_texts; t++) {
            struct filtered_text filtered;
            enum err e = analyzer_filter_text(an, r->texts[t], i + 1, r->arena, &filtered, em);
            if (e != ERR_OK) {
                return e;
            }
            jw_str(w, filtered.text);
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    return ERR_OK;
}

static enum err explain_custom(struct listing *g, const struct analyzer *an, struct errmsg *em)
{
    struct jsonw *w = g->w;
    enum err e = write_char_filters(g->r, an, w, em);
    if (e != ERR_OK) {
        return e;
    }
    g->use = USE_ALWAYS_FIRST;
    jw_kobj(w, "tokenizer");
    jw_kstr(w, "name", an->tokenizer_name);
    e = write_stage(g, an, 0, em);
    jw_obj_end(w);
    jw_karr(w, "tokenfilters");
    for (size_t i = 0; i < an->n_filters && e == ERR_OK; i++) {
        g->shows_keyword |= an->filters[i]->shows_keyword;
        jw_obj(w);
        jw_kstr(w, "name", an->filter_names[i]);
        e = write_stage(g, an, i + 1, em);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    return e;
}

static enum err explain(struct listing *g, const struct analyzer *an, struct str shown, bool inlined,
                        struct errmsg *em)
{
    struct jsonw *w = g->w;
    bool custom = an->is_custom;
    enum err e;
    g->attributes = true;
    g->hides_frequency = an->tokenizer != NULL && an->tokenizer->hides_frequency;
    jw_kobj(w, "detail");
    jw_kbool(w, "custom_analyzer", custom);
    if (custom) {
        g->gap = inlined ? 0 : g->gap;
        e = explain_custom(g, an, em);
    } else {
        for (size_t i = 0; i < an->n_filters; i++) {
            g->shows_keyword |= an->filters[i]->shows_keyword;
        }
        jw_kobj(w, "analyzer");
        jw_k(w, "name");
        if (!g->r->cx->has_index && str_starts(shown, STR("ik_"))) {
            jw_null(w); /* the plugin's own class, which has no name outside of an index */
        } else {
            jw_str(w, shown);
        }
        e = write_stage(g, an, an->n_filters, em);
        jw_obj_end(w);
    }
    jw_obj_end(w);
    return e;
}

/* Elasticsearch runs the empty text through an analyzer that it builds. Where that makes a token (keyword),
 * the filters have had their first one. */
static bool is_unused(const struct analyze_request *r, const struct analyzer *an)
{
    struct token_list l;
    token_list_init(&l, r->arena);
    return analyzer_run_stages(an, STR(""), 0, &l, NULL) == ERR_OK && l.n == 0;
}

static enum err respond(const struct analyze_request *r, const struct analyzer *an, struct str shown,
                        struct jsonw *w, struct errmsg *em)
{
    bool inlined = r->tokenizer != NULL || r->n_filters > 0 || r->n_char_filters > 0;
    int32_t gap = an->position_increment_gap;
    if (an->is_normalizer || r->whole_field || (!r->cx->has_index && !inlined)) {
        gap = 0;
    }
    struct listing g = {
        .r = r, .w = w, .gap = gap, .use = inlined && is_unused(r, an) ? USE_FIRST : USE_LATER};
    jw_obj(w);
    enum err e = r->explain ? explain(&g, an, shown, inlined, em) : write_stage(&g, an, an->n_filters, em);
    jw_obj_end(w);
    return e == ERR_OK && w->out->failed ? err_no_memory(em) : e;
}

enum err analyze_check(const struct analyze_context *cx, const struct json *body, struct arena *arena,
                       struct errmsg *em)
{
    struct analyze_request r = {.cx = cx, .arena = arena};
    return analyze_parse(&r, body, em);
}

enum err analyze_request(const struct analyze_context *cx, const struct json *body, struct arena *arena,
                         struct jsonw *w, struct errmsg *em)
{
    struct analyze_request r = {.cx = cx, .arena = arena, .env = cx->analysis->env};
    r.env.cleanups = &r.cleanups;
    const struct analyzer *an = NULL;
    struct str shown = STR_NULL;
    enum err e = analyze_parse(&r, body, em);
    e = e == ERR_OK ? choose(&an, &shown, &r, em) : e;
    e = e == ERR_OK ? respond(&r, an, shown, w, em) : e;
    cleanups_run(&r.cleanups);
    return e;
}
