#include "engine/analysis/dict/lexicon.h"

#include "common/base/bytes.h"
#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/base/sort_items.h"
#include "common/base/utf8.h"
#include "engine/analysis/dict/dat_build.h"

#define VALUE_BYTES_MAX 255

void lexicon_init(struct lexicon *l)
{
    *l = (struct lexicon){0};
    arena_init(&l->arena, NULL, ARENA_UNLIMITED);
}

void lexicon_fini(struct lexicon *l)
{
    arena_fini(&l->arena);
    *l = (struct lexicon){0};
}

enum err lexicon_add(struct lexicon *l, uint16_t list, struct str word, struct str value, struct errmsg *em)
{
    uint16_t units[DAT_WORD_UNITS_MAX];
    uint32_t n = 0;
    units[n++] = list;
    for (size_t at = 0; at < word.n;) {
        uint32_t c = utf8_next(word, &at);
        if (n + 2 > DAT_WORD_UNITS_MAX) {
            return ERR_OK;
        }
        if (c >= 0x10000) {
            units[n++] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
            units[n++] = (uint16_t)(0xDC00 + ((c - 0x10000) & 0x3FF));
        } else {
            units[n++] = (uint16_t)c;
        }
    }
    if (n == 1) {
        return ERR_OK;
    }
    if (l->n >= LEXICON_WORDS_MAX || value.n > VALUE_BYTES_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "a dictionary has more than %zu words or a value over %d bytes", LEXICON_WORDS_MAX,
                       VALUE_BYTES_MAX);
    }
    struct lexicon_word *v = arena_grow(&l->arena, l->v, l->n, &l->cap, sizeof(*v));
    uint16_t *copy = arena_alloc(&l->arena, n * sizeof(*copy));
    struct str text = value.n > 0 ? arena_str(&l->arena, value) : STR("");
    if (v == NULL || copy == NULL || text.p == NULL) {
        l->v = v != NULL ? v : l->v;
        return err_no_memory(em);
    }
    memcpy(copy, units, n * sizeof(*copy));
    l->v = v;
    l->v[l->n] = (struct lexicon_word){copy, n, (uint32_t)l->n, text};
    l->n++;
    return ERR_OK;
}

enum err lexicon_add_lines(struct lexicon *l, uint16_t list, struct str text, struct errmsg *em)
{
    struct str rest = text_without_bom(text), line;
    enum err e = ERR_OK;
    while (e == ERR_OK && text_line(&rest, &line)) {
        e = lexicon_add(l, list, text_trim(line), STR_NULL, em);
    }
    return e;
}

