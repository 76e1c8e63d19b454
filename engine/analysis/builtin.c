/* The analyzers that come with the service. Each is a tokenizer and a list of steps; among them stand two
 * that the analyzer's settings fill: "stop" (stopwords, stopwords_path; the row's list otherwise) and
 * "exclude" (stem_exclusion: words that the stemmer leaves alone). */
#include "engine/analysis/registry.h"

struct builtin {
    const char *type;
    const char *tokenizer;
    const char *steps;      /* "name settings|name|..."; "@": the analyzer's own settings */
    const char *stop_words; /* the default; NULL: none */
    bool tunes_tokenizer;   /* the tokenizer gets the analyzer's settings */
    bool keeps_terms;       /* does nothing to single terms */
};

#define ENGLISH_STOP "_english_"
#define CJK_STOP                                                                                         \
    "a,and,are,as,at,be,but,by,for,if,in,into,is,it,no,not,of,on,or,s,such,t,that,the,their,then,there," \
    "these,they,this,to,was,will,"                                                                       \
    "with,www"
#define ITALIAN_ARTICLES "c,l,all,dall,dell,nell,sull,coll,pell,gl,agl,dagl,degl,negl,sugl,un,m,t,s,v,d"
#define SNOWBALL(name)                                                                                 \
    {                                                                                                  \
        name, "standard", "lowercase|stop|exclude|snowball language=" name, "_" name "_", false, false \
    }

static const struct builtin builtins[] = {
    {"standard", "standard", "lowercase|stop", NULL, true, false},
    /* The lowercase filters behind the lowercase tokenizer are for single terms, which see no tokenizer. */
    {"simple", "lowercase", "lowercase", NULL, false, false},
    {"whitespace", "whitespace", "", NULL, false, false},
    {"stop", "lowercase", "lowercase|stop", ENGLISH_STOP, false, false},
    {"keyword", "keyword", "", NULL, false, false},
    {"pattern", "pattern", "lowercase?|stop", NULL, true, false},
    {"fingerprint", "standard", "lowercase|asciifolding|stop|fingerprint @", NULL, false, true},
    {"english", "standard", "stemmer language=possessive_english|lowercase|stop|exclude|porter_stem",
     ENGLISH_STOP, false, false},
    {"cjk", "standard", "cjk_width|lowercase|cjk_bigram|stop", CJK_STOP, false, false},
    {"french", "standard", "elision|lowercase|stop|exclude|stemmer language=light_french", "_french_", false,
     false},
    {"german", "standard", "lowercase|stop|exclude|german_normalization|stemmer language=light_german",
     "_german_", false, false},
    {"spanish", "standard", "lowercase|stop|exclude|stemmer language=light_spanish", "_spanish_", false,
     false},
    {"italian", "standard",
     "elision articles_case=true;articles=" ITALIAN_ARTICLES
     "|lowercase|stop|exclude|stemmer language=light_italian",
     "_italian_", false, false},
    {"portuguese", "standard", "lowercase|stop|exclude|stemmer language=light_portuguese", "_portuguese_",
     false, false},
    {"dutch", "standard", "lowercase|stop|exclude|dutch_words|snowball language=dutch", "_dutch_", false,
     false},
    SNOWBALL("danish"),
    SNOWBALL("finnish"),
    SNOWBALL("hungarian"),
    SNOWBALL("norwegian"),
    SNOWBALL("romanian"),
    SNOWBALL("russian"),
    SNOWBALL("swedish"),
    {"snowball", "standard", "lowercase|stop|snowball @", NULL, false, true},
    {"ik_smart", "ik_smart", "", NULL, true, false},
    {"ik_max_word", "ik_max_word", "", NULL, true, false},
    {"pinyin", "pinyin", "", NULL, true, false},
    /* these two only by name, as the older analyzers that they were */
    {"chinese", "standard", "lowercase|stop", ENGLISH_STOP, false, false},
    {"classic", "classic", "classic|lowercase|stop", ENGLISH_STOP, false, false},
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
        if (t->is_null
            || (!str_is(t->key, keys[0]) && !str_starts(t->key, STR("stopwords."))
                && !str_is(t->key, keys[1]))) {
            continue;
        }
        given = true;
        if (!(t->is_list ? settings_put_list(&own, t->key, t->items, t->n)
                         : settings_put(&own, t->key, t->value))) {
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
    const void *f;
    enum err e = stop_filter_new(&f, STR("stop"), &own, c->b->env, c->b->arena, em);
    return e == ERR_OK ? chain_add_filter(c, f, STR("stop"), em) : e;
}

/* The snowball analyzer has stop words of its own for a few languages. */
static const char *default_stop_words(const struct builtin *row, const struct settings *s)
{
    static const char *const languages[][2] = {{"English", "_english_"},
                                               {"Dutch", "_dutch_"},
                                               {"German", "_german_"},
                                               {"German2", "_german_"},
                                               {"French", "_french_"}};
    if (strcmp(row->type, "snowball") != 0) {
        return row->stop_words;
    }
    struct str language = settings_str(s, "language", settings_str(s, "name", STR("English")));
    for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
        if (str_is(language, languages[i][0])) {
            return languages[i][1];
        }
    }
    return NULL;
}

