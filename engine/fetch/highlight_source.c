/* The input of highlighting: the source, and the stored values of fields that the mapping leaves out of it. */
#include "engine/fetch/fetch.h"
#include "engine/mapping/document.h"
#include "engine/mapping/field_class.h"

static bool source_is_partial(const struct mapping *m)
{
    const struct str *includes, *excludes;
    uint32_t n_includes, n_excludes;
    mapping_source_filter(m, &includes, &n_includes, &excludes, &n_excludes);
    return !mapping_source_enabled(m) || n_includes + n_excludes > 0;
}

/* A stored text that the source lacks. */
static enum err is_missing(struct fetch *f, struct fetch_hit *h, const struct json *source,
                           const struct stored_value *v, bool *missing)
{
    const struct field *field = mapping_field(f->shard->view->mapping, v->name);
    const struct json **found;
    size_t n = 0;
    *missing = !v->is_num && field != NULL && field->class->is_string;
    if (*missing && source != NULL && !source_values(source, v->name, h->arena, &found, &n)) {
        return err_no_memory(f->em);
    }
    for (size_t i = 0; i < n; i++) {
        *missing = *missing && found[i]->type == JSON_NULL;
    }
    return ERR_OK;
}

enum err fetch_highlight_source(struct fetch *f, struct fetch_hit *h, const struct json **out)
{
    const struct json *source = *out = fetch_source_tree(f, h);
    if (h->root != NULL || !source_is_partial(f->shard->view->mapping)) {
        return ERR_OK;
    }
    struct stored_doc stored;
    enum err e = stored_read(&f->stored, h->doc, STORED_VALUES, h->arena, &stored, f->em);
    if (e != ERR_OK || stored.n_values == 0) {
        return e;
    }
    uint32_t n = source != NULL && source->type == JSON_OBJECT ? source->n : 0;
    struct json *whole = ARENA_NEW(h->arena, struct json);
    struct json_member *members = ARENA_ARRAY(h->arena, struct json_member, n + stored.n_values);
    if (whole == NULL || members == NULL) {
        return err_no_memory(f->em);
    }
    if (n > 0) {
        memcpy(members, source->members, n * sizeof(*members));
    }
    for (size_t i = 0; e == ERR_OK && i < stored.n_values; i++) {
        bool missing;
        e = is_missing(f, h, source, &stored.values[i], &missing);
        if (e == ERR_OK && missing) {
            members[n++] = (struct json_member){.key = stored.values[i].name,
                                                .value = json_mk_str(stored.values[i].bytes)};
        }
    }
    *whole = (struct json){.type = JSON_OBJECT, .n = n, .members = members};
    *out = whole;
    return e;
}
