/* Stemming filters: stemmer, snowball, porter_stem; what guards words from them: keyword_marker,
 * keyword_repeat, stemmer_override. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/regex.h"
#include "engine/analysis/stem.h"

#include <libstemmer.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>

struct stem_filter {
    struct token_filter base;
    stem_fn stem;         /* our own, or */
    const char *snowball; /* a name of libstemmer's */
};

#define WORD_UNITS_MAX 256

/* Through one of our own stemmers. ASCII words, which most are, need no decoding. */
static bool stem_token(stem_fn stem, struct token *t, struct arena *arena)
{
    uint16_t units[WORD_UNITS_MAX];
    struct str s = t->text;
    size_t n = 0;
    if (s.n >= WORD_UNITS_MAX) {
        return true; /* no word of a language */
    }
    bool ascii = part_is_ascii(s);
    for (size_t at = 0; ascii && at < s.n; at++) {
        units[n++] = (unsigned char)s.p[at];
    }
    for (size_t at = 0; !ascii && at < s.n;) {
        uint32_t c = utf8_next(s, &at);
        if (c >= 0x10000) {
            units[n++] = U16_LEAD(c);
            units[n++] = U16_TRAIL(c);
        } else {
            units[n++] = (uint16_t)c;
        }
    }
    n = stem(units, n);
    char bytes[WORD_UNITS_MAX * 3];
    int32_t length = 0;
    UErrorCode status = U_ZERO_ERROR;
    u_strToUTF8WithSub(bytes, (int32_t)sizeof(bytes), &length, units, (int32_t)n, UTF8_REPLACEMENT, NULL,
                       &status);
    if ((size_t)length <= s.n && memcmp(bytes, s.p, (size_t)length) == 0) {
        t->text.n = (size_t)length; /* only shorter: still a slice */
        return true;
    }
    t->text = arena_str(arena, str_mk(bytes, (size_t)length));
    return t->text.p != NULL;
}

