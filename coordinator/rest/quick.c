/* Requests that are parsed on their connection's loop: those of which it is plain to see that this takes no
 * longer than a thread takes to wake. docs/decisions/small-searches.md. */
#include "coordinator/rest/rest.h"

#include <limits.h>

#define BODY_QUICK    8192        /* bytes that are read as a tree */
#define BODY_DOCUMENT (256 * KIB) /* that are only looked through, or passed on */
#define URL_QUICK     1024        /* bytes of a URL, whose parts may be patterns for all indices */
#define INDICES_QUICK 32          /* indices that an answer may be about */
#define STATE_QUICK   (32 * KIB)  /* bytes of their mappings and aliases, and of templates */
#define ALIAS_BYTES   128         /* of an alias, or a template */

static bool is_one_of(struct str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(s, names[i])) {
            return true;
        }
    }
    return false;
}

/* The words that make a search long, by their first letter. */
static const char *const long_words[UCHAR_MAX + 1] = {
    ['r'] = "rege", ['c'] = "clude", ['s'] = "script", ['\\'] = "\\u"};

/* Parts of a search that become automata or code as soon as they are read; an escape may hide one. */
static bool has_long_words(struct str body)
{
    for (size_t i = 0; i < body.n; i++) {
        const char *word = long_words[(unsigned char)body.p[i]];
        if (word != NULL && str_starts(str_slice(body, i, body.n), str_of(word))) {
            return true;
        }
    }
    return false;
}

/* Is it about so little, even where it is about all indices? */
static bool is_small(const struct cluster_state *s)
{
    size_t bytes = (size_t)s->n_templates * ALIAS_BYTES;
    for (uint32_t i = 0; s->n_indices <= INDICES_QUICK && i < s->n_indices; i++) {
        bytes += s->indices[i]->mapping.n + s->indices[i]->n_aliases * (size_t)ALIAS_BYTES;
    }
    return s->n_indices <= INDICES_QUICK && bytes <= STATE_QUICK;
}

static bool is_plain_name(struct str s)
{
    return s.n > 0 && s.p[0] != '_' && memchr(s.p, '*', s.n) == NULL && memchr(s.p, ',', s.n) == NULL
           && memchr(s.p, '%', s.n) == NULL;
}

/* Of a request without a body: the answer may be about all indices, their shards, and their fields. */
static bool is_narrow(const struct rest *r, const struct str *parts, unsigned n_parts)
{
    static const char *const one[] = {"_doc", "_source", "_create", "_search", "_count", "_update", "scroll"};
    if (r->http->path.n + r->http->query.n > URL_QUICK) {
        return false;
    }
    bool known = n_parts == 0 || (n_parts > 1 && is_one_of(parts[1], one, ARRAY_LEN(one)));
    return (known && (n_parts == 0 || is_plain_name(parts[0]) || str_is(parts[1], "scroll")))
           || is_small(r->state);
}

bool rest_is_quick(const struct rest *r, const struct str *parts, unsigned n_parts)
{
    static const char *const documents[] = {"_doc", "_create", "_bulk"};
    static const char *const reads[] = {"_search", "_count", "_mget", "_msearch", "_update", "_pit"};
    struct str last = n_parts > 0 ? parts[n_parts - 1] : STR("");
    struct str before = n_parts > 1 ? parts[n_parts - 2] : STR("");
    struct str body = r->body;
    for (size_t i = 0; i < r->params.n && body.n == 0; i++) {
        if (str_is(r->params.v[i].name, "source")) {
            body = r->params.v[i].value;
        }
    }
    if (body.n == 0) {
        return is_narrow(r, parts, n_parts);
    }
    if (is_one_of(last, documents, ARRAY_LEN(documents)) || is_one_of(before, documents, 2)) {
        return body.n <= BODY_DOCUMENT;
    }
    bool known = is_one_of(last, reads, ARRAY_LEN(reads)) || str_is(before, "_update")
                 || (str_is(last, "scroll") && str_is(before, "_search")); /* an index may be called so */
    return known && body.n <= BODY_QUICK && !has_long_words(body);
}
