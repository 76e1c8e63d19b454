/* Lucene expressions: JavaScript's arithmetic over doc values, all in doubles. The tree is rewritten to one of
 * painless: bare names are parameters, doc['f'].value is zero where a document has none, comparisons give 1
 * and 0, bits are those of whole numbers. */
#include "engine/script/expression.h"
#include "engine/script/operators.h"

#include <ctype.h>

struct rewriter {
    struct arena *a;
    struct errmsg *em;
    struct str source;
    enum script_context context;
    struct program *program;
};

static struct node *mk(struct rewriter *r, enum node_kind kind, const struct node *like, uint32_t n)
{
    struct node *node = ARENA_NEW(r->a, struct node);
    struct node **kids = ARENA_ARRAY(r->a, struct node *, n + 1);
    if (node == NULL || kids == NULL) {
        return NULL;
    }
    node->kind = kind;
    node->off = like->off;
    node->kids = kids;
    node->n = n;
    return node;
}

static struct node *number(struct rewriter *r, const struct node *like, double v)
{
    struct node *n = mk(r, N_CONST, like, 0);
    if (n != NULL) {
        n->value = sv_double(v);
    }
    return n;
}

/* condition ? 1.0 : 0.0, in place of n. */
static enum err as_number(struct rewriter *r, struct node **n)
{
    struct node *t = mk(r, N_TERNARY, *n, 3);
    if (t == NULL) {
        return err_no_memory(r->em);
    }
    t->kids[0] = *n;
    t->kids[1] = number(r, *n, 1);
    t->kids[2] = number(r, *n, 0);
    *n = t;
    return t->kids[1] != NULL && t->kids[2] != NULL ? ERR_OK : err_no_memory(r->em);
}

/* n != 0, in place of n. */
static enum err as_condition(struct rewriter *r, struct node **n)
{
    struct node *b = mk(r, N_BINARY, *n, 2);
    if (b == NULL) {
        return err_no_memory(r->em);
    }
    b->op = OP_NE;
    b->kids[0] = *n;
    b->kids[1] = number(r, *n, 0);
    *n = b;
    return b->kids[1] != NULL ? ERR_OK : err_no_memory(r->em);
}

static enum err rewrite(struct rewriter *r, struct node **at);

static enum err rewrite_kids(struct rewriter *r, struct node *n, uint32_t from)
{
    enum err e = ERR_OK;
    for (uint32_t i = from; i < n->n && e == ERR_OK; i++) {
        e = rewrite(r, &n->kids[i]);
    }
    return e;
}

/* n as a value of a type, in place of n. */
static enum err as_type(struct rewriter *r, struct node **n, enum type_id id)
{
    struct node *cast = mk(r, N_CAST, *n, 1);
    if (cast == NULL) {
        return err_no_memory(r->em);
    }
    cast->type.id = id;
    cast->kids[0] = *n;
    *n = cast;
    return ERR_OK;
}

/* ---- variables ---- */

static struct str text_of_index(struct str inner)
{
    return str_slice(inner, 1, inner.n - 1);
}

static uint32_t expression_pieces(struct str v, struct piece out[PIECES_MAX])
{
    uint32_t n = 0;
    for (size_t i = 0; i < v.n && n < PIECES_MAX; n++) {
        size_t from = i, end;
        if (v.p[i] == '[') {
            char quote = v.p[i + 1];
            bool text = quote == '\'' || quote == '"';
            for (end = i + 2; end < v.n && !(v.p[end] == ']' && (!text || v.p[end - 1] == quote)); end++) {
            }
            struct str inner = str_slice(v, from + 1, MIN_OF(end, v.n));
            out[n] = (struct piece){text ? PIECE_TEXT_INDEX : PIECE_INT_INDEX,
                                    text && inner.n >= 2 ? text_of_index(inner) : inner};
            i = end + 1;
        } else {
            from += v.p[i] == '.' ? 1 : 0;
            for (end = from; end < v.n && strchr(".[(", v.p[end]) == NULL; end++) {
            }
            bool method = end < v.n && v.p[end] == '(';
            out[n] = (struct piece){method ? PIECE_METHOD : PIECE_NAME, str_slice(v, from, end)};
            i = method ? v.n : end;
        }
    }
    return n;
}

