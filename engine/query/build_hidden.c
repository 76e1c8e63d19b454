/* Queries over what index_prefixes and index_phrases index beside a text (TextFieldMapper of Elasticsearch). */
#include "common/base/utf8.h"
#include "engine/analysis/grams.h"
#include "engine/query/build_graph.h"

/* ---- beginnings of words ---- */

bool hidden_prefix_takes(const struct field *f, struct str value)
{
    size_t n = utf16_length(value);
    return f->prefix_field != NULL && n + 1 >= (size_t)f->prefix_min_chars
           && n <= (size_t)f->prefix_max_chars;
}

/* One shorter than what is indexed: each beginning that has one character more, or the word itself. */
static enum err one_short(struct builder *b, const struct field *f, struct str value,
                          const struct pattern_opts *o, struct query **out, struct errmsg *em)
{
    struct bool_build any = {0};
    struct buf pattern;
    buf_init(&pattern, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '*' || value.p[i] == '?' || value.p[i] == '\\') {
            buf_char(&pattern, '\\');
        }
        buf_char(&pattern, value.p[i]);
    }
    buf_char(&pattern, '?');
    struct str text = pattern.failed ? STR_NULL : arena_str(b->arena, buf_view(&pattern));
    buf_fini(&pattern);
    struct query *longer = qnode_new(b, &q_wildcard), *word;
    if (text.p == NULL || longer == NULL) {
        return err_no_memory(em);
    }
    longer->field = f->prefix_field;
    longer->field_name = f->prefix_field->path;
    longer->multi.pattern = text;
    longer->multi.case_insensitive = o->case_insensitive;
    longer->multi.rewrite = REWRITE_CONSTANT;
    enum err e = set_rewrite(longer, o->rewrite, em);
    e = e == ERR_OK ? bool_add(b, &any, OCCUR_SHOULD, longer, em) : e;
    e = e == ERR_OK ? qnode_term(b, f, value, &word, em) : e;
    e = e == ERR_OK ? bool_add(b, &any, OCCUR_SHOULD, word, em) : e;
    return e == ERR_OK ? bool_done(b, &any, out, em) : e;
}

enum err hidden_prefix(struct builder *b, const struct field *f, struct str value,
                       const struct pattern_opts *o, struct query **out, struct errmsg *em)
{
    const struct query_ops *expensive = b->expensive; /* these are not */
    struct query method = {.ops = &q_prefix};
    struct json text = json_mk_str(value);
    method.multi.rewrite = REWRITE_CONSTANT;
    enum err e = set_rewrite(&method, o->rewrite, em);
    if (e != ERR_OK) {
        return e;
    }
    if (utf16_length(value) < (size_t)f->prefix_min_chars) {
        e = one_short(b, f, value, o, out, em);
    } else if (o->case_insensitive) {
        e = field_term_nocase(b, f->prefix_field, &text, out, em);
    } else {
        e = qnode_term(b, f->prefix_field, value, out, em);
    }
    b->expensive = expensive;
    return e == ERR_OK && method.multi.rewrite == REWRITE_CONSTANT ? qnode_constant(b, *out, out, em) : e;
}

bool hidden_phrase_prefix_takes(const struct text_run *r, const struct field *f, const struct text_tokens *t)
{
    if (f->prefix_field == NULL || r->slop > 0 || t->of_graph || t->n == 0) {
        return false;
    }
    int32_t last = t->v[t->n - 1].position;
    if (t->v[0].position > 0 && t->v[0].position != last) { /* spans would want room before the first word */
        return false;
    }
    for (uint32_t i = t->n; i > 0 && t->v[i - 1].position == last; i--) {
        size_t n = utf16_length(t->v[i - 1].text);
        if (n < (size_t)f->prefix_min_chars || n > (size_t)f->prefix_max_chars) {
            return false;
        }
    }
    return true;
}

/* ---- pairs of words ---- */

bool hidden_phrase_takes(const struct text_run *r, const struct field *f, const struct text_tokens *t)
{
    int32_t before = -1;
    if (f->phrase_field == NULL || r->slop != 0) {
        return false;
    }
    for (uint32_t i = 0; i < t->n; before = t->v[i++].position) {
        if (t->v[i].position > before + 1) {
            return false;
        }
    }
    return true;
}

enum err hidden_phrase_tokens(struct text_run *r, const struct text_tokens *t, struct text_tokens *out)
{
    struct token_list in, pairs;
    token_list_init(&in, r->b->arena);
    token_list_init(&pairs, r->b->arena);
    int32_t at = -1;
    for (uint32_t i = 0; i < t->n; at = t->v[i++].position) {
        struct token one = {
            .text = t->v[i].text, .pos_inc = t->v[i].position - at, .pos_len = (uint16_t)t->v[i].length};
        if (!token_add(&in, one)) {
            return err_no_memory(r->em);
        }
    }
    in.end_pos_inc = t->end_gap;
    if (!pairs_of_tokens(&in, &pairs)) {
        return err_no_memory(r->em);
    }
    *out = (struct text_tokens){.v = ARENA_ARRAY(r->b->arena, struct text_token, pairs.n),
                                .n = (uint32_t)pairs.n};
    if (out->v == NULL) {
        return err_no_memory(r->em);
    }
    at = -1;
    for (uint32_t i = 0; i < out->n; i++) {
        at += pairs.v[i].pos_inc;
        out->v[i] = (struct text_token){pairs.v[i].text, at, 1};
    }
    return ERR_OK;
}
