#include "engine/analysis/synonyms.h"

#include "common/base/arena_list.h"
#include "common/base/num.h"

struct parsing {
    struct synonyms *out;
    const struct synonym_options *o;
    const struct analyzer *an;
    struct arena *arena;
};

/* The parts of a rule between separators that no backslash protects; empty ones are left out. */
struct parts {
    struct str *v;
    size_t n, cap;
};

static enum err split(struct str line, const char *separator, struct arena *arena, struct parts *out,
                      struct errmsg *em)
{
    size_t k = strlen(separator), from = 0;
    *out = (struct parts){0};
    for (size_t at = 0; at <= line.n;) {
        bool end = at == line.n, cut = !end && line.n - at >= k && memcmp(line.p + at, separator, k) == 0;
        if (!end && !cut) {
            at += line.p[at] == '\\' && at + 1 < line.n ? 2 : 1;
            continue;
        }
        if (at > from) {
            if (!ARENA_ADD(arena, out->v, out->n, out->cap, str_slice(line, from, at))) {
                return err_no_memory(em);
            }
        }
        at += k;
        from = at;
        if (end) {
            break;
        }
    }
    return ERR_OK;
}

static struct str unescape(struct str s, struct arena *arena)
{
    if (str_find(s, '\\', 0) == SIZE_MAX) {
        return s;
    }
    char *to = arena_alloc(arena, s.n);
    size_t n = 0;
    for (size_t at = 0; to != NULL && at < s.n; at++) {
        at += s.p[at] == '\\' && at + 1 < s.n;
        to[n++] = s.p[at];
    }
    return str_mk(to, n);
}

/* The words that the analyzer makes of one side of a rule, joined by NUL; empty where a lenient parser looks
 * away. */
static enum err analyze(struct parsing *p, struct str side, struct str *out, struct errmsg *em)
{
    struct str text = unescape(str_trim(side), p->arena);
    struct token_list l;
    token_list_init(&l, p->arena);
    *out = STR("");
    enum err e = text.p != NULL || text.n == 0 ? analyzer_run(p->an, text, &l, em) : err_no_memory(em);
    size_t bytes = 0;
    for (size_t i = 0; i < l.n && e == ERR_OK; i++) {
        bytes += l.v[i].text.n + 1;
        if (l.v[i].text.n == 0) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "term: %.*s analyzed to a zero-length token",
                        STR_ARG(text));
        } else if (l.v[i].pos_inc != 1) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                        "term: %.*s analyzed to a token (%.*s) with position increment != 1 (got: %d)",
                        STR_ARG(text), STR_ARG(l.v[i].text), l.v[i].pos_inc);
        }
    }
    if (e == ERR_OK && l.n == 0) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "term: %.*s was completely eliminated by analyzer",
                    STR_ARG(text));
    }
    if (e != ERR_OK) {
        return e == ERR_ILLEGAL_ARGUMENT && p->o->lenient ? ERR_OK : e;
    }
    char *to = arena_alloc(p->arena, bytes);
    size_t n = 0;
    if (to == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < l.n; i++) {
        memcpy(to + n, l.v[i].text.p, l.v[i].text.n);
        n += l.v[i].text.n;
        to[n++] = '\0';
    }
    *out = str_mk(to, n - 1);
    return ERR_OK;
}

static struct synonym *rule_for(struct synonyms *s, struct str words, struct arena *arena)
{
    struct synonym *rule = map_get(&s->rules, words);
    if (rule == NULL) {
        rule = ARENA_NEW(arena, struct synonym);
        if (rule == NULL || !map_put(&s->rules, words, rule)) {
            return NULL;
        }
    }
    return rule;
}

static enum err synonyms_add(struct parsing *p, struct str from, struct str to, bool keep_original,
                             struct errmsg *em)
{
    if (from.n == 0 || to.n == 0) {
        return ERR_OK;
    }
    size_t words = 1;
    for (size_t at = str_find(from, '\0', 0); at != SIZE_MAX; at = str_find(from, '\0', at + 1)) {
        struct synonym *shorter = rule_for(p->out, str_slice(from, 0, at), p->arena);
        if (shorter == NULL) {
            return err_no_memory(em);
        }
        shorter->goes_on = true;
        words++;
    }
    struct synonym *rule = rule_for(p->out, from, p->arena);
    if (rule == NULL) {
        return err_no_memory(em);
    }
    rule->matches = true;
    rule->keep_original |= keep_original;
    p->out->words_max = MAX_OF(p->out->words_max, words);
    for (size_t i = 0; i < rule->n; i++) {
        if (str_eq(rule->outputs[i], to)) {
            return ERR_OK;
        }
    }
    return ARENA_ADD(p->arena, rule->outputs, rule->n, rule->cap, to) ? ERR_OK : err_no_memory(em);
}

