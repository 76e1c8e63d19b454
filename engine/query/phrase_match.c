#include "engine/query/phrase.h"

#include "common/base/stop.h"

/* ---- exact ---- */

/* Where several terms of the first slot stand at one position, each of them counts, as Lucene's lead walks them one by one;
 * those of later slots are only looked for. */

/* Four positions compared at once. */
typedef uint32_t lanes __attribute__((vector_size(16)));

#define FEW 8 /* of the rarer slot's positions: each is looked for among all of the other's */

static lanes load_lanes(const uint32_t *p)
{
    lanes v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static lanes lanes_of(uint32_t v)
{
    return (lanes){v, v, v, v};
}

/* Ones where v[i] is `want`, of the n that are left. */
static lanes equal(const uint32_t *v, uint32_t n, uint32_t want)
{
    const lanes number = {0, 1, 2, 3};
    return (lanes)(load_lanes(v) == lanes_of(want)) & (lanes)(number < lanes_of(n));
}

/* How many of the few a[] have b[] where they want it; nothing branches on what the positions are. */
static uint32_t found_among(const uint32_t *a, uint32_t an, const uint32_t *b, uint32_t bn, uint32_t shift)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < an; i++) {
        lanes any = equal(b, bn, a[i] + shift);
        for (uint32_t k = 4; k < bn; k += 4) {
            any |= equal(b + k, bn - k, a[i] + shift);
        }
        uint64_t halves[2];
        memcpy(halves, &any, sizeof(halves));
        n += (halves[0] | halves[1]) != 0 ? 1 : 0;
    }
    return n;
}

