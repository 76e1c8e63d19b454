/* A field's values out of the source, as one text of UTF-16 units with its tokens. */
#include "engine/highlight/highlight_int.h"
#include "engine/mapping/completion_paths.h"

#include "common/base/arena_list.h"
#include "common/base/memory_account.h"
#include "common/base/utf8.h"
#include "engine/collect/value_format.h"

/* ---- where the values stand ---------------------------------------------------------------------------- */

static uint32_t java_hash(struct str s)
{
    uint32_t h = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at);
        if (c > 0xFFFF) {
            h = h * 31 + (0xD7C0 + (c >> 10));
            c = 0xDC00 + (c & 0x3FF);
        }
        h = h * 31 + c;
    }
    return h ^ (h >> 16);
}

/* Elasticsearch walks a hash set of the sources: several of them come in the order of their buckets. */
static void order_as_hash_set(struct str *v, uint32_t n)
{
    uint32_t table = 16;
    while (n > table / 4 * 3) {
        table *= 2;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct str s = v[i];
        uint32_t j = i;
        for (; j > 0 && (java_hash(v[j - 1]) & (table - 1)) > (java_hash(s) & (table - 1)); j--) {
            v[j] = v[j - 1];
        }
        v[j] = s;
    }
}

static bool copies_to(const struct field *f, struct str path)
{
    for (uint32_t i = 0; i < f->n_copy_to; i++) {
        if (str_eq(f->copy_to[i], path)) {
            return true;
        }
    }
    return false;
}

enum err hl_target_paths(struct hl_target *t, const struct mapping *m, struct arena *arena, struct errmsg *em)
{
    struct str path = t->field->path;
    if (t->field->is_multi_field) {
        path.n -= t->field->name.n + 1;
    }
    uint32_t fields = mapping_field_count(m), n = 0;
    struct str *v = ARENA_ARRAY(arena, struct str, fields + 1);
    if (v == NULL) {
        return err_no_memory(em);
    }
    v[n++] = path;
    for (uint32_t i = 0; i < fields; i++) {
        const struct field *f = mapping_field_at(m, i);
        if (f != NULL && copies_to(f, path)) {
            v[n++] = f->path;
        }
    }
    order_as_hash_set(v, n);
    t->paths = v;
    t->n_paths = n;
    return ERR_OK;
}

/* ---- values -------------------------------------------------------------------------------------------- */

struct loading {
    const struct field *field;
    struct arena *arena;
    struct str *texts;
    size_t n, cap;
    size_t units;
};

static enum err add_value(struct loading *l, struct str text, struct errmsg *em)
{
    bool keyword = l->field->class->is_string && !l->field->class->is_analysed;
    size_t units = utf16_length(text);
    if (keyword && units > l->field->ignore_above) {
        return ERR_OK;
    }
    if (keyword && l->field->normalizer != NULL) {
        enum err e = analyzer_normalize(l->field->normalizer, text, l->arena, &text, em);
        if (e != ERR_OK) {
            return e;
        }
        units = utf16_length(text);
    }
    struct str *v = arena_grow(l->arena, l->texts, l->n, &l->cap, sizeof(*v));
    if (v == NULL || l->units + units > INT32_MAX - 1) {
        return err_no_memory(em);
    }
    l->texts = v;
    v[l->n++] = text;
    l->units += units + 1;
    return ERR_OK;
}

/* What the field makes of a value: numbers, dates and addresses are shown as `fields` shows them, not as they were
 * sent. */
static enum err shown_value(struct loading *l, const struct value_format *vf, const struct json *v,
                            struct errmsg *em)
{
    struct buf b;
    struct jsonw w;
    memory_request_buf(&b);
    jsonw_init(&w, &b, false);
    source_value_write(vf, v, l->arena, &w);
    struct str s = buf_view(&b);
    if (s.n >= 2 && s.p[0] == '"') {
        s = str_slice(s, 1, s.n - 1);
    }
    struct str copy = arena_str(l->arena, s);
    enum err e = b.failed || copy.p == NULL ? err_no_memory(em) : ERR_OK;
    buf_fini(&b);
    return e == ERR_OK && copy.n > 0 ? add_value(l, copy, em) : e;
}

