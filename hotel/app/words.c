#include "hotel/app/words.h"

#include "common/base/utf8.h"
#include "hotel/names.h"

#include <stdlib.h>

static const struct {
    const char *name, *field;
} kinds[VALUE_KINDS_N] = {
    [VALUE_CITY] = {"city", F_CITY},
    [VALUE_DISTRICT] = {"district", F_BUSINESS},
    [VALUE_BRAND] = {"brand", F_BRAND},
    [VALUE_STAR] = {"star", F_STAR_NAME},
};

const char *value_kind_name(enum value_kind k)
{
    return kinds[k].name;
}

const char *value_kind_field(enum value_kind k)
{
    return kinds[k].field;
}

/* ---- folding ---- */

static uint32_t simplify(const struct words *w, uint32_t c)
{
    size_t lo = 0, hi = w->pairs_n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (w->traditional[mid] < c) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < w->pairs_n && w->traditional[lo] == c ? w->simplified[lo] : c;
}

static uint32_t fold_char(const struct words *w, uint32_t c)
{
    if (c >= 0xFF01 && c <= 0xFF5E) { /* fullwidth forms of ASCII */
        c -= 0xFEE0;
    }
    if (c >= 'A' && c <= 'Z') {
        return c + ('a' - 'A');
    }
    bool other = c < 0x80 ? !folded_latin(c)
                          : c < 0xC0 || c == UTF8_REPLACEMENT || (c >= 0x2000 && c < 0x2C00)
                                || (c >= 0x3000 && c < 0x3040) || (c >= 0xE000 && c < 0xF900)
                                || (c >= 0xFE00 && c < 0xFF70);
    return other ? ' ' : simplify(w, c);
}

static bool fold(const struct words *w, struct str text, bool blanks, struct arena *arena, struct folded *out)
{
    size_t most = text.n + 1;
    out->n = 0;
    out->c = ARENA_ARRAY(arena, uint32_t, most);
    out->at = ARENA_ARRAY(arena, uint32_t, most);
    if (out->c == NULL || out->at == NULL) {
        return false;
    }
    for (size_t at = 0; at < text.n;) {
        size_t from = at;
        uint32_t c = fold_char(w, utf8_next(text, &at));
        bool repeated = c == ' ' && (out->n == 0 || out->c[out->n - 1] == ' ');
        if (!repeated && (blanks || c != ' ')) {
            out->c[out->n] = c;
            out->at[out->n++] = (uint32_t)from;
        }
    }
    out->at[out->n] = (uint32_t)text.n;
    return true;
}

bool words_fold(const struct words *w, struct str text, struct arena *arena, struct folded *out)
{
    return fold(w, text, true, arena, out);
}

bool words_form(const struct words *w, struct str text, struct arena *arena, struct folded *out)
{
    return fold(w, text, false, arena, out);
}

size_t folded_at(const struct folded *text, size_t at, const struct folded *form)
{
    size_t i = at;
    for (size_t k = 0; k < form->n; k++, i++) {
        bool within = k > 0 && folded_latin(form->c[k]) && folded_latin(form->c[k - 1]);
        if (within && i < text->n && text->c[i] == ' ') {
            i++;
        }
        if (i >= text->n || text->c[i] != form->c[k]) {
            return 0;
        }
    }
    return i - at;
}

bool folded_all_latin(const struct folded *f)
{
    size_t n = 0;
    while (n < f->n && folded_latin(f->c[n])) {
        n++;
    }
    return n == f->n;
}

bool folded_no_latin(const struct folded *f)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->c[i] < 0x80) {
            return false;
        }
    }
    return true;
}

/* ---- statements ---- */

/* The next word of *rest; n == 0: there is none. */
static struct str next_word(struct str *rest)
{
    *rest = str_trim(*rest);
    size_t end = str_find(*rest, ' ', 0);
    end = end == SIZE_MAX ? rest->n : end;
    struct str word = str_slice(*rest, 0, end);
    *rest = str_slice(*rest, end, rest->n);
    return word;
}

static bool add_words(struct words *w, struct word_list *to, struct str text)
{
    for (struct str word = next_word(&text); word.n > 0; word = next_word(&text)) {
        struct folded *v = arena_grow(&w->arena, to->v, to->n, &to->cap, sizeof(*v));
        if (v == NULL) {
            return false;
        }
        to->v = v;
        if (!words_form(w, word, &w->arena, &v[to->n])) {
            return false;
        }
        to->n++;
    }
    return true;
}