static enum err apply_own(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct stem_filter *f = (const struct stem_filter *)self;
    for (size_t i = 0; token_next(l, i); i++) {
        if (!l->v[i].keyword && !stem_token(f->stem, &l->v[i], l->arena)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

/* A stemmer of libstemmer has state: each run makes its own. */
static enum err apply_snowball(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct stem_filter *f = (const struct stem_filter *)self;
    struct sb_stemmer *stemmer = l->n > 0 ? sb_stemmer_new(f->snowball, NULL) : NULL;
    if (stemmer == NULL) {
        return l->n > 0 ? err_no_memory(em) : ERR_OK;
    }
    enum err e = ERR_OK;
    for (size_t i = 0; token_next(l, i) && e == ERR_OK; i++) {
        struct token *t = &l->v[i];
        if (t->keyword || t->text.n == 0 || t->text.n > INT32_MAX) {
            continue;
        }
        const sb_symbol *done = sb_stemmer_stem(stemmer, (const sb_symbol *)t->text.p, (int)t->text.n);
        struct str stem = str_mk(done, done != NULL ? (size_t)sb_stemmer_length(stemmer) : 0);
        if (done == NULL) {
            e = err_no_memory(em);
        } else if (stem.n <= t->text.n && memcmp(stem.p, t->text.p, stem.n) == 0) {
            t->text.n = stem.n;
        } else {
            t->text = arena_str(l->arena, stem);
            e = t->text.p != NULL ? ERR_OK : err_no_memory(em);
        }
    }
    sb_stemmer_delete(stemmer);
    return e;
}

/* "'s" at the end, with any of the apostrophes that are in use. */
static enum err apply_possessive(UNUSED const struct token_filter *self, struct token_list *l,
                                 UNUSED struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        struct str *s = &l->v[i].text;
        if (s->n < 2 || (s->p[s->n - 1] | 32) != 's') {
            continue;
        }
        size_t at = s->n - 1;
        uint32_t c = utf8_prev(*s, &at);
        if (c == '\'' || c == 0x2019 || c == 0xFF07) {
            s->n = at;
        }
    }
    return ERR_OK;
}

struct language {
    const char *name;
    stem_fn stem;
    const char *snowball;
};

/* Names as the stemmer filter takes them. */
static const struct language languages[] = {
    {"english", stem_porter, NULL},
    {"porter", stem_porter, NULL},
    {"light_english", stem_inflection, NULL},
    {"lightEnglish", stem_inflection, NULL},
    {"kstem", stem_inflection, NULL},
    {"porter2", NULL, "english"},
    {"minimal_english", stem_english_plural, NULL},
    {"minimalEnglish", stem_english_plural, NULL},
    {"french", NULL, "french"},
    {"light_french", stem_french_light, NULL},
    {"lightFrench", stem_french_light, NULL},
    {"minimal_french", stem_french_minimal, NULL},
    {"minimalFrench", stem_french_minimal, NULL},
    {"german", NULL, "german"},
    {"light_german", stem_german_light, NULL},
    {"lightGerman", stem_german_light, NULL},
    {"minimal_german", stem_german_minimal, NULL},
    {"minimalGerman", stem_german_minimal, NULL},
    {"spanish", NULL, "spanish"},
    {"light_spanish", stem_spanish_light, NULL},
    {"lightSpanish", stem_spanish_light, NULL},
    {"light_portuguese", stem_portuguese_light, NULL},
    {"lightPortuguese", stem_portuguese_light, NULL},
    {"italian", NULL, "italian"},
    {"light_italian", stem_italian_light, NULL},
    {"lightItalian", stem_italian_light, NULL},
    {"armenian", NULL, "armenian"},
    {"basque", NULL, "basque"},
    {"catalan", NULL, "catalan"},
    {"danish", NULL, "danish"},
    {"dutch", NULL, "dutch"},
    {"finnish", NULL, "finnish"},
    {"hungarian", NULL, "hungarian"},
    {"irish", NULL, "irish"},
    {"lithuanian", NULL, "lithuanian"},
    {"norwegian", NULL, "norwegian"},
    {"portuguese", NULL, "portuguese"},
    {"romanian", NULL, "romanian"},
    {"russian", NULL, "russian"},
    {"swedish", NULL, "swedish"},
    {"turkish", NULL, "turkish"},
};

static enum err stem_new(const void **out, const struct language *language, struct arena *arena,
                         struct errmsg *em)
{
    struct stem_filter *f = ARENA_NEW(arena, struct stem_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->stem = language->stem;
    f->snowball = language->snowball;
    f->base.apply = f->stem != NULL ? apply_own : apply_snowball;
    f->base.shows_keyword = true;
    *out = &f->base;
    return ERR_OK;
}

/* Stemmers that Elasticsearch has. */
static enum err check_built(struct str language, struct errmsg *em)
{
    static const char *const names[] = {"arabic",
                                        "bengali",
                                        "brazilian",
                                        "bulgarian",
                                        "czech",
                                        "dutch_kp",
                                        "estonian",
                                        "galician",
                                        "german2",
                                        "greek",
                                        "hindi",
                                        "indonesian",
                                        "kp",
                                        "latvian",
                                        "lightFinish",
                                        "light_finnish",
                                        "light_hungarian",
                                        "light_norwegian",
                                        "light_russian",
                                        "light_swedish",
                                        "lovins",
                                        "minimal_galician",
                                        "minimal_norwegian",
                                        "minimal_portuguese",
                                        "sorani"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(language, str_of(names[i]))) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "the stemmer [%.*s] is not supported",
                           STR_ARG(language));
        }
    }
    return ERR_OK;
}

