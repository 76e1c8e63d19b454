/* Which requests are read where they arrive, on their connection's loop: those of which it is plain to see that this takes no
 * longer than a thread takes to wake. docs/decisions/small-searches.md. */
#include "coordinator/rest/rest.h"

#define BODY_QUICK    8192        /* bytes that are read as a tree */
#define BODY_DOCUMENT (256 * KIB) /* that are only looked through, or passed on */

static bool is_one_of(struct str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(s, names[i])) {
            return true;
        }
    }
    return false;
}

static bool begins(struct str s, size_t at, const char *word)
{
    size_t n = strlen(word);
    return s.n - at >= n && memcmp(s.p + at, word, n) == 0;
}

/* Parts of a search that become automata or code as soon as they are read; an escape may hide one. */
static bool has_long_words(struct str body)
{
    for (size_t i = 0; i < body.n; i++) {
        switch (body.p[i]) {
        case 'r':
            if (begins(body, i, "rege")) {
                return true;
            }
            break;
        case 'c':
            if (begins(body, i, "clude")) {
                return true;
            }
            break;
        case 's':
            if (begins(body, i, "script")) {
                return true;
            }
            break;
        case '\\':
            if (begins(body, i, "\\u")) {
                return true;
            }
            break;
        }
    }
    return false;
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
        return true;
    }
    if (is_one_of(last, documents, ARRAY_LEN(documents)) || is_one_of(before, documents, 2)) {
        return body.n <= BODY_DOCUMENT;
    }
    bool known = is_one_of(last, reads, ARRAY_LEN(reads)) || str_is(before, "_update")
                 || (str_is(last, "scroll") && str_is(before, "_search")); /* an index may be called so */
    return known && body.n <= BODY_QUICK && !has_long_words(body);
}
