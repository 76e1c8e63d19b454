/* The pattern tokenizer: cuts at matches of a Java pattern (group -1), or takes a group of each match. */
#include "engine/analysis/parts.h"
#include "engine/analysis/regex.h"

struct pattern_tokenizer {
    struct tokenizer base;
    const struct regex *regex;
    int32_t group;
};

static bool pattern_add(struct token_list *out, struct str text, size_t from, size_t to)
{
    return token_add(out, (struct token){.text = str_slice(text, from, to),
                                         .start = (uint32_t)from,
                                         .end = (uint32_t)to,
                                         .pos_inc = 1,
                                         .pos_len = 1,
                                         .type = "word"});
}

static enum err pattern_run(const struct tokenizer *self, struct str text, struct token_list *out,
                            struct errmsg *em)
{
    const struct pattern_tokenizer *t = (const struct pattern_tokenizer *)self;
    struct matcher *m;
    size_t last = 0;
    bool found = false;
    enum err e = matcher_new(&m, t->regex, text, em);
    while (e == ERR_OK) {
        e = matcher_find(m, &found, em);
        size_t from = 0, to = 0;
        if (e != ERR_OK || !found) {
            break;
        }
        bool in_match = matcher_group(m, t->group >= 0 ? t->group : 0, &from, &to);
        if (t->group < 0) {
            bool cut = from > last;
            if (cut && !pattern_add(out, text, last, from)) {
                e = err_no_memory(em);
            }
            last = to;
        } else if (in_match && to > from && !pattern_add(out, text, from, to)) {
            e = err_no_memory(em);
        }
    }
    if (e == ERR_OK && t->group < 0 && last < text.n && !pattern_add(out, text, last, text.n)) {
        e = err_no_memory(em);
    }
    matcher_free(m);
    return e;
}

PART_FACTORY(pattern_tokenizer_new)
{
    struct pattern_tokenizer *t = ARENA_NEW(arena, struct pattern_tokenizer);
    if (t == NULL) {
        return err_no_memory(em);
    }
    enum err e = part_int(s, "group", -1, &t->group, em);
    if (e == ERR_OK) {
        e = part_regex_new(&t->regex, settings_str(s, "pattern", STR("\\W+")),
                           settings_str(s, "flags", STR("")), env, arena, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (t->group > regex_groups(t->regex)) {
        return err_set(em, ERR_PART_UNUSABLE,
                       "invalid group specified: pattern only has: %d capturing groups",
                       (int)regex_groups(t->regex));
    }
    t->base.run = pattern_run;
    *out = &t->base;
    return ERR_OK;
}
