#include "engine/mapping/document.h"

#include "engine/mapping/document_int.h"
#include "engine/mapping/source_filter.h"

static enum err refuse_start(struct doc_parser *p)
{
    return err_set(
        p->em, ERR_NOT_X_CONTENT,
        "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes");
}

/* The token with which text begins, or NULL when it is none. */
static const char *token_at(struct str s)
{
    static const struct {
        const char *word, *token;
    } literals[] = {{"true", "VALUE_BOOLEAN"}, {"false", "VALUE_BOOLEAN"}, {"null", "VALUE_NULL"}};
    char c = s.n > 0 ? s.p[0] : 0;
    if (c == '{' || c == '[') {
        return c == '{' ? "START_OBJECT" : "START_ARRAY";
    }
    if (c == '"' || (c >= '0' && c <= '9')) {
        return c == '"' ? "VALUE_STRING" : "VALUE_NUMBER";
    }
    size_t n = 0;
    while (n < s.n
           && ((s.p[n] >= 'a' && s.p[n] <= 'z') || (s.p[n] >= 'A' && s.p[n] <= 'Z')
               || (s.p[n] >= '0' && s.p[n] <= '9'))) {
        n++;
    }
    for (size_t i = 0; i < ARRAY_LEN(literals); i++) {
        if (str_is(str_slice(s, 0, n), literals[i].word)) {
            return literals[i].token;
        }
    }
    return NULL;
}

/* What follows a complete document: a token that could begin another, or nothing that could. */
static enum err refuse_extra(struct doc_parser *p, size_t at)
{
    const char *token = token_at(str_slice(p->text, at, p->text.n));
    return token == NULL ? doc_broken(p)
                         : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                   "Malformed content, found extra data after parsing: %s", token);
}

static enum err parse_text(struct doc_parser *p, struct json *tree)
{
    struct str s = str_trim(p->text);
    if (str_starts(p->text, STR("\xEF\xBB\xBF"))) {
        p->text = str_slice(p->text, 3, p->text.n);
        s = str_trim(p->text);
    }
    if (s.n == 0 || s.p[0] != '{') {
        return p->text.n == 0 ? err_set(p->em, ERR_MAPPER_PARSING, "failed to parse, document is empty")
                              : refuse_start(p);
    }
    ERR_LOCAL(why);
    size_t extra;
    enum err e = json_parse_until(tree, &extra, p->text, p->arena, &json_limits_default, &why);
    bool enabled = mapping_root(p->m)->enabled;
    if (e == ERR_OK) {
        return enabled ? doc_parse_members(p, mapping_root(p->m), tree) : ERR_OK;
    }
    p->broken = &why;
    if (e != ERR_JSON && e != ERR_JSON_EOF) {
        return doc_broken(p);
    }
    e = tree->type == JSON_OBJECT && enabled ? doc_parse_members(p, mapping_root(p->m), tree) : ERR_OK;
    if (e == ERR_OK) {
        e = extra != SIZE_MAX ? refuse_extra(p, extra) : doc_broken(p);
    }
    p->broken = NULL;
    return e;
}

static enum err keep_source(struct doc_parser *p, struct parsed_doc *out, const struct json *tree)
{
    struct source_patterns patterns;
    out->source = p->in->source;
    if (!mapping_source_enabled(p->m)) {
        out->source = STR_NULL;
        return ERR_OK;
    }
    mapping_source_filter(p->m, &patterns.includes, &patterns.n_includes, &patterns.excludes,
                          &patterns.n_excludes);
    if (patterns.n_includes == 0 && patterns.n_excludes == 0) {
        return ERR_OK;
    }
    struct buf b;
    buf_init(&b, p->arena->alloc, BUF_UNLIMITED);
    struct jsonw w;
    jsonw_init(&w, &b, false);
    source_filter_write(tree, &patterns, &w);
    out->source = b.failed ? STR_NULL : arena_str(p->arena, buf_view(&b));
    buf_fini(&b);
    return out->source.p != NULL ? ERR_OK : err_no_memory(p->em);
}

static enum err document_finish(struct doc_parser *p, struct parsed_doc *out, const struct part_build *root)
{
    struct doc_part *parts = arena_grow(p->arena, p->parts, p->n_parts, &p->parts_cap, sizeof(*parts));
    if (p->join_twice != NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "DocValuesField \"%.*s\" appears more than once in this document (only one value is "
                       "allowed per field)",
                       STR_ARG(p->join_twice->path));
    }
    if (parts == NULL) {
        return err_no_memory(p->em);
    }
    parts[p->n_parts++] = (struct doc_part){root->v, root->n, NULL};
    out->parts = parts;
    out->n_parts = p->n_parts;
    out->ignored = p->ignored;
    out->n_ignored = p->n_ignored;
    enum err e = doc_mapping_update(p, &out->mapping_update);
    for (size_t i = 0; e == ERR_OK && p->has_contexts && out->mapping_update == NULL && i < out->n_parts;
         i++) {
        e = doc_completion_contexts(p, parts[i].values, parts[i].n);
    }
    return e;
}

enum err document_parse(struct parsed_doc *out, const struct mapping *m, const struct source_to_parse *in,
                        struct arena *arena, struct errmsg *em)
{
    struct part_build root = {0};
    struct doc_parser p = {.m = m, .in = in, .arena = arena, .em = em, .text = in->source, .part = &root};
    struct json tree;
    token_list_init(&p.tokens, arena);
    *out = (struct parsed_doc){.id = in->id, .routing = in->routing};
    enum err e = parse_text(&p, &tree);
    if (e != ERR_OK) {
        bool as_is = e == ERR_MAPPER_PARSING || e == ERR_STRICT_DYNAMIC || e == ERR_NO_MEMORY;
        return as_is ? e : err_wrap(em, ERR_MAPPER_PARSING, "failed to parse");
    }
    e = keep_source(&p, out, &tree);
    return e == ERR_OK ? document_finish(&p, out, &root) : e;
}