static enum err analyze_all(struct parsing *p, struct parts *sides, struct errmsg *em)
{
    for (size_t i = 0; i < sides->n; i++) {
        enum err e = analyze(p, sides->v[i], &sides->v[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err add_explicit(struct parsing *p, struct str left, struct str right, struct errmsg *em)
{
    struct parts from, to;
    enum err e = split(left, ",", p->arena, &from, em);
    e = e == ERR_OK ? split(right, ",", p->arena, &to, em) : e;
    e = e == ERR_OK ? analyze_all(p, &from, em) : e;
    e = e == ERR_OK ? analyze_all(p, &to, em) : e;
    for (size_t i = 0; e == ERR_OK && i < from.n; i++) {
        for (size_t k = 0; e == ERR_OK && k < to.n; k++) {
            e = synonyms_add(p, from.v[i], to.v[k], false, em);
        }
    }
    return e;
}

/* Words that mean the same: each becomes all others, or all become the first. */
static enum err add_equivalent(struct parsing *p, const struct parts *words, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < words->n; i++) {
        if (!p->o->expand) {
            e = synonyms_add(p, words->v[i], words->v[0], false, em);
            continue;
        }
        for (size_t k = 0; e == ERR_OK && k < words->n; k++) {
            e = i != k ? synonyms_add(p, words->v[i], words->v[k], true, em) : ERR_OK;
        }
    }
    return e;
}

static enum err parse_rule(struct parsing *p, struct str line, struct errmsg *em)
{
    struct parts sides, words;
    enum err e = split(line, "=>", p->arena, &sides, em);
    if (e != ERR_OK) {
        return e;
    }
    if (sides.n > 2) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "more than one explicit mapping specified on the same line");
    }
    if (sides.n == 2) {
        return add_explicit(p, sides.v[0], sides.v[1], em);
    }
    e = split(line, ",", p->arena, &words, em);
    e = e == ERR_OK ? analyze_all(p, &words, em) : e;
    return e == ERR_OK ? add_equivalent(p, &words, em) : e;
}

/* "s(100000001,1,'word',n,1,0)." : the words of one set, the first number, stand one after the other. */
static enum err parse_wordnet(struct parsing *p, const struct str *lines, size_t n, struct errmsg *em)
{
    struct parts set = {0};
    struct str last = STR("");
    enum err e = ERR_OK;
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        struct str line = lines[i];
        if (line.n < 11) {
            return err_set(em, ERR_STRING_BOUNDS, "begin 2, end 11, length %zu", line.n);
        }
        struct str id = str_slice(line, 2, 11);
        if (!str_eq(id, last) && set.n > 0) {
            e = add_equivalent(p, &set, em);
            set.n = 0;
        }
        last = id;
        size_t open = str_find(line, '\'', 0), close = line.n;
        while (close > 0 && line.p[close - 1] != '\'') {
            close--;
        }
        struct str *v = arena_grow(p->arena, set.v, set.n, &set.cap, sizeof(*v));
        if (open == SIZE_MAX || close <= open + 1 || v == NULL) {
            return v == NULL ? err_no_memory(em)
                             : err_set(em, ERR_STRING_BOUNDS, "begin 0, end -1, length %zu", line.n);
        }
        set.v = v;
        e = e == ERR_OK ? analyze(p, str_slice(line, open + 1, close - 1), &set.v[set.n++], em) : e;
    }
    return e == ERR_OK ? add_equivalent(p, &set, em) : e;
}

enum err synonyms_parse(struct synonyms *out, const struct str *lines, size_t n,
                        const struct synonym_options *o, const struct analyzer *an, struct arena *arena,
                        struct errmsg *em)
{
    struct parsing p = {out, o, an, arena};
    enum err e = ERR_OK;
    out->words_max = 0;
    map_init(&out->rules, arena);
    if (o->wordnet) {
        e = parse_wordnet(&p, lines, n, em);
    }
    for (size_t i = 0; !o->wordnet && i < n && e == ERR_OK; i++) {
        if (lines[i].n == 0 || lines[i].p[0] == '#') {
            continue;
        }
        e = parse_rule(&p, lines[i], em);
        if (e == ERR_ILLEGAL_ARGUMENT) {
            e = err_wrap(em, ERR_PARSE, "Invalid synonym rule at line %zu", i + 1);
        }
    }
    if (e != ERR_OK && e != ERR_NO_MEMORY) {
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "failed to build synonyms");
    }
    return e;
}

const struct synonym *synonyms_match(const struct synonyms *s, const struct token *v, size_t at, size_t n,
                                     struct buf *scratch, size_t *length)
{
    const struct synonym *best = NULL, *here = map_get(&s->rules, v[at].text);
    for (size_t k = 1; here != NULL; k++) {
        if (here->matches) {
            best = here;
            *length = k;
        }
        if (!here->goes_on || at + k >= n) {
            break;
        }
        if (k == 1) {
            buf_reset(scratch);
            buf_str(scratch, v[at].text);
        }
        buf_char(scratch, '\0');
        buf_str(scratch, v[at + k].text);
        here = scratch->failed ? NULL : map_get(&s->rules, buf_view(scratch));
    }
    return best;
}
