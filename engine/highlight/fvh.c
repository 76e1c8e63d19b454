/* The fast vector highlighter needs term vectors with positions and offsets; a field says so in its mapping. */
#include "engine/highlight/highlight_int.h"

bool hl_fvh_can(const struct field *f)
{
    const struct json *v = json_get(f->def, "term_vector");
    return v != NULL && str_starts(json_text(v), STR("with_positions_offsets"));
}

bool hl_has_offsets(const struct field *f)
{
    return f->options == INDEX_OFFSETS || hl_fvh_can(f);
}

enum err hl_fvh_check(const struct hl_target *t, struct errmsg *em)
{
    if (!str_is(t->o->type, "fvh") || hl_fvh_can(t->field)) {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "the field [%.*s] should be indexed with term vector with position offsets to be used with fast vector "
                   "highlighter",
                   STR_ARG(t->key));
}

enum err hl_fvh(struct hl_fragments *out, const struct hl_target *t, struct hl_text *x, struct arena *arena, struct errmsg *em)
{
    return hl_unified(out, t, x, arena, em);
}
