#include "engine/analysis/pinyin_int.h"

#include "common/base/arena_list.h"

#define SYLLABLE_BYTES_MAX 6

struct parts {
    struct str *v;
    size_t n, cap;
    struct arena *arena;
    bool no_memory;
};

static void pinyin_add(struct parts *p, struct str part)
{
    if (!ARENA_ADD(p->arena, p->v, p->n, p->cap, part)) {
        p->no_memory = true;
        return;
    }
}

/* What no syllable covers is gathered until one does, and comes out behind that one: the plugin's order. */
static void forward(const struct dictionary *d, struct str s, struct parts *out)
{
    size_t at = 0, loose = 0; /* the last `loose` bytes before `at` are in no syllable */
    while (at < s.n) {
        size_t n = MIN_OF(s.n - at, SYLLABLE_BYTES_MAX);
        while (n > 0 && !pinyin_is_syllable(d, str_slice(s, at, at + n))) {
            n--;
        }
        if (n == 0) {
            at++;
            loose++;
            continue;
        }
        pinyin_add(out, str_slice(s, at, at + n));
        if (loose > 0) {
            pinyin_add(out, str_slice(s, at - loose, at));
            loose = 0;
        }
        at += n;
    }
    if (loose > 0) {
        pinyin_add(out, str_slice(s, at - loose, at));
    }
}

/* Letters in no syllable were gathered last to first and come out so. */
static void add_reversed(struct parts *out, struct str s)
{
    char *p = arena_alloc(out->arena, s.n);
    if (p == NULL) {
        out->no_memory = true;
        return;
    }
    for (size_t i = 0; i < s.n; i++) {
        p[i] = s.p[s.n - 1 - i];
    }
    pinyin_add(out, str_mk(p, s.n));
}

/* From the back; the parts are then put in order. Here, too, loose letters come out on the far side of the
 * syllable that ends them, which puts them before it. */
static void backward(const struct dictionary *d, struct str s, struct parts *out)
{
    size_t end = s.n, loose = 0; /* the `loose` bytes from `end` on are in no syllable */
    while (end > 0) {
        size_t n = MIN_OF(end, SYLLABLE_BYTES_MAX);
        while (n > 0 && !pinyin_is_syllable(d, str_slice(s, end - n, end))) {
            n--;
        }
        if (n == 0) {
            end--;
            loose++;
            continue;
        }
        pinyin_add(out, str_slice(s, end - n, end));
        if (loose > 0) {
            add_reversed(out, str_slice(s, end, end + loose));
            loose = 0;
        }
        end -= n;
    }
    if (loose > 0) {
        add_reversed(out, str_slice(s, end, end + loose));
    }
    for (size_t i = 0; i < out->n / 2; i++) {
        struct str t = out->v[i];
        out->v[i] = out->v[out->n - 1 - i];
        out->v[out->n - 1 - i] = t;
    }
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

bool pinyin_split_letters(const struct dictionary *d, struct str letters, struct arena *arena,
                          bool (*fn)(void *self, struct str part), void *self)
{
    struct str lower = pinyin_lowercase(letters, arena);
    struct parts ahead = {.arena = arena}, back = {.arena = arena};
    if (lower.p == NULL) {
        return letters.n == 0;
    }
    for (size_t from = 0; from < lower.n;) {
        size_t to = from + 1;
        while (to < lower.n && is_letter(lower.p[to]) == is_letter(lower.p[from])) {
            to++;
        }
        struct str run = str_slice(lower, from, to);
        from = to;
        ahead.n = back.n = 0;
        if (run.n == 1) {
            pinyin_add(&ahead, run);
        } else {
            forward(d, run, &ahead);
            if (ahead.n > 1) {
                backward(d, run, &back);
            }
        }
        const struct parts *best = ahead.n > 1 && back.n < ahead.n ? &back : &ahead;
        for (size_t i = 0; i < best->n; i++) {
            if (!fn(self, best->v[i])) {
                return false;
            }
        }
    }
    return !ahead.no_memory && !back.no_memory;
}
