/* The path_hierarchy tokenizer: a path and its ancestors, all at one position. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"

struct path_tokenizer {
    struct tokenizer base;
    uint32_t delimiter, replacement;
    int32_t skip;
    bool reverse;
};

/* The text with delimiters replaced, and where each byte of it lies: a place for each delimiter. */
struct path {
    struct str text;  /* replaced */
    size_t *out, *in; /* behind the i-th delimiter: byte in the replaced and in the given text */
    size_t n, cap_out, cap_in;
    bool ends_with_delimiter;
};

static bool path_hierarchy_push(struct arena *arena, size_t **v, size_t n, size_t *cap, size_t value)
{
    size_t *grown = arena_grow(arena, *v, n, cap, sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    grown[n] = value;
    *v = grown;
    return true;
}

static bool read_path(const struct path_tokenizer *t, struct str text, struct arena *arena, struct path *p)
{
    char *to = arena_alloc(arena, text.n * 4 + 1);
    size_t n = 0;
    if (to == NULL) {
        return false;
    }
    for (size_t at = 0; at < text.n;) {
        uint32_t c = utf8_next(text, &at);
        p->ends_with_delimiter = c == t->delimiter;
        n += utf8_put(to + n, p->ends_with_delimiter ? t->replacement : c);
        if (!p->ends_with_delimiter) {
            continue;
        }
        if (!path_hierarchy_push(arena, &p->out, p->n, &p->cap_out, n)
            || !path_hierarchy_push(arena, &p->in, p->n, &p->cap_in, at)) {
            return false;
        }
        p->n++;
    }
    p->text = str_mk(to, n);
    return true;
}

static bool path_hierarchy_add(struct token_list *out, struct path *p, size_t from, size_t to, size_t start,
                               size_t end)
{
    return token_add(out, (struct token){.text = str_slice(p->text, from, to),
                                         .start = (uint32_t)start,
                                         .end = (uint32_t)end,
                                         .pos_inc = out->n == 0 ? 1 : 0,
                                         .pos_len = 1,
                                         .type = "word"});
}

static size_t width(uint32_t c)
{
    char bytes[4];
    return utf8_put(bytes, c);
}

/* Each part and what is before it; a part begins with its delimiter, except the first. `skip` leaves parts
 * out. */
static bool run_forward(const struct path_tokenizer *t, struct str text, struct path *p,
                        struct token_list *out)
{
    size_t mark_out = width(t->replacement), mark_in = width(t->delimiter);
    bool leading = p->n > 0 && p->in[0] == mark_in; /* then the first part begins with its delimiter */
    size_t first = leading ? 1 : 0;                 /* the delimiter that ends the first part */
    size_t parts = p->n - first + 1, from = 0, start = 0;
    if (text.n == 0 || (size_t)t->skip >= parts) {
        return true;
    }
    if (t->skip > 0) {
        size_t cut = first + (size_t)t->skip - 1;
        from = p->out[cut] - mark_out;
        start = p->in[cut] - mark_in;
    }
    for (size_t k = (size_t)t->skip; k < parts; k++) {
        bool last = k + 1 == parts;
        size_t to = last ? p->text.n : p->out[first + k] - mark_out,
               end = last ? text.n : p->in[first + k] - mark_in;
        if (!path_hierarchy_add(out, p, from, to, start, end)) {
            return false;
        }
    }
    return true;
}

static bool run_reverse(const struct path_tokenizer *t, struct str text, struct path *p,
                        struct token_list *out)
{
    /* Boundaries: the start, behind each delimiter, and the end unless a delimiter ends there. */
    size_t n = p->n + 1 + (p->ends_with_delimiter || text.n == 0 ? 0 : 1), skip = (size_t)t->skip;
    if (skip + 1 > n) {
        return true;
    }
    size_t last = n - 1 - skip;
    size_t to = last == 0 ? 0 : last <= p->n ? p->out[last - 1] : p->text.n;
    size_t end = last == 0 ? 0 : last <= p->n ? p->in[last - 1] : text.n;
    for (size_t i = 0; i < last; i++) {
        if (!path_hierarchy_add(out, p, i == 0 ? 0 : p->out[i - 1], to, i == 0 ? 0 : p->in[i - 1], end)) {
            return false;
        }
    }
    return true;
}

static enum err path_hierarchy_run(const struct tokenizer *self, struct str text, struct token_list *out,
                                   struct errmsg *em)
{
    const struct path_tokenizer *t = (const struct path_tokenizer *)self;
    struct path p = {0};
    bool ok =
        read_path(t, text, out->arena, &p) && (t->reverse ? run_reverse : run_forward)(t, text, &p, out);
    return ok ? ERR_OK : err_no_memory(em);
}

static enum err read_char(const struct settings *s, const char *key, uint32_t otherwise, uint32_t *out,
                          struct errmsg *em)
{
    struct str v = settings_str(s, key, STR_NULL);
    size_t at = 0;
    *out = v.n > 0 ? utf8_next(v, &at) : otherwise;
    return v.p == NULL || (v.n > 0 && at == v.n)
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT, "%s must be a one char value", key);
}

PART_FACTORY(path_hierarchy_tokenizer_new)
{
    struct path_tokenizer *t = ARENA_NEW(arena, struct path_tokenizer);
    if (t == NULL) {
        return err_no_memory(em);
    }
    int32_t buffer;
    t->base.run = path_hierarchy_run;
    *out = &t->base;
    enum err e = read_char(s, "delimiter", '/', &t->delimiter, em);
    e = e == ERR_OK ? read_char(s, "replacement", t->delimiter, &t->replacement, em) : e;
    e = e == ERR_OK ? part_int(s, "buffer_size", 1024, &buffer, em) : e;
    e = e == ERR_OK ? part_int(s, "skip", 0, &t->skip, em) : e;
    if (e == ERR_OK && buffer < 0) {
        return err_set(em, ERR_PART_UNUSABLE, "bufferSize cannot be negative");
    }
    if (e == ERR_OK && t->skip < 0) {
        return err_set(em, ERR_PART_UNUSABLE, "skip cannot be negative");
    }
    return e == ERR_OK ? settings_bool(s, "reverse", false, &t->reverse, em) : e;
}
