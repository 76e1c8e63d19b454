/* The suggest section as it is written. */
#include "engine/analysis/simple_regex.h"
#include "engine/suggest/suggest_int.h"

/* ---- the completion suggester ---- */

static enum err read_size(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct completion_suggestion *s = base;
    enum err e = json_pull_i32(p, &s->common.size, em);
    return e == ERR_OK && s->common.size <= 0 ? err_set(em, ERR_ILLEGAL_ARGUMENT, "size must be positive")
                                              : e;
}

static enum err read_fuzziness(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct completion_suggestion *s = base;
    struct fuzziness *f = &s->fuzzy.fuzziness;
    uint32_t edits = 1;
    enum err e = fuzziness_parse(p, f, em);
    if (e == ERR_OK && !f->automatic) {
        e = fuzziness_distance(f, STR_NULL, &edits, em);
    }
    if (f->automatic) { /* set before any text is known: as if that had five letters */
        edits = 5 < f->low ? 0 : 5 < f->high ? 1 : 2;
    }
    s->fuzzy.edits = (int32_t)edits;
    return e;
}

static enum err not_negative(struct json_pull *p, int32_t *to, const char *name, struct errmsg *em)
{
    enum err e = json_pull_i32(p, to, em);
    return e == ERR_OK && *to < 0 ? err_set(em, ERR_ILLEGAL_ARGUMENT, "%s must not be negative", name) : e;
}

static enum err read_min_length(struct json_pull *p, UNUSED struct arena *arena, void *base,
                                struct errmsg *em)
{
    return not_negative(p, &((struct completion_suggestion *)base)->fuzzy.min_length, "fuzzyMinLength", em);
}

static enum err read_prefix_length(struct json_pull *p, UNUSED struct arena *arena, void *base,
                                   struct errmsg *em)
{
    return not_negative(p, &((struct completion_suggestion *)base)->fuzzy.prefix_length, "fuzzyPrefixLength",
                        em);
}

static enum err read_fuzzy_states(struct json_pull *p, UNUSED struct arena *arena, void *base,
                                  struct errmsg *em)
{
    return not_negative(p, &((struct completion_suggestion *)base)->fuzzy.max_states, "maxDeterminizedStates",
                        em);
}

static const struct object_field fuzzy_fields[] = {
    {"min_length", OBJ_STRING | OBJ_NUMBER, PARAM_INT, 0, read_min_length},
    {"max_determinized_states", OBJ_STRING | OBJ_NUMBER, PARAM_INT, 0, read_fuzzy_states},
    {"unicode_aware", OBJ_STRING | OBJ_BOOLEAN, PARAM_BOOL,
     offsetof(struct completion_suggestion, fuzzy.unicode), NULL},
    {"prefix_length", OBJ_STRING | OBJ_NUMBER, PARAM_INT, 0, read_prefix_length},
    {"transpositions", OBJ_STRING | OBJ_BOOLEAN, PARAM_BOOL,
     offsetof(struct completion_suggestion, fuzzy.transpositions), NULL},
    {"fuzziness", OBJ_STRING | OBJ_NUMBER | OBJ_BOOLEAN, PARAM_INT, 0, read_fuzziness},
};

static enum err read_fuzzy(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    struct completion_suggestion *s = base;
    if (p->token == TOK_BOOLEAN) {
        return json_pull_bool(p, &s->has_fuzzy, em);
    }
    s->has_fuzzy = true;
    return dsl_parse_object(p, arena, "fuzzy", fuzzy_fields, ARRAY_LEN(fuzzy_fields), s, em);
}

static enum err read_flags(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct completion_suggestion *s = base;
    if (p->token == TOK_NUMBER) {
        int32_t v;
        enum err e = json_pull_i32(p, &v, em);
        s->regex_flags = (uint32_t)v;
        return e == ERR_OK && v < 0 ? err_set(em, ERR_ILLEGAL_ARGUMENT, "flagsValue must not be negative")
                                    : e;
    }
    if (p->token != TOK_STRING) {
        return err_set(em, ERR_PARSE, "regex flags must be string or number");
    }
    struct str unknown;
    bool known = regexp_flags_parse(p->value->s, &s->regex_flags, &unknown);
    return known ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown regexp flag [%.*s]", STR_ARG(unknown));
}

static enum err read_regex_states(struct json_pull *p, UNUSED struct arena *arena, void *base,
                                  struct errmsg *em)
{
    return not_negative(p, &((struct completion_suggestion *)base)->regex_max_states, "maxDeterminizedStates",
                        em);
}

static const struct object_field regex_fields[] = {
    {"max_determinized_states", OBJ_STRING | OBJ_NUMBER, PARAM_INT, 0, read_regex_states},
    {"flags", OBJ_STRING | OBJ_NUMBER | OBJ_BOOLEAN, PARAM_INT, 0, read_flags},
};

static enum err read_regex(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    return dsl_parse_object(p, arena, "regex", regex_fields, ARRAY_LEN(regex_fields), base, em);
}

static enum err read_contexts(struct json_pull *p, UNUSED struct arena *arena, void *base,
                              UNUSED struct errmsg *em)
{
    ((struct completion_suggestion *)base)->contexts = p->value;
    json_pull_skip(p);
    return ERR_OK;
}