static int by_units(const void *x, const void *y)
{
    const struct lexicon_word *a = x, *b = y;
    uint32_t n = MIN_OF(a->n, b->n);
    for (uint32_t i = 0; i < n; i++) {
        if (a->units[i] != b->units[i]) {
            return a->units[i] < b->units[i] ? -1 : 1;
        }
    }
    if (a->n != b->n) {
        return a->n < b->n ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool same_word(const struct lexicon_word *a, const struct lexicon_word *b)
{
    return a->n == b->n && memcmp(a->units, b->units, a->n * sizeof(*a->units)) == 0;
}

/* Sorts; of equal words only the last to come stays. */
static void sort_words(struct lexicon *l)
{
    if (l->n == 0) {
        return;
    }
    sort_items(l->v, l->n, sizeof(*l->v), by_units);
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (i + 1 == l->n || !same_word(&l->v[i], &l->v[i + 1])) {
            l->v[kept++] = l->v[i];
        }
    }
    l->n = kept;
}

/* Gives every word its value's place among the texts: place 0 is none; equal texts are kept once. */
static bool gather_texts(const struct lexicon *l, struct dat_entry *entries, struct buf *texts,
                         struct arena *arena)
{
    struct map places;
    map_init(&places, arena);
    put_u8(texts, 0);
    for (size_t i = 0; i < l->n; i++) {
        const struct lexicon_word *w = &l->v[i];
        entries[i] = (struct dat_entry){w->units, w->n, 0};
        if (w->value.n == 0) {
            continue;
        }
        uintptr_t place = (uintptr_t)map_get(&places, w->value);
        if (place == 0) {
            place = texts->n;
            put_u8(texts, (uint8_t)w->value.n);
            buf_str(texts, w->value);
            if (!map_put(&places, w->value, (void *)place)) {
                return false;
            }
        }
        entries[i].value = (uint32_t)place;
    }
    return !texts->failed && texts->n <= DAT_BASE;
}

static uint64_t hash_words(const struct lexicon *l)
{
    uint64_t h = hash_u64(l->n);
    for (size_t i = 0; i < l->n; i++) {
        h = hash_bytes(l->v[i].units, l->v[i].n * sizeof(*l->v[i].units), h);
        h = hash_bytes(l->v[i].value.p, l->v[i].value.n, h);
    }
    return h;
}

enum err lexicon_compile(struct lexicon *l, enum image_kind kind, struct buf *out, struct errmsg *em)
{
    struct buf codes, nodes, texts;
    struct arena arena;
    enum err e = ERR_OK;
    buf_init(&codes, NULL, BUF_UNLIMITED);
    buf_init(&nodes, NULL, BUF_UNLIMITED);
    buf_init(&texts, NULL, BUF_UNLIMITED);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    sort_words(l);
    struct dat_entry *entries = ARENA_ARRAY(&arena, struct dat_entry, l->n);
    if (entries == NULL || !gather_texts(l, entries, &texts, &arena)) {
        e = err_no_memory(em);
        goto out;
    }
    e = dat_build(entries, l->n, &codes, &nodes, em);
    if (e == ERR_OK) {
        struct image_part parts[] = {{SECTION_CODES, buf_view(&codes)},
                                     {SECTION_NODES, buf_view(&nodes)},
                                     {SECTION_TEXTS, buf_view(&texts)}};
        e = image_write(out, kind, hash_words(l), parts, ARRAY_LEN(parts), em);
    }
out:
    buf_fini(&codes);
    buf_fini(&nodes);
    buf_fini(&texts);
    arena_fini(&arena);
    return e;
}

struct str image_text(const struct image *im, uint32_t value)
{
    struct str texts = im->sections[SECTION_TEXTS];
    if (value == 0 || value >= texts.n) {
        return STR_NULL;
    }
    size_t n = (unsigned char)texts.p[value];
    return n < texts.n - value ? str_mk(texts.p + value + 1, n) : STR_NULL;
}

struct str text_without_bom(struct str text)
{
    return str_starts(text, STR("\xEF\xBB\xBF")) ? str_slice(text, 3, text.n) : text;
}

struct str text_trim(struct str text)
{
    size_t from = 0, to = text.n;
    while (from < to && (unsigned char)text.p[from] <= 0x20) {
        from++;
    }
    while (to > from && (unsigned char)text.p[to - 1] <= 0x20) {
        to--;
    }
    return str_slice(text, from, to);
}

bool text_line(struct str *rest, struct str *line)
{
    if (rest->n == 0) {
        return false;
    }
    size_t n = 0;
    while (n < rest->n && rest->p[n] != '\n' && rest->p[n] != '\r') {
        n++;
    }
    *line = str_slice(*rest, 0, n);
    n += n < rest->n && rest->p[n] == '\r';
    n += n < rest->n && rest->p[n] == '\n';
    *rest = str_slice(*rest, n, rest->n);
    return true;
}

enum err lexicon_open(struct lexicon *l, enum image_kind kind, struct image *out, struct dat *dat,
                      struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, IMAGE_BYTES_MAX);
    enum err e = lexicon_compile(l, kind, &b, em);
    e = e == ERR_OK ? image_take(out, &b, kind, em) : e;
    buf_fini(&b);
    if (e != ERR_OK) {
        return e;
    }
    e = image_dat(out, dat, em);
    if (e != ERR_OK) {
        image_close(out);
    }
    return e;
}