static bool names_or_calls(const struct piece *p)
{
    return p->kind == PIECE_NAME || p->kind == PIECE_METHOD;
}

/* Has it the form of a field's value: doc['f'], doc['f'].x, doc['f'].x() or doc['f'].date.x? */
static bool is_of_field(const struct piece *p, uint32_t n)
{
    if (n < 2 || n > 4 || !str_is(p[0].text, "doc") || p[1].kind != PIECE_TEXT_INDEX) {
        return false;
    }
    if (n == 4) {
        return p[2].kind == PIECE_NAME && str_is(p[2].text, "date") && names_or_calls(&p[3]);
    }
    return n == 2 || names_or_calls(&p[2]);
}

/* The name of the method that answers for a member; p NULL: there is none. */
static struct str member_method(struct rewriter *r, const struct piece *p, uint32_t n)
{
    static const char *const plain[] = {"value", "empty", "length", "count", "sum",
                                        "avg",   "min",   "max",    "median"};
    struct str name = n == 2 ? STR("value") : p[n - 1].text;
    for (size_t i = 0; n < 4 && i < ARRAY_LEN(plain); i++) {
        if (str_is(name, plain[i])) {
            return arena_printf(r->a, "#%s", plain[i]);
        }
    }
    if (n == 3 && (str_is(name, "lat") || str_is(name, "lon"))) {
        return str_is(name, "lat") ? STR("getLat") : STR("getLon");
    }
    if (p[n - 1].kind == PIECE_METHOD) {
        return name;
    }
    return n == 4 && name.n > 0 ? arena_printf(r->a, "get%c%.*s", toupper((unsigned char)name.p[0]),
                                               (int)(name.n - 1), name.p + 1)
                                : (struct str){0};
}

/* doc['f'].value, doc['f'].min(), doc['f'].date.year, doc['f'].getYear(), in place of a variable. */
static enum err doc_member(struct rewriter *r, struct node **at, const struct piece *p, struct str method)
{
    struct node *like = *at, *call = mk(r, N_CALL, like, 1), *field = mk(r, N_INDEX, like, 2);
    struct node *doc = mk(r, N_NAME, like, 0), *name = mk(r, N_CONST, like, 0),
                *value = mk(r, N_MEMBER, like, 1);
    if (call == NULL || field == NULL || doc == NULL || name == NULL || value == NULL) {
        return err_no_memory(r->em);
    }
    doc->name = STR("doc");
    name->value = sv_str(p[1].text);
    field->kids[0] = doc;
    field->kids[1] = name;
    value->name = STR("value"); /* getYear() and the like are the date's */
    value->kids[0] = field;
    call->name = method;
    call->kids[0] =
        method.p[0] == '#' || str_is(method, "getLat") || str_is(method, "getLon") ? field : value;
    *at = call;
    return as_type(r, at, TYPE_DOUBLE);
}

/* A number of `params`, noted to be looked for when the script is bound to its parameters. */
static enum err parameter(struct rewriter *r, struct node **at, struct str text)
{
    struct node *n = *at, *member = mk(r, N_MEMBER, n, 1), *params = mk(r, N_NAME, n, 0);
    struct program *p = r->program;
    struct link *grown = arena_grow(r->a, p->links, p->links_n, &p->links_cap, sizeof(*p->links));
    if (member == NULL || params == NULL || grown == NULL) {
        return err_no_memory(r->em);
    }
    p->links = grown;
    p->links[p->links_n++] = (struct link){text, n->off};
    params->name = STR("params");
    member->name = text;
    member->kids[0] = params;
    *at = member;
    return as_type(r, at, TYPE_DOUBLE);
}

static bool is_of_buckets(enum script_context c)
{
    return c == SCRIPT_BUCKET || c == SCRIPT_BUCKET_SELECTOR;
}

