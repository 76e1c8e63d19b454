/* The "highlight" section: options of the request and of every field, refused and reported as Elasticsearch's
 * ObjectParser does it. */
#include "engine/query/highlight_spec.h"

#include "engine/query/query.h"

#include "common/base/jsonr.h"

#include <stddef.h>

enum option_kind {
    O_INT,
    O_BOOL,
    O_TEXT,
    O_TEXTS,
    O_ORDER,
    O_SCANNER,
    O_ENCODER,
    O_SCHEMA,
    O_QUERY,
    O_OBJECT,
    O_FIELDS
};
enum { FOR_REQUEST = 1, FOR_FIELD = 2, FOR_BOTH = 3 };

struct option {
    const char *name;
    enum option_kind kind;
    unsigned where;
    size_t offset; /* in hl_options; SIZE_MAX: checked, not kept */
};

#define AT(member) offsetof(struct hl_options, member)

static const struct option options[] = {
    {"pre_tags", O_TEXTS, FOR_BOTH, AT(pre_tags)},
    {"post_tags", O_TEXTS, FOR_BOTH, AT(post_tags)},
    {"order", O_ORDER, FOR_BOTH, AT(score_ordered)},
    {"highlight_filter", O_BOOL, FOR_BOTH, SIZE_MAX},
    {"fragment_size", O_INT, FOR_BOTH, AT(fragment_size)},
    {"number_of_fragments", O_INT, FOR_BOTH, AT(number_of_fragments)},
    {"require_field_match", O_BOOL, FOR_BOTH, AT(require_field_match)},
    {"boundary_scanner", O_SCANNER, FOR_BOTH, AT(scanner)},
    {"boundary_max_scan", O_INT, FOR_BOTH, AT(boundary_max_scan)},
    {"boundary_chars", O_TEXT, FOR_BOTH, AT(boundary_chars)},
    {"boundary_scanner_locale", O_TEXT, FOR_BOTH, SIZE_MAX},
    {"type", O_TEXT, FOR_BOTH, AT(type)},
    {"fragmenter", O_TEXT, FOR_BOTH, AT(fragmenter)},
    {"no_match_size", O_INT, FOR_BOTH, AT(no_match_size)},
    {"force_source", O_BOOL, FOR_BOTH, AT(force_source)},
    {"phrase_limit", O_INT, FOR_BOTH, AT(phrase_limit)},
    {"options", O_OBJECT, FOR_BOTH, SIZE_MAX},
    {"highlight_query", O_QUERY, FOR_BOTH, AT(query)},
    {"max_analyzed_offset", O_INT, FOR_BOTH, AT(max_analyzed_offset)},
    {"tags_schema", O_SCHEMA, FOR_REQUEST, SIZE_MAX},
    {"encoder", O_ENCODER, FOR_REQUEST, AT(html)},
    {"fields", O_FIELDS, FOR_REQUEST, SIZE_MAX},
    {"fragment_offset", O_INT, FOR_FIELD, AT(fragment_offset)},
    {"matched_fields", O_TEXTS, FOR_FIELD, AT(matched_fields)},
};
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

struct parse {
    struct str text;
    struct arena *arena;
    struct errmsg *em;
    struct hl_options request;
    struct hl_field *fields;
    uint32_t n_fields;
    size_t fail_off; /* where the innermost refusal stood */
};

static bool kind_takes(enum option_kind kind, enum json_type type)
{
    switch (kind) {
    case O_INT:
        return type == JSON_NUMBER || type == JSON_STRING;
    case O_BOOL:
        return type == JSON_BOOL || type == JSON_STRING;
    case O_TEXTS:
        return type == JSON_ARRAY || type == JSON_STRING;
    case O_QUERY:
    case O_OBJECT:
        return type == JSON_OBJECT;
    case O_FIELDS:
        return type == JSON_OBJECT || type == JSON_ARRAY;
    case O_TEXT:
    case O_ORDER:
    case O_ENCODER:
    case O_SCANNER:
    case O_SCHEMA:
        break;
    }
    return type == JSON_STRING;
}

static enum err parse_texts(struct parse *p, const struct json *v, struct hl_strings *out)
{
    for (uint32_t i = 0; v->type == JSON_ARRAY && i < v->n; i++) {
        if (json_text(&v->items[i]).p == NULL) {
            p->fail_off = v->items[i].off;
            return err_set(p->em, ERR_ILLEGAL_STATE, "Can't get text on a %s", json_token_name(&v->items[i]));
        }
    }
    return jr_strings(v, p->arena, &out->v, &out->n) ? ERR_OK : err_no_memory(p->em);
}

static enum err parse_scanner(struct parse *p, const struct json *v, enum hl_scanner *out)
{
    static const char *const names[] = {"chars", "sentence", "word"};
    for (unsigned i = 0; i < 3; i++) {
        if (str_eq_nocase(v->s, str_of(names[i]))) {
            *out = (enum hl_scanner)i;
            return ERR_OK;
        }
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "No enum constant HighlightBuilder.BoundaryScannerType.%.*s",
                   STR_ARG(v->s));
}

