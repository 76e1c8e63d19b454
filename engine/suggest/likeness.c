/* The similarity of two words, by the measures that Lucene offers. */
#include "common/base/utf8.h"
#include "engine/suggest/suggest_int.h"

struct chars {
    const uint32_t *v;
    size_t n;
};

static bool likeness_take(struct str s, struct arena *arena, struct chars *out)
{
    uint32_t *v = ARENA_ARRAY(arena, uint32_t, s.n);
    *out = (struct chars){v, 0};
    for (size_t at = 0; v != NULL && at < s.n;) {
        v[out->n++] = utf8_next(s, &at);
    }
    return v != NULL;
}

/* Edits; a transposition of neighbours is one when asked for. */
static size_t edits(struct chars a, struct chars b, bool transpositions, struct arena *arena)
{
    size_t w = b.n + 1;
    size_t *d = ARENA_ARRAY(arena, size_t, (a.n + 1) * w);
    for (size_t i = 0; d != NULL && i <= a.n; i++) {
        for (size_t j = 0; j <= b.n; j++) {
            size_t v = i == 0 ? j : i;
            if (i > 0 && j > 0) {
                bool same = a.v[i - 1] == b.v[j - 1];
                v = MIN_OF(d[(i - 1) * w + j] + 1, d[i * w + j - 1] + 1);
                v = MIN_OF(v, d[(i - 1) * w + j - 1] + !same);
                if (transpositions && i > 1 && j > 1 && a.v[i - 1] == b.v[j - 2]
                    && a.v[i - 2] == b.v[j - 1]) {
                    v = MIN_OF(v, d[(i - 2) * w + j - 2] + !same);
                }
            }
            d[i * w + j] = v;
        }
    }
    return d != NULL ? d[a.n * w + b.n] : MAX_OF(a.n, b.n);
}

/* Winkler's variant: a common beginning counts for more, above 0.7. */
static float jaro_winkler(struct chars a, struct chars b, struct arena *arena)
{
    struct chars most = a.n > b.n ? a : b, least = a.n > b.n ? b : a;
    size_t range = most.n / 2 > 0 ? most.n / 2 - 1 : 0, matches = 0, transpositions = 0, prefix = 0;
    bool *in_least = ARENA_ARRAY(arena, bool, least.n), *in_most = ARENA_ARRAY(arena, bool, most.n);
    if (in_least == NULL || in_most == NULL || least.n == 0) {
        return 0;
    }
    for (size_t i = 0; i < least.n; i++) {
        for (size_t k = i > range ? i - range : 0; k < MIN_OF(i + range + 1, most.n); k++) {
            if (!in_most[k] && least.v[i] == most.v[k]) {
                in_least[i] = in_most[k] = true;
                matches++;
                break;
            }
        }
    }
    for (size_t i = 0, k = 0; i < least.n; i++) {
        if (in_least[i]) {
            while (!in_most[k]) {
                k++;
            }
            transpositions += least.v[i] != most.v[k++];
        }
    }
    while (prefix < least.n && a.v[prefix] == b.v[prefix]) {
        prefix++;
    }
    if (matches == 0) {
        return 0;
    }
    float m = (float)matches;
    float j = (m / (float)a.n + m / (float)b.n + (m - (float)(transpositions / 2)) / m) / 3;
    return j < 0.7F ? j : j + MIN_OF(0.1F, 1.0F / (float)most.n) * (float)prefix * (1 - j);
}

/* Kondrak's distance over pairs of characters. */
static float ngram(struct chars a, struct chars b, struct arena *arena)
{
    if (a.n == 0 || b.n == 0) {
        return a.n == b.n ? 1 : 0;
    }
    if (a.n < 2 || b.n < 2) {
        size_t cost = 0;
        for (size_t i = 0; i < MIN_OF(a.n, b.n); i++) {
            cost += a.v[i] == b.v[i];
        }
        return (float)cost / (float)MAX_OF(a.n, b.n);
    }
    float *p = ARENA_ARRAY(arena, float, a.n + 1), *d = ARENA_ARRAY(arena, float, a.n + 1);
    if (p == NULL || d == NULL) {
        return 0;
    }
    for (size_t i = 0; i <= a.n; i++) {
        p[i] = (float)i;
    }
    for (size_t j = 1; j <= b.n; j++) {
        d[0] = (float)j;
        for (size_t i = 1; i <= a.n; i++) {
            /* Before the first character stands a mark that equals itself and does not count. */
            uint32_t a0 = i > 1 ? a.v[i - 2] : 0, b0 = j > 1 ? b.v[j - 2] : 0;
            bool mark = a0 == 0 && b0 == 0;
            int cost = (a0 != b0) + (a.v[i - 1] != b.v[j - 1]);
            float c = (float)cost / (float)(mark ? 1 : 2);
            d[i] = MIN_OF(MIN_OF(d[i - 1] + 1, p[i] + 1), p[i - 1] + c);
        }
        float *swap = p;
        p = d;
        d = swap;
    }
    return 1.0F - p[a.n] / (float)MAX_OF(a.n, b.n);
}

float word_likeness(enum term_distance kind, struct str a, struct str b, struct arena *arena)
{
    struct chars x, y;
    if (!likeness_take(a, arena, &x) || !likeness_take(b, arena, &y)) {
        return 0;
    }
    if (kind == DISTANCE_JARO_WINKLER) {
        return jaro_winkler(x, y, arena);
    }
    if (kind == DISTANCE_NGRAM) {
        return ngram(x, y, arena);
    }
    bool damerau = kind == DISTANCE_DAMERAU;
    size_t n = damerau ? MIN_OF(x.n, y.n) : MAX_OF(x.n, y.n);
    return n == 0 ? 0 : 1.0F - (float)edits(x, y, damerau, arena) / (float)n;
}
