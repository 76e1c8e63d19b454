/* A template's text into its tree, as mustache.java reads it: its rules for lines that hold nothing but tags included. */
#include "engine/template/nodes.h"

#include "common/base/arena_list.h"

struct tparser {
    struct str text;
    size_t at;
    struct str open, close; /* the delimiters */
    uint32_t line, depth;
    struct str
        missing; /* the first template that is named within: refused once all is read; p == NULL: none */
    struct arena *arena;
    struct errmsg *em;
};

/* A list of nodes that is being filled: the file as a whole, or a section. */
struct tlist {
    struct tnode *of;
    struct str tag;      /* of the section; p == NULL: the file */
    uint32_t first_line; /* 0: the file */
    struct buf pending;  /* text that is no node yet */
    bool blank;          /* nothing but blanks since the line, or the list, began */
    bool starts_line;    /* is that where a line began? */
    bool saw_return;
    bool after_section; /* one over several lines ended on this line */
};

static enum err mustache_error(const struct tparser *p, uint32_t line, const char *what)
{
    return err_set(p->em, ERR_MUSTACHE, "%s @[" TEMPLATE_NAME ":%u]", what, line);
}

/* Java's trim(): all that sorts up to a blank. */
static struct str java_trim(struct str s)
{
    size_t from = 0, to = s.n;
    while (from < to && (unsigned char)s.p[from] <= ' ') {
        from++;
    }
    while (to > from && (unsigned char)s.p[to - 1] <= ' ') {
        to--;
    }
    return str_slice(s, from, to);
}

static struct tnode *add_node(struct tparser *p, struct tlist *l, enum tnode_kind kind, struct str name)
{
    if (!ARENA_ROOM(p->arena, l->of->kids, l->of->n, l->of->cap)) {
        return NULL;
    }
    l->of->kids[l->of->n] = (struct tnode){.kind = kind, .name = name, .line = p->line};
    return &l->of->kids[l->of->n++];
}

/* The pending text becomes a node. */
static enum err flush_text(struct tparser *p, struct tlist *l)
{
    if (l->pending.failed) {
        return err_no_memory(p->em);
    }
    if (l->pending.n == 0) {
        return ERR_OK;
    }
    struct str text = arena_str(p->arena, buf_view(&l->pending));
    struct tnode *t = text.p != NULL ? add_node(p, l, T_TEXT, STR("")) : NULL;
    buf_reset(&l->pending);
    if (t == NULL) {
        return err_no_memory(p->em);
    }
    t->text = text;
    return ERR_OK;
}

/* Does the text go on with this delimiter? Of a longer one its first two bytes count. */
static bool at_delimiter(const struct tparser *p, struct str d)
{
    return p->at < p->text.n && p->text.p[p->at] == d.p[0]
           && (d.n == 1 || (p->at + 1 < p->text.n && p->text.p[p->at + 1] == d.p[1]));
}

/* What stands between the delimiters; *closed: there is an end. */
static enum err read_command(struct tparser *p, struct buf *b, bool *closed)
{
    bool delimiters = p->at < p->text.n && p->text.p[p->at] == '=';
    if (delimiters) {
        buf_char(b, p->text.p[p->at++]);
    }
    *closed = false;
    for (; p->at < p->text.n; p->at++) {
        if (delimiters && p->text.p[p->at] == '=') {
            delimiters = false;
            continue;
        }
        if (!delimiters && at_delimiter(p, p->close)) {
            p->at += MIN_OF(p->close.n, (size_t)2);
            *closed = true;
            break;
        }
        buf_char(b, p->text.p[p->at]);
    }
    return b->failed ? err_no_memory(p->em) : ERR_OK;
}

static enum err set_delimiters(struct tparser *p, struct str given)
{
    struct str rest = given, parts[3];
    size_t n = 0, i = 0;
    while (n < 3 && i < rest.n) {
        size_t from = i;
        while (i < rest.n && (unsigned char)rest.p[i] > ' ') {
            i++;
        }
        parts[n++] = str_slice(rest, from, i);
        while (i < rest.n && (unsigned char)rest.p[i] <= ' ') {
            i++;
        }
    }
    if (n != 2 || i < rest.n) {
        return err_set(p->em, ERR_MUSTACHE, "Invalid delimiter string: %.*s @[" TEMPLATE_NAME ":%u]",
                       STR_ARG(given), p->line);
    }
    p->open = arena_str(p->arena, parts[0]);
    p->close = arena_str(p->arena, parts[1]);
    return p->open.p != NULL && p->close.p != NULL ? ERR_OK : err_no_memory(p->em);
}