static const struct str plain_pre[] = {{"<em>", 4}}, plain_post[] = {{"</em>", 5}};
static const struct str styled_pre[] = {{"<em class=\"hlt1\">", 17}, {"<em class=\"hlt2\">", 17},
                                        {"<em class=\"hlt3\">", 17}, {"<em class=\"hlt4\">", 17},
                                        {"<em class=\"hlt5\">", 17}, {"<em class=\"hlt6\">", 17},
                                        {"<em class=\"hlt7\">", 17}, {"<em class=\"hlt8\">", 17},
                                        {"<em class=\"hlt9\">", 17}, {"<em class=\"hlt10\">", 18}};

static unsigned option_number(const char *name)
{
    for (unsigned i = 0; i < N_OPTIONS; i++) {
        if (strcmp(options[i].name, name) == 0) {
            return i;
        }
    }
    return 63;
}

static enum err parse_schema(struct parse *p, const struct json *v, struct hl_options *o)
{
    if (str_is(v->s, "styled")) {
        o->pre_tags = (struct hl_strings){styled_pre, 10};
    } else if (str_is(v->s, "default")) {
        o->pre_tags = (struct hl_strings){plain_pre, 1};
    } else {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Unknown tag schema [%.*s]", STR_ARG(v->s));
    }
    o->post_tags = (struct hl_strings){plain_post, 1};
    o->set |= 1ULL << option_number("pre_tags") | 1ULL << option_number("post_tags");
    return ERR_OK;
}

static enum err parse_int(struct parse *p, const struct option *row, const struct json *v, int32_t *out)
{
    int64_t wide;
    if (v->type == JSON_NUMBER && json_i64(v, &wide) && (wide < INT32_MIN || wide > INT32_MAX)) {
        return err_set(p->em, ERR_INPUT_COERCION, "Numeric value (%lld) out of range of int (%d - %d)",
                       (long long)wide, INT32_MIN, INT32_MAX);
    }
    enum err e = jr_int(v, out, p->em);
    if (e == ERR_OK && row->offset == AT(max_analyzed_offset) && *out <= 0) {
        e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[max_analyzed_offset] must be a positive integer");
    }
    return e;
}

static enum err parse_fields(struct parse *p, const struct json *v);

static enum err parse_query(struct parse *p, const struct json *v)
{
    size_t at = v->off;
    enum err e = query_check(v, p->text, &at, p->arena, p->em);
    p->fail_off = (uint32_t)at;
    return e;
}

static enum err parse_value(struct parse *p, const struct option *row, const struct json *v,
                            struct hl_options *o)
{
    void *to = row->offset == SIZE_MAX ? NULL : (char *)o + row->offset;
    bool flag;
    int32_t number;
    enum err e = ERR_OK;
    switch (row->kind) {
    case O_INT:
        e = parse_int(p, row, v, &number);
        if (e == ERR_OK) {
            memcpy(to, &number, sizeof(number));
        }
        return e;
    case O_BOOL:
        e = jr_bool(v, &flag, p->em);
        if (e == ERR_OK && to != NULL) {
            memcpy(to, &flag, sizeof(flag));
        }
        return e;
    case O_TEXT:
        if (to != NULL) {
            memcpy(to, &v->s, sizeof(v->s));
        }
        return ERR_OK;
    case O_TEXTS:
        return parse_texts(p, v, to);
    case O_ORDER:
        o->score_ordered = str_eq_nocase(v->s, STR("score"));
        return ERR_OK;
    case O_ENCODER:
        o->html = str_is(v->s, "html");
        return ERR_OK;
    case O_SCANNER:
        return parse_scanner(p, v, &o->scanner);
    case O_SCHEMA:
        return parse_schema(p, v, o);
    case O_QUERY:
        o->query = v;
        return parse_query(p, v);
    case O_FIELDS:
        return parse_fields(p, v);
    case O_OBJECT: /* options that have no effect */
        break;
    }
    return ERR_OK;
}

/* The members of the request's or of one field's object. `parser` names it in refusals. */
static enum err parse_options(struct parse *p, const struct json *v, unsigned where, const char *parser,
                              struct hl_options *o)
{
    const char *names[N_OPTIONS + 1];
    unsigned n_names = 0;
    for (unsigned i = 0; i < N_OPTIONS; i++) {
        if ((options[i].where & where) != 0) {
            names[n_names++] = options[i].name;
        }
    }
    names[n_names] = NULL;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        unsigned row = 0;
        while (row < N_OPTIONS && !((options[row].where & where) != 0 && str_is(m->key, options[row].name))) {
            row++;
        }
        p->fail_off = m->value.off;
        if (row == N_OPTIONS) {
            return jr_unknown_field(p->text, m->key_off, parser, m->key, names, p->em);
        }
        if (!kind_takes(options[row].kind, m->value.type)) {
            return jr_fail_xc(p->text, m->value.off, p->em, "[%s] %.*s doesn't support values of type: %s",
                              parser, STR_ARG(m->key), json_token_name(&m->value));
        }
        enum err e = parse_value(p, &options[row], &m->value, o);
        if (e == ERR_NO_MEMORY) {
            return e;
        }
        if (e != ERR_OK) {
            return jr_wrap_field(p->text, p->fail_off, parser, m->key, p->em);
        }
        o->set |= 1ULL << row;
    }
    uint64_t tags = o->set & (1ULL << option_number("pre_tags") | 1ULL << option_number("post_tags"));
    if (tags == 1ULL << option_number("pre_tags")) {
        p->fail_off = v->end > 0 ? v->end - 1 : 0;
        return jr_fail(p->text, p->fail_off, p->em, "pre_tags are set but post_tags are not set");
    }
    return ERR_OK;
}

