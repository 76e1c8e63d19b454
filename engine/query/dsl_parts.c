/* Parts that several queries share: fuzziness, fields with boosts, types of multi_match. */
#include "engine/query/dsl.h"

#include "common/base/arena_list.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/utf8.h"

#include <ctype.h>
#include <math.h>

enum err fuzziness_parse(struct json_pull *p, struct fuzziness *out, struct errmsg *em)
{
    struct str s;
    *out = (struct fuzziness){.given = true, .low = 3, .high = 6};
    if (p->token != TOK_STRING && p->token != TOK_NUMBER) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Can't parse fuzziness on token: [%s]",
                       json_token_text(p->token));
    }
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    out->text = s;
    if (s.n < 4 || !str_eq_nocase(str_slice(s, 0, 4), STR("AUTO"))) {
        return ERR_OK;
    }
    if (s.n == 4) {
        out->automatic = true;
        return ERR_OK;
    }
    if (s.p[4] != ':') {
        return ERR_OK;
    }
    struct str rest, low = str_cut(str_slice(s, 5, s.n), ',', &rest);
    if (rest.p == NULL) {
        return err_set(em, ERR_PARSE, "failed to find low and high distance values");
    }
    bool low_read = num_parse_i32(low, &out->low);
    if (!low_read || !num_parse_i32(rest, &out->high)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(low_read ? rest : low));
        return err_wrap(em, ERR_PARSE, "failed to parse [%.*s] as a \"auto:int,int\"", STR_ARG(s));
    }
    if (out->low < 0 || out->high < 0 || out->low > out->high) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "fuzziness wrongly configured, must be: lowDistance > 0, highDistance %s",
                       "> 0 and lowDistance <= highDistance ");
    }
    out->automatic = true;
    return ERR_OK;
}

enum err fuzziness_distance(const struct fuzziness *f, struct str term, uint32_t *out, struct errmsg *em)
{
    if (!f->given || f->automatic) {
        int32_t low = f->given ? f->low : 3, high = f->given ? f->high : 6;
        size_t len = utf8_length(term);
        *out = len < (size_t)low ? 0 : len < (size_t)high ? 1 : 2;
        return ERR_OK;
    }
    float v;
    if (!num_parse_float(f->text, &v)) {
        char upper[256]; /* as Elasticsearch keeps it */
        size_t n = MIN_OF(f->text.n, sizeof(upper));
        for (size_t i = 0; i < n; i++) {
            upper[i] = (char)toupper((unsigned char)f->text.p[i]);
        }
        return jr_bad_double((struct str){upper, n}, em);
    }
    *out = v < 1 ? 0 : v < 2 ? 1 : 2;
    if (v < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "max edits must be 0..2, inclusive; got: %d",
                       (int)MAX_OF(v, -1e9F));
    }
    return ERR_OK;
}

static enum err add_field_boost(struct json_pull *p, struct arena *arena, bool keeps,
                                struct field_boosts *out, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    struct field_boost fb = {.pattern = s, .boost = 1};
    size_t hat = str_find(s, '^', 0);
    if (hat != SIZE_MAX) {
        struct str number = str_slice(s, hat + 1, s.n);
        fb.pattern = str_slice(s, 0, hat);
        if (!num_parse_float(number, &fb.boost)) {
            return jr_bad_double(number, em);
        }
    }
    for (size_t i = 0; i < out->n; i++) {
        if (str_eq(out->v[i].pattern, fb.pattern)) { /* a later boost replaces an earlier one */
            out->v[i].boost = keeps && hat == SIZE_MAX ? out->v[i].boost : fb.boost;
            return ERR_OK;
        }
    }
    return ARENA_ADD(arena, out->v, out->n, out->cap, fb) ? ERR_OK : err_no_memory(em);
}

enum err field_boosts_check(const struct field_boosts *b, struct errmsg *em)
{
    for (size_t i = 0; i < b->n; i++) {
        if (signbit(b->v[i].boost) && !isnan(b->v[i].boost)) { /* -0.0 too */
            return dsl_negative_boost(em);
        }
    }
    return ERR_OK;
}

enum err field_boosts_parse(struct json_pull *p, struct arena *arena, const char *query,
                            struct field_boosts *out, struct errmsg *em)
{
    /* there a name without a boost is 1 again; elsewhere times 1 */
    bool keeps = strcmp(query, "multi_match") != 0;
    if (p->token != TOK_START_ARRAY) {
        if (!json_token_is_value(p->token)) {
            return dsl_unsupported(p, query, p->name, em);
        }
        return add_field_boost(p, arena, keeps, out, em);
    }
    while (json_pull_until(p, TOK_END_ARRAY)) {
        enum err e = add_field_boost(p, arena, keeps, out, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err multi_type_parse(struct str text, enum multi_type *out, struct errmsg *em)
{
    static const char *const names[] = {"best_fields", "most_fields",   "cross_fields",
                                        "phrase",      "phrase_prefix", "bool_prefix"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(text, names[i])) {
            *out = (enum multi_type)i;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_PARSE, "failed to parse [multi_match] query type [%.*s]. unknown type.",
                   STR_ARG(text));
}
