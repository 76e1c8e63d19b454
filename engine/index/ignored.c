#include "engine/index/ignored.h"

#include "common/base/java_hash.h"

enum err segment_ignored(const struct segment *s, doc_id doc, struct arena *arena, struct str **out,
                         uint32_t *n, struct errmsg *em)
{
    const struct seg_field *f = segment_field(s, STR("_ignored"));
    struct term_iter it;
    size_t cap = 0;
    enum err e = ERR_OK;
    *out = NULL;
    *n = 0;
    if (f == NULL) {
        return ERR_OK;
    }
    term_iter_init(&it, f); /* as many terms as fields that ever had a bad value */
    while (e == ERR_OK && term_iter_next(&it)) {
        struct postings p;
        postings_init(&p, f, &it.info, false);
        if (postings_seek(&p, doc) != doc) {
            continue;
        }
        *out = arena_grow(arena, *out, *n, &cap, sizeof(**out));
        struct str name = *out != NULL ? arena_str(arena, it.term) : STR_NULL;
        if (name.p == NULL) {
            e = err_no_memory(em);
        } else {
            (*out)[(*n)++] = name;
        }
    }
    term_iter_fini(&it);
    java_set_order(*out, *n);
    return e;
}