static enum err variable(struct rewriter *r, struct node **at, struct str text)
{
    struct piece p[PIECES_MAX];
    uint32_t n = expression_pieces(text, p);
    enum script_context c = r->context;
    bool score = str_is(text, "_score"), value = str_is(text, "_value");
    if (is_of_buckets(c)) {
        return parameter(r, at, text);
    }
    if ((score && (c == SCRIPT_SCORE || c == SCRIPT_AGG)) || (value && c == SCRIPT_AGG)) {
        return as_type(r, at, TYPE_DOUBLE);
    }
    if ((score && (c == SCRIPT_FILTER || c == SCRIPT_NUMBER_SORT))
        || (value && (c == SCRIPT_SCORE || c == SCRIPT_FILTER))) { /* there, and never set */
        *at = number(r, *at, 0);
        return *at != NULL ? ERR_OK : err_no_memory(r->em);
    }
    struct str method = is_of_field(p, n) ? member_method(r, p, n) : (struct str){0};
    return method.p != NULL ? doc_member(r, at, p, method) : parameter(r, at, text);
}

/* What is wrong with a variable that is no parameter; *column says where in it. */
static enum err unbound(struct str text, uint32_t *column, struct errmsg *em)
{
    struct piece p[PIECES_MAX];
    uint32_t n = expression_pieces(text, p);
    *column = 0;
    struct str first = n > 0 ? p[0].text : text;
    if (!str_is(first, "doc")) {
        return err_set(em, ERR_QUERY_SYNTAX, "Unknown variable [%.*s]", STR_ARG(first));
    }
    if (n < 2 || p[1].kind != PIECE_TEXT_INDEX) {
        *column = 3;
        return err_set(em, ERR_QUERY_SYNTAX,
                       "Variable 'doc' must be used with a specific field like: doc['myfield']");
    }
    if (n == 3 && !names_or_calls(&p[2])) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "Only member variables or member methods may be accessed on a field when not accessing the "
            "field directly");
    }
    if (n > 3) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Variable [%.*s] does not follow an allowed format of either doc['field'] or "
                       "doc['field'].method()",
                       STR_ARG(text));
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Member variable [%.*s] does not exist for numeric field [%.*s].", STR_ARG(p[n - 1].text),
                   STR_ARG(p[1].text));
}

enum err expression_link(const struct script *s, const struct json *params, struct errmsg *em)
{
    for (uint32_t i = 0; i < s->links_n && !is_of_buckets(s->context); i++) {
        struct str text = s->links[i].text;
        const struct json *given = json_is(params, JSON_OBJECT) ? json_get(params, text.p) : NULL;
        uint32_t column = 0;
        enum err e =
            given == NULL ? unbound(text, &column, em)
            : json_is(given, JSON_NUMBER)
                ? ERR_OK
                : err_set(em, ERR_QUERY_SYNTAX, "Parameter [%.*s] must be a numeric type", STR_ARG(text));
        if (e != ERR_OK) {
            (void)err_wrap(em, ERR_SCRIPT, "link error");
            struct err_about *a = err_about_change(em);
            if (a != NULL) {
                a->script_start = s->links[i].off;
                a->script_end = s->links[i].off + (uint32_t)text.n;
                a->script_at = s->links[i].off + column;
            }
            return ERR_SCRIPT;
        }
    }
    return ERR_OK;
}

/* ---- calls and operators ---- */

static enum err wrong_call(struct rewriter *r, struct node *n, uint32_t want)
{
    script_error_at(r->em, n->off);
    if (want == 0) {
        return err_set(r->em, ERR_QUERY_SYNTAX,
                       "Invalid expression '%.*s': Unrecognized function call (%.*s).", STR_ARG(r->source),
                       STR_ARG(n->name));
    }
    return err_set(
        r->em, ERR_QUERY_SYNTAX,
        "Invalid expression '%.*s': Expected (%u) arguments for function call (%.*s), but found (%u).",
        STR_ARG(r->source), want, STR_ARG(n->name), n->n - 1);
}

