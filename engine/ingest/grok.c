/* The processor grok (grok.h). */
#include "engine/ingest/grok.h"

#include "common/base/num.h"
#include "engine/ingest/processor_list.h"
#include "engine/ingest/text.h"

/* ---- patterns by name ------------------------------------------------------------------------------------ */

struct grok_reader {
    struct config *c;
    const struct json *definitions;
    struct buf out; /* with named groups */
    struct str stack[GROK_DEPTH_MAX];
    uint32_t depth;
};

static enum err find_pattern(struct grok_reader *g, struct str name, struct str *out)
{
    const struct json *own = g->definitions != NULL ? json_get_str(g->definitions, name) : NULL;
    if (own != NULL && own->type != JSON_STRING) {
        const char *class = ingest_class(own);
        return err_set(
            g->c->em, ERR_CLASS_CAST,
            "class %s cannot be cast to class java.lang.String (%s and java.lang.String are in module "
            "java.base of loader 'bootstrap')",
            class, class);
    }
    if (own != NULL) {
        *out = own->s;
        return ERR_OK;
    }
    for (size_t i = 0; i < grok_patterns_n; i++) {
        if (str_is(name, grok_patterns[i].name)) {
            *out = str_of(grok_patterns[i].text);
            return ERR_OK;
        }
    }
    return err_set(g->c->em, ERR_ILLEGAL_ARGUMENT,
                   "Unable to find pattern [%.*s] in Grok's pattern dictionary", STR_ARG(name));
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'z');
}

static bool is_subname(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
           || strchr("@-_:.[]", c) != NULL;
}

/* "%{NAME}", "%{NAME:sub}" or "%{NAME:sub:type}" at `at`; its end in *end. What looks otherwise is text. */
static bool read_reference(struct str s, size_t at, struct str *name, struct str *sub, size_t *end)
{
    size_t i = at + 2;
    if (!str_starts(str_slice(s, at, s.n), STR("%{"))) {
        return false;
    }
    while (i < s.n && is_word(s.p[i])) {
        i++;
    }
    *name = str_slice(s, at + 2, i);
    *sub = STR_NULL;
    if (i < s.n && s.p[i] == ':') {
        size_t from = ++i;
        while (i < s.n && is_subname(s.p[i])) {
            i++;
        }
        *sub = str_slice(s, from, i);
        if (sub->n == 0) {
            return false;
        }
    }
    *end = i + 1;
    return name->n > 0 && i < s.n && s.p[i] == '}';
}

static enum err check_circle(struct grok_reader *g, struct str name, struct str text)
{
    for (uint32_t i = 0; i < g->depth; i++) {
        if (str_eq(g->stack[i], name)) {
            struct str last = g->stack[g->depth - 1];
            return i + 1 == g->depth
                       ? err_set(g->c->em, ERR_ILLEGAL_ARGUMENT, "circular reference in pattern [%.*s][%.*s]",
                                 STR_ARG(name), STR_ARG(text))
                       : err_set(g->c->em, ERR_ILLEGAL_ARGUMENT,
                                 "circular reference in pattern [%.*s][%.*s] back to pattern [%.*s]",
                                 STR_ARG(last), STR_ARG(text), STR_ARG(name));
        }
    }
    return g->depth < GROK_DEPTH_MAX
               ? ERR_OK
               : err_set(g->c->em, ERR_ILLEGAL_ARGUMENT, "patterns refer to each other more than [%d] deep",
                         GROK_DEPTH_MAX);
}

static enum err expand(struct grok_reader *g, struct str s);

static enum err expand_reference(struct grok_reader *g, struct str name, struct str sub, struct str whole)
{
    struct str text;
    enum err e = check_circle(g, name, whole);
    e = e == ERR_OK ? find_pattern(g, name, &text) : e;
    if (e != ERR_OK) {
        return e;
    }
    g->stack[g->depth++] = name;
    if (sub.p != NULL) {
        buf_printf(&g->out, "(?<%.*s:%.*s>", STR_ARG(name), STR_ARG(sub));
    } else {
        buf_z(&g->out, "(?:");
    }
    e = expand(g, text);
    buf_char(&g->out, ')');
    g->depth--;
    return e;
}