static const struct object_field completion_table[] = {
    {"fuzzy", OBJ_OBJECT | OBJ_BOOLEAN, PARAM_IGNORED, 0, read_fuzzy},
    {"regex", OBJ_OBJECT, PARAM_IGNORED, 0, read_regex},
    {"field", OBJ_STRING, PARAM_TEXT, offsetof(struct suggestion, field), NULL},
    {"analyzer", OBJ_STRING, PARAM_TEXT, offsetof(struct suggestion, analyzer), NULL},
    {"size", OBJ_STRING | OBJ_NUMBER, PARAM_INT, 0, read_size},
    {"shard_size", OBJ_STRING | OBJ_NUMBER, PARAM_INT, offsetof(struct suggestion, shard_size), NULL},
    {"contexts", OBJ_OBJECT, PARAM_IGNORED, 0, read_contexts},
    {"skip_duplicates", OBJ_STRING | OBJ_BOOLEAN, PARAM_BOOL,
     offsetof(struct completion_suggestion, skip_duplicates), NULL},
};

static enum err completion_parse(struct json_pull *p, struct arena *arena, struct suggestion **out,
                                 struct errmsg *em)
{
    struct completion_suggestion *s = ARENA_NEW(arena, struct completion_suggestion);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->common;
    s->common.kind = SUGGEST_COMPLETION;
    s->common.size = 5;
    s->common.shard_size = INT32_MIN;
    s->fuzzy.edits = 1;
    s->fuzzy.min_length = 3;
    s->fuzzy.prefix_length = 1;
    s->fuzzy.max_states = AUTOMATON_STATES_MAX;
    s->fuzzy.transpositions = true;
    s->regex_flags = REGEXP_ALL;
    s->regex_max_states = AUTOMATON_STATES_MAX;
    enum err e =
        dsl_parse_object(p, arena, "completion", completion_table, ARRAY_LEN(completion_table), s, em);
    if (e == ERR_OK && s->common.field.p == NULL) {
        return err_set(em, ERR_PARSE, "the required field option [field] is missing");
    }
    if (e == ERR_OK && s->common.field.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "suggestion field name is empty");
    }
    return e;
}

/* ---- the section ---- */

static enum err parse_suggester(struct json_pull *p, struct arena *arena, struct suggestion **out,
                                struct errmsg *em)
{
    if (str_is(p->name, "completion")) {
        return completion_parse(p, arena, out, em);
    }
    if (str_is(p->name, "term")) {
        return term_parse(p, arena, out, em);
    }
    if (str_is(p->name, "phrase")) {
        return phrase_parse(p, arena, out, em);
    }
    return json_pull_err_content(p, p->off, em, ERR_NAMED_OBJECT, "unknown field [%.*s]", STR_ARG(p->name));
}

static enum err parse_value(struct json_pull *p, struct str *text, struct str *prefix, struct str *regex,
                            struct errmsg *em)
{
    struct str *to = str_is(p->name, "text")     ? text
                     : str_is(p->name, "prefix") ? prefix
                     : str_is(p->name, "regex")  ? regex
                                                 : NULL;
    if (to == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "suggestion does not support [%.*s]", STR_ARG(p->name));
    }
    enum err e = json_pull_text(p, to, em);
    if (to->p == NULL) {
        *to = STR("");
    }
    return e;
}

/* The cursor stands on the START_OBJECT of a named suggestion. Brackets are passed over, as Elasticsearch does. */
static enum err parse_suggestion(struct json_pull *p, struct arena *arena, struct suggestion **out,
                                 struct errmsg *em)
{
    struct str text = STR_NULL, prefix = STR_NULL, regex = STR_NULL, name = p->name;
    enum err e = ERR_OK;
    *out = NULL;
    while (e == ERR_OK && json_pull_until(p, TOK_END_OBJECT)) {
        if (json_token_is_value(p->token)) {
            e = parse_value(p, &text, &prefix, &regex, em);
        } else if (p->token == TOK_START_OBJECT) {
            e = parse_suggester(p, arena, out, em);
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    if (*out == NULL) {
        return err_set(em, ERR_PARSE, "missing suggestion object");
    }
    (*out)->name = name;
    (*out)->text = text;
    (*out)->prefix = prefix;
    (*out)->regex = regex;
    return ERR_OK;
}

static enum err add_suggestion(struct suggest_spec *spec, struct suggestion *s, struct arena *arena,
                               struct errmsg *em)
{
    const struct suggestion **v = arena_grow(arena, (void *)spec->v, spec->n, &spec->cap, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    spec->v = v;
    v[spec->n++] = s;
    return ERR_OK;
}

enum err suggest_parse(const struct suggest_spec **out, const struct json *suggest, struct str text,
                       struct arena *arena, struct errmsg *em)
{
    struct suggest_spec *spec = ARENA_NEW(arena, struct suggest_spec);
    struct json_pull p;
    *out = spec;
    if (spec == NULL || !json_pull_init(&p, suggest, text, arena)) {
        return err_no_memory(em);
    }
    enum err e = ERR_OK;
    json_pull_next(&p);
    while (e == ERR_OK && json_pull_until(&p, TOK_END_OBJECT)) {
        struct suggestion *s;
        if (json_token_is_value(p.token)) {
            if (!str_is(p.name, "text")) {
                return err_set(em, ERR_ILLEGAL_ARGUMENT, "[suggest] does not support [%.*s]",
                               STR_ARG(p.name));
            }
            e = json_pull_text(&p, &spec->text, em);
            spec->text = spec->text.p != NULL ? spec->text : STR("");
        } else if (p.token == TOK_START_OBJECT) {
            e = parse_suggestion(&p, arena, &s, em);
            e = e == ERR_OK ? add_suggestion(spec, s, arena, em) : e;
        } else if (p.token != TOK_FIELD_NAME) {
            return json_pull_err(&p, em, ERR_PARSING, "unexpected token [%s] after [%.*s]",
                                 json_token_text(p.token), STR_ARG(p.name));
        }
    }
    return e;
}
