#include "coordinator/rest/table.h"

#include "common/base/arena_list.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- filling ------------------------------------------------------------------------------------------- */

void table_init(struct table *t, struct rest *r, const struct table_column *columns, uint32_t n_columns)
{
    *t = (struct table){.r = r, .columns = columns, .n_columns = n_columns};
}

void table_row(struct table *t)
{
    size_t need = ((size_t)t->n_rows + 1) * t->n_columns;
    while (!t->failed && t->cells_cap < need) {
        struct cell *p = arena_grow(t->r->arena, t->cells, t->cells_cap, &t->cells_cap, sizeof(*p));
        t->failed = p == NULL;
        t->cells = p != NULL ? p : t->cells;
    }
    if (!t->failed) {
        memset(&t->cells[need - t->n_columns], 0, t->n_columns * sizeof(*t->cells));
        t->n_rows++;
        t->at = 0;
    }
}

static void table_put(struct table *t, struct cell c)
{
    if (!t->failed && t->n_rows > 0 && t->at < t->n_columns) {
        t->cells[((size_t)t->n_rows - 1) * t->n_columns + t->at++] = c;
    }
}

void table_null(struct table *t)
{
    table_put(t, (struct cell){.kind = CELL_NULL});
}

void table_str(struct table *t, struct str s)
{
    table_put(t,
              s.p == NULL ? (struct cell){.kind = CELL_NULL} : (struct cell){.kind = CELL_TEXT, .text = s});
}

void table_z(struct table *t, const char *z)
{
    table_str(t, str_of(z));
}

void table_f(struct table *t, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    struct str s = arena_str(t->r->arena, str_of(text));
    t->failed |= s.p == NULL;
    table_str(t, s);
}

void table_number(struct table *t, int64_t v)
{
    table_put(t, (struct cell){.kind = CELL_NUMBER, .number = v});
}

void table_bytes(struct table *t, uint64_t v)
{
    table_put(t, (struct cell){.kind = CELL_BYTES, .number = (int64_t)v});
}

void table_ms(struct table *t, int64_t v)
{
    table_put(t, (struct cell){.kind = CELL_MS, .number = v});
}

/* ---- cells as text ------------------------------------------------------------------------------------- */

/* One decimal, cut and not rounded up, ".0" left out: as Elasticsearch words sizes and times. */
static struct str with_unit(struct arena *a, int64_t v, int64_t unit, const char *suffix)
{
    int64_t whole = v / unit, tenth = (v % unit) * 10 / unit;
    return tenth == 0 ? arena_printf(a, "%lld%s", (long long)whole, suffix)
                      : arena_printf(a, "%lld.%lld%s", (long long)whole, (long long)tenth, suffix);
}

struct unit {
    const char *name, *suffix;
    int64_t size;
};

static struct str in_unit(struct table *t, int64_t v, const struct unit *units, size_t n, struct str wanted)
{
    struct arena *a = t->r->arena;
    for (size_t i = 0; i < n; i++) {
        if (str_is(wanted, units[i].name) || str_is(wanted, units[i].suffix)) {
            return arena_printf(a, "%lld", (long long)(v / units[i].size));
        }
    }
    for (size_t i = n; i-- > 1;) {
        if (v >= units[i].size) {
            return with_unit(a, v, units[i].size, units[i].suffix);
        }
    }
    return arena_printf(a, "%lld%s", (long long)v, units[0].suffix);
}

