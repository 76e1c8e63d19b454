/* The simple_pattern tokenizers: matches of a Lucene expression are the tokens, or what separates them. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/simple_regex.h"

struct simple_tokenizer {
    struct tokenizer base;
    const struct simple_regex *regex;
    bool split;
};

static bool simple_pattern_add(struct token_list *out, struct str text, size_t from, size_t to)
{
    return from == to
           || token_add(out, (struct token){.text = str_slice(text, from, to),
                                            .start = (uint32_t)from,
                                            .end = (uint32_t)to,
                                            .pos_inc = 1,
                                            .pos_len = 1,
                                            .type = "word"});
}

static enum err simple_pattern_run(const struct tokenizer *self, struct str text, struct token_list *out,
                                   struct errmsg *em)
{
    const struct simple_tokenizer *t = (const struct simple_tokenizer *)self;
    struct simple_walk walk;
    size_t last = 0; /* end of the last separator */
    bool ok = simple_walk_init(&walk, t->regex, out->arena);
    for (size_t at = 0; at < text.n && ok && !token_stop(0);) {
        size_t end = simple_regex_match(t->regex, &walk, text, at);
        if (end == SIZE_MAX || end == at) {
            utf8_next(text, &at);
            continue;
        }
        ok = t->split ? simple_pattern_add(out, text, last, at) : simple_pattern_add(out, text, at, end);
        at = last = end;
    }
    ok = ok && (!t->split || simple_pattern_add(out, text, last, text.n));
    return ok ? ERR_OK : err_no_memory(em);
}

static enum err simple_new(const void **out, bool split, const struct settings *s, struct arena *arena,
                           struct errmsg *em)
{
    struct simple_tokenizer *t = ARENA_NEW(arena, struct simple_tokenizer);
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->base.run = simple_pattern_run;
    t->split = split;
    *out = &t->base;
    return simple_regex_new(&t->regex, settings_str(s, "pattern", STR("")), arena, em);
}

PART_FACTORY(simple_pattern_tokenizer_new)
{
    return simple_new(out, false, s, arena, em);
}

PART_FACTORY(simple_pattern_split_tokenizer_new)
{
    return simple_new(out, true, s, arena, em);
}
