#include "hotel/csv.h"

void csv_init(struct csv *c, struct str text)
{
    *c = (struct csv){.text = text, .next_line = 1};
    if (str_starts(text, STR("\xEF\xBB\xBF"))) {
        c->at = 3;
    }
}

static bool at_line_end(const struct csv *c)
{
    struct str t = c->text;
    return c->at >= t.n || t.p[c->at] == '\n'
           || (t.p[c->at] == '\r' && c->at + 1 < t.n && t.p[c->at + 1] == '\n');
}

static void skip_line_end(struct csv *c)
{
    if (c->at < c->text.n) {
        c->at += c->text.p[c->at] == '\r' ? 2 : 1;
        c->next_line++;
    }
}

/* "a""b" -> a"b */
static struct str undouble(struct str s, struct arena *arena)
{
    char *p = arena_alloc(arena, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; p != NULL && i < s.n; i++) {
        p[n++] = s.p[i];
        i += s.p[i] == '"' ? 1 : 0;
    }
    return str_mk(p, n);
}

static enum err quoted(struct csv *c, struct arena *arena, struct str *out, struct errmsg *em)
{
    struct str t = c->text;
    size_t from = ++c->at;
    bool doubled = false;
    for (;; c->at++) {
        if (c->at >= t.n) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "line %llu: a quote is not closed",
                           (unsigned long long)c->line);
        }
        if (t.p[c->at] == '\n') {
            c->next_line++;
        } else if (t.p[c->at] == '"') {
            if (c->at + 1 >= t.n || t.p[c->at + 1] != '"') {
                break;
            }
            doubled = true;
            c->at++;
        }
    }
    *out = str_slice(t, from, c->at++);
    if (doubled) {
        *out = undouble(*out, arena);
    }
    if (doubled && out->p == NULL) {
        return err_no_memory(em);
    }
    if (!at_line_end(c) && t.p[c->at] != ',') {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "line %llu: text behind a closing quote",
                       (unsigned long long)c->next_line);
    }
    return ERR_OK;
}

static enum err csv_plain(struct csv *c, struct str *out, struct errmsg *em)
{
    size_t from = c->at;
    while (!at_line_end(c) && c->text.p[c->at] != ',') {
        if (c->text.p[c->at] == '"') {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "line %llu: a quote inside a field that is not quoted",
                           (unsigned long long)c->line);
        }
        c->at++;
    }
    *out = str_slice(c->text, from, c->at);
    return ERR_OK;
}

enum err csv_row(struct csv *c, struct arena *arena, struct str v[CSV_FIELDS_MAX], size_t *n,
                 struct errmsg *em)
{
    *n = 0;
    while (c->at < c->text.n && at_line_end(c)) {
        skip_line_end(c);
    }
    c->line = c->next_line;
    if (c->at >= c->text.n) {
        return ERR_OK;
    }
    for (;;) {
        if (*n == CSV_FIELDS_MAX) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "line %llu: more than %d fields",
                           (unsigned long long)c->line, CSV_FIELDS_MAX);
        }
        bool quote = c->at < c->text.n && c->text.p[c->at] == '"';
        enum err e = quote ? quoted(c, arena, &v[*n], em) : csv_plain(c, &v[*n], em);
        if (e != ERR_OK) {
            return e;
        }
        (*n)++;
        if (at_line_end(c)) {
            skip_line_end(c);
            return ERR_OK;
        }
        c->at++; /* the comma */
    }
}
