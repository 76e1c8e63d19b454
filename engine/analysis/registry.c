#include "engine/analysis/registry.h"

#include "engine/analysis/ik.h"
#include "engine/analysis/pinyin.h"

static const struct part_entry {
    const char *name;
    part_factory make;
    int flags;
    const char *preset; /* its settings when used by name */
} tokenizers[] = {TOKENIZERS(PART_ENTRY)}, token_filters[] = {TOKEN_FILTERS(PART_ENTRY)},
  char_filters[] = {CHAR_FILTERS(PART_ENTRY)};

static const struct {
    const struct part_entry *v;
    size_t n;
    const char *name, *what; /* in settings, in texts */
} kinds[] = {
    [PART_TOKENIZER] = {tokenizers, ARRAY_LEN(tokenizers), "tokenizer", "tokenizer"},
    [PART_TOKEN_FILTER] = {token_filters, ARRAY_LEN(token_filters), "filter", "token filter"},
    [PART_CHAR_FILTER] = {char_filters, ARRAY_LEN(char_filters), "char_filter", "char filter"},
};

struct str part_type(const struct settings *s, struct arena *arena)
{
    const struct setting *t = settings_find(s, STR("type"));
    if (t == NULL || t->is_null) {
        return STR_NULL;
    }
    struct buf b;
    buf_init(&b, NULL, ERR_REASON_MAX);
    settings_put_text(t, &b);
    struct str text = arena_str(arena, buf_view(&b));
    buf_fini(&b);
    return text;
}

const char *part_kind_name(enum part_kind kind)
{
    return kinds[kind].name;
}

void cleanups_run(struct part_cleanup **list)
{
    for (struct part_cleanup *c = *list; c != NULL; c = c->next) {
        c->run(c->arg);
    }
    *list = NULL;
}

bool settings_of_text(struct settings *s, const char *text, struct arena *arena)
{
    settings_init(s, arena);
    struct str rest = str_of(text);
    while (rest.p != NULL) {
        struct str value, key = str_cut(str_cut(rest, ';', &rest), '=', &value);
        if (key.n > 0 && !settings_put(s, key, value)) {
            return false;
        }
    }
    return true;
}

/* NULL: there is none. */
static const struct part_entry *registry_find(enum part_kind kind, struct str name)
{
    for (size_t i = 0; i < kinds[kind].n; i++) {
        if (str_is(name, kinds[kind].v[i].name)) {
            return &kinds[kind].v[i];
        }
    }
    return NULL;
}

static bool names_language(const struct part_entry *f)
{
    return f->preset != NULL && str_starts(str_of(f->preset), STR("language="));
}

/* What stands for a part that cannot be used. */
static const void *unusable(enum part_kind kind, const struct part_entry *entry, struct arena *arena,
                            const struct errmsg *em)
{
    const struct errmsg *why = err_keep(arena, em);
    struct tokenizer *t = kind == PART_TOKENIZER ? ARENA_NEW(arena, struct tokenizer) : NULL;
    struct token_filter *f = kind == PART_TOKEN_FILTER ? ARENA_NEW(arena, struct token_filter) : NULL;
    struct char_filter *c = kind == PART_CHAR_FILTER ? ARENA_NEW(arena, struct char_filter) : NULL;
    if (t != NULL) {
        t->unusable = why;
    }
    if (f != NULL) {
        f->unusable = why;
        f->normal = entry->make == lowercase_filter_new ? f : NULL;
    }
    if (c != NULL) {
        c->unusable = why;
    }
    return t != NULL ? (const void *)t : f != NULL ? (const void *)f : (const void *)c;
}

static enum err make(const void **out, enum part_kind kind, const struct part_entry *entry, struct str name,
                     const struct settings *s, const struct part_builder *b, struct errmsg *em)
{
    enum err e = entry->make(out, name, s, b->env, b->arena, em);
    if (e == ERR_PART_UNUSABLE && em != NULL) {
        *out = unusable(kind, entry, b->arena, em);
        e = *out != NULL ? ERR_OK : err_no_memory(em);
    }
    return e;
}

enum err part_not_found(enum part_kind kind, struct str name, const struct part_builder *b, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "failed to find %s%s under [%.*s]",
                   b->bare == BARE_WITHOUT_INDEX ? "global " : "", part_kind_name(kind), STR_ARG(name));
}

