/* The mapping character filter: the longest key at each place is replaced. */
#include "common/base/utf8.h"
#include "engine/analysis/offset_map.h"
#include "engine/analysis/parts.h"

#include <unicode/uchar.h>

struct mapping {
    struct char_filter base;
    struct map rules;  /* key to struct str * */
    size_t longest;    /* bytes of the longest key */
    uint64_t first[4]; /* bytes that keys begin with */
};

static enum err mapping_filter_apply(const struct char_filter *self, struct filtered_text *in,
                                     struct arena *arena, struct errmsg *em)
{
    const struct mapping *f = (const struct mapping *)self;
    struct remap r;
    struct str text = in->text;
    remap_init(&r, text, arena);
    for (size_t at = 0; at < text.n;) {
        unsigned char c = (unsigned char)text.p[at];
        if ((f->first[c >> 6] >> (c & 63) & 1) == 0) {
            at++;
            continue;
        }
        const struct str *with = NULL;
        size_t n = MIN_OF(f->longest, text.n - at);
        for (; n > 0 && with == NULL && !stop_worked(1 + n / 64); n--) {
            with = map_get(&f->rules, str_slice(text, at, at + n));
        }
        if (with == NULL) {
            at++;
            continue;
        }
        n++;
        remap_copy(&r, at);
        remap_replace(&r, at + n, *with);
        at += n;
    }
    return remap_end(&r, in, em);
}

static enum err bad_rule(struct str rule, struct errmsg *em)
{
    return err_set(em, ERR_RUNTIME, "Invalid Mapping Rule : [%.*s]", STR_ARG(rule));
}

/* Undoes the escapes of one side of a rule. */
static enum err unescape(struct str s, struct arena *arena, struct str *out, struct errmsg *em)
{
    static const char from[] = "\\\"ntrbf", to[] = "\\\"\n\t\r\b\f";
    char *p = arena_alloc(arena, s.n + 4);
    if (p == NULL) {
        return err_no_memory(em);
    }
    size_t n = 0;
    for (size_t at = 0; at < s.n;) {
        char c = s.p[at++];
        if (c != '\\') {
            p[n++] = c;
            continue;
        }
        if (at >= s.n) {
            return err_set(em, ERR_RUNTIME, "Invalid escaped char in [%.*s]", STR_ARG(s));
        }
        c = s.p[at++];
        const char *known = c != '\0' ? strchr(from, c) : NULL;
        if (known != NULL) {
            p[n++] = to[known - from];
        } else if (c == 'u') {
            uint32_t v = 0;
            if (at + 4 > s.n) {
                return err_set(em, ERR_RUNTIME, "Invalid escaped char in [%.*s]", STR_ARG(s));
            }
            for (size_t i = 0; i < 4; i++) {
                int d = u_digit((unsigned char)s.p[at + i], 16);
                if (d < 0) {
                    err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", 4, s.p + at);
                    return ERR_NUMBER_FORMAT;
                }
                v = v << 4 | (uint32_t)d;
            }
            at += 4;
            n += utf8_put(p + n, v);
        } else {
            p[n++] = c;
        }
    }
    *out = str_mk(p, n);
    return ERR_OK;
}

static enum err add_rule(struct mapping *f, struct str rule, struct arena *arena, struct errmsg *em)
{
    /* The pattern is "(.*)\s*=>\s*(.*)\s*$": greedy, so that the last arrow counts. */
    size_t arrow = SIZE_MAX;
    for (size_t i = 0; i + 1 < rule.n; i++) {
        arrow = rule.p[i] == '=' && rule.p[i + 1] == '>' ? i : arrow;
    }
    if (arrow == SIZE_MAX) {
        return bad_rule(rule, em);
    }
    struct str key, with, *kept = ARENA_NEW(arena, struct str);
    if (kept == NULL) {
        return err_no_memory(em);
    }
    enum err e = unescape(str_trim(str_slice(rule, 0, arrow)), arena, &key, em);
    e = e == ERR_OK ? unescape(str_trim(str_slice(rule, arrow + 2, rule.n)), arena, &with, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (key.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "cannot match the empty string");
    }
    if (map_has(&f->rules, key)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "match \"%.*s\" was already added", STR_ARG(key));
    }
    *kept = with;
    unsigned char c = (unsigned char)key.p[0];
    f->first[c >> 6] |= (uint64_t)1 << (c & 63);
    f->longest = MAX_OF(f->longest, key.n);
    return map_put(&f->rules, key, kept) ? ERR_OK : err_no_memory(em);
}

PART_FACTORY(mapping_char_filter_new)
{
    struct mapping *f = ARENA_NEW(arena, struct mapping);
    struct str *rules = NULL, path = settings_str(s, "mappings_path", STR_NULL);
    size_t n = 0;
    uint32_t n_list = 0;
    if (f == NULL) {
        return err_no_memory(em);
    }
    if (path.p != NULL) {
        enum err e = config_lines("mappings_path", path, env, arena, &rules, &n, em);
        if (e != ERR_OK) {
            return e;
        }
    } else if (!settings_list(s, "mappings", arena, &rules, &n_list)) {
        return err_no_memory(em);
    } else if (rules == NULL && settings_find(s, STR("mappings")) == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "mapping requires either `mappings` or `mappings_path` to be configured");
    }
    n += n_list;
    map_init(&f->rules, arena);
    for (size_t i = 0; i < n; i++) {
        enum err e = add_rule(f, rules[i], arena, em);
        if (e != ERR_OK) {
            return path.p != NULL ? config_line_error(e, "mappings_path", em) : e;
        }
    }
    f->base.apply = mapping_filter_apply;
    f->base.normalizes = true;
    *out = &f->base;
    return ERR_OK;
}
