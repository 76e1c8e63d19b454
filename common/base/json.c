#include "common/base/arena_list.h"
#include "common/base/json_int.h"

#include "common/base/hash.h"
#include "common/base/utf8.h"

#include <stdalign.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

const struct json_limits json_limits_default = {.depth_max = JSON_DEPTH_MAX};

/* A container that is still open. Its children collect on the builder's stack and move to the arena, in one
 * piece, when it closes. */
struct open_container {
    enum json_type type;
    uint32_t off;
    size_t first; /* stack index of its first child */
    struct str key;
    uint32_t key_off;
};

/* What only parsing needs, as far as it goes: most texts need no more, and leave nothing but their tree in the arena. */
struct scratch {
    struct json_member stack[12];
    struct open_container open[8];
    size_t used;
    alignas(max_align_t) char bytes[3072]; /* yajl's, which takes 2,048 at the end of a text */
};

struct emergency;

struct builder {
    struct str text;
    struct arena *arena;
    struct scratch *scratch;
    const struct json_limits *limits;
    struct errmsg *em;
    enum err err;
    yajl_handle yajl;
    size_t token_end; /* where the token before the current one ended */

    struct json_member *stack;
    size_t stack_n, stack_cap;
    struct open_container *open;
    size_t open_n, open_cap;
    struct str key; /* the member name that waits for its value */
    uint32_t key_off;
    bool key_waits;
    bool no_room;
    struct emergency *emergency;
    bool has_root;
    struct json root;
};

void json_place(struct str text, size_t off, uint32_t *line, uint32_t *col)
{
    size_t at = 0, start = 0;
    uint32_t lines = 1;
    off = MIN_OF(off, text.n);
    while ((at = str_find(text, '\n', at)) != SIZE_MAX && at < off) {
        lines++;
        start = ++at;
    }
    *line = lines;
    *col = (uint32_t)(off - start) + 1;
}

static size_t skip_comment(struct str t, size_t at)
{
    if (at + 1 < t.n && t.p[at + 1] == '/') {
        size_t eol = str_find(t, '\n', at);
        return eol == SIZE_MAX ? t.n : eol;
    }
    size_t close = str_find_str(str_slice(t, at + 2, t.n), STR("*/"));
    return close == SIZE_MAX ? t.n : at + 2 + close + 2;
}

/* yajl tells where a token ends; it begins behind the white space, comments and punctuation after the one
 * before. */
static uint32_t token_start(const struct builder *b)
{
    size_t at = b->token_end;
    while (at < b->text.n) {
        char c = b->text.p[at];
        if (c == '/') {
            at = skip_comment(b->text, at);
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':') {
            at++;
        } else {
            break;
        }
    }
    return (uint32_t)at;
}

static uint32_t token_done(struct builder *b)
{
    b->token_end = yajl_get_bytes_consumed(b->yajl);
    return (uint32_t)b->token_end;
}

static int fail_memory(struct builder *b)
{
    b->err = err_no_memory(b->em);
    return 0;
}

static int add_value(struct builder *b, struct json v)
{
    b->key_waits = false;
    if (b->open_n == 0) {
        b->root = v;
        b->has_root = true;
        return 1;
    }
    if (!ARENA_ADD(b->arena, b->stack, b->stack_n, b->stack_cap,
                   (struct json_member){b->key, b->key_off, v})) {
        return fail_memory(b);
    }
    return 1;
}

static int on_null(void *ctx)
{
    struct builder *b = ctx;
    uint32_t off = token_start(b);
    return add_value(b, (struct json){.type = JSON_NULL, .off = off, .end = token_done(b)});
}

static int on_boolean(void *ctx, int value)
{
    struct builder *b = ctx;
    uint32_t off = token_start(b);
    return add_value(b, (struct json){.type = JSON_BOOL, .b = value != 0, .off = off, .end = token_done(b)});
}