static bool shows_otherwise(const struct field *f)
{
    return !f->store && (field_takes_numbers(f) || f->class->kind == VALUE_ADDRESS);
}

static enum err load_path(struct loading *l, const struct json *source, struct str path, struct errmsg *em)
{
    const struct json **found;
    size_t n;
    enum err e = ERR_OK;
    struct value_format vf;
    bool otherwise = shows_otherwise(l->field);
    const struct json *null_value = l->field->class->form != FORM_SCALED ? l->field->null_value : NULL;
    if (!source_values(source, path, l->arena, &found, &n)) {
        return err_no_memory(em);
    }
    if (otherwise && n > 0) {
        e = source_format_new(&vf, l->field, STR_NULL, l->arena, em);
    }
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        const struct json *v = found[i]->type == JSON_NULL ? null_value : found[i];
        struct str s = v != NULL ? json_text(v) : STR_NULL;
        if (s.p != NULL) {
            e = otherwise ? shown_value(l, &vf, v, em) : add_value(l, s, em);
        }
    }
    return e;
}

static uint32_t put_utf16(uint16_t *to, struct str s)
{
    uint32_t n = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at);
        if (c > 0xFFFF) {
            to[n++] = (uint16_t)(0xD7C0 + (c >> 10));
            to[n++] = (uint16_t)(0xDC00 + (c & 0x3FF));
        } else {
            to[n++] = (uint16_t)c;
        }
    }
    return n;
}

enum err hl_text_load(struct hl_text *x, const struct hl_target *t, const struct json *source,
                      struct arena *arena, struct errmsg *em)
{
    struct loading l = {.field = t->field, .arena = arena};
    enum err e = ERR_OK;
    *x = (struct hl_text){.n = 0};
    for (uint32_t i = 0; i < t->n_paths && e == ERR_OK; i++) {
        e = load_path(&l, source, t->paths[i], em);
    }
    if (e != ERR_OK || l.n == 0) {
        return e;
    }
    x->u = ARENA_ARRAY(arena, uint16_t, l.units);
    x->values = ARENA_ARRAY(arena, struct hl_value, l.n);
    if (x->u == NULL || x->values == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < l.n; i++) {
        struct hl_value *v = &x->values[x->n_values++];
        x->n += i > 0; /* U+0000 between values */
        v->start = x->n;
        v->text = l.texts[i];
        x->n += put_utf16(x->u + x->n, l.texts[i]);
        v->end = x->n;
    }
    return ERR_OK;
}

/* ---- tokens -------------------------------------------------------------------------------------------- */

static enum err add_token(struct hl_text *x, struct hl_token token, struct arena *arena, struct errmsg *em)
{
    return ARENA_ADD(arena, x->tokens, x->n_tokens, x->cap_tokens, token) ? ERR_OK : err_no_memory(em);
}

/* Unit offsets by byte offset; NULL in *out for text where they are the same. */
static bool unit_offsets(struct str s, struct arena *arena, uint32_t **out)
{
    *out = NULL;
    size_t at = 0;
    while (at < s.n && (uint8_t)s.p[at] < 0x80) {
        at++;
    }
    if (at == s.n) {
        return true;
    }
    uint32_t *map = ARENA_ARRAY(arena, uint32_t, s.n + 1);
    if (map == NULL) {
        return false;
    }
    uint32_t units = 0;
    for (at = 0; at < s.n;) {
        size_t from = at;
        uint32_t c = utf8_next(s, &at);
        for (size_t i = from; i < at; i++) {
            map[i] = units;
        }
        units += c > 0xFFFF ? 2 : 1;
    }
    map[s.n] = units;
    *out = map;
    return true;
}