/* {{{name}}} */
static enum err raw_value(struct tparser *p, struct tlist *l, struct str name)
{
    if (p->close.n == 1) { /* as Java's charAt() has it */
        return err_set(p->em, ERR_STRING_BOUNDS, "String index out of range: 1");
    }
    if (p->close.p[1] != '}') {
        name = str_slice(name, 0, name.n > 0 ? name.n - 1 : 0);
    } else if (p->at >= p->text.n || p->text.p[p->at++] != '}') {
        return err_set(p->em, ERR_MUSTACHE,
                       "Improperly closed variable in " TEMPLATE_NAME ":%u @[" TEMPLATE_NAME ":%u]", p->line,
                       p->line);
    }
    return add_node(p, l, T_VALUE, name) != NULL ? ERR_OK : err_no_memory(p->em);
}

/* ---- functions ------------------------------------------------------------------------------------------ */

static bool same_word(struct str s, const char *word)
{
    return s.n == strlen(word) && str_eq_nocase(s, str_of(word));
}

/* join delimiter='x' */
static bool join_delimiter(struct str name, struct str *out)
{
    struct str before = STR("join delimiter='");
    bool is = name.n > before.n && str_starts(name, before) && name.p[name.n - 1] == '\'';
    *out = is ? str_slice(name, before.n, name.n - 1) : STR(",");
    return is && memchr(out->p, '\n', out->n) == NULL;
}

/* The one name that a function has: its text. */
static enum err function_name(struct tparser *p, struct tnode *t, const char *function)
{
    size_t parts = 0;
    for (size_t i = 0; i < t->n; i++) {
        parts += i == 0 || t->kids[i].kind != T_TEXT;
    }
    if (parts != 1) {
        return err_set(p->em, ERR_MUSTACHE, "Mustache function [%s] must contain one and only one identifier",
                       function);
    }
    t->name = STR_NULL;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (size_t i = 0; t->kids[0].kind == T_TEXT && i < t->n; i++) {
        buf_str(&b, t->kids[i].text);
    }
    if (b.n > 0) {
        t->name = arena_str(p->arena, buf_view(&b));
    }
    bool kept = !b.failed && (b.n == 0 || t->name.p != NULL);
    buf_fini(&b);
    return kept ? ERR_OK : err_no_memory(p->em);
}

static enum err name_section(struct tparser *p, struct tnode *t)
{
    struct str between;
    if (same_word(t->name, "toJson")) {
        t->kind = T_TO_JSON;
        return function_name(p, t, "toJson");
    }
    if (same_word(t->name, "join") || join_delimiter(t->name, &between)) {
        t->text = same_word(t->name, "join") ? STR(",") : between;
        t->kind = T_JOIN;
        return function_name(p, t, "join");
    }
    if (same_word(t->name, "url")) {
        t->kind = T_URL;
    }
    return ERR_OK;
}

/* ---- lists ---------------------------------------------------------------------------------------------- */

/* Another template's name: there is none here. */
static enum err note_missing(struct tparser *p, struct tlist *l, struct str name)
{
    p->missing = p->missing.p != NULL ? p->missing : name;
    return add_node(p, l, T_NOTE, name) != NULL ? ERR_OK : err_no_memory(p->em);
}

static enum err read_list(struct tparser *p, struct tlist *l);

static enum err read_section(struct tparser *p, struct tlist *l, char sign, struct str name)
{
    static const struct {
        char sign;
        enum tnode_kind kind;
    } kinds[] = {{'#', T_SECTION}, {'^', T_INVERTED}, {'$', T_BLOCK}};
    struct tnode section = {.name = name, .line = p->line};
    struct str open = p->open, close = p->close; /* what it changes ends with it */
    l->starts_line = l->starts_line && l->blank;
    struct tlist inner = {.of = &section,
                          .tag = name,
                          .first_line = p->line,
                          .blank = true,
                          .starts_line = l->starts_line,
                          .after_section = true};
    if (++p->depth >= SCOPES_MAX) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "sections are nested deeper than %d", SCOPES_MAX);
    }
    buf_init(&inner.pending, NULL, BUF_UNLIMITED);
    enum err e = read_list(p, &inner);
    buf_fini(&inner.pending);
    p->depth--;
    p->open = open;
    p->close = close;
    uint32_t lines = p->line - inner.first_line;
    if (e == ERR_OK && (!l->blank || lines == 0)) {
        e = flush_text(p, l);
    }
    buf_reset(&l->pending);
    l->after_section = lines != 0;
    if (e != ERR_OK || sign == '<') {
        return e != ERR_OK ? e : note_missing(p, l, name);
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        section.kind = kinds[i].sign == sign ? kinds[i].kind : section.kind;
    }
    e = sign == '#' ? name_section(p, &section) : ERR_OK;
    struct tnode *t = e == ERR_OK ? add_node(p, l, section.kind, name) : NULL;
    if (t == NULL) {
        return e != ERR_OK ? e : err_no_memory(p->em);
    }
    *t = section;
    return ERR_OK;
}

