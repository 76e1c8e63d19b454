#include "coordinator/core/routing_required.h"

/* Behind the text whose opening quote is at `at`. */
static size_t past_string(struct str s, size_t at)
{
    for (at++; at < s.n && s.p[at] != '"'; at++) {
        at += s.p[at] == '\\';
    }
    return at + 1;
}

bool routing_required(struct str mapping)
{
    static const char key[] = "\"_routing\":{\"required\":true}";
    if (str_find_str(mapping, str_mk(key + 1, sizeof(key) - 2)) == SIZE_MAX) {
        return false; /* of nearly all, and quick without the quote, which is everywhere: each write asks */
    }
    unsigned depth = 0;
    for (size_t at = 0; at < mapping.n;) {
        char c = mapping.p[at];
        if (c == '"' && depth == 1 && str_starts(str_slice(mapping, at, mapping.n), STR(key))) {
            return true;
        }
        depth += c == '{' || c == '[' ? 1U : 0U;
        depth -= (c == '}' || c == ']') && depth > 0 ? 1U : 0U;
        at = c == '"' ? past_string(mapping, at) : at + 1;
    }
    return false;
}