/* Words that the Dutch stemmer would spoil. */
static enum err add_dutch_words(struct chain *c, struct errmsg *em)
{
    static const struct str rules[] = {
        {"fiets=>fiets", 12}, {"bromfiets=>bromfiets", 20}, {"ei=>eier", 8}, {"kind=>kinder", 12}};
    struct settings own;
    const void *f;
    bool known;
    settings_init(&own, c->b->arena);
    if (!settings_put_list(&own, STR("rules"), rules, ARRAY_LEN(rules))) {
        return err_no_memory(em);
    }
    enum err e = part_new(&f, PART_TOKEN_FILTER, STR("stemmer_override"), STR("stemmer_override"), &own, c->b,
                          &known, em);
    return e == ERR_OK ? chain_add_filter(c, f, STR("stemmer_override"), em) : e;
}

/* A filter that reads the analyzer's own settings. */
static enum err add_tuned(struct chain *c, struct str name, const struct settings *s, struct errmsg *em)
{
    const void *f;
    bool known;
    enum err e = part_new(&f, PART_TOKEN_FILTER, name, name, s, c->b, &known, em);
    return e == ERR_OK ? chain_add_filter(c, f, name, em) : e;
}

static enum err add_step(struct chain *c, struct str step, const struct builtin *row,
                         const struct settings *s, struct errmsg *em)
{
    if (str_is(step, "stop")) {
        return add_stop(c, s, default_stop_words(row, s), em);
    }
    if (str_is(step, "dutch_words")) {
        return add_dutch_words(c, em);
    }
    if (str_is(step, "lowercase?")) {
        bool lower;
        enum err e = settings_bool(s, "lowercase", true, &lower, em);
        return e != ERR_OK || !lower ? e : chain_add_builtin(c, PART_TOKEN_FILTER, "lowercase", NULL, em);
    }
    struct str arguments, name = str_cut(step, ' ', &arguments);
    if (str_is(arguments, "@")) {
        return add_tuned(c, name, s, em);
    }
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
        enum err e = part_new(&f, PART_TOKEN_FILTER, STR("keyword_marker"), STR("keyword_marker"), &own, c->b,
                              &known, em);
        return e == ERR_OK ? chain_add_filter(c, f, STR("keyword_marker"), em) : e;
    }
    struct str name_z = arena_str(c->b->arena, name), arguments_z = arena_str(c->b->arena, arguments);
    if (name_z.p == NULL || arguments_z.p == NULL) {
        return err_no_memory(em);
    }
    return chain_add_builtin(c, PART_TOKEN_FILTER, name_z.p, arguments.p != NULL ? arguments_z.p : NULL, em);
}

static enum err add_tokenizer(struct chain *c, const struct builtin *row, const struct settings *s,
                              struct errmsg *em)
{
    struct settings none;
    const void *part;
    bool known;
    struct str name = str_of(row->tokenizer);
    settings_init(&none, c->b->arena);
    enum err e =
        part_new(&part, PART_TOKENIZER, name, name, row->tunes_tokenizer ? s : &none, c->b, &known, em);
    c->an.tokenizer = part;
    c->an.tokenizer_name = name;
    return e;
}

enum err builtin_analyzer_new(const struct analyzer **out, struct str type, struct str name,
                              const struct settings *s, const struct part_builder *b, bool *known,
                              struct errmsg *em)
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
    c.an.keeps_terms = row->keeps_terms;
    enum err e = add_tokenizer(&c, row, s, em);
    struct str rest = str_of(row->steps);
    while (rest.p != NULL && e == ERR_OK) {
        struct str step = str_cut(rest, '|', &rest);
        e = step.n > 0 ? add_step(&c, step, row, s, em) : ERR_OK;
    }
    return e == ERR_OK ? chain_end(&c, out, em) : e;
}