/* `code` says when: as soon as the filter is declared, or once it is used. */
static enum err unknown_language(struct str language, enum err code, struct errmsg *em)
{
    enum err e = check_built(language, em);
    if (e != ERR_OK) {
        return e;
    }
    char first = language.n > 0 && language.p[0] >= 'a' && language.p[0] <= 'z' ? (char)(language.p[0] - 32)
                 : language.n > 0                                               ? language.p[0]
                                                                                : ' ';
    struct str rest = str_slice(language, 1, language.n);
    err_set(em, ERR_CLASS_NOT_FOUND, "org.tartarus.snowball.ext.%c%.*sStemmer", first, STR_ARG(rest));
    return err_wrap(em, code, "Invalid stemmer class specified: %c%.*s", first, STR_ARG(rest));
}

PART_FACTORY(stemmer_filter_new)
{
    struct str language = settings_str(s, "language", settings_str(s, "name", STR("porter")));
    if (str_is(language, "possessive_english") || str_is(language, "possessiveEnglish")) {
        struct token_filter *f = ARENA_NEW(arena, struct token_filter);
        if (f == NULL) {
            return err_no_memory(em);
        }
        f->apply = apply_possessive;
        *out = f;
        return ERR_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
        if (str_eq_nocase(language, str_of(languages[i].name))) {
            return stem_new(out, &languages[i], arena, em);
        }
    }
    return unknown_language(language, ERR_ILLEGAL_ARGUMENT, em);
}

PART_FACTORY(kstem_filter_new)
{
    const struct language row = {"kstem", stem_inflection, NULL};
    return stem_new(out, &row, arena, em);
}

PART_FACTORY(snowball_filter_new)
{
    static const char *const names[] = {
        "arabic",     "armenian", "basque",    "catalan", "danish",  "dutch",      "english",   "finnish",
        "french",     "german",   "hungarian", "irish",   "italian", "lithuanian", "norwegian", "porter",
        "portuguese", "romanian", "russian",   "spanish", "swedish", "turkish"};
    struct str language = settings_str(s, "language", settings_str(s, "name", STR("English")));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(language, str_of(names[i]))) {
            struct language row = {names[i], NULL, names[i]};
            return stem_new(out, &row, arena, em);
        }
    }
    return unknown_language(language, ERR_PART_UNUSABLE, em);
}

struct marker_filter {
    struct token_filter base;
    struct word_set words;
    const struct regex *pattern; /* instead of the words; NULL: none */
};

static enum err apply_marker(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct marker_filter *f = (const struct marker_filter *)self;
    struct matcher *m = NULL;
    enum err e = f->pattern != NULL ? matcher_new(&m, f->pattern, STR(""), em) : ERR_OK;
    for (size_t i = 0; token_next(l, i) && e == ERR_OK; i++) {
        bool is_keyword = false;
        if (m == NULL) {
            is_keyword = word_set_has(&f->words, l->v[i].text);
        } else {
            e = matcher_reset(m, l->v[i].text, em);
            e = e == ERR_OK ? matcher_matches(m, &is_keyword, em) : e;
        }
        l->v[i].keyword |= is_keyword;
    }
    matcher_free(m);
    return e;
}

PART_FACTORY(keyword_marker_filter_new)
{
    struct marker_filter *f = ARENA_NEW(arena, struct marker_filter);
    struct str pattern = settings_str(s, "keywords_pattern", STR_NULL);
    if (f == NULL) {
        return err_no_memory(em);
    }
    bool found;
    enum err e = settings_bool(s, "ignore_case", false, &f->words.ignore_case, em);
    e = e == ERR_OK ? word_set_read(&f->words, &found, s, "keywords", false, env, arena, em) : e;
    if (e == ERR_OK && pattern.p != NULL && found) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "cannot specify both `keywords_pattern` and `keywords` or `keywords_path`");
    }
    if (e == ERR_OK && pattern.p == NULL && !found) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "keyword filter requires either `keywords`, `keywords_path`, or `keywords_pattern` to "
                       "be configured");
    }
    if (e == ERR_OK && pattern.p != NULL) {
        e = part_regex_new(&f->pattern, pattern, STR(""), env, arena, em);
    }
    f->base.apply = apply_marker;
    f->base.shows_keyword = true;
    *out = &f->base;
    return e;
}