static enum err expand(struct grok_reader *g, struct str s)
{
    enum err e = ERR_OK;
    for (size_t at = 0; e == ERR_OK && at < s.n;) {
        struct str name, sub;
        size_t end;
        if (s.p[at] == '\\' && at + 1 < s.n) { /* \h is a hexadecimal digit here */
            if (s.p[at + 1] == 'h') {
                buf_z(&g->out, "[0-9A-Fa-f]");
            } else {
                buf_str(&g->out, str_slice(s, at, at + 2));
            }
            at += 2;
        } else if (read_reference(s, at, &name, &sub, &end)) {
            e = expand_reference(g, name, sub, s);
            at = end;
        } else {
            buf_char(&g->out, s.p[at++]);
        }
        if (g->out.failed) {
            return err_set(g->c->em, ERR_ILLEGAL_ARGUMENT, "the expression grows beyond [%zu] bytes",
                           GROK_BYTES_MAX);
        }
    }
    return e;
}

/* Definitions that nobody uses must refer to what is there, too, and not to themselves. Where they grow beyond what is read, their use tells. */
static enum err check_definitions(struct grok_reader *g)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && g->definitions != NULL && i < g->definitions->n; i++) {
        e = expand_reference(g, g->definitions->members[i].key, STR_NULL, STR(""));
    }
    if (e != ERR_OK && g->out.failed) {
        err_clear(g->c->em);
        e = ERR_OK;
    }
    g->depth = 0;
    buf_fini(&g->out);
    buf_init(&g->out, NULL, GROK_BYTES_MAX);
    return e;
}

/* ---- captures ------------------------------------------------------------------------------------------ */

static enum grok_type type_of(struct str name)
{
    static const struct {
        const char *name;
        enum grok_type type;
    } types[] = {{"int", GROK_INTEGER}, {"integer", GROK_INTEGER}, {"long", GROK_LONG},
                 {"float", GROK_FLOAT}, {"double", GROK_DOUBLE},   {"boolean", GROK_BOOLEAN}};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_is(name, types[i].name)) {
            return types[i].type;
        }
    }
    return GROK_STRING;
}

/* A capture is named "x", "PATTERN:x" or "PATTERN:x:type". */
static enum err add_capture(struct grok *out, size_t *cap, struct str name, int32_t group, struct arena *a,
                            struct errmsg *em)
{
    struct str type = STR_NULL;
    struct grok_capture *grown = arena_grow(a, out->captures, out->n, cap, sizeof(*grown));
    if (grown == NULL) {
        return err_no_memory(em);
    }
    out->captures = grown;
    size_t colon = str_find(name, ':', 0);
    if (colon != SIZE_MAX) {
        name = str_slice(name, colon + 1, name.n);
        colon = str_find(name, ':', 0);
        type = colon != SIZE_MAX ? str_slice(name, colon + 1, name.n) : STR_NULL;
        name = str_slice(name, 0, MIN_OF(colon, name.n));
    }
    name = arena_str(a, name);
    grown[out->n++] = (struct grok_capture){name, type_of(type), group};
    return name.p != NULL ? ERR_OK : err_no_memory(em);
}

/* The end of what "{" at `at` begins, if that is a number of times; else it is a brace. */
static size_t interval_end(struct str s, size_t at)
{
    size_t i = at + 1, digits = 0;
    while (i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == ',')) {
        digits += s.p[i] != ',';
        i++;
    }
    return at > 0 && digits > 0 && i < s.n && s.p[i] == '}' ? i + 1 : SIZE_MAX;
}

/* Has it named groups? Then the others capture nothing. */
static bool has_names(struct str s)
{
    for (size_t at = 0; at + 3 < s.n; at++) {
        at += s.p[at] == '\\';
        if (str_starts(str_slice(s, at, s.n), STR("(?<")) && at + 3 < s.n && s.p[at + 3] != '='
            && s.p[at + 3] != '!') {
            return true;
        }
    }
    return false;
}