static const struct {
    const char *name, *java; /* java NULL: one of the machine's own */
    uint32_t argc;
} calls[] = {{"abs", "abs", 1},     {"acos", "acos", 1},   {"acosh", NULL, 1},    {"asin", "asin", 1},
             {"asinh", NULL, 1},    {"atan", "atan", 1},   {"atan2", "atan2", 2}, {"atanh", NULL, 1},
             {"ceil", "ceil", 1},   {"cos", "cos", 1},     {"cosh", "cosh", 1},   {"exp", "exp", 1},
             {"floor", "floor", 1}, {"haversin", NULL, 4}, {"ln", "log", 1},      {"log10", "log10", 1},
             {"logn", NULL, 2},     {"max", "max", 2},     {"min", "min", 2},     {"pow", "pow", 2},
             {"sin", "sin", 1},     {"sinh", "sinh", 1},   {"sqrt", "sqrt", 1},   {"tan", "tan", 1},
             {"tanh", "tanh", 1}};

static enum err function(struct rewriter *r, struct node **at)
{
    struct node *n = *at, *math = mk(r, N_TYPE, n, 0);
    size_t i = 0;
    while (i < ARRAY_LEN(calls) && !str_is(n->name, calls[i].name)) {
        i++;
    }
    if (i == ARRAY_LEN(calls)) {
        struct str text = arena_printf(r->a, "%.*s()", STR_ARG(n->name));
        return n->n == 1 && memchr(n->name.p, '.', n->name.n) != NULL ? variable(r, at, text)
                                                                      : wrong_call(r, n, 0);
    }
    if (n->n != calls[i].argc + 1) {
        return wrong_call(r, n, calls[i].argc);
    }
    enum err e = rewrite_kids(r, n, 1);
    if (e != ERR_OK || math == NULL) {
        return e != ERR_OK ? e : err_no_memory(r->em);
    }
    if (calls[i].java != NULL) {
        math->type.id = TYPE_MATH;
        n->name = str_of(calls[i].java);
        n->kids[0] = math;
    }
    return ERR_OK;
}

/* An operator of bits: whole numbers, and a double of them. */
static enum err bits(struct rewriter *r, struct node **at)
{
    struct node *n = *at;
    enum err e = rewrite_kids(r, n, 0);
    bool shift = operators[n->op].form == FORM_SHIFT;
    for (uint32_t i = 0; i < n->n && e == ERR_OK; i++) {
        e = as_type(r, &n->kids[i], shift && i == 1 ? TYPE_INT : TYPE_LONG);
    }
    return e == ERR_OK ? as_type(r, at, TYPE_DOUBLE) : e;
}

static enum err logic(struct rewriter *r, struct node **at)
{
    struct node *n = *at;
    enum err e = rewrite_kids(r, n, 0);
    uint32_t conditions = n->kind == N_TERNARY ? 1 : n->n;
    for (uint32_t i = 0; i < conditions && e == ERR_OK; i++) {
        e = as_condition(r, &n->kids[i]);
    }
    return e == ERR_OK && n->kind != N_TERNARY ? as_number(r, at) : e;
}

static enum err rewrite(struct rewriter *r, struct node **at)
{
    struct node *n = *at;
    enum err e;
    if (n->kind == N_NAME) {
        return variable(r, at, n->name);
    }
    if (n->kind == N_CALL) {
        return function(r, at);
    }
    if (n->kind == N_AND || n->kind == N_OR || n->kind == N_TERNARY || n->op == OP_NOT) {
        return logic(r, at);
    }
    if (n->op == OP_BNOT || op_of_bits(n->op)) {
        return bits(r, at);
    }
    e = rewrite_kids(r, n, 0);
    return e == ERR_OK && op_compares(n->op) ? as_number(r, at) : e;
}

enum err script_parse_expression(struct program *out, struct str source, enum script_context context,
                                 struct arena *a, struct errmsg *em)
{
    struct node *root = NULL;
    memset(out, 0, sizeof(*out));
    struct rewriter r = {a, em, source, context, out};
    enum err e = expression_parse(&root, source, a, em);
    if (e != ERR_OK) {
        return e;
    }
    e = rewrite(&r, &root);
    struct node *statement = mk(&r, S_EXPR, root, 1);
    out->body = mk(&r, S_BLOCK, root, 1);
    if (e != ERR_OK || statement == NULL || out->body == NULL) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    statement->kids[0] = root;
    out->body->kids[0] = statement;
    return ERR_OK;
}