static struct str cell_text(struct table *t, const struct cell *c)
{
    static const struct unit sizes[] = {
        {"b", "b", 1},        {"k", "kb", 1 << 10},          {"m", "mb", 1 << 20},
        {"g", "gb", 1 << 30}, {"t", "tb", (int64_t)1 << 40}, {"p", "pb", (int64_t)1 << 50}};
    static const struct unit times[] = {
        {"ms", "ms", 1}, {"s", "s", 1000}, {"m", "m", 60000}, {"h", "h", 3600000}, {"d", "d", 86400000}};
    struct str wanted;
    switch (c->kind) {
    case CELL_TEXT:
        return c->text;
    case CELL_NUMBER:
        return arena_printf(t->r->arena, "%lld", (long long)c->number);
    case CELL_BYTES:
        return in_unit(t, c->number, sizes, ARRAY_LEN(sizes), rest_param(t->r, "bytes"));
    case CELL_MS:
        wanted = rest_param(t->r, "time");
        if (str_is(wanted, "nanos") || str_is(wanted, "micros")) {
            return arena_printf(t->r->arena, "%lld",
                                (long long)c->number * (str_is(wanted, "nanos") ? 1000000 : 1000));
        }
        if (wanted.n == 0 && c->number == 0) {
            return STR("0s");
        }
        return in_unit(t, c->number, times, ARRAY_LEN(times), wanted);
    case CELL_NULL:
        break;
    }
    return STR_NULL;
}

/* ---- which columns ------------------------------------------------------------------------------------- */

struct selected_column {
    uint32_t column;
    struct str title;
};

static bool has_alias(const struct table_column *c, struct str name)
{
    struct str rest = str_of(c->aliases);
    while (rest.p != NULL && rest.n > 0) {
        if (str_eq(str_cut(rest, ',', &rest), name)) {
            return true;
        }
    }
    return false;
}

/* Does a pattern match the column's name, or one of its aliases? */
static bool table_matches(const struct table_column *c, struct str pattern)
{
    if (str_glob(pattern, str_of(c->name))) {
        return true;
    }
    struct str rest = str_of(c->aliases);
    while (rest.p != NULL && rest.n > 0) {
        if (str_glob(pattern, str_cut(rest, ',', &rest))) {
            return true;
        }
    }
    return false;
}

/* A column by its name, else by an alias (of several, the last one's); SIZE_MAX: none. */
static size_t find_column(const struct table *t, struct str name)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < t->n_columns; i++) {
        if (str_is(name, t->columns[i].name)) {
            return i;
        }
        found = has_alias(&t->columns[i], name) ? i : found;
    }
    return found;
}

static enum err choose_columns(struct table *t, struct selected_column **out, size_t *n)
{
    struct rest *r = t->r;
    struct str rest = rest_param(r, "h");
    size_t cap = 0;
    *out = NULL;
    *n = 0;
    bool by_default = rest.p == NULL; /* an empty list shows none */
    rest = by_default ? STR("*") : rest;
    while (rest.p != NULL) {
        struct str name = str_trim(str_cut(rest, ',', &rest));
        bool wild = str_find(name, '*', 0) != SIZE_MAX;
        size_t exact = wild ? SIZE_MAX : find_column(t, name);
        for (uint32_t i = 0; i < t->n_columns; i++) {
            const struct table_column *c = &t->columns[i];
            if (by_default ? c->hidden : wild ? !table_matches(c, name) : i != exact) {
                continue;
            }
            struct str title = wild ? str_of(c->name) : name;
            bool there = false; /* a title shows once */
            for (size_t k = 0; k < *n; k++) {
                there |= str_eq((*out)[k].title, title);
            }
            if (there) {
                continue;
            }
            if (!ARENA_ADD(r->arena, *out, *n, cap, (struct selected_column){i, title})) {
                return err_no_memory(&r->em);
            }
        }
    }
    return ERR_OK;
}

/* ---- sorting ------------------------------------------------------------------------------------------- */

static int cell_cmp(const struct cell *a, const struct cell *b)
{
    if (a->kind == CELL_NULL || b->kind == CELL_NULL) {
        return (a->kind != CELL_NULL) - (b->kind != CELL_NULL);
    }
    if (a->kind == CELL_TEXT || b->kind == CELL_TEXT) {
        return a->kind == b->kind ? str_cmp(a->text, b->text)
                                  : (a->kind == CELL_TEXT) - (b->kind == CELL_TEXT);
    }
    return (a->number > b->number) - (a->number < b->number);
}

