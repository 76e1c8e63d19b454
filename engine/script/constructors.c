/* Constructors of the classes that scripts may name. */
#include "engine/script/classes.h"

enum err vm_new(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                struct sv *out)
{
    return classes[type].make != NULL
               ? classes[type].make(m, type, name, a, n, out)
               : err_set(m->em, ERR_ILLEGAL_ARGUMENT, "constructor [%s, <init>/%u] not found",
                         type_java((struct type){.id = type}).s, n);
}

enum err new_list(struct script_run *m, UNUSED enum type_id type, UNUSED struct str name, struct sv *a,
                  uint32_t n, struct sv *out)
{
    enum err e = vm_list(m, LIST_LIST, out);
    if (e == ERR_OK && n == 1 && !sv_is_whole(a[0])) { /* a number would be a capacity */
        struct sv ignored;
        e = vm_method(m, *out, STR("addAll"), a, 1, &ignored);
    }
    return e;
}

enum err new_exception(struct script_run *m, UNUSED enum type_id type, UNUSED struct str name, struct sv *a,
                       uint32_t n, struct sv *out)
{
    *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
    bool ok =
        out->map != NULL && sv_map_put(&m->mem, out->map, sv_str(STR("message")), n > 0 ? a[0] : sv_null());
    return ok ? ERR_OK : vm_no_memory(m);
}

/* A new map or set: a TreeMap keeps its keys in order, a HashMap in that of their hashes, a LinkedHashMap as they came. */
enum err new_container(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                       struct sv *out)
{
    const bool sorted = str_starts(name, STR("Tree")), hashed = !sorted && !str_starts(name, STR("Linked"));
    struct sv ignored;
    if (type == TYPE_MAP) {
        *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
        if (out->map == NULL) {
            return vm_no_memory(m);
        }
        out->map->sorted = sorted;
        out->map->hashed = hashed;
    } else {
        enum err e = vm_list(m, LIST_SET, out);
        if (e != ERR_OK) {
            return e;
        }
        out->list->sorted = sorted;
        out->list->hashed = hashed;
    }
    return n == 1 && !sv_is_whole(a[0]) /* a number would be a capacity */
               ? vm_method(m, *out, type == TYPE_MAP ? STR("putAll") : STR("addAll"), a, 1, &ignored)
               : ERR_OK;
}

enum err new_builder(struct script_run *m, UNUSED enum type_id type, UNUSED struct str name, struct sv *a,
                     uint32_t n, struct sv *out)
{
    struct sv ignored;
    *out = (struct sv){.kind = SV_BUILDER, .builder = ARENA_NEW(&m->mem, struct sv_builder)};
    return out->builder == NULL           ? vm_no_memory(m)
           : n == 1 && !sv_is_whole(a[0]) ? vm_method(m, *out, STR("append"), a, 1, &ignored)
                                          : ERR_OK;
}

enum err new_string(struct script_run *m, enum type_id type, UNUSED struct str name, struct sv *a, uint32_t n,
                    struct sv *out)
{
    *out = sv_str(STR(""));
    return n == 0 ? ERR_OK : static_string(m, type, STR("valueOf"), a, n, out);
}

enum err new_geo(struct script_run *m, UNUSED enum type_id type, UNUSED struct str name, struct sv *a,
                 uint32_t n, struct sv *out)
{
    struct geo_point *p = ARENA_NEW(&m->mem, struct geo_point);
    double lat = 0, lon = 0;
    enum err e =
        n == 2 ? vm_arg_num(m, a[0], &lat) : err_set(m->em, ERR_ILLEGAL_ARGUMENT, "constructor not found");
    e = e == ERR_OK ? vm_arg_num(m, a[1], &lon) : e;
    if (p == NULL) {
        return vm_no_memory(m);
    }
    *p = (struct geo_point){lat, lon};
    *out = (struct sv){.kind = SV_GEO, .geo = p};
    return e;
}
