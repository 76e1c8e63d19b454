/* The tokenizer: window by window, segment, choose (ik_smart), lay the words out in order with the single
 * characters between them, join numbers with their measure words (ik_smart), drop stop words. */
#include "common/base/arena_list.h"
#include "common/base/utf8.h"
#include "engine/analysis/ik_int.h"

struct ik_tokenizer {
    struct tokenizer base;
    const struct dictionary *dict;
    bool smart, lowercase;
};

struct run {
    const struct ik_tokenizer *t;
    struct ik_window window;
    struct ik_segmenter seg;
    struct ik_lexemes chosen; /* one group's, after the choice */
    struct ik_lexemes laid;   /* all of the window, in the order of emission */
    struct ik_chain *chains;
    size_t chains_cap;
    struct token_list *out;
};

static const char *const type_names[] = {
    [IK_TYPE_ENGLISH] = "ENGLISH", [IK_TYPE_ARABIC] = "ARABIC",  [IK_TYPE_LETTER] = "LETTER",
    [IK_TYPE_CNWORD] = "CN_WORD",  [IK_TYPE_CNCHAR] = "CN_CHAR", [IK_TYPE_OTHER_CJK] = "OTHER_CJK",
    [IK_TYPE_CNUM] = "TYPE_CNUM",  [IK_TYPE_COUNT] = "COUNT",    [IK_TYPE_CQUAN] = "TYPE_CQUAN",
};

static bool ik_push(struct run *r, struct ik_lexemes *l, struct ik_lexeme x)
{
    return ARENA_ADD(r->out->arena, l->v, l->n, l->cap, x);
}

static bool push_single(struct run *r, uint32_t at)
{
    enum ik_char type = (enum ik_char)r->window.types[at];
    if (type != IK_CHINESE && type != IK_OTHER_CJK) {
        return true;
    }
    return ik_push(
        r, &r->laid,
        (struct ik_lexeme){(uint16_t)at, 1, type == IK_CHINESE ? IK_TYPE_CNCHAR : IK_TYPE_OTHER_CJK});
}

/* The end of the group of overlapping lexemes that starts with number i. */
static size_t group_end(const struct ik_lexemes *l, size_t i)
{
    uint32_t end = lexeme_end(&l->v[i]);
    size_t k = i + 1;
    while (k < l->n && l->v[k].begin < end) {
        end = MAX_OF(end, lexeme_end(&l->v[k]));
        k++;
    }
    return k;
}

static bool reserve_chains(struct run *r, size_t n)
{
    if (r->chains_cap < n) {
        size_t cap = MAX_OF(n, r->chains_cap * 2);
        r->chains = ARENA_ARRAY(r->out->arena, struct ik_chain, cap);
        r->chosen.v = ARENA_ARRAY(r->out->arena, struct ik_lexeme, cap);
        r->chains_cap = cap;
    }
    return r->chains != NULL && r->chosen.v != NULL;
}

/* Lays one group's lexemes out; *at moves from its begin behind the last of them. That may be before the
 * group's end: the characters in between then come out singly, after words that have them. */
static bool lay_group(struct run *r, const struct ik_lexeme *v, size_t n, uint32_t *at)
{
    if (r->t->smart && n > 1) {
        if (!reserve_chains(r, n)) {
            return false;
        }
        n = ik_judge(v, n, r->chosen.v, r->chains);
        v = r->chosen.v;
    }
    for (size_t i = 0; i < n; i++) {
        for (; *at < v[i].begin; ++*at) {
            if (!push_single(r, *at)) {
                return false;
            }
        }
        if (!ik_push(r, &r->laid, v[i])) {
            return false;
        }
        *at = lexeme_end(&v[i]);
    }
    return true;
}

static bool lay_out(struct run *r)
{
    const struct ik_lexemes *found = &r->seg.found;
    uint32_t at = 0;
    r->laid.n = 0;
    for (size_t i = 0; i < found->n;) {
        size_t end = group_end(found, i);
        for (; at < found->v[i].begin; at++) {
            if (!push_single(r, at)) {
                return false;
            }
        }
        if (!lay_group(r, found->v + i, end - i, &at)) {
            return false;
        }
        i = end;
    }
    for (; at <= r->window.cursor; at++) {
        if (!push_single(r, at)) {
            return false;
        }
    }
    return true;
}

