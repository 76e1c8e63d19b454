#include "hotel/index_form.h"

#include "common/base/jsonw.h"
#include "hotel/names.h"

static const struct field {
    const char *name, *type;
    bool not_indexed;
    const char *analyzer, *search_analyzer; /* NULL: not given */
    bool copied;                            /* copy_to: all */
} fields[] = {
    {F_ID, "keyword", false, NULL, NULL, false},
    {F_NAME, "text", false, A_TEXT, A_SEARCH, true},
    {F_ADDRESS, "keyword", true, NULL, NULL, false},
    {F_PRICE, "integer", false, NULL, NULL, false},
    {F_SCORE, "integer", false, NULL, NULL, false},
    {F_BRAND, "keyword", false, NULL, NULL, true},
    {F_CITY, "keyword", false, NULL, NULL, false},
    {F_STAR_NAME, "keyword", false, NULL, NULL, false},
    {F_BUSINESS, "keyword", false, NULL, NULL, true},
    {F_LOCATION, "geo_point", false, NULL, NULL, false},
    {F_PIC, "keyword", true, NULL, NULL, false},
    {F_ALL, "text", false, A_TEXT, A_SEARCH, false},
    {F_SUGGESTION, "completion", false, A_COMPLETION, NULL, false},
};

static const struct analyzer {
    const char *name, *tokenizer;
} analyzers[] = {{A_TEXT, A_TOKENIZER}, {A_COMPLETION, "keyword"}};

static void write_settings(struct jsonw *w)
{
    jw_kobj(w, "settings");
    jw_kobj(w, "analysis");
    jw_kobj(w, "analyzer");
    for (size_t i = 0; i < ARRAY_LEN(analyzers); i++) {
        jw_kobj(w, analyzers[i].name);
        jw_kz(w, "tokenizer", analyzers[i].tokenizer);
        jw_kz(w, "filter", A_PINYIN_FILTER);
        jw_obj_end(w);
    }
    jw_obj_end(w);
    jw_kobj(w, "filter");
    jw_kobj(w, A_PINYIN_FILTER);
    jw_kz(w, "type", "pinyin");
    jw_kbool(w, "keep_full_pinyin", false);
    jw_kbool(w, "keep_joined_full_pinyin", true);
    jw_kbool(w, "keep_original", true);
    jw_ki64(w, "limit_first_letter_length", 16);
    jw_kbool(w, "remove_duplicated_term", true);
    jw_kbool(w, "none_chinese_pinyin_tokenize", false);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_field(struct jsonw *w, const struct field *f)
{
    jw_kobj(w, f->name);
    jw_kz(w, "type", f->type);
    if (f->not_indexed) {
        jw_kbool(w, "index", false);
    }
    if (f->analyzer != NULL) {
        jw_kz(w, "analyzer", f->analyzer);
    }
    if (f->search_analyzer != NULL) {
        jw_kz(w, "search_analyzer", f->search_analyzer);
    }
    if (f->copied) {
        jw_kz(w, "copy_to", F_ALL);
    }
    jw_obj_end(w);
}

void index_form_write(struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    write_settings(&w);
    jw_kobj(&w, "mappings");
    jw_kobj(&w, "properties");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        write_field(&w, &fields[i]);
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
}

/* Is the member absent (want NULL) or this text? */
static bool member_is(const struct json *v, const char *key, const char *want)
{
    struct str s = json_text(json_get(v, key));
    return want == NULL ? s.p == NULL : str_is(s, want);
}

/* copy_to comes back as a list. */
static bool copies_as(const struct json *have, const struct field *f)
{
    const struct json *to = json_get(have, "copy_to");
    if (json_is(to, JSON_ARRAY)) {
        return f->copied ? to->n == 1 && str_is(json_text(&to->items[0]), F_ALL) : to->n == 0;
    }
    return member_is(have, "copy_to", f->copied ? F_ALL : NULL);
}

static bool field_as(const struct json *have, const struct field *f)
{
    return member_is(have, "type", f->type) && member_is(have, "index", f->not_indexed ? "false" : NULL)
           && member_is(have, "analyzer", f->analyzer)
           && member_is(have, "search_analyzer", f->search_analyzer) && copies_as(have, f);
}

/* The first analyzer that is not as wanted, or NULL. */
static const char *other_analyzer(const struct json *analysis)
{
    for (size_t i = 0; i < ARRAY_LEN(analyzers); i++) {
        const struct json *a = json_get(json_get(analysis, "analyzer"), analyzers[i].name);
        const struct json *filter = json_get(a, "filter");
        filter = json_is(filter, JSON_ARRAY) && filter->n == 1 ? &filter->items[0] : filter;
        if (!member_is(a, "tokenizer", analyzers[i].tokenizer)
            || !str_is(json_text(filter), A_PINYIN_FILTER)) {
            return analyzers[i].name;
        }
    }
    return member_is(json_get(json_get(analysis, "filter"), A_PINYIN_FILTER), "type", "pinyin")
               ? NULL
               : A_PINYIN_FILTER;
}

enum err index_form_of(const struct json *definition, enum index_form *out, struct errmsg *why,
                       struct errmsg *em)
{
    if (!json_is(definition, JSON_OBJECT) || definition->n != 1) {
        return err_set(em, ERR_PARSE, "the name stands for %u indices, not for one",
                       json_is(definition, JSON_OBJECT) ? definition->n : 0);
    }
    const struct json *index = &definition->members[0].value;
    const struct json *properties = json_path(index, "mappings.properties");
    const struct json *analysis = json_path(index, "settings.index.analysis");
    *out = INDEX_FORM_FINAL;
    if (json_get(properties, F_SUGGESTION) == NULL && json_get(analysis, "analyzer") == NULL) {
        *out = INDEX_FORM_EARLIER;
        err_set(why, ERR_ILLEGAL_ARGUMENT, "it has no field [" F_SUGGESTION "] and no analyzer [" A_TEXT "]");
        return ERR_OK;
    }
    const char *analyzer = other_analyzer(analysis);
    if (analyzer != NULL) {
        *out = INDEX_FORM_OTHER;
        err_set(why, ERR_ILLEGAL_ARGUMENT, "[%s] of its analysis is not as wanted", analyzer);
        return ERR_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!field_as(json_get(properties, fields[i].name), &fields[i])) {
            *out = INDEX_FORM_OTHER;
            err_set(why, ERR_ILLEGAL_ARGUMENT, "field [%s] is not mapped as wanted", fields[i].name);
            return ERR_OK;
        }
    }
    return ERR_OK;
}

bool index_name_ok(struct str name)
{
    if (name.n == 0 || name.n > 255 || name.p[0] == '-' || name.p[0] == '_' || name.p[0] == '+'
        || name.p[0] == '.') {
        return false;
    }
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c >= 0x80;
        if (!plain) {
            return false;
        }
    }
    return true;
}