/* Is it in the text itself, and not what yajl decoded into its own buffer? */
static inline bool is_borrowed(const struct builder *b, const void *p, size_t n)
{
    const char *at = p;
    return n == 0 || (at >= b->text.p && at + n <= b->text.p + b->text.n);
}

static int on_number(void *ctx, const char *p, size_t n)
{
    struct builder *b = ctx;
    struct json v = {.type = JSON_NUMBER, .off = token_start(b), .end = token_done(b)};
    v.s = is_borrowed(b, p, n) ? str_mk(p, n) : arena_str(b->arena, str_mk(p, n));
    return v.s.p != NULL ? add_value(b, v) : fail_memory(b);
}

/* Moves to the arena what yajl decoded of a string or key that begins at `off` and has just ended. */
static struct str keep_decoded(struct builder *b, const char *p, size_t n, size_t off)
{
    struct str raw = str_slice(b->text, off, b->token_end), out = STR_NULL;
    if (!json_has_surrogate(raw)) {
        return arena_str(b->arena, str_mk(p, n));
    }
    return json_decode_escapes(b->arena, raw, &out) ? out : STR_NULL;
}

static inline struct str string_of(struct builder *b, const unsigned char *p, size_t n, size_t off)
{
    const char *at = (const char *)p;
    return LIKELY(is_borrowed(b, p, n)) ? str_mk(at != NULL ? at : "", n) : keep_decoded(b, at, n, off);
}

static int on_string(void *ctx, const unsigned char *p, size_t n)
{
    struct builder *b = ctx;
    struct json v = {.type = JSON_STRING, .off = token_start(b), .end = token_done(b)};
    v.s = string_of(b, p, n, v.off);
    return v.s.p != NULL ? add_value(b, v) : fail_memory(b);
}

static int on_key(void *ctx, const unsigned char *p, size_t n)
{
    struct builder *b = ctx;
    b->key_off = token_start(b);
    b->key_waits = true;
    token_done(b);
    b->key = string_of(b, p, n, b->key_off);
    return b->key.p != NULL ? 1 : fail_memory(b);
}

static int open_container(struct builder *b, enum json_type type)
{
    uint32_t off = token_start(b);
    token_done(b);
    if (b->open_n >= b->limits->depth_max) {
        uint32_t line, col;
        json_place(b->text, off, &line, &col);
        b->err = err_set(b->em, ERR_JSON,
                         "Document nesting depth exceeds the maximum allowed (%u) at line: %u, column: %u",
                         b->limits->depth_max, line, col);
        return 0;
    }
    if (!ARENA_ADD(b->arena, b->open, b->open_n, b->open_cap,
                   (struct open_container){type, off, b->stack_n, b->key, b->key_off})) {
        return fail_memory(b);
    }
    b->key_waits = false;
    return 1;
}

static int fail_duplicate(struct builder *b, const struct json_member *m)
{
    uint32_t line, col;
    json_place(b->text, m->key_off, &line, &col);
    b->stack_n = (size_t)(m - b->stack); /* what a reader of the broken text still sees */
    b->err = err_set(b->em, ERR_JSON, "Duplicate field '%.*s'\n at line: %u, column: %u", STR_ARG(m->key),
                     line, col);
    return 0;
}

#define SMALL_OBJECT 12

static int refuse_duplicates(struct builder *b, const struct json_member *m, size_t n)
{
    if (n <= SMALL_OBJECT) {
        for (size_t i = 1; i < n; i++) {
            for (size_t j = 0; j < i; j++) {
                if (str_eq(m[i].key, m[j].key)) {
                    return fail_duplicate(b, &m[i]);
                }
            }
        }
        return 1;
    }
    size_t slots_n = 16;
    while (slots_n < n * 2) {
        slots_n *= 2;
    }
    uint32_t *slots = ARENA_ARRAY(b->arena, uint32_t, slots_n);
    if (slots == NULL) {
        return fail_memory(b);
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = hash_str(m[i].key) & (slots_n - 1);
        for (; slots[at] != 0; at = (at + 1) & (slots_n - 1)) {
            if (str_eq(m[slots[at] - 1].key, m[i].key)) {
                return fail_duplicate(b, &m[i]);
            }
        }
        slots[at] = (uint32_t)i + 1;
    }
    return 1;
}

