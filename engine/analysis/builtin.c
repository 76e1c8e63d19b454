/* The analyzers that come with the service. Each is a tokenizer and a list of steps; among them stand two that the
 * analyzer's settings fill: "stop" (stopwords, stopwords_path; the row's list otherwise) and "exclude"
 * (stem_exclusion: words that the stemmer leaves alone). */
#include "engine/analysis/registry.h"

struct builtin {
    const char *type;
    const char *tokenizer;
    const char *steps;      /* "name settings|name|..." */
    const char *stop_words; /* the default; NULL: none */
};

static const struct builtin builtins[] = {
    {"standard", "standard", "lowercase|stop", NULL},
    {"ik_smart", "ik_smart", "", NULL},
    {"ik_max_word", "ik_max_word", "", NULL},
    {"pinyin", "pinyin", "", NULL},
    {"simple", "lowercase", "", NULL},
    {"whitespace", "whitespace", "", NULL},
    {"stop", "lowercase", "stop", "_english_"},
    {"keyword", "keyword", "", NULL},
};

/* Adds the stop filter that the settings ask for, if any. */
static enum err add_stop(struct chain *c, const struct settings *s, const char *otherwise, struct errmsg *em)
{
    struct settings own;
    settings_init(&own, c->b->arena);
    static const char *const keys[] = {"stopwords", "stopwords_path", "stopwords_case"};
    bool given = false;
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *t = &s->v[i];
        if (t->is_null || (!str_is(t->key, keys[0]) && !str_starts(t->key, STR("stopwords.")) && !str_is(t->key, keys[1]))) {
            continue;
        }
        given = true;
        if (!(t->is_list ? settings_put_list(&own, t->key, t->items, t->n) : settings_put(&own, t->key, t->value))) {
            return err_no_memory(em);
        }
    }
    struct str fold = settings_str(s, keys[2], STR_NULL);
    if (!given && otherwise == NULL) {
        return ERR_OK;
    }
    if ((!given && !settings_put(&own, str_of(keys[0]), str_of(otherwise)))
        || (fold.p != NULL && !settings_put(&own, STR("ignore_case"), fold))) {
        return err_no_memory(em);
    }
    const struct token_filter *f;
    enum err e = stop_filter_new(&f, STR("stop"), &own, c->b->env, c->b->arena, em);
    return e == ERR_OK ? chain_add_filter(c, f, STR("stop"), em) : e;
}

static enum err add_step(struct chain *c, struct str step, const struct builtin *row, const struct settings *s, struct errmsg *em)
{
    if (str_is(step, "stop")) {
        return add_stop(c, s, row->stop_words, em);
    }
    struct str arguments, name = str_cut(step, ' ', &arguments);
    if (str_is(name, "exclude")) {
        struct str *words;
        uint32_t n;
        struct settings own;
        settings_init(&own, c->b->arena);
        if (!settings_list(s, "stem_exclusion", c->b->arena, &words, &n)
            || (n > 0 && !settings_put_list(&own, STR("keywords"), words, n))) {
            return err_no_memory(em);
        }
        if (n == 0 || (n == 1 && str_is(words[0], "_none_"))) {
            return ERR_OK;
        }
        const void *f;
        bool known;
        enum err e = part_new(&f, PART_TOKEN_FILTER, STR("keyword_marker"), STR("keyword_marker"), &own, c->b, &known, em);
        return e == ERR_OK ? chain_add_filter(c, f, STR("keyword_marker"), em) : e;
    }
    struct str name_z = arena_str(c->b->arena, name), arguments_z = arena_str(c->b->arena, arguments);
    if (name_z.p == NULL || arguments_z.p == NULL) {
        return err_no_memory(em);
    }
    return chain_add_builtin(c, PART_TOKEN_FILTER, name_z.p, arguments.p != NULL ? arguments_z.p : NULL, em);
}

/* The plugins' analyzers are their tokenizers, and have the same settings. */
static bool is_its_tokenizer(const struct builtin *row)
{
    struct str type = str_of(row->type);
    return str_starts(type, STR("ik_")) || str_is(type, "pinyin");
}

static enum err add_tokenizer(struct chain *c, const struct builtin *row, const struct settings *s, struct errmsg *em)
{
    struct settings own;
    settings_init(&own, c->b->arena);
    struct str max = settings_str(s, "max_token_length", STR_NULL);
    if (max.p != NULL && str_is(str_of(row->type), "standard") && !settings_put(&own, STR("max_token_length"), max)) {
        return err_no_memory(em);
    }
    const void *part;
    bool known;
    struct str name = str_of(row->tokenizer);
    enum err e = part_new(&part, PART_TOKENIZER, name, name, is_its_tokenizer(row) ? s : &own, c->b, &known, em);
    c->an.tokenizer = part;
    c->an.tokenizer_name = name;
    return e;
}

enum err builtin_analyzer_new(const struct analyzer **out, struct str type, struct str name, const struct settings *s,
                              const struct part_builder *b, bool *known, struct errmsg *em)
{
    const struct builtin *row = NULL;
    for (size_t i = 0; i < ARRAY_LEN(builtins) && row == NULL; i++) {
        row = str_is(type, builtins[i].type) ? &builtins[i] : NULL;
    }
    *out = NULL;
    *known = row != NULL;
    if (row == NULL) {
        return ERR_OK;
    }
    struct chain c;
    chain_init(&c, b, name);
    enum err e = add_tokenizer(&c, row, s, em);
    struct str rest = str_of(row->steps);
    while (rest.p != NULL && e == ERR_OK) {
        struct str step = str_cut(rest, '|', &rest);
        e = step.n > 0 ? add_step(&c, step, row, s, em) : ERR_OK;
    }
    return e == ERR_OK ? chain_end(&c, out, em) : e;
}
