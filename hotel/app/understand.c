#include "hotel/app/understand.h"

#include "common/base/utf8.h"

#define WORD_MIN  2  /* characters that a tail leaves */
#define WORDS_MAX 16 /* different ones that count: each is looked for in all addresses */

struct reader {
    const struct words *words;
    const struct lexicon *lexicon;
    struct arena *arena;
    struct str key;
    struct folded text;
    bool *ends;  /* where a name may end: at no letter or digit, or where a further name begins */
    size_t *len; /* the name that begins here; 0: none */
    const struct lex_value **value; /* NULL with a length: a word without meaning */
    struct understanding *out;
};

/* Is there a boundary of words in front of `at`? */
static bool boundary(const struct folded *t, size_t at)
{
    return at == 0 || at >= t->n || !folded_latin(t->c[at]) || !folded_latin(t->c[at - 1]);
}

static bool list_at(const struct folded *t, size_t at, const struct word_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (folded_at(t, at, &list->v[i]) > 0) {
            return true;
        }
    }
    return false;
}

/* Is it a street that a name in front of `at` gives its name to: "... road", "... 12 号"? */
static bool street_at(const struct reader *r, size_t at)
{
    const struct folded *t = &r->text;
    size_t digits = at;
    while (digits < t->n && t->c[digits] >= '0' && t->c[digits] <= '9') {
        digits++;
    }
    bool number = digits > at && digits < t->n && t->c[digits] == 0x53F7; /* 号 */
    return number || list_at(t, at, &r->words->roads);
}

static void name_at(struct reader *r, size_t at)
{
    const struct folded *t = &r->text;
    for (size_t i = 0; i < r->lexicon->forms_n; i++) {
        const struct lex_form *f = &r->lexicon->forms[i];
        const struct lex_value *v = &r->lexicon->values[f->value];
        size_t n = folded_at(t, at, &f->text), end = at + n;
        bool better =
            n > r->len[at] || (n == r->len[at] && r->value[at] != NULL && v->hotels > r->value[at]->hotels);
        if (n == 0 || !better || !r->ends[end]) {
            continue;
        }
        if (f->kind == FORM_INITIALS && (!boundary(t, at) || !boundary(t, end))) {
            continue; /* whole words alone are initials */
        }
        bool place = v->kind == VALUE_CITY || v->kind == VALUE_DISTRICT;
        if (place && street_at(r, end)) {
            continue;
        }
        r->len[at] = n;
        r->value[at] = v;
    }
    for (size_t i = 0; i < r->words->plain.n; i++) {
        size_t n = folded_at(t, at, &r->words->plain.v[i]);
        if (n > r->len[at] && r->ends[at + n] && boundary(t, at)) {
            r->len[at] = n;
            r->value[at] = NULL;
        }
    }
}

/* From the end: a name may end where one begins. */
static void find_names(struct reader *r)
{
    r->ends[r->text.n] = true;
    for (size_t at = r->text.n; at-- > 0;) {
        r->ends[at] = boundary(&r->text, at);
        if (r->text.c[at] != ' ') {
            name_at(r, at);
        }
        r->ends[at] = r->ends[at] || r->len[at] > 0;
    }
}

/* Where a word's tail begins; `to`: it has none. */
static size_t tail_of(const struct reader *r, size_t from, size_t to)
{
    size_t at = to;
    for (size_t i = 0; i < r->words->tails.n; i++) {
        const struct folded *tail = &r->words->tails.v[i];
        bool long_enough = to - from >= tail->n + WORD_MIN;
        if (long_enough && folded_at(&r->text, to - tail->n, tail) == tail->n) {
            at = MIN_OF(at, to - tail->n);
        }
    }
    return at;
}

/* Is it there already, or one word too many? */
static bool counts(const struct understanding *u, struct str folded, const struct lex_value *value)
{
    size_t words = 0;
    for (size_t i = 0; i < u->n; i++) {
        words += u->v[i].value == NULL;
        if (u->v[i].value == value && (value != NULL || str_eq(u->v[i].folded, folded))) {
            return false;
        }
    }
    return value != NULL || words < WORDS_MAX;
}

static bool put(struct reader *r, size_t from, size_t to, const struct lex_value *value)
{
    struct understanding *u = r->out;
    struct understood *v = arena_grow(r->arena, u->v, u->n, &u->cap, sizeof(*v));
    size_t most = (to - from) * 4;
    char *folded = arena_alloc(r->arena, most);
    if (v == NULL || folded == NULL) {
        return false;
    }
    u->v = v;
    size_t n = 0, shorter = 0, tail = tail_of(r, from, to);
    for (size_t i = from; i < to; i++) {
        shorter = i == tail ? n : shorter;
        n += utf8_put(folded + n, r->text.c[i]);
    }
    if (counts(u, str_mk(folded, n), value)) {
        struct str text = str_slice(r->key, r->text.at[from], r->text.at[to]);
        v[u->n++] = (struct understood){.text = str_trim(text),
                                        .folded = str_mk(folded, n),
                                        .shorter = str_mk(folded, value == NULL ? shorter : 0),
                                        .value = value};
    }
    return true;
}

/* Names, and what is between them. */
static bool split(struct reader *r)
{
    const struct folded *t = &r->text;
    for (size_t at = 0; at < t->n;) {
        size_t from = at;
        while (at < t->n && t->c[at] != ' ' && !(r->len[at] > 0 && boundary(t, at))) {
            at++;
        }
        if (at > from && !put(r, from, at, NULL)) {
            return false;
        }
        while (at < t->n && r->len[at] > 0) {
            if (r->value[at] != NULL && !put(r, at, at + r->len[at], r->value[at])) {
                return false;
            }
            at += r->len[at];
        }
        at += at < t->n && t->c[at] == ' ';
    }
    return true;
}

/* A district that has no hotel in any of the cities said is a word. */
static void check_districts(struct understanding *u)
{
    for (size_t i = 0; i < u->n; i++) {
        const struct lex_value *v = u->v[i].value;
        bool said = false, there = false;
        for (size_t k = 0; v != NULL && v->kind == VALUE_DISTRICT && k < u->n; k++) {
            const struct lex_value *city = u->v[k].value;
            if (city != NULL && city->kind == VALUE_CITY) {
                said = true;
                there = there || lexicon_in_city(v, city->text);
            }
        }
        if (said && !there) {
            u->v[i].value = NULL;
        }
    }
}

enum err understand(struct understanding *out, struct str key, const struct words *words,
                    const struct lexicon *l, struct arena *arena, struct errmsg *em)
{
    struct reader r = {.words = words, .lexicon = l, .arena = arena, .key = key, .out = out};
    *out = (struct understanding){0};
    if (!words_fold(words, key, arena, &r.text)) {
        return err_no_memory(em);
    }
    size_t n = r.text.n + 1;
    r.ends = ARENA_ARRAY(arena, bool, n);
    r.len = ARENA_ARRAY(arena, size_t, n);
    r.value = ARENA_ARRAY(arena, const struct lex_value *, n);
    if (r.ends == NULL || r.len == NULL || r.value == NULL) {
        return err_no_memory(em);
    }
    find_names(&r);
    if (!split(&r)) {
        return err_no_memory(em);
    }
    check_districts(out);
    return ERR_OK;
}

size_t understanding_words(const struct understanding *u)
{
    size_t n = 0;
    for (size_t i = 0; i < u->n; i++) {
        n += u->v[i].value == NULL;
    }
    return n;
}
