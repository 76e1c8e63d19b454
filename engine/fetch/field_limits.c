/* Limits of the number of fields in a hit: those of docvalue_fields and script_fields. */
#include "engine/fetch/fetch.h"

#include "common/settings/setting_read.h"
#include "engine/mapping/field_class.h"

/* Fields that the entry stands for; one that the mapping lacks counts nothing. */
static enum err count_fields(const struct search_context *cx, struct str pattern, size_t *count,
                             struct errmsg *em)
{
    const struct mapping *m = cx->query.mapping;
    const struct field **fields;
    size_t n;
    if (!mapping_match(m, pattern, cx->arena, &fields, &n)) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < n; i++) {
        *count += !fields[i]->class->is_internal;
    }
    return ERR_OK;
}

enum err docvalue_fields_limit(const struct search_context *cx, const struct search_source *s,
                               struct errmsg *em)
{
    const int64_t most = setting_i64(cx->shard->index_settings, SET_INDEX_MAX_DOCVALUE_FIELDS_SEARCH);
    size_t n = 0;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->n_docvalue_fields; i++) {
        e = count_fields(cx, s->docvalue_fields[i].field, &n, em);
    }
    if (e == ERR_OK && (int64_t)n > most) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "Trying to retrieve too many docvalue_fields. Must be less than or equal to: [%lld] but "
                    "was [%zu]. This limit can be set by changing the [index.max_docvalue_fields_search] "
                    "index level setting.",
                    (long long)most, n);
    }
    return e;
}

enum err script_fields_limit(const struct search_context *cx, const struct search_source *s,
                             struct errmsg *em)
{
    const int64_t most = setting_i64(cx->shard->index_settings, SET_INDEX_MAX_SCRIPT_FIELDS);
    if (s->n_script_fields > most) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "Trying to retrieve too many script_fields. Must be less than or equal to: [%lld] but "
            "was [%zu]. This limit can be set by changing the [index.max_script_fields] index level "
            "setting.",
            (long long)most, (size_t)s->n_script_fields);
    }
    return ERR_OK;
}
