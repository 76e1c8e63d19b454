#include "engine/index/merge_policy.h"
#include "common/base/sort_items.h"

#include <math.h>

struct sized {
    size_t index;
    double bytes; /* without the share of the deleted documents */
};

static double live_size(const struct merge_candidate *c)
{
    return c->docs == 0 ? 0 : (double)c->bytes * (1.0 - (double)c->deleted / (double)c->docs);
}

static double deleted_pct(const struct merge_candidate *c)
{
    return c->docs == 0 ? 0 : 100.0 * (double)c->deleted / (double)c->docs;
}

/* Largest first, then the older one. */
static int larger_first(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static double floored(double bytes, const struct engine_merge_settings *s)
{
    return MAX_OF(bytes, (double)s->floor_bytes);
}

/* How many segments the sizes may be spread over: segments_per_tier in each tier, a tier max_merge_at_once
 * times the one below. */
static double allowed_count(double total, double smallest, const struct engine_merge_settings *s)
{
    double factor = MIN_OF((double)s->max_merge_at_once, s->segments_per_tier);
    double level = floored(smallest, s), max = (double)s->max_merged_bytes, allowed = 0;
    factor = MAX_OF(factor, 2.0);
    for (;;) {
        double in_level = total / level;
        if (in_level < s->segments_per_tier || level >= max) {
            allowed += ceil(in_level);
            break;
        }
        allowed += s->segments_per_tier;
        total -= s->segments_per_tier * level;
        level = MIN_OF(max, level * factor);
    }
    return MAX_OF(allowed, s->segments_per_tier);
}

struct choice {
    size_t start, n; /* where it begins in the sizes; how many it takes */
    double score;    /* less is better */
};

/* The merge that begins with the segment at `start` and takes smaller ones while they fit; pick (by place)
 * when wanted. */
static struct choice merge_choose(const struct sized *v, size_t n, size_t start,
                                  const struct merge_candidate *c, const struct engine_merge_settings *s,
                                  bool *pick)
{
    struct choice ch = {.start = start, .score = HUGE_VAL};
    double after = 0, after_floored = 0, before = 0, biggest = 0;
    bool too_large = false;
    for (size_t i = start; i < n && ch.n < s->max_merge_at_once; i++) {
        if (after + v[i].bytes > (double)s->max_merged_bytes) {
            too_large = true;
            continue; /* a smaller one may still fit */
        }
        biggest = ch.n == 0 ? v[i].bytes : biggest;
        ch.n++;
        after += v[i].bytes;
        after_floored += floored(v[i].bytes, s);
        before += (double)c[v[i].index].bytes;
        if (pick != NULL) {
            pick[v[i].index] = true;
        }
    }
    bool reclaims = ch.n == 1 && before > 0 && after < before;
    if (ch.n > 1 || reclaims) {
        double factor = MAX_OF(MIN_OF((double)s->max_merge_at_once, s->segments_per_tier), 2.0);
        double skew = too_large ? 1.0 / factor : floored(biggest, s) / after_floored;
        double kept = before > 0 ? after / before : 1;
        ch.score = skew * pow(MAX_OF(after, 1.0), 0.05) * kept * kept;
    }
    return ch;
}

size_t merge_policy_natural(const struct merge_candidate *c, size_t n, const struct engine_merge_settings *s,
                            struct arena *arena, bool *pick)
{
    struct sized *v = ARENA_ARRAY(arena, struct sized, n);
    if (v == NULL) {
        return 0;
    }
    double docs = 0, deleted = 0;
    for (size_t i = 0; i < n; i++) {
        docs += c[i].docs;
        deleted += c[i].deleted;
    }
    bool many_deleted = docs > 0 && 100.0 * deleted / docs > s->deletes_pct_allowed;
    size_t m = 0;
    double total = 0, smallest = HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        double size = live_size(&c[i]);
        bool big = size > (double)s->max_merged_bytes / 2;
        if (c[i].busy || (big && (!many_deleted || deleted_pct(&c[i]) <= s->deletes_pct_allowed))) {
            continue; /* large segments are left alone until they hold many deletions */
        }
        v[m++] = (struct sized){i, size};
        total += size;
        smallest = MIN_OF(smallest, size);
    }
    if (m == 0 || ((double)m <= allowed_count(total, smallest, s) && !many_deleted)) {
        return 0;
    }
    sort_items(v, m, sizeof(*v), larger_first);
    bool only_deletions = (double)m <= allowed_count(total, smallest, s);
    struct choice best = {.score = HUGE_VAL};
    for (size_t i = 0; i < m; i++) {
        struct choice ch = merge_choose(v, m, i, c, s, NULL);
        if (ch.n == 1 && !only_deletions) {
            continue;
        }
        if (ch.score < best.score) {
            best = ch;
        }
    }
    if (best.score >= HUGE_VAL) {
        return 0;
    }
    memset(pick, 0, n * sizeof(*pick));
    return merge_choose(v, m, best.start, c, s, pick).n;
}

size_t merge_policy_forced(const struct merge_candidate *c, size_t n, uint32_t max_segments, bool *pick)
{
    memset(pick, 0, n * sizeof(*pick));
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        if (c[i].busy) {
            return 0; /* its outcome counts */
        }
        total++;
    }
    max_segments = MAX_OF(max_segments, 1);
    if (total <= max_segments) {
        if (total == 1 && max_segments == 1 && c[0].deleted > 0) {
            pick[0] = true;
            return 1;
        }
        return 0;
    }
    size_t want = total - max_segments + 1;
    for (size_t k = 0; k < want; k++) { /* the smallest ones */
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            if (!pick[i] && (best == n || live_size(&c[i]) < live_size(&c[best]))) {
                best = i;
            }
        }
        pick[best] = true;
    }
    return want;
}

size_t merge_policy_expunge(const struct merge_candidate *c, size_t n, const struct engine_merge_settings *s,
                            bool *pick)
{
    memset(pick, 0, n * sizeof(*pick));
    double bytes = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < n && chosen < s->max_merge_at_once; i++) {
        if (c[i].busy || deleted_pct(&c[i]) <= s->expunge_deletes_pct) {
            continue;
        }
        if (chosen > 0 && bytes + live_size(&c[i]) > (double)s->max_merged_bytes) {
            continue;
        }
        bytes += live_size(&c[i]);
        pick[i] = true;
        chosen++;
    }
    return chosen;
}