static int take_container(struct builder *b)
{
    struct open_container c = b->open[--b->open_n];
    size_t n = b->stack_n - c.first;
    struct json_member *kids = &b->stack[c.first];
    struct json v = {.type = c.type, .off = c.off, .end = token_done(b), .n = (uint32_t)n};
    if (c.type == JSON_OBJECT) {
        v.members = ARENA_ARRAY(b->arena, struct json_member, members_room(n));
        if (v.members == NULL) {
            return fail_memory(b);
        }
        if (n > 0) {
            memcpy(v.members, kids, n * sizeof(*kids));
        }
    } else {
        v.items = ARENA_ARRAY(b->arena, struct json, n);
        if (v.items == NULL) {
            return fail_memory(b);
        }
        for (size_t i = 0; i < n; i++) {
            v.items[i] = kids[i].value;
        }
    }
    b->stack_n = c.first;
    b->key = c.key;
    b->key_off = c.key_off;
    return add_value(b, v);
}

static int close_container(struct builder *b)
{
    const struct open_container *c = &b->open[b->open_n - 1];
    if (c->type == JSON_OBJECT && !b->limits->repeats
        && !refuse_duplicates(b, &b->stack[c->first], b->stack_n - c->first)) {
        return 0;
    }
    return take_container(b);
}

static int on_start_map(void *ctx)
{
    return open_container(ctx, JSON_OBJECT);
}

static int on_start_array(void *ctx)
{
    return open_container(ctx, JSON_ARRAY);
}

static int on_end(void *ctx)
{
    return close_container(ctx);
}

/* yajl does not look at what its allocator returns. What the arena refuses it gets from the heap, until the
 * parse, which has failed by then, is over. */
struct emergency {
    struct emergency *next;
    max_align_t bytes[];
};

static void *emergency_alloc(struct builder *b, size_t n)
{
    b->no_room = true;
    struct emergency *e = malloc(sizeof(*e) + n);
    if (e == NULL) {
        abort(); /* neither arena nor heap has room for a few hundred bytes */
    }
    e->next = b->emergency;
    b->emergency = e;
    return e->bytes;
}

static void *arena_malloc_cb(void *ctx, size_t n)
{
    struct builder *b = ctx;
    struct scratch *s = b->scratch;
    size_t head = sizeof(max_align_t), *p;
    size_t need = (head + n + head - 1) / head * head;
    if (need <= sizeof(s->bytes) - s->used) {
        p = (void *)(s->bytes + s->used);
        s->used += need;
    } else {
        p = arena_alloc(b->arena, need);
    }
    if (p == NULL) {
        p = emergency_alloc(b, need);
    }
    p[0] = n;
    return (char *)p + head;
}

static void *arena_realloc_cb(void *ctx, void *old, size_t n)
{
    void *p = arena_malloc_cb(ctx, n);
    if (old != NULL) {
        const size_t *size = (const void *)((char *)old - sizeof(max_align_t));
        memcpy(p, old, MIN_OF(n, *size));
    }
    return p;
}

static void arena_free_cb(UNUSED void *ctx, UNUSED void *p)
{
}

/* The text ends too early, and Jackson sees a mistake before that end: behind a comma, in a literal that is
 * no literal so far, behind a decimal point. */
static bool wrong_before_end(const struct builder *b)
{
    struct str t = str_trim(b->text);
    size_t start = token_start(b);
    if (t.n == 0 || t.p[t.n - 1] == ',') {
        return t.n > 0;
    }
    char first = start < t.n ? t.p[start] : '"', last = t.p[t.n - 1];
    bool literal = first >= 'a' && first <= 'z';
    bool number = first == '-' || (first >= '0' && first <= '9');
    return literal || (number && last == '.');
}