static bool read_words(struct words *w, struct str text, struct str **out, size_t *n)
{
    size_t cap = 0;
    *out = NULL;
    *n = 0;
    for (struct str v = next_word(&text); v.n > 0; v = next_word(&text)) {
        struct str *grown = arena_grow(&w->arena, *out, *n, &cap, sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        *out = grown;
        grown[(*n)++] = v;
    }
    return true;
}

static bool add_same(struct words *w, struct str values, struct str said)
{
    struct same *all = arena_grow(&w->arena, w->same, w->same_n, &w->same_cap, sizeof(*all));
    if (all == NULL) {
        return false;
    }
    w->same = all;
    struct same *s = &all[w->same_n++];
    return read_words(w, values, &s->values, &s->values_n) && read_words(w, said, &s->said, &s->said_n);
}

static struct word_list *endings_of(struct words *w, struct str kind)
{
    for (size_t k = 0; k < VALUE_KINDS_N; k++) {
        if (str_is(kind, kinds[k].name)) {
            return &w->endings[k];
        }
    }
    return NULL;
}

static enum err add_statement(struct words *w, struct str line, struct errmsg *em)
{
    struct str rest = line, right, verb = next_word(&rest), left = str_cut(rest, '=', &right);
    struct word_list *list = str_is(verb, "plain")  ? &w->plain
                             : str_is(verb, "road") ? &w->roads
                             : str_is(verb, "tail") ? &w->tails
                                                    : NULL;
    if (list != NULL) {
        return add_words(w, list, rest) ? ERR_OK : err_no_memory(em);
    }
    if (right.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "no statement: [%.*s]", STR_ARG(line));
    }
    if (str_is(verb, "same")) {
        return add_same(w, left, right) ? ERR_OK : err_no_memory(em);
    }
    struct word_list *endings = str_is(verb, "ending") ? endings_of(w, str_trim(left)) : NULL;
    if (endings == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "no statement: [%.*s]", STR_ARG(line));
    }
    return add_words(w, endings, right) ? ERR_OK : err_no_memory(em);
}

static enum err add_pairs(struct words *w, struct str line, struct errmsg *em)
{
    for (size_t at = 0; at < line.n;) {
        uint32_t from = utf8_next(line, &at);
        if (at == line.n || (w->pairs_n > 0 && from <= w->traditional[w->pairs_n - 1])) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "no pairs in their order");
        }
        size_t cap = w->pairs_cap;
        uint32_t *t = arena_grow(&w->arena, w->traditional, w->pairs_n, &w->pairs_cap, sizeof(*t));
        uint32_t *s = arena_grow(&w->arena, w->simplified, w->pairs_n, &cap, sizeof(*s));
        if (t == NULL || s == NULL) {
            return err_no_memory(em);
        }
        w->traditional = t;
        w->simplified = s;
        t[w->pairs_n] = from;
        s[w->pairs_n++] = utf8_next(line, &at);
    }
    return ERR_OK;
}

static enum err each_line(struct words *w, struct str text,
                          enum err (*add)(struct words *w, struct str line, struct errmsg *em),
                          struct errmsg *em)
{
    enum err e = ERR_OK;
    for (unsigned number = 1; text.p != NULL && e == ERR_OK; number++) {
        struct str line = str_trim(str_cut(text, '\n', &text));
        if (line.n > 0 && line.p[0] != '#') {
            e = add(w, line, em);
        }
        e = e == ERR_OK || e == ERR_NO_MEMORY ? e : err_prefix(em, e, "line %u", number);
    }
    return e;
}

enum err words_new(struct words **out, struct str statements, struct str traditional, struct errmsg *em)
{
    struct words *w = calloc(1, sizeof(*w));
    *out = NULL;
    if (w == NULL) {
        return err_no_memory(em);
    }
    arena_init(&w->arena, NULL, ARENA_UNLIMITED);
    enum err e = each_line(w, traditional, add_pairs, em);
    e = e != ERR_OK ? e : each_line(w, statements, add_statement, em);
    if (e != ERR_OK) {
        words_free(w);
        return e;
    }
    *out = w;
    return ERR_OK;
}

void words_free(struct words *w)
{
    if (w != NULL) {
        arena_fini(&w->arena);
        free(w);
    }
}