static enum err parse_field(struct parse *p, const struct json_member *m)
{
    struct hl_field *f = &p->fields[p->n_fields];
    f->name = m->key;
    p->fail_off = m->value.off;
    if (m->value.type != JSON_OBJECT) {
        enum err e =
            jr_fail_xc(p->text, m->value.off, p->em, "[highlight_field] Expected START_OBJECT but was: %s",
                       json_token_name(&m->value));
        return e == ERR_NO_MEMORY ? e : jr_wrap_field(p->text, p->fail_off, "fields", m->key, p->em);
    }
    enum err e = parse_options(p, &m->value, FOR_FIELD, "highlight_field", &f->o);
    if (e == ERR_NO_MEMORY) {
        return e;
    }
    if (e != ERR_OK) {
        return jr_wrap_field(p->text, p->fail_off, "fields", m->key, p->em);
    }
    p->n_fields++;
    return ERR_OK;
}

static enum err not_one_field(struct parse *p, uint32_t off)
{
    p->fail_off = off;
    return jr_fail_xc(
        p->text, off, p->em,
        "[fields] can be a single object with any number of fields or an array where each entry "
        "is an object with a single field");
}

/* An object of fields, or an array of objects with one field each, which keeps their order. */
static enum err parse_fields(struct parse *p, const struct json *v)
{
    p->n_fields = 0;
    p->fields = ARENA_ARRAY(p->arena, struct hl_field, v->n);
    if (p->fields == NULL) {
        return err_no_memory(p->em);
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < v->n && e == ERR_OK; i++) {
        const struct json *one = v->type == JSON_ARRAY ? &v->items[i] : NULL;
        if (one != NULL && (one->type != JSON_OBJECT || one->n == 0)) {
            return not_one_field(p, one->type == JSON_OBJECT ? one->end - 1 : one->off);
        }
        e = parse_field(p, one != NULL ? &one->members[0] : &v->members[i]);
        if (e == ERR_OK && one != NULL && one->n > 1) {
            return not_one_field(p, one->members[1].key_off);
        }
    }
    return e;
}

/* ---- a field's options, the request's behind them, then the defaults ----------------------------------- */

static const struct hl_options defaults = {
    .pre_tags = {plain_pre, 1},
    .post_tags = {plain_post, 1},
    .fragment_size = 100,
    .number_of_fragments = 5,
    .fragment_offset = -1,
    .boundary_max_scan = 20,
    .phrase_limit = 256,
    .require_field_match = true,
    .scanner = SCANNER_SENTENCE,
    .boundary_chars = {".,!? \t\n", 7},
    .type = {"unified", 7},
};

static void inherit(struct hl_options *o, const struct hl_options *request)
{
    static const size_t sizes[] = {[O_INT] = sizeof(int32_t),
                                   [O_BOOL] = sizeof(bool),
                                   [O_TEXT] = sizeof(struct str),
                                   [O_TEXTS] = sizeof(struct hl_strings),
                                   [O_ORDER] = sizeof(bool),
                                   [O_SCANNER] = sizeof(enum hl_scanner),
                                   [O_ENCODER] = sizeof(bool),
                                   [O_QUERY] = sizeof(const struct json *),
                                   [O_OBJECT] = 0,
                                   [O_FIELDS] = 0,
                                   [O_SCHEMA] = 0};
    for (unsigned i = 0; i < N_OPTIONS; i++) {
        if ((o->set >> i & 1) != 0 || options[i].offset == SIZE_MAX) {
            continue;
        }
        const struct hl_options *from = (request->set >> i & 1) != 0 ? request : &defaults;
        memcpy((char *)o + options[i].offset, (const char *)from + options[i].offset, sizes[options[i].kind]);
    }
    o->set |= request->set;
}

enum err highlight_parse(const struct highlight_spec **out, const struct json *highlight, struct str text,
                         struct arena *arena, struct errmsg *em)
{
    ERR_LOCAL(own);
    struct parse p = {.text = text, .arena = arena, .em = em != NULL ? em : &own};
    enum err e = parse_options(&p, highlight, FOR_REQUEST, "highlight", &p.request);
    if (e != ERR_OK) {
        return e;
    }
    struct highlight_spec *spec = ARENA_NEW(arena, struct highlight_spec);
    if (spec == NULL) {
        return err_no_memory(p.em);
    }
    for (uint32_t i = 0; i < p.n_fields; i++) {
        inherit(&p.fields[i].o, &p.request);
    }
    spec->fields = p.fields;
    spec->n = p.n_fields;
    spec->query = p.request.query;
    *out = spec;
    return ERR_OK;
}