/* The character before `at` is none that may stand there. */
static enum err unexpected(const struct builder *b, size_t at)
{
    uint32_t line, col;
    json_place(b->text, at, &line, &col);
    unsigned char c = at > 0 && at <= b->text.n ? (unsigned char)b->text.p[at - 1] : 0;
    return err_set(b->em, ERR_JSON, "Unexpected character ('%c' (code %u))\n at line: %u, column: %u",
                   c >= 0x20 && c < 0x7F ? c : '?', c, line, col);
}

/* Words yajl's complaint as Jackson would, with the place. */
static enum err syntax_error(struct builder *b, bool at_end)
{
    uint32_t line, col;
    size_t at = at_end ? b->text.n : yajl_get_bytes_consumed(b->yajl);
    json_place(b->text, at, &line, &col);
    if (at_end) {
        return err_set(b->em, wrong_before_end(b) ? ERR_JSON : ERR_JSON_EOF,
                       "Unexpected end-of-input\n at line: %u, column: %u", line, col);
    }
    return unexpected(b, at);
}

/* The same for what is not UTF-8; `wrong` is the byte that makes it so. */
static enum err encoding_error(struct builder *b, size_t bad, size_t wrong)
{
    if (wrong == b->text.n) {
        return syntax_error(b, true);
    }
    uint32_t line, col;
    json_place(b->text, wrong + 1, &line, &col);
    return err_set(b->em, ERR_JSON, "Invalid UTF-8 %s byte 0x%x\n at line: %u, column: %u",
                   wrong == bad ? "start" : "middle", (unsigned char)b->text.p[wrong], line, col);
}

/* The first control character that is a blank to yajl, and none to Jackson; SIZE_MAX: there is none. */
static size_t odd_blank(struct str text)
{
    return MIN_OF(str_find(text, '\v', 0), str_find(text, '\f', 0));
}

static yajl_handle start_parser(struct builder *b, const yajl_callbacks *callbacks, yajl_alloc_funcs *funcs)
{
    yajl_handle h = yajl_alloc(callbacks, funcs, b);
    if (h != NULL) {
        yajl_config(h, yajl_allow_comments, 1);
        yajl_config(h, yajl_dont_validate_strings, 1); /* it lets some through; the whole text is looked at */
    }
    return h;
}

/* Closes what is open around a value that says where the text broke off. */
static enum err close_broken(struct builder *b, enum err why)
{
    size_t at = token_start(b);
    bool in_object = b->open_n > 0 && b->open[b->open_n - 1].type == JSON_OBJECT;
    struct json broken = {.type = JSON_NULL, .n = JSON_BROKEN, .off = (uint32_t)at, .end = (uint32_t)at};
    broken.b = at < b->text.n && b->text.p[at] == '"' && (b->key_waits || !in_object);
    if (in_object && !b->key_waits) {
        b->key = STR_NULL;
    }
    int ok = b->open_n > 0 ? add_value(b, broken) : 1;
    while (ok && b->open_n > 0) {
        ok = take_container(b);
    }
    return ok ? why : err_no_memory(b->em);
}

/* The end of the comment that begins at `at`; `at` itself where it does not end, or where none begins. */
static size_t behind_comment(struct str text, size_t at)
{
    size_t end = skip_comment(text, at);
    bool line = end >= at + 2 && text.p[at + 1] == '/';
    bool block = end >= at + 4 && text.p[at + 1] == '*' && text.p[end - 1] == '/' && text.p[end - 2] == '*';
    return line || block ? end : at;
}