static bool is_one_of(struct str name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static enum err filter_not_built(struct str name, struct errmsg *em)
{
    static const char *const names[] = {"arabic_stem",
                                        "bengali_normalization",
                                        "brazilian_stem",
                                        "condition",
                                        "czech_stem",
                                        "dictionary_decompounder",
                                        "german_stem",
                                        "hindi_normalization",
                                        "hunspell",
                                        "hyphenation_decompounder",
                                        "indic_normalization",
                                        "min_hash",
                                        "predicate_token_filter",
                                        "sorani_normalization"};
    return is_one_of(name, names, ARRAY_LEN(names))
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "the token filter [%.*s] is not supported", STR_ARG(name))
               : ERR_OK;
}

enum err analyzer_not_built(struct str name, struct errmsg *em)
{
    static const char *const names[] = {"arabic",     "armenian", "basque",     "bengali",  "brazilian",
                                        "bulgarian",  "catalan",  "czech",      "estonian", "galician",
                                        "greek",      "hindi",    "indonesian", "irish",    "latvian",
                                        "lithuanian", "persian",  "sorani",     "thai",     "turkish"};
    return is_one_of(name, names, ARRAY_LEN(names))
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "the analyzer [%.*s] is not supported", STR_ARG(name))
               : ERR_OK;
}

/* Names that Elasticsearch had once and now refuses. */
static enum err removed_part(enum part_kind kind, struct str name, struct errmsg *em)
{
    bool grams = kind != PART_CHAR_FILTER && (str_is(name, "nGram") || str_is(name, "edgeNGram"));
    if (kind == PART_TOKEN_FILTER && grams) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "The [%.*s] %s name was deprecated in 6.4 and cannot be used in new indices. Please "
                       "change the filter name to "
                       "[%s] instead.",
                       STR_ARG(name), kinds[kind].what, name.p[0] == 'n' ? "ngram" : "edge_ngram");
    }
    if (kind == PART_TOKEN_FILTER && str_is(name, "standard")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "The [standard] token filter has been removed.");
    }
    if (kind == PART_TOKEN_FILTER && str_is(name, "delimited_payload_filter")) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "[delimited_payload_filter] is not supported for new indices, use [delimited_payload] instead");
    }
    return kind == PART_TOKEN_FILTER ? filter_not_built(name, em) : ERR_OK;
}

enum err part_new(const void **out, enum part_kind kind, struct str type, struct str name,
                  const struct settings *s, const struct part_builder *b, bool *known, struct errmsg *em)
{
    const struct part_entry *f = registry_find(kind, type);
    *out = NULL;
    enum err e = removed_part(kind, type, em);
    int needed = b->bare == BARE_IN_SETTINGS ? AS_TYPE : BOTH; /* a request may name any, in either way */
    *known = e != ERR_OK || (f != NULL && (f->flags & needed) != 0);
    if (e != ERR_OK || !*known) {
        return e;
    }
    struct settings preset;
    bool fixed = names_language(f); /* a stemmer of one language, whatever the settings say */
    if (fixed && !settings_of_text(&preset, f->preset, b->arena)) {
        return err_no_memory(em);
    }
    return make(out, kind, f, name, fixed ? &preset : s, b, em);
}

bool parts_put(struct map *m, struct str name, const void *part)
{
    const void **at = ARENA_NEW(m->arena, const void *);
    if (at == NULL) {
        return false;
    }
    *at = part;
    return map_put(m, name, at);
}

const void *parts_get(const struct map *m, struct str name)
{
    const void *const *at = map_get(m, name);
    return at != NULL ? *at : NULL;
}

enum err part_by_name(const void **out, enum part_kind kind, struct str name, const struct part_builder *b,
                      struct errmsg *em)
{
    *out = parts_get(&b->a->parts[kind], name);
    if (*out != NULL) {
        return ERR_OK;
    }
    enum err e = removed_part(kind, name, em);
    const struct part_entry *f = registry_find(kind, name);
    if (e != ERR_OK || f == NULL) {
        return e;
    }
    if ((f->flags & BY_NAME) == 0 && (f->flags & BARE_REFUSED) != 0 && b->bare == BARE_IN_SETTINGS) {
        return ERR_OK;
    }
    if ((f->flags & BY_NAME) == 0 && (f->flags & BARE_REFUSED) != 0 && b->bare == BARE_WITHOUT_INDEX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Analysis settings required - can't instantiate analysis factory");
    }
    bool as_type = (f->flags & BY_NAME) == 0
                   || (b->bare == BARE_IN_INDEX && (f->flags & AS_TYPE) != 0 && !names_language(f));
    struct settings preset;
    if (!settings_of_text(&preset, as_type ? NULL : f->preset, b->arena)) {
        return err_no_memory(em);
    }
    return make(out, kind, f, name, &preset, b, em);
}