/* ik_smart: number + Chinese number + measure word become one. Returns how many of v[0 .. n) went into *x. */
static size_t compound(struct ik_lexeme *x, const struct ik_lexeme *v, size_t n)
{
    size_t used = 1;
    *x = v[0];
    if (x->type == IK_TYPE_ARABIC && used < n && v[used].begin == lexeme_end(x)
        && (v[used].type == IK_TYPE_CNUM || v[used].type == IK_TYPE_COUNT)) {
        x->type = v[used].type == IK_TYPE_CNUM ? IK_TYPE_CNUM : IK_TYPE_CQUAN;
        x->length = (uint16_t)(x->length + v[used++].length);
    }
    if (x->type == IK_TYPE_CNUM && used < n && v[used].begin == lexeme_end(x)
        && v[used].type == IK_TYPE_COUNT) {
        x->type = IK_TYPE_CQUAN;
        x->length = (uint16_t)(x->length + v[used++].length);
    }
    return used;
}

static bool is_stop_word(const struct run *r, const struct ik_lexeme *x)
{
    const struct dictionary *d = r->t->dict;
    uint32_t state = d->lists[IK_STOP];
    for (uint32_t i = x->begin; i < lexeme_end(x) && state != 0; i++) {
        state = dat_step(&d->dat, state, r->window.units[i]);
    }
    return state != 0 && dat_is_word(&d->dat, state);
}

/* A slice of the text where it reads as the window does, else the window's units as UTF-8. */
static struct str lexeme_text(const struct run *r, const struct ik_lexeme *x)
{
    const struct ik_window *w = &r->window;
    uint32_t end = lexeme_end(x);
    bool changed = false;
    for (uint32_t i = x->begin; i < end; i++) {
        changed |= w->changed[i];
    }
    if (!changed) {
        return str_slice(w->text, w->at[x->begin], w->at[end]);
    }
    char *p = arena_alloc(r->out->arena, (size_t)x->length * 3);
    if (p == NULL) {
        return STR_NULL;
    }
    size_t n = 0;
    for (uint32_t i = x->begin; i < end; i++) {
        n += utf8_put(p + n, w->units[i]);
    }
    return str_mk(p, n);
}

static bool ik_emit(struct run *r)
{
    for (size_t i = 0; i < r->laid.n;) {
        struct ik_lexeme x = r->laid.v[i];
        i += r->t->smart ? compound(&x, r->laid.v + i, r->laid.n - i) : 1;
        if (is_stop_word(r, &x)) {
            continue;
        }
        struct token t = {.text = lexeme_text(r, &x),
                          .start = r->window.at[x.begin],
                          .end = r->window.at[lexeme_end(&x)],
                          .pos_inc = 1,
                          .pos_len = 1,
                          .type = type_names[x.type]};
        if (t.text.p == NULL || !token_add(r->out, t)) {
            return false;
        }
        r->out->end_offset = t.end;
    }
    return true;
}

/* The window may move on before its end, so that no word is cut by it: when it is full, the cursor is near
 * its end and nothing is open. */
static bool may_move_on(const struct run *r)
{
    const struct ik_window *w = &r->window;
    return w->available == IK_WINDOW && w->cursor + 1 < w->available && w->cursor > w->available - IK_CRITICAL
           && !ik_segment_busy(&r->seg);
}

static enum err ik_run(const struct tokenizer *self, struct str text, struct token_list *out,
                       struct errmsg *em)
{
    const struct ik_tokenizer *t = (const struct ik_tokenizer *)self;
    struct run r = {.t = t, .out = out};
    r.seg.dict = t->dict;
    r.seg.window = &r.window;
    r.seg.arena = out->arena;
    out->end_pos_inc = 0;
    out->end_offset = 0;
    if (text.n > UINT32_MAX - 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a text of [%zu] bytes is too long to analyze", text.n);
    }
    if (!ik_window_init(&r.window, text, t->lowercase, out->arena)) {
        return err_no_memory(em);
    }
    while (ik_window_fill(&r.window) && !token_stop(r.window.available * 64)) {
        ik_segment_reset(&r.seg);
        ik_window_look(&r.window);
        do {
            ik_segment(&r.seg);
        } while (!may_move_on(&r) && ik_window_next(&r.window));
        if (r.seg.no_memory || !lay_out(&r) || !ik_emit(&r)) {
            return err_no_memory(em);
        }
        r.window.moved = r.window.moved || r.window.cursor > 0;
    }
    return ERR_OK;
}

PART_FACTORY(ik_tokenizer_new)
{
    if (env->ik == NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "no IK dictionary is loaded");
    }
    struct ik_tokenizer *t = ARENA_NEW(arena, struct ik_tokenizer);
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->base.run = ik_run;
    t->dict = env->ik;
    /* The type decides alone; the plugin's own use_smart has no effect in either. */
    t->smart = str_is(settings_str(s, "type", part), "ik_smart");
    t->lowercase = str_is(settings_str(s, "enable_lowercase", STR("true")), "true");
    *out = &t->base;
    return ERR_OK;
}
