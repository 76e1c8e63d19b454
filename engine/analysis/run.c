/* Running an analyzer's parts over a text. */
#include "engine/analysis/registry.h"

#include "common/base/stop.h"

/* Where byte `at` of filtered text lies in the original. */
static uint32_t filtered_offset(const struct filtered_text *t, uint32_t at)
{
    size_t lo = 0, hi = t->n; /* the first step behind `at` */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->map[mid].at <= at) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo == 0 ? at : (uint32_t)((int64_t)at + t->map[lo - 1].delta);
}

enum err analyzer_filter_text(const struct analyzer *an, struct str text, size_t n, struct arena *arena,
                              struct filtered_text *out, struct errmsg *em)
{
    *out = (struct filtered_text){.text = text};
    for (size_t i = 0; i < n; i++) {
        enum err e = an->char_filters[i]->apply(an->char_filters[i], out, arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err analyzer_run_stages(const struct analyzer *an, struct str text, size_t stages,
                             struct token_list *out, struct errmsg *em)
{
    struct filtered_text filtered = {.text = text};
    out->n = 0;
    out->end_pos_inc = 0;
    out->end_offset = (uint32_t)text.n;
    out->source = text;
    out->ends_at_token = an->tokenizer->ends_at_token;
    if (text.n > ANALYZED_BYTES_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a text of %zu bytes is too long to be analyzed", text.n);
    }
    enum err e = ERR_OK;
    if (an->n_char_filters > 0) {
        e = analyzer_filter_text(an, text, an->n_char_filters, out->arena, &filtered, em);
    }
    uint32_t end = (uint32_t)filtered.text.n;
    if (e == ERR_OK) {
        out->end_offset = end;
        e = an->tokenizer->run(an->tokenizer, filtered.text, out, em);
        out->end_offset =
            out->end_offset == end ? (uint32_t)text.n : filtered_offset(&filtered, out->end_offset);
    }
    if (e == ERR_OK && filtered.n > 0) {
        for (size_t i = 0; token_next(out, i); i++) {
            out->v[i].start = filtered_offset(&filtered, out->v[i].start);
            out->v[i].end = filtered_offset(&filtered, out->v[i].end);
        }
    }
    for (size_t i = 0; i < stages && e == ERR_OK && !stop_now(); i++) {
        e = an->filters[i]->apply(an->filters[i], out, em);
    }
    return e;
}

enum err analyzer_run(const struct analyzer *an, struct str text, struct token_list *out, struct errmsg *em)
{
    return analyzer_run_stages(an, text, an->n_filters, out, em);
}

enum err analyzer_normalize(const struct analyzer *an, struct str text, struct arena *arena, struct str *out,
                            struct errmsg *em)
{
    struct filtered_text filtered = {.text = text};
    *out = text;
    if (an->keeps_terms) {
        return ERR_OK;
    }
    for (size_t i = 0; i < an->n_char_filters; i++) {
        const struct char_filter *f = an->char_filters[i];
        enum err e = f->normalizes ? f->apply(f, &filtered, arena, em) : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
    }
    struct token_list l;
    token_list_init(&l, arena);
    struct token whole = {
        .text = filtered.text, .end = (uint32_t)filtered.text.n, .pos_inc = 1, .pos_len = 1, .type = "word"};
    if (!token_add(&l, whole)) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < an->n_filters; i++) {
        const struct token_filter *f = an->filters[i]->normal;
        enum err e = f != NULL ? f->apply(f, &l, em) : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = l.n > 0 ? l.v[0].text : STR("");
    return ERR_OK;
}
