#include "engine/analysis/offset_map.h"

#include "common/base/memory_account.h"
#include "common/base/utf8.h"

void remap_init(struct remap *r, struct str in, struct arena *arena)
{
    *r = (struct remap){.arena = arena, .in = in};
    memory_request_buf(&r->out);
    r->out.bytes_max = MIN_OF(r->out.bytes_max, ANALYZED_BYTES_MAX);
}

void remap_fini(struct remap *r)
{
    buf_fini(&r->out);
}

static void push_step(struct arena *arena, struct offset_step **v, size_t *n, size_t *cap,
                      struct offset_step s, bool *failed)
{
    int32_t before = *n > 0 ? (*v)[*n - 1].delta : 0;
    if (*n > 0 && (*v)[*n - 1].at == s.at) {
        (*v)[*n - 1].delta = s.delta; /* the later one holds */
        return;
    }
    if (before == s.delta) {
        return;
    }
    struct offset_step *grown = arena_grow(arena, *v, *n, cap, sizeof(*grown));
    if (grown == NULL) {
        *failed = true;
        return;
    }
    *v = grown;
    grown[(*n)++] = s;
}

static void mark(struct remap *r, size_t out_at, size_t in_at)
{
    struct offset_step s = {(uint32_t)out_at, (int32_t)((int64_t)in_at - (int64_t)out_at)};
    push_step(r->arena, &r->steps, &r->n, &r->cap, s, &r->failed);
}

/* After that nothing more is added: remap_end() says so. */
static bool is_over(const struct remap *r)
{
    return r->failed || r->out.failed;
}

void remap_copy(struct remap *r, size_t to)
{
    if (to > r->at && !is_over(r)) {
        buf_str(&r->out, str_slice(r->in, r->at, to));
        r->at = to;
    }
}

/* Byte of the character that holds the last unit before byte `at`; 0 at the start. */
static size_t unit_before(struct str s, size_t at)
{
    if (at > 0) {
        utf8_prev(s, &at);
    }
    return at;
}

void remap_replace(struct remap *r, size_t to, struct str with)
{
    if (is_over(r)) {
        return;
    }
    size_t from = r->at, out = r->out.n;
    size_t in_units = utf16_length(str_slice(r->in, from, to)), out_units = utf16_length(with);
    size_t in_at = from, units = 0, walked = 0;
    /* in_at follows the output unit by unit while there is replaced text left */
    for (size_t at = 0; at < with.n;) {
        size_t here = at;
        size_t width = utf8_next(with, &at) >= 0x10000 ? 2 : 1;
        while (walked < units && in_at < to) {
            walked += utf8_next(r->in, &in_at) >= 0x10000 ? 2 : 1;
        }
        bool beyond = out_units > in_units && units >= in_units;
        mark(r, out + here, beyond ? unit_before(r->in, to) : in_at);
        units += width;
    }
    buf_str(&r->out, with);
    r->at = to;
    mark(r, r->out.n, to);
}

/* Both maps in one: `late` leads from the output to the text that `early` leads on from. */
static void compose(struct arena *arena, const struct filtered_text *early, const struct offset_step *late,
                    size_t n_late, struct offset_step **out, size_t *n, size_t *cap, bool *failed)
{
    size_t e = 0; /* the first early step behind the present place */
    for (size_t i = 0; i <= n_late; i++) {
        int64_t from = i == 0 ? 0 : late[i - 1].at, delta = i == 0 ? 0 : late[i - 1].delta;
        int64_t until = i < n_late ? late[i].at : INT64_MAX;
        while (e > 0 && early->map[e - 1].at > from + delta) { /* a step may lead back a little */
            e--;
        }
        while (e < early->n && early->map[e].at <= from + delta) {
            e++;
        }
        int64_t base = e > 0 ? early->map[e - 1].delta : 0;
        if (until > from) {
            push_step(arena, out, n, cap, (struct offset_step){(uint32_t)from, (int32_t)(delta + base)},
                      failed);
        }
        while (e < early->n && early->map[e].at - delta < until) {
            struct offset_step s = {(uint32_t)(early->map[e].at - delta),
                                    (int32_t)(delta + early->map[e].delta)};
            push_step(arena, out, n, cap, s, failed);
            e++;
        }
    }
}

enum err remap_end(struct remap *r, struct filtered_text *t, struct errmsg *em)
{
    remap_copy(r, r->in.n);
    struct filtered_text done = {.text = arena_str(r->arena, buf_view(&r->out))};
    r->failed |= r->out.failed || done.text.p == NULL;
    if (t->n == 0) {
        done.map = r->steps;
        done.n = r->n;
        done.cap = r->cap;
    } else {
        compose(r->arena, t, r->steps, r->n, &done.map, &done.n, &done.cap, &r->failed);
    }
    buf_fini(&r->out);
    if (r->failed) {
        return err_no_memory(em);
    }
    *t = done;
    return ERR_OK;
}