/* Is there anything behind the value but blanks and comments? yajl is content with what does not end: a text, a comment. */
static bool more_behind(const struct builder *b)
{
    /* A number at the very end is known when there is no more text: where it ends was not asked in time. */
    size_t at = b->root.type == JSON_NUMBER ? b->root.off + b->root.s.n : b->root.end;
    while (at < b->text.n) {
        char c = b->text.p[at];
        bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        size_t next = c == '/' ? behind_comment(b->text, at) : blank ? at + 1 : at;
        if (next == at) {
            return true;
        }
        at = next;
    }
    return false;
}

static void end_parser(struct builder *b)
{
    while (b->emergency != NULL) {
        struct emergency *next = b->emergency->next;
        free(b->emergency);
        b->emergency = next;
    }
}

static void use_scratch(struct builder *b)
{
    struct scratch *s = b->scratch;
    s->used = 0;
    b->stack = s->stack;
    b->stack_cap = ARRAY_LEN(s->stack);
    b->open = s->open;
    b->open_cap = ARRAY_LEN(s->open);
}

static enum err run_parser(struct builder *b)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_start_map,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end,
        .yajl_start_array = on_start_array,
        .yajl_end_array = on_end,
    };
    if (b->text.n > UINT32_MAX / 2) {
        return err_set(b->em, ERR_JSON, "a document of %zu bytes is too long", b->text.n);
    }
    use_scratch(b);
    yajl_alloc_funcs funcs = {arena_malloc_cb, arena_realloc_cb, arena_free_cb, b};
    b->yajl = start_parser(b, &callbacks, &funcs);
    if (b->yajl == NULL) {
        return err_no_memory(b->em);
    }
    size_t wrong, bad = utf8_bad(b->text, &wrong), odd = odd_blank(b->text);
    size_t good = MIN_OF(MIN_OF(bad, odd), b->text.n);
    yajl_status st = yajl_parse(b->yajl, (const unsigned char *)b->text.p, good);
    bool at_end = false;
    if (st == yajl_status_ok && odd < bad && !b->no_room) {
        return b->err = unexpected(b, odd + 1);
    }
    if (st == yajl_status_ok && bad != SIZE_MAX && !b->no_room) {
        return b->err = encoding_error(b, bad, wrong);
    }
    if (st == yajl_status_ok) {
        at_end = true;
        st = yajl_complete_parse(b->yajl);
    }
    if (b->err == ERR_NO_MEMORY) {
        return b->err; /* and *em says what for */
    }
    if (b->no_room) {
        b->err = err_no_memory(b->em);
    } else if (b->err == ERR_OK && (st != yajl_status_ok || more_behind(b))) {
        b->err = syntax_error(b, at_end);
    }
    return b->err;
}

enum err json_parse(struct json *out, struct str text, struct arena *arena, const struct json_limits *limits,
                    struct errmsg *em)
{
    struct scratch scratch;
    struct builder b = {.text = text, .arena = arena, .limits = limits, .em = em, .scratch = &scratch};
    enum err e = run_parser(&b);
    end_parser(&b);
    *out = e == ERR_OK ? b.root : (struct json){.type = JSON_NULL};
    return e;
}

enum err json_parse_until(struct json *out, size_t *extra, struct str text, struct arena *arena,
                          const struct json_limits *limits, struct errmsg *em)
{
    struct scratch scratch;
    struct builder b = {.text = text, .arena = arena, .limits = limits, .em = em, .scratch = &scratch};
    enum err e = run_parser(&b);
    *extra = SIZE_MAX;
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        if (b.has_root && b.open_n == 0) {
            *extra = token_start(&b);
        } else if (b.yajl != NULL) {
            e = close_broken(&b, e);
        }
    }
    end_parser(&b);
    *out = b.has_root ? b.root : (struct json){.type = JSON_NULL};
    return e;
}

enum err json_parse_first(struct json *out, struct str text, struct arena *arena,
                          const struct json_limits *limits, struct errmsg *em)
{
    size_t extra;
    enum err e = json_parse_until(out, &extra, text, arena, limits, em);
    if (extra == SIZE_MAX) {
        return e;
    }
    err_clear(em);
    return ERR_OK;
}