/* How many of a[] the few b[] are wanted by. */
static uint32_t count_matches(const uint32_t *a, uint32_t an, const uint32_t *b, uint32_t bn, uint32_t shift)
{
    lanes sum = lanes_of(0);
    for (uint32_t k = 0; k < bn; k++) {
        if (k > 0 && b[k] == b[k - 1]) {
            continue;
        }
        for (uint32_t i = 0; i < an; i += 4) {
            sum -= equal(a + i, an - i, b[k] - shift);
        }
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

uint32_t phrase_match_two(const struct phrase_slot *a, const struct phrase_slot *b)
{
    uint32_t shift = (uint32_t)b->offset - (uint32_t)a->offset + b->base - a->base;
    if (a->freq <= FEW && a->freq <= b->freq) {
        return found_among(a->pos, a->freq, b->pos, b->freq, shift);
    }
    if (b->freq <= FEW) {
        return count_matches(a->pos, a->freq, b->pos, b->freq, shift);
    }
    uint32_t i = 0, k = 0, n = 0;
    int64_t apart = (int64_t)b->offset - a->offset;
    while (i < a->freq && k < b->freq) {
        int64_t want = (int64_t)(a->pos[i] - a->base) + apart, got = b->pos[k] - b->base;
        n += want == got ? 1 : 0;
        i += want <= got ? 1 : 0;
        k += got < want ? 1 : 0;
    }
    return n;
}

static int64_t position(const struct phrase_slot *s, uint32_t i)
{
    return (int64_t)(s->pos[i] - s->base) - s->offset;
}

static float exact(struct phrase_match *m)
{
    struct phrase_slot *lead = &m->v[0];
    uint32_t n = 0;
    if (m->n == 2) {
        return (float)phrase_match_two(&m->v[0], &m->v[1]);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        m->v[i].next = 0;
        lead = m->v[0].n == 1 && m->v[i].n == 1 && m->v[i].freq < lead->freq ? &m->v[i] : lead;
    }
    for (uint32_t p = 0; p < lead->freq && !stop_often(); p++) {
        int64_t want = position(lead, p);
        bool all = true;
        for (uint32_t i = 0; i < m->n && all; i++) {
            struct phrase_slot *s = &m->v[i];
            if (s == lead) {
                continue;
            }
            while (s->next < s->freq && position(s, s->next) < want && !stop_often()) {
                s->next++;
            }
            if (s->next == s->freq) {
                return (float)n;
            }
            all = position(s, s->next) == want;
        }
        n += all ? 1 : 0;
    }
    return (float)n;
}

/* ---- sloppy ---- */

static bool phrase_less(const struct phrase_slot *a, const struct phrase_slot *b)
{
    if (a->position != b->position) {
        return a->position < b->position;
    }
    return a->offset != b->offset ? a->offset < b->offset : a->ord < b->ord;
}

static void queue_add(struct phrase_match *m, struct phrase_slot *s)
{
    uint32_t i = m->queue_n++;
    while (i > 0 && phrase_less(s, m->queue[(i - 1) / 2])) {
        m->queue[i] = m->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    m->queue[i] = s;
}

static struct phrase_slot *queue_pop(struct phrase_match *m)
{
    struct phrase_slot *top = m->queue[0], *last = m->queue[--m->queue_n];
    uint32_t i = 0;
    for (uint32_t kid; (kid = 2 * i + 1) < m->queue_n; i = kid) {
        if (kid + 1 < m->queue_n && phrase_less(m->queue[kid + 1], m->queue[kid])) {
            kid++;
        }
        if (!phrase_less(m->queue[kid], last)) {
            break;
        }
        m->queue[i] = m->queue[kid];
    }
    m->queue[i] = last;
    return top;
}

static bool next_position(struct phrase_slot *s)
{
    if (s->next >= s->freq) {
        return false;
    }
    s->position = (int32_t)s->pos[s->next++] - s->offset;
    return true;
}

static bool advance(struct phrase_match *m, struct phrase_slot *s)
{
    if (!next_position(s)) {
        return false;
    }
    m->end = MAX_OF(m->end, s->position);
    return true;
}

static int32_t phrase_place(const struct phrase_slot *s)
{
    return s->position + s->offset;
}

/* Another slot of the group that stands at the same place; NULL: none. */
static struct phrase_slot *collision(const struct phrase_match *m, const struct phrase_slot *s)
{
    struct phrase_slot **group = m->groups[s->group];
    for (uint32_t i = 0; i < m->group_n[s->group]; i++) {
        if (group[i] != s && phrase_place(group[i]) == phrase_place(s)) {
            return group[i];
        }
    }
    return NULL;
}

static struct phrase_slot *lesser(struct phrase_slot *a, struct phrase_slot *b)
{
    return a->position < b->position || (a->position == b->position && a->offset < b->offset) ? a : b;
}

/* s was advanced: as long as it shares its place, the lesser of the two moves on; those in the queue are put in order. */
static bool phrase_resolve(struct phrase_match *m, struct phrase_slot *s)
{
    struct phrase_slot *first = s, *other;
    uint32_t n = 0, marked = 0;
    if (s->group < 0) {
        return true;
    }
    memset(m->marks, 0, bits_words(m->n) * sizeof(*m->marks));
    while ((other = collision(m, s)) != NULL) {
        struct phrase_slot *hit = other;
        s = lesser(s, other);
        if (!advance(m, s)) {
            return false;
        }
        if (hit != first && !bits_test(m->marks, hit->ord)) {
            bits_set(m->marks, hit->ord);
            marked++;
        }
    }
    while (marked > 0 && m->queue_n > 0) {
        struct phrase_slot *top = queue_pop(m);
        m->stack[n++] = top;
        if (bits_test(m->marks, top->ord)) {
            bits_clear(m->marks, top->ord);
            marked--;
        }
    }
    while (n > 0) {
        queue_add(m, m->stack[--n]);
    }
    return true;
}

/* The start of a document: repeated terms begin at different places. */
static bool spread_groups(struct phrase_match *m)
{
    for (uint32_t g = 0; g < m->n_groups; g++) {
        struct phrase_slot **group = m->groups[g], *other;
        for (uint32_t i = 0; i < m->group_n[g]; i++) {
            if (!m->multi_repeats) {
                for (uint32_t k = 0; k < i; k++) {
                    if (!next_position(group[i])) {
                        return false;
                    }
                }
                continue;
            }
            bool again = false;
            while (!again && (other = collision(m, group[i])) != NULL) {
                struct phrase_slot *moved = lesser(group[i], other);
                if (!advance(m, moved)) {
                    return false;
                }
                again = moved->in_group < (int32_t)i;
            }
            i -= again ? 1U : 0U;
        }
    }
    return true;
}

static bool phrase_start(struct phrase_match *m)
{
    m->end = INT32_MIN;
    m->queue_n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        m->v[i].next = 0;
        if (!next_position(&m->v[i])) {
            return false;
        }
    }
    if (!spread_groups(m)) {
        return false;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        m->end = MAX_OF(m->end, m->v[i].position);
        queue_add(m, &m->v[i]);
    }
    return true;
}

static bool next_match(struct phrase_match *m)
{
    if (!m->positioned) {
        return false;
    }
    struct phrase_slot *s = queue_pop(m);
    m->width = m->end - s->position;
    int32_t next = m->queue[0]->position;
    while (advance(m, s) && !stop_often()) {
        if (!phrase_resolve(m, s)) {
            break;
        }
        if (s->position > next) { /* as narrow as this match gets */
            queue_add(m, s);
            if (m->width <= (int32_t)MIN_OF(m->slop, (uint32_t)INT32_MAX)) {
                return true;
            }
            s = queue_pop(m);
            next = m->queue[0]->position;
            m->width = m->end - s->position;
        } else {
            m->width = MIN_OF(m->width, m->end - s->position);
        }
    }
    m->positioned = false;
    return m->width <= (int32_t)MIN_OF(m->slop, (uint32_t)INT32_MAX);
}

static float sloppy(struct phrase_match *m)
{
    float freq = 0;
    m->positioned = phrase_start(m);
    while (next_match(m) && !stop_often()) {
        freq += 1.0F / (1.0F + (float)m->width);
    }
    return freq;
}

float phrase_match_freq(struct phrase_match *m)
{
    return m->slop == 0 ? exact(m) : sloppy(m);
}

/* ---- repeats ---- */

static bool share_term(const struct phrase_slot *a, const struct phrase_slot *b)
{
    for (uint32_t i = 0; i < a->n_all; i++) {
        for (uint32_t k = 0; k < b->n_all; k++) {
            if (str_eq(a->terms[i], b->terms[k])) {
                return true;
            }
        }
    }
    return false;
}

/* Slots connected by shared terms get one group's number; -1: no repeats. */
static void number_groups(struct phrase_match *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        m->v[i].group = -1;
    }
    bool changed = true;
    for (uint32_t i = 0; i < m->n; i++) {
        bool repeats = false;
        for (uint32_t k = 0; k < m->n && !stop_often(); k++) {
            repeats =
                repeats || (k != i && m->v[k].offset != m->v[i].offset && share_term(&m->v[i], &m->v[k]));
        }
        if (!repeats || m->v[i].group >= 0) {
            continue;
        }
        m->v[i].group = (int32_t)m->n_groups++;
        for (changed = true; changed && !stop_now();) {
            changed = false;
            for (uint32_t a = 0; a < m->n; a++) {
                for (uint32_t b = 0; b < m->n && !stop_often(); b++) {
                    if (m->v[a].group == m->v[i].group && m->v[b].group < 0
                        && m->v[a].offset != m->v[b].offset && share_term(&m->v[a], &m->v[b])) {
                        m->v[b].group = m->v[i].group;
                        changed = true;
                    }
                }
            }
        }
    }
}

bool phrase_match_init(struct phrase_match *m, struct phrase_slot *slots, uint32_t n, uint32_t slop,
                       struct arena *arena)
{
    *m = (struct phrase_match){.v = slots, .n = n, .slop = slop, .arena = arena};
    for (uint32_t i = 0; i < n; i++) {
        slots[i].ord = i;
        slots[i].group = -1;
    }
    if (slop == 0) {
        return true;
    }
    m->queue = ARENA_ARRAY(arena, struct phrase_slot *, n + 1);
    m->stack = ARENA_ARRAY(arena, struct phrase_slot *, n + 1);
    m->marks = ARENA_ARRAY(arena, uint64_t, bits_words(n));
    m->groups = ARENA_ARRAY(arena, struct phrase_slot **, n);
    m->group_n = ARENA_ARRAY(arena, uint32_t, n);
    if (m->queue == NULL || m->stack == NULL || m->marks == NULL || m->groups == NULL || m->group_n == NULL) {
        return false;
    }
    number_groups(m);
    for (uint32_t g = 0; g < m->n_groups; g++) {
        m->groups[g] = ARENA_ARRAY(arena, struct phrase_slot *, n);
        if (m->groups[g] == NULL) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) { /* slots are in the order of their offsets */
            if (slots[i].group == (int32_t)g) {
                slots[i].in_group = (int32_t)m->group_n[g];
                m->groups[g][m->group_n[g]++] = &slots[i];
                m->multi_repeats = m->multi_repeats || slots[i].n_all > 1;
            }
        }
    }
    return true;
}