static enum err apply_repeat(UNUSED const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    struct token_list to;
    token_list_init(&to, l->arena);
    for (size_t i = 0; token_next(l, i); i++) {
        struct token t = l->v[i];
        t.keyword = true;
        bool ok = token_add(&to, t);
        t.keyword = false;
        t.pos_inc = 0;
        if (!ok || !token_add(&to, t)) {
            return err_no_memory(em);
        }
    }
    token_list_take(l, &to);
    return ERR_OK;
}

PART_FACTORY(keyword_repeat_filter_new)
{
    struct token_filter *f = ARENA_NEW(arena, struct token_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->apply = apply_repeat;
    f->synonym_use = SYNONYM_USE_REFUSED;
    f->shows_keyword = true;
    *out = f;
    return ERR_OK;
}

struct override_filter {
    struct token_filter base;
    struct map stems; /* word to struct str * */
};

static enum err apply_override(const struct token_filter *self, struct token_list *l,
                               UNUSED struct errmsg *em)
{
    const struct override_filter *f = (const struct override_filter *)self;
    for (size_t i = 0; token_next(l, i); i++) {
        const struct str *stem = l->v[i].keyword ? NULL : map_get(&f->stems, l->v[i].text);
        if (stem != NULL) {
            l->v[i].text = *stem;
            l->v[i].keyword = true;
        }
    }
    return ERR_OK;
}

static enum err add_override(struct override_filter *f, struct str rule, struct arena *arena,
                             struct errmsg *em)
{
    size_t arrow = str_find_str(rule, STR("=>"));
    struct str words = str_slice(rule, 0, arrow), stem = STR("");
    if (arrow != SIZE_MAX) {
        stem = str_trim(str_slice(rule, arrow + 2, rule.n));
    }
    if (arrow == SIZE_MAX || str_find_str(stem, STR("=>")) != SIZE_MAX || stem.n == 0
        || str_trim(words).n == 0) {
        return err_set(em, ERR_RUNTIME, "Invalid Keyword override Rule:%.*s", STR_ARG(rule));
    }
    struct str *kept = ARENA_NEW(arena, struct str), rest = words;
    if (kept == NULL) {
        return err_no_memory(em);
    }
    *kept = stem;
    while (rest.p != NULL) {
        struct str word = str_trim(str_cut(rest, ',', &rest));
        if (word.n == 0) {
            return err_set(em, ERR_RUNTIME, "Invalid Keyword override Rule:%.*s", STR_ARG(rule));
        }
        if (!map_has(&f->stems, word) && !map_put(&f->stems, word, kept)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

PART_FACTORY(stemmer_override_filter_new)
{
    struct override_filter *f = ARENA_NEW(arena, struct override_filter);
    struct str *rules = NULL, path = settings_str(s, "rules_path", STR_NULL);
    size_t n = 0;
    uint32_t n_list = 0;
    if (f == NULL || (path.p == NULL && !settings_list(s, "rules", arena, &rules, &n_list))) {
        return err_no_memory(em);
    }
    enum err e = path.p != NULL ? config_lines("rules_path", path, env, arena, &rules, &n, em) : ERR_OK;
    if (e == ERR_OK && path.p == NULL && rules == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "stemmer override filter requires either `rules` or `rules_path` to be configured");
    }
    map_init(&f->stems, arena);
    for (size_t i = 0; i < n + n_list && e == ERR_OK; i++) {
        e = add_override(f, rules[i], arena, em);
        e = path.p != NULL ? config_line_error(e, "rules_path", em) : e;
    }
    f->base.apply = apply_override;
    f->base.shows_keyword = true;
    *out = &f->base;
    return e;
}