static enum err end_section(struct tparser *p, struct tlist *l, struct str name)
{
    enum err e = !l->starts_line || !l->blank ? flush_text(p, l) : ERR_OK;
    if (e == ERR_OK && (l->tag.p == NULL || !str_eq(name, l->tag))) {
        e = err_set(p->em, ERR_MUSTACHE,
                    "Mismatched start/end tags: %.*s != %.*s in " TEMPLATE_NAME ":%u @[" TEMPLATE_NAME ":%u]",
                    STR_ARG(l->tag.p != NULL ? l->tag : STR("null")), STR_ARG(name), p->line, p->line);
    }
    return e;
}

/* A tag that is no section. */
static enum err read_tag(struct tparser *p, struct tlist *l, struct str command, bool closed)
{
    struct str rest = java_trim(str_slice(command, 1, command.n));
    enum err e = ERR_OK;
    if (command.p[0] == '!') {
        e = add_node(p, l, T_NOTE, STR("")) != NULL ? ERR_OK : err_no_memory(p->em);
    }
    e = e == ERR_OK ? flush_text(p, l) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct tnode *t;
    switch (command.p[0]) {
    case '>':
        return note_missing(p, l, rest);
    case '{':
        return raw_value(p, l, rest);
    case '&':
        return add_node(p, l, T_VALUE, rest) != NULL ? ERR_OK : err_no_memory(p->em);
    case '%':
    case '!':
        return ERR_OK;
    case '=':
        return set_delimiters(p, rest);
    default:
        break;
    }
    t = add_node(p, l, T_VALUE, java_trim(command));
    if (t == NULL) {
        return err_no_memory(p->em);
    }
    t->flag = true;
    return closed ? ERR_OK : mustache_error(p, p->line, "Improperly closed variable");
}

/* *ended: it was the end of the section. */
static enum err read_mustache(struct tparser *p, struct tlist *l, bool *ended)
{
    struct buf b;
    bool closed;
    buf_init(&b, NULL, BUF_UNLIMITED);
    enum err e = read_command(p, &b, &closed);
    struct str command = e == ERR_OK ? arena_str(p->arena, buf_view(&b)) : STR_NULL;
    buf_fini(&b);
    if (command.p == NULL) {
        return err_no_memory(p->em);
    }
    if (command.n == 0) {
        return mustache_error(p, p->line, "Empty mustache");
    }
    struct str name = java_trim(str_slice(command, 1, command.n));
    switch (command.p[0]) {
    case '#':
    case '^':
    case '<':
    case '$':
        e = read_section(p, l, command.p[0], name);
        break;
    case '/':
        *ended = true;
        return end_section(p, l, name);
    default:
        e = read_tag(p, l, command, closed);
        break;
    }
    l->starts_line = false;
    return e;
}

static enum err end_line(struct tparser *p, struct tlist *l)
{
    p->line++;
    if (!l->after_section || !l->blank) {
        buf_z(&l->pending, l->saw_return ? "\r\n" : "\n");
    }
    enum err e = flush_text(p, l);
    buf_reset(&l->pending);
    l->after_section = false;
    l->blank = l->starts_line = true;
    return e;
}

static enum err read_list(struct tparser *p, struct tlist *l)
{
    enum err e = ERR_OK;
    bool ended = false;
    while (e == ERR_OK && !ended && p->at < p->text.n) {
        char c = p->text.p[p->at];
        if (c == '\r') {
            l->saw_return = true;
            p->at++;
        } else if (c == '\n') {
            p->at++;
            e = end_line(p, l);
        } else if (at_delimiter(p, p->open)) {
            l->saw_return = false;
            p->at += MIN_OF(p->open.n, (size_t)2);
            e = read_mustache(p, l, &ended);
        } else {
            l->saw_return = false;
            l->blank = l->blank && (c == ' ' || c == '\t');
            buf_char(&l->pending, c);
            p->at++;
        }
    }
    if (e != ERR_OK || ended) {
        return e;
    }
    if (l->tag.p != NULL) {
        return err_set(p->em, ERR_MUSTACHE, "Failed to close '%.*s' tag @[" TEMPLATE_NAME ":%u]",
                       STR_ARG(l->tag), l->first_line);
    }
    return flush_text(p, l);
}

enum err template_parse(struct tnode *root, struct str source, struct arena *arena, struct errmsg *em)
{
    struct tparser p = {
        .text = source, .open = STR("{{"), .close = STR("}}"), .line = 1, .arena = arena, .em = em};
    struct tlist l = {.of = root, .blank = true, .starts_line = true};
    buf_init(&l.pending, NULL, BUF_UNLIMITED);
    enum err e = read_list(&p, &l);
    buf_fini(&l.pending);
    return e != ERR_OK || p.missing.p == NULL
               ? e
               : err_set(em, ERR_MUSTACHE_NOT_FOUND, "Template %.*s not found", STR_ARG(p.missing));
}