/* Stable, by one key: the keys are applied from the last to the first. Tables are short. */
static void sort_by(const struct table *t, uint32_t *order, uint32_t *scratch, size_t column, bool descending)
{
    for (uint32_t width = 1; width < t->n_rows; width *= 2) {
        for (uint32_t from = 0; from < t->n_rows; from += 2 * width) {
            uint32_t mid = from + width < t->n_rows ? from + width : t->n_rows;
            uint32_t end = from + 2 * width < t->n_rows ? from + 2 * width : t->n_rows;
            uint32_t i = from, k = mid;
            for (uint32_t at = from; at < end; at++) {
                int c = 0;
                if (i < mid && k < end) {
                    c = cell_cmp(&t->cells[(size_t)order[i] * t->n_columns + column],
                                 &t->cells[(size_t)order[k] * t->n_columns + column]);
                    c = descending ? -c : c;
                }
                scratch[at] = k >= end || (i < mid && c <= 0) ? order[i++] : order[k++];
            }
        }
        memcpy(order, scratch, t->n_rows * sizeof(*order));
    }
}

/* The column that a key ("name", "name:desc") sorts by. */
static enum err sort_column(struct table *t, struct str key, size_t *column, bool *descending)
{
    *descending = str_ends(key, STR(":desc"));
    key = *descending                  ? str_slice(key, 0, key.n - 5)
          : str_ends(key, STR(":asc")) ? str_slice(key, 0, key.n - 4)
                                       : key;
    *column = find_column(t, key);
    return *column != SIZE_MAX ? ERR_OK
                               : err_set(&t->r->em, ERR_UNSUPPORTED,
                                         "Unable to sort by unknown sort key `%.*s`", STR_ARG(key));
}

static enum err sort_rows(struct table *t, uint32_t *order)
{
    struct rest *r = t->r;
    const struct str *keys;
    uint32_t n;
    size_t column;
    bool descending;
    uint32_t *scratch = ARENA_ARRAY(r->arena, uint32_t, t->n_rows);
    enum err e = scratch != NULL ? rest_list(r, "s", &keys, &n) : err_no_memory(&r->em);
    while (e == ERR_OK && n > 0 && keys[n - 1].n == 0) { /* nothing behind the last comma */
        n--;
    }
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = sort_column(t, keys[i], &column, &descending);
    }
    for (uint32_t i = e == ERR_OK ? n : 0; i-- > 0;) { /* the first key counts most: it is sorted by last */
        (void)sort_column(t, keys[i], &column, &descending);
        sort_by(t, order, scratch, column, descending);
    }
    return e;
}

/* ---- printing ------------------------------------------------------------------------------------------ */

/* Code points: what a column's width counts. */
static size_t width_of(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    }
    return n;
}

static void spaces(struct buf *b, size_t n)
{
    while (n-- > 0) {
        buf_char(b, ' ');
    }
}

static void pad(struct buf *b, struct str s, size_t width, bool right, bool last)
{
    size_t gap = width > width_of(s) ? width - width_of(s) : 0;
    if (right) {
        spaces(b, gap);
    }
    buf_str(b, s);
    if (!right && !last) { /* nothing follows the last column */
        spaces(b, gap);
    }
}

struct grid { /* the chosen cells as text, by row */
    const struct selected_column *shown;
    size_t n_shown, n_rows;
    struct str *texts;
    size_t *widths; /* of the texts, by column */
};

static void print_text(struct table *t, const struct grid *g, bool header, struct buf *b)
{
    for (size_t row = header ? 0 : 1; row <= g->n_rows; row++) {
        for (size_t c = 0; c < g->n_shown; c++) {
            size_t width = header ? width_of(g->shown[c].title) : 0;
            width = g->widths[c] > width ? g->widths[c] : width;
            struct str s = row == 0 ? g->shown[c].title : g->texts[(row - 1) * g->n_shown + c];
            if (c > 0) {
                buf_char(b, ' ');
            }
            pad(b, s, width, t->columns[g->shown[c].column].right, c + 1 == g->n_shown);
        }
        buf_char(b, '\n');
    }
}