/* "\\k<name>" at `at` becomes the group's number. false: it is none, or there is no such group. */
static bool put_reference(struct str s, size_t *at, const struct grok *g, struct buf *b)
{
    size_t close = str_starts(str_slice(s, *at, s.n), STR("\\k<")) ? str_find(s, '>', *at) : SIZE_MAX;
    for (uint32_t i = 0; close != SIZE_MAX && i < g->n; i++) {
        if (str_eq(g->captures[i].name, str_slice(s, *at + 3, close))) {
            buf_printf(b, "\\%d(?:)", (int)g->captures[i].group);
            *at = close;
            return true;
        }
    }
    return false;
}

/* Named groups become groups that are counted; others capture nothing, as there are named ones. */
static enum err count_captures(struct str s, struct buf *b, struct grok *out, struct arena *a,
                               struct errmsg *em)
{
    bool in_class = false, named = has_names(s);
    size_t cap = 0;
    int32_t groups = 0;
    enum err e = ERR_OK;
    for (size_t at = 0; e == ERR_OK && at < s.n; at++) {
        char c = s.p[at], next = at + 1 < s.n ? s.p[at + 1] : '\0';
        if (c == '\\' && put_reference(s, &at, out, b)) {
            continue;
        }
        if (c == '\\' && next != '\0') {
            buf_str(b, str_slice(s, at, at + 2));
            at++;
            continue;
        }
        bool look = at + 3 < s.n && (s.p[at + 3] == '=' || s.p[at + 3] == '!');
        size_t close = !in_class && c == '(' && str_starts(str_slice(s, at, s.n), STR("(?<")) && !look
                           ? str_find(s, '>', at)
                           : SIZE_MAX;
        if (close != SIZE_MAX) {
            e = add_capture(out, &cap, str_slice(s, at + 3, close), ++groups, a, em);
            buf_char(b, '(');
            at = close;
        } else if (named && !in_class && c == '(' && next != '?') {
            buf_z(b, "(?:");
        } else if (!in_class && (c == '{' || c == '}')) {
            size_t end = c == '{' ? interval_end(s, at) : SIZE_MAX;
            if (end != SIZE_MAX) { /* "{,n}" counts from none */
                buf_z(b, next == ',' ? "{0" : "{");
                buf_str(b, str_slice(s, at + 1, end));
                at = end - 1;
            } else {
                buf_char(b, '\\');
                buf_char(b, c);
            }
        } else {
            in_class = in_class ? c != ']' : c == '[';
            buf_char(b, c);
            if (c == '[' && next == ']') { /* "[]a]" */
                buf_char(b, next);
                at++;
            }
        }
    }
    return e == ERR_OK && b->failed ? err_no_memory(em) : e;
}

/* What Joni says of a pattern, where the regular expressions say it otherwise. */
static void say_as_joni(struct str pattern, struct errmsg *em)
{
    static const struct {
        const char *said, *says;
    } words[] = {{"U_REGEX_MISSING_CLOSE_BRACKET", "premature end of char-class"},
                 {"U_REGEX_MAX_LT_MIN", "upper is smaller than lower in repeat range"},
                 {"U_REGEX_INVALID_RANGE", "empty range in char class"},
                 {"U_REGEX_BAD_ESCAPE_SEQUENCE", "end pattern at escape"}};
    struct str said = str_of(err_reason(em));
    if (str_find_str(said, STR("U_REGEX_MISMATCHED_PAREN")) != SIZE_MAX) {
        size_t open = 0, closed = 0;
        for (size_t i = 0; i < pattern.n; i++) {
            open += pattern.p[i] == '(';
            closed += pattern.p[i] == ')';
        }
        err_set(em, ERR_PATTERN_SYNTAX,
                open >= closed ? "end pattern with unmatched parenthesis" : "unmatched close parenthesis");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_find_str(said, str_of(words[i].said)) != SIZE_MAX) {
            err_set(em, ERR_PATTERN_SYNTAX, "%s", words[i].says);
            return;
        }
    }
}

