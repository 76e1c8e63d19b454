/* From a source to its terms: one walk over the units gathers letters, syllables and their joins, each given
 * a position as the plugin numbers them. */
#include "common/base/arena_list.h"
#include "common/base/hash.h"
#include "engine/analysis/pinyin_int.h"

#include <stdio.h>

#define FIRST_SLOTS 64

/* The state of one pass over the source. */
struct pinyin_state {
    struct pinyin_work *w;
    char *first_letters, *joined, *pending; /* room for all there can be */
    size_t n_first, n_joined, n_pending;
    size_t i; /* the unit looked at */
    int32_t position;
    int32_t pending_start; /* where the last run of ASCII began */
};

void pinyin_work_init(struct pinyin_work *w, const struct dictionary *d, const struct pinyin_options *o,
                      struct arena *arena, bool tokenizer)
{
    *w = (struct pinyin_work){.dict = d, .options = o, .arena = arena, .tokenizer = tokenizer};
}

/* The plugin tells duplicates by term and position written one behind the other, so that "1" at 12 is "11"
 * at 2. */
static size_t position_text(const struct pinyin_work *w, int32_t position, char text[12])
{
    if (w->options->remove_duplicated_term) {
        return 0;
    }
    return (size_t)snprintf(text, 12, "%d", position);
}

static uint32_t hash_term(const struct pinyin_work *w, const struct pinyin_term *t)
{
    char digits[12];
    size_t n = position_text(w, t->position, digits);
    uint32_t h = 2166136261U; /* FNV-1a: the two parts must hash as one run of bytes */
    for (size_t i = 0; i < t->text.n + n; i++) {
        h = (h ^ (unsigned char)(i < t->text.n ? t->text.p[i] : digits[i - t->text.n])) * 16777619U;
    }
    return h;
}

static bool same_term(const struct pinyin_work *w, const struct pinyin_term *a, const struct pinyin_term *b)
{
    if (a->hash != b->hash) {
        return false;
    }
    char x[12], y[12];
    size_t n = position_text(w, a->position, x), m = position_text(w, b->position, y);
    if (a->text.n + n != b->text.n + m) {
        return false;
    }
    for (size_t i = 0; i < a->text.n + n; i++) {
        char c = i < a->text.n ? a->text.p[i] : x[i - a->text.n];
        char d = i < b->text.n ? b->text.p[i] : y[i - b->text.n];
        if (c != d) {
            return false;
        }
    }
    return true;
}

static bool more_slots(struct pinyin_work *w)
{
    size_t n = MAX_OF(w->n_slots * 2, (size_t)FIRST_SLOTS);
    uint32_t *slots = ARENA_ARRAY(w->arena, uint32_t, n);
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < w->n_terms; i++) {
        size_t k = w->terms[i].hash & (n - 1);
        while (slots[k] != 0) {
            k = (k + 1) & (n - 1);
        }
        slots[k] = (uint32_t)i + 1;
    }
    w->slots = slots;
    w->n_slots = n;
    return true;
}

static void add_term(struct pinyin_work *w, struct str text, int32_t start, int32_t end, int32_t position)
{
    struct pinyin_term t = {.text = text, .start = start, .end = end, .position = position};
    if (w->options->lowercase && text.n > 0) {
        t.text = pinyin_lowercase(text, w->arena);
    }
    if (w->options->trim_whitespace) {
        t.text = text_trim(t.text);
    }
    if (t.text.n == 0) {
        return;
    }
    if (t.text.p == NULL || (w->n_terms % 256 == 255 && stop_now())
        || (w->n_terms * 2 >= w->n_slots && !more_slots(w))) {
        w->no_memory = true;
        return;
    }
    t.hash = hash_term(w, &t);
    size_t k = t.hash & (w->n_slots - 1);
    for (; w->slots[k] != 0; k = (k + 1) & (w->n_slots - 1)) {
        if (same_term(w, &t, &w->terms[w->slots[k] - 1])) {
            return;
        }
    }
    if (!ARENA_ADD(w->arena, w->terms, w->n_terms, w->terms_cap, t)) {
        w->no_memory = true;
        return;
    }
    w->slots[k] = (uint32_t)w->n_terms;
}

struct part_sink {
    struct pinyin_state *k;
    int32_t start;
};

static bool add_part(void *self, struct str part)
{
    struct part_sink *s = self;
    struct pinyin_state *k = s->k;
    int32_t end = s->start + (k->w->options->fixed_pinyin_offset ? 1 : (int32_t)part.n);
    add_term(k->w, part, s->start, end, ++k->position);
    s->start = end;
    return !k->w->no_memory;
}

/* A run of Latin letters and digits is over: the pending ones become terms. */
static void flush_pending(struct pinyin_state *k)
{
    struct pinyin_work *w = k->w;
    const struct pinyin_options *o = w->options;
    int32_t n = (int32_t)k->n_pending;
    if (n == 0) {
        return;
    }
    k->n_pending = 0;
    char *p = arena_alloc(w->arena, (size_t)n);
    if (p == NULL) {
        w->no_memory = true;
        return;
    }
    memcpy(p, k->pending, (size_t)n);
    struct str run = str_mk(p, (size_t)n);
    if (o->none_chinese_pinyin_tokenize) {
        struct part_sink sink = {k, w->last_offset - n + 1};
        if (!pinyin_split_letters(w->dict, run, w->arena, add_part, &sink)) {
            w->no_memory = true;
        }
    } else if (o->keep_first_letter || o->keep_separate_first_letter || o->keep_full_pinyin
               || !o->keep_none_chinese_in_joined_full_pinyin) {
        add_term(w, run, w->last_offset - n, w->last_offset, ++k->position);
    }
}