static void print_json(const struct grid *g, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, false);
    jw_arr(&w);
    for (size_t row = 0; row < g->n_rows; row++) {
        jw_obj(&w);
        for (size_t c = 0; c < g->n_shown; c++) {
            struct str s = g->texts[row * g->n_shown + c];
            jw_key(&w, g->shown[c].title);
            if (s.p == NULL) {
                jw_null(&w);
            } else {
                jw_str(&w, s);
            }
        }
        jw_obj_end(&w);
    }
    jw_arr_end(&w);
}

static bool wants_text(struct rest *r)
{
    static const char *const trees[] = {
        "json", "yaml", "application/json", "application/yaml", "application/vnd.elasticsearch+json",
    };
    const struct str *accept = http_header_find(r->http->headers, r->http->headers_n, "accept");
    struct str rest, format = rest_param(r, "format");
    format = format.p != NULL ? format : accept != NULL ? *accept : STR("");
    struct str media = str_trim(str_cut(format, ';', &rest));
    for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
        if (str_eq_nocase(media, str_of(trees[i]))) {
            return false;
        }
    }
    return !str_starts(media, STR("application/*"));
}

static enum err make_grid(struct table *t, struct grid *g)
{
    struct rest *r = t->r;
    struct selected_column *shown = NULL;
    uint32_t *order = ARENA_ARRAY(r->arena, uint32_t, t->n_rows);
    if (t->failed || order == NULL) {
        return err_no_memory(&r->em);
    }
    for (uint32_t i = 0; i < t->n_rows; i++) {
        order[i] = i;
    }
    enum err e = choose_columns(t, &shown, &g->n_shown);
    e = e == ERR_OK ? sort_rows(t, order) : e;
    g->shown = shown;
    g->n_rows = t->n_rows;
    g->texts = e == ERR_OK ? ARENA_ARRAY(r->arena, struct str, g->n_rows * g->n_shown) : NULL;
    g->widths = ARENA_ARRAY(r->arena, size_t, g->n_shown);
    if (e != ERR_OK || g->texts == NULL || g->widths == NULL) {
        return e != ERR_OK ? e : err_no_memory(&r->em);
    }
    for (size_t i = 0; i < g->n_rows; i++) {
        for (size_t c = 0; c < g->n_shown; c++) {
            struct str text = cell_text(t, &t->cells[(size_t)order[i] * t->n_columns + shown[c].column]);
            size_t width = width_of(text);
            g->texts[i * g->n_shown + c] = text;
            g->widths[c] = width > g->widths[c] ? width : g->widths[c];
        }
    }
    return ERR_OK;
}

void table_send(struct table *t)
{
    struct rest *r = t->r;
    struct grid g = {0};
    bool header;
    struct buf b;
    if (rest_bool(r, "v", false, &header) != ERR_OK || make_grid(t, &g) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (wants_text(r)) {
        print_text(t, &g, header, &b);
        rest_send_text(r, 200, "text/plain; charset=UTF-8", &b);
    } else {
        print_json(&g, &b);
        rest_send(r, 200, &b);
    }
}

bool table_help(struct rest *r, const struct table_column *columns, uint32_t n_columns)
{
    static const char *const known[] = {"h", "v", "s", "bytes", "time", "size", "ts", "pri"};
    size_t width[3] = {0, 0, 0};
    bool help;
    struct buf b;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        rest_accept(r, known[i]);
    }
    if (rest_bool(r, "help", false, &help) != ERR_OK) {
        rest_fail(r, NULL);
        return true;
    }
    if (!help) {
        return false;
    }
    if (!rest_ready_pathless(r)) {
        return true;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n_columns; i++) {
            const struct table_column *c = &columns[i];
            struct str texts[3] = {str_of(c->name), str_of(c->aliases != NULL ? c->aliases : ""),
                                   str_of(c->about)};
            for (size_t k = 0; k < 3; k++) {
                if (pass == 0) {
                    width[k] = texts[k].n > width[k] ? texts[k].n : width[k];
                    continue;
                }
                buf_z(&b, k > 0 ? " | " : "");
                pad(&b, texts[k], width[k], false, false);
            }
            if (pass == 1) {
                buf_char(&b, '\n');
            }
        }
    }
    rest_send_text(r, 200, "text/plain; charset=UTF-8", &b);
    return true;
}