static enum err grok_compile(struct grok_reader *g, struct grok *out)
{
    struct buf b;
    struct regex *r;
    buf_init(&b, NULL, 2 * GROK_BYTES_MAX);
    *out = (struct grok){0};
    enum err e = count_captures(buf_view(&g->out), &b, out, g->c->arena, g->c->em);
    if (e == ERR_OK) {
        e = regex_new(&r, buf_view(&b), REGEX_MULTILINE, g->c->em);
        if (e == ERR_PATTERN_SYNTAX) {
            say_as_joni(buf_view(&b), g->c->em);
        }
        e = e == ERR_OK ? config_keep_regex(g->c, r) : e;
        out->regex = e == ERR_OK ? r : NULL;
    }
    buf_fini(&b);
    return e;
}

static enum err refuse_patterns(struct config *c, const struct str *patterns, uint32_t n)
{
    struct buf names;
    struct str why = arena_str(c->arena, str_of(err_reason(c->em)));
    if (err_code(c->em) == ERR_NO_MEMORY || why.p == NULL) {
        return err_no_memory(c->em);
    }
    buf_init(&names, NULL, 64 * KIB);
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARG(patterns[i]));
    }
    enum err e = config_fail(c, "patterns", "Invalid regex pattern found in: [%.*s]. %.*s",
                             STR_ARG(buf_view(&names)), STR_ARG(why));
    buf_fini(&names);
    return e;
}

enum err grok_read(struct config *c, const struct str *patterns, uint32_t n, const struct json *definitions,
                   bool trace, struct grok *out)
{
    struct grok_reader *g = ARENA_NEW(c->arena, struct grok_reader);
    enum err e = g != NULL ? ERR_OK : err_no_memory(c->em);
    if (e != ERR_OK) {
        return e;
    }
    *g = (struct grok_reader){.c = c, .definitions = definitions};
    buf_init(&g->out, NULL, GROK_BYTES_MAX);
    e = check_definitions(g);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        if (n > 1) {
            buf_z(&g->out, i > 0 ? "|" : "");
            if (trace) {
                buf_printf(&g->out, "(?<_ingest._grok_match_index.%u>", i);
            } else {
                buf_z(&g->out, "(?:");
            }
        }
        e = expand(g, patterns[i]);
        buf_z(&g->out, n > 1 ? ")" : "");
    }
    e = e == ERR_OK ? grok_compile(g, out) : e;
    buf_fini(&g->out);
    return e == ERR_OK ? e : refuse_patterns(c, patterns, n);
}

/* ---- the processor ------------------------------------------------------------------------------------- */

struct grok_own {
    struct str field;
    struct grok grok;
    bool trace, ignore_missing;
    uint32_t n;
};

static enum err read_grok(struct config *c, void *own)
{
    struct grok_own *o = own;
    const struct json *list, *definitions;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_list(c, "patterns", true, &list) : e;
    e = e == ERR_OK ? config_bool(c, "trace_match", false, &o->trace) : e;
    e = e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
    if (e == ERR_OK && list->n == 0) {
        return config_fail(c, "patterns", "List of patterns must not be empty");
    }
    e = e == ERR_OK ? config_map(c, "pattern_definitions", false, &definitions) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct str *patterns = ARENA_ARRAY(c->arena, struct str, list->n);
    bool texts = true;
    for (uint32_t i = 0; patterns != NULL && i < list->n; i++) {
        patterns[i] = ingest_text(&list->items[i], c->arena);
        texts = texts && list->items[i].type == JSON_STRING;
        if (!texts) {
            const char *class = ingest_class(&list->items[i]);
            err_set(c->em, ERR_CLASS_CAST,
                    "class %s cannot be cast to class java.lang.String (%s and java.lang.String are in "
                    "module java.base "
                    "of loader 'bootstrap')",
                    class, class);
            return refuse_patterns(c, patterns, i + 1);
        }
    }
    o->n = list->n;
    return patterns != NULL ? grok_read(c, patterns, list->n, definitions, o->trace, &o->grok)
                            : err_no_memory(c->em);
}

