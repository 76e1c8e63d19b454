#include "hotel/app/complete.h"

#include <stdlib.h>

#define STAR_MIN 2 /* characters before classes are offered: there are few, with many hotels */

struct candidate {
    const struct lex_value *value;
    unsigned rank; /* 0: none */
    int64_t hotels;
};

/* Higher is better. */
static unsigned rank_of(const struct lex_form *f, const struct folded *typed)
{
    static const unsigned ranks[] = {
        [FORM_TEXT] = 5, [FORM_SAME] = 4, [FORM_PINYIN] = 3, [FORM_SAME_PINYIN] = 2, [FORM_INITIALS] = 1};
    bool begins = f->text.n >= typed->n;
    for (size_t i = 0; begins && i < typed->n; i++) {
        begins = f->text.c[i] == typed->c[i];
    }
    bool english = f->kind == FORM_SAME && folded_all_latin(&f->text);
    return !begins ? 0 : ranks[english ? FORM_SAME_PINYIN : f->kind];
}

static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank > y->rank ? -1 : 1;
    }
    if (x->hotels != y->hotels) {
        return x->hotels > y->hotels ? -1 : 1;
    }
    return str_cmp(x->value->text, y->value->text);
}

/* Hotels of the value where cities are said: a district's there; of others it is not known. */
static int64_t hotels_of(const struct lex_value *v, const struct understanding *head)
{
    int64_t sum = 0;
    bool cities = false;
    for (size_t i = 0; i < head->n; i++) {
        const struct lex_value *city = head->v[i].value;
        if (city == NULL || city->kind != VALUE_CITY) {
            continue;
        }
        cities = true;
        for (size_t k = 0; k < v->cities_n; k++) {
            sum += str_eq(v->cities[k].name, city->text) ? v->cities[k].hotels : 0;
        }
    }
    return head->n == 0 ? v->hotels : !cities ? -1 : v->kind == VALUE_DISTRICT ? sum : -1;
}

/* A value of a kind that the head has already does not follow it, nor a district of another city. */
static bool follows(const struct lex_value *v, const struct understanding *head, int64_t hotels)
{
    for (size_t i = 0; i < head->n; i++) {
        if (head->v[i].value != NULL && head->v[i].value->kind == v->kind) {
            return false;
        }
    }
    return v->kind != VALUE_DISTRICT || hotels != 0;
}

static size_t completions_of(struct completion *out, size_t most, struct str before,
                             const struct folded *typed, const struct understanding *head,
                             const struct lexicon *l, struct arena *arena)
{
    struct candidate *all = ARENA_ARRAY(arena, struct candidate, l->values_n);
    if (all == NULL) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < l->values_n; i++) {
        all[i].value = &l->values[i];
        all[i].hotels = hotels_of(&l->values[i], head);
    }
    for (size_t i = 0; typed->n > 0 && i < l->forms_n; i++) {
        struct candidate *c = &all[l->forms[i].value];
        bool short_class = c->value->kind == VALUE_STAR && typed->n < STAR_MIN;
        unsigned rank = short_class ? 0 : rank_of(&l->forms[i], typed);
        c->rank = rank > c->rank && follows(c->value, head, c->hotels) ? rank : c->rank;
    }
    qsort(all, l->values_n, sizeof(*all), by_rank);
    size_t n = 0;
    for (; n < most && n < l->values_n && all[n].rank > 0; n++) {
        struct str text = arena_printf(arena, "%.*s%.*s", STR_ARG(before), STR_ARG(all[n].value->text));
        if (text.p == NULL) {
            return SIZE_MAX;
        }
        out[n] = (struct completion){.text = text, .value = all[n].value, .hotels = all[n].hotels};
    }
    return n;
}

size_t complete(struct completion *out, size_t most, struct str text, const struct understanding *key,
                const struct words *words, const struct lexicon *l, struct arena *arena)
{
    struct folded typed;
    if (!words_form(words, text, arena, &typed)) {
        return SIZE_MAX;
    }
    size_t n = completions_of(out, most, STR_NULL, &typed, &(struct understanding){0}, l, arena);
    if (n > 0 || key->n < 2) {
        return n;
    }
    struct str last = key->v[key->n - 1].text;
    struct understanding head = {.v = key->v, .n = key->n - 1};
    if (key->v[head.n].value != NULL) {
        return 0;
    }
    if (!words_form(words, last, arena, &typed)) {
        return SIZE_MAX;
    }
    struct str before = str_slice(text, 0, (size_t)(last.p - text.p));
    bool blank = before.n > 0 && before.p[before.n - 1] != ' ';
    struct str joined = arena_printf(arena, "%.*s%s", STR_ARG(before), blank ? " " : "");
    return joined.p == NULL ? SIZE_MAX : completions_of(out, most, joined, &typed, &head, l, arena);
}