static bool is_alphanumeric(uint16_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static void walk_ascii(struct pinyin_state *k, uint16_t c)
{
    struct pinyin_work *w = k->w;
    const struct pinyin_options *o = w->options;
    int32_t i = (int32_t)k->i;
    if (k->n_pending == 0) {
        k->pending_start = i;
    }
    if (!is_alphanumeric(c)) {
        return;
    }
    if (o->keep_none_chinese && o->keep_none_chinese_together) {
        k->pending[k->n_pending++] = (char)c;
    } else if (o->keep_none_chinese) {
        struct str one = str_mk(w->source.p + w->at[k->i], 1);
        k->position += w->tokenizer;
        add_term(w, one, i, i + 1, k->pending_start + w->tokenizer);
    }
    if (o->keep_none_chinese_in_first_letter) {
        k->first_letters[k->n_first++] = (char)c;
    }
    if (o->keep_none_chinese_in_joined_full_pinyin) {
        k->joined[k->n_joined++] = (char)c;
    }
}

static void walk_other(struct pinyin_state *k)
{
    struct pinyin_work *w = k->w;
    const struct pinyin_options *o = w->options;
    struct str reading = w->readings[k->i];
    int32_t i = (int32_t)k->i;
    flush_pending(k);
    if (reading.n == 0) {
        return;
    }
    bool separate = o->keep_separate_first_letter && reading.n > 1;
    /* The filter counts every character that has a reading, the tokenizer those of which something stays. */
    k->position += !w->tokenizer || separate || o->keep_full_pinyin;
    k->first_letters[k->n_first++] = reading.p[0];
    if (separate) {
        add_term(w, str_slice(reading, 0, 1), i, i + 1, k->position);
    }
    if (o->keep_full_pinyin) {
        add_term(w, reading, i, i + 1, k->position);
    }
    if (o->keep_separate_chinese) {
        add_term(w, str_slice(w->source, w->at[k->i], w->at[k->i + 1]), i, i + 1, k->position);
    }
    if (o->keep_joined_full_pinyin) {
        memcpy(k->joined + k->n_joined, reading.p, reading.n);
        k->n_joined += reading.n;
    }
}

/* The terms that stand for the whole source; all of them at position 1. */
static void add_wholes(struct pinyin_state *k)
{
    struct pinyin_work *w = k->w;
    const struct pinyin_options *o = w->options;
    if (o->keep_original) {
        add_term(w, w->source, 0, (int32_t)w->n, 1);
    }
    if (o->keep_joined_full_pinyin && k->n_joined > 0) {
        add_term(w, str_mk(k->joined, k->n_joined), 0, (int32_t)w->n, 1);
    }
    if (o->keep_first_letter && k->n_first > 0) {
        int64_t limit = o->limit_first_letter_length;
        size_t n = limit > 0 && k->n_first > (uint64_t)limit ? (size_t)limit : k->n_first;
        if (!(o->keep_separate_first_letter && n <= 1)) {
            add_term(w, str_mk(k->first_letters, n), 0, (int32_t)n, 1);
        }
    }
}

static bool start_walk(struct pinyin_state *k, struct pinyin_work *w)
{
    size_t joined = 0;
    for (size_t i = 0; i < w->n && !w->blank; i++) {
        joined += MAX_OF(w->readings[i].n, (size_t)1);
    }
    *k = (struct pinyin_state){.w = w};
    k->first_letters = arena_alloc(w->arena, w->n);
    k->pending = arena_alloc(w->arena, w->n);
    k->joined = arena_alloc(w->arena, joined);
    return k->first_letters != NULL && k->pending != NULL && k->joined != NULL;
}

bool pinyin_work_run(struct pinyin_work *w, struct str source)
{
    struct pinyin_state k;
    w->source = source;
    w->n_terms = 0;
    w->last_offset = 0;
    if (w->n_slots > 0) {
        memset(w->slots, 0, w->n_slots * sizeof(*w->slots));
    }
    if (!pinyin_read(w) || !start_walk(&k, w)) {
        return false;
    }
    for (k.i = 0; k.i < w->n && !w->blank && !w->no_memory; k.i++) {
        if (w->units[k.i] < 128) {
            walk_ascii(&k, w->units[k.i]);
        } else {
            walk_other(&k);
        }
        w->last_offset = (int32_t)k.i;
    }
    flush_pending(&k);
    add_wholes(&k);
    return !w->no_memory;
}

void pinyin_work_sort(struct pinyin_work *w)
{
    /* The terms are in order but for those of the whole source, which come last and go far to the front, and
     * the filter's single characters: insertion, each with one move. */
    for (size_t i = 1; i < w->n_terms; i++) {
        size_t low = 0, high = i;
        while (low < high) {
            size_t mid = low + (high - low) / 2;
            if (w->terms[mid].position > w->terms[i].position) {
                high = mid;
            } else {
                low = mid + 1;
            }
        }
        struct pinyin_term t = w->terms[i];
        memmove(w->terms + low + 1, w->terms + low, (i - low) * sizeof(t));
        w->terms[low] = t;
        if (token_stop((i - low) * sizeof(t))) {
            return;
        }
    }
}