static enum err capture_value(enum grok_type type, struct str s, struct ingest_doc *d, struct json *out,
                              struct errmsg *em)
{
    int64_t whole;
    int32_t small;
    double fraction;
    float single;
    switch (type) {
    case GROK_STRING:
        *out = json_mk_str(s);
        return ERR_OK;
    case GROK_BOOLEAN:
        *out = json_mk_bool(str_eq_nocase(s, STR("true")));
        return ERR_OK;
    case GROK_INTEGER:
        if (num_parse_i32(s, &small)) {
            *out = ingest_i64(small, d->arena);
            return ERR_OK;
        }
        break;
    case GROK_LONG:
        if (num_parse_i64(s, &whole)) {
            *out = ingest_i64(whole, d->arena);
            return ERR_OK;
        }
        break;
    case GROK_FLOAT:
        if (num_parse_float(s, &single)) {
            *out = ingest_double((double)single, true, d->arena);
            return ERR_OK;
        }
        break;
    case GROK_DOUBLE:
        if (num_parse_double(s, &fraction)) {
            *out = ingest_double(fraction, false, d->arena);
            return ERR_OK;
        }
        break;
    }
    return err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(s));
}

/* Is it one of a name that an earlier group has given a value? */
static bool is_second(const struct grok *g, uint32_t i, const struct matcher *m)
{
    size_t start, end;
    for (uint32_t k = 0; k < i; k++) {
        if (str_eq(g->captures[k].name, g->captures[i].name)
            && matcher_group(m, g->captures[k].group, &start, &end)) {
            return true;
        }
    }
    return false;
}

static enum err put_captures(const struct grok_own *o, const struct matcher *m, struct str text,
                             struct ingest_doc *d, struct errmsg *em)
{
    static const struct str trace = {"_ingest._grok_match_index.", 26};
    const struct grok *g = &o->grok;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < g->n; i++) {
        size_t start, end;
        struct json v;
        struct str name = g->captures[i].name;
        if (!matcher_group(m, g->captures[i].group, &start, &end) || is_second(g, i, m)) {
            continue;
        }
        e = capture_value(g->captures[i].type, str_slice(text, start, end), d, &v, em);
        if (o->trace && str_starts(name, trace)) {
            v = json_mk_str(str_slice(name, trace.n, name.n));
            name = str_slice(name, 0, trace.n - 1);
        }
        e = e == ERR_OK ? ingest_put(d, name, &v, em) : e;
    }
    if (e == ERR_OK && o->trace && o->n == 1) {
        const struct json first = json_mk_str(STR("0"));
        e = ingest_put(d, STR("_ingest._grok_match_index"), &first, em);
    }
    return e;
}

static enum err run_grok(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct grok_own *o = own;
    struct json *v;
    struct matcher *m;
    bool found;
    enum err e = ingest_get_as(d, o->field, JSON_STRING, o->ignore_missing, &v, em);
    if (e != ERR_OK || (v == NULL && o->ignore_missing)) {
        return e;
    }
    if (v == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot process it.",
                       STR_ARG(o->field));
    }
    struct str text = v->s;
    e = matcher_new(&m, o->grok.regex, text, em);
    if (e != ERR_OK) {
        return e;
    }
    matcher_limit(m, GROK_TIME);
    e = matcher_find(m, &found, em);
    if (e == ERR_OK && !found) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Provided Grok expressions do not match field value: [%.*s]",
                    STR_ARG(text));
    }
    e = e == ERR_OK ? put_captures(o, m, text, d, em) : e;
    matcher_free(m);
    return e;
}

const struct processor_row processor_grok = {"grok", sizeof(struct grok_own), read_grok, run_grok};