/* Tokens that start behind `limit` units of their value are left out, with all that follow. */
static enum err analyse_value(struct hl_text *x, struct hl_value *v, const struct analyzer *an,
                              uint32_t limit, int32_t *position, struct arena *arena, struct errmsg *em)
{
    struct token_list list;
    uint32_t *units;
    token_list_init(&list, arena);
    enum err e = analyzer_run(an, v->text, &list, em);
    if (e == ERR_OK && !unit_offsets(v->text, arena, &units)) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < list.n && e == ERR_OK; i++) {
        const struct token *k = &list.v[i];
        size_t from = MIN_OF((size_t)k->start, v->text.n), to = MIN_OF((size_t)k->end, v->text.n);
        to = MAX_OF(from, to);
        *position += k->pos_inc;
        struct hl_token token = {.text = k->text, .position = *position, .inc = k->pos_inc};
        token.start = v->start + (units != NULL ? units[from] : (uint32_t)from);
        token.end = v->start + (units != NULL ? units[to] : (uint32_t)to);
        if (token.start - v->start > limit) {
            break;
        }
        e = add_token(x, token, arena, em);
    }
    *position += list.end_pos_inc;
    return e;
}

/* A completion's paths each stand for the whole value. */
static enum err analyse_completion(struct hl_text *x, const struct hl_value *v, const struct field *f,
                                   int32_t *position, struct arena *arena, struct errmsg *em)
{
    struct completion_options o = {f->analyzer, f->preserve_separators, f->preserve_position_increments};
    const struct str *paths;
    uint32_t n;
    enum err e = completion_paths(&o, v->text, arena, &paths, &n, em);
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        int32_t inc = i == 0;
        *position += inc;
        e = add_token(x, (struct hl_token){paths[i], v->start, v->end, *position, inc}, arena, em);
    }
    return e;
}

enum err hl_text_analyse(struct hl_text *x, const struct hl_target *t, struct arena *arena, struct errmsg *em)
{
    const struct analyzer *an = t->field->class->is_analysed ? t->field->analyzer : NULL;
    bool limited = t->o->max_analyzed_offset > 0 && !str_is(t->o->type, "fvh")
                   && (str_is(t->o->type, "plain") || !hl_has_offsets(t->field));
    uint32_t limit = limited ? (uint32_t)t->o->max_analyzed_offset : UINT32_MAX;
    int32_t position = -1;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < x->n_values && e == ERR_OK; i++) {
        struct hl_value *v = &x->values[i];
        v->token = (uint32_t)x->n_tokens;
        if (an != NULL) {
            e = analyse_value(x, v, an, limit, &position, arena, em);
        } else if (t->field->class == &field_class_completion) {
            e = analyse_completion(x, v, t->field, &position, arena, em);
        } else {
            position++;
            e = add_token(x, (struct hl_token){v->text, v->start, v->end, position, 1}, arena, em);
        }
        v->n_tokens = (uint32_t)x->n_tokens - v->token;
        position += t->field->class->is_analysed ? t->field->position_increment_gap : 0;
    }
    return e;
}

/* ---- output -------------------------------------------------------------------------------------------- */

static const char *html_form(uint32_t c)
{
    switch (c) {
    case '"':
        return "&quot;";
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\'':
        return "&#x27;";
    case '/':
        return "&#x2F;";
    default:
        return NULL;
    }
}

void hl_append(struct buf *b, const struct hl_text *x, uint32_t from, uint32_t to, bool html)
{
    to = MIN_OF(to, x->n);
    while (from < to) {
        uint32_t c = x->u[from++];
        if (c >= 0xD800 && c < 0xDC00 && from < to && (x->u[from] & 0xFC00) == 0xDC00) {
            c = 0x10000 + ((c - 0xD800) << 10) + (x->u[from++] - 0xDC00U);
        }
        const char *form = html ? html_form(c) : NULL;
        if (form != NULL) {
            buf_z(b, form);
        } else {
            buf_utf8(b, c);
        }
    }
}

bool hl_fragment_add(struct hl_fragments *f, struct buf *b)
{
    struct str *v = arena_grow(f->arena, f->v, f->n, &f->cap, sizeof(*v));
    if (v == NULL || b->failed) {
        return false;
    }
    f->v = v;
    v[f->n] = arena_str(f->arena, buf_view(b));
    return v[f->n++].p != NULL;
}
