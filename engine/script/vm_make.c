/* Instructions that make lists, maps, arrays, functions and objects. */
#include "engine/script/instructions.h"

/* The n values on top of the stack as a list. */
static enum err list_of(struct script_run *m, uint32_t n, enum list_form form, enum sv_kind element)
{
    struct sv list;
    enum err e = vm_list(m, form, &list);
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        struct sv v = m->stack[m->sp - n + i];
        e = vm_push(m, list.list, element != SV_NULL && sv_is_number(v) ? sv_to_kind(v, element) : v);
    }
    if (e == ERR_OK) {
        list.list->element = element;
    }
    return give(m, e, n, list);
}

/* What an array of this type holds; SV_NULL: anything. */
static enum sv_kind element_kind(enum type_id type)
{
    return type_is_primitive(type) ? type_kind(type) : SV_NULL;
}

INSTRUCTION(make_list)
{
    return list_of(m, in->c, LIST_LIST, SV_NULL);
}

INSTRUCTION(make_array)
{
    return list_of(m, in->c, LIST_ARRAY, element_kind((enum type_id)in->b));
}

INSTRUCTION(make_map)
{
    uint32_t pairs = in->c;
    struct sv map = {.kind = SV_MAP, .map = sv_map_new(&m->mem)};
    if (map.map == NULL) {
        return vm_no_memory(m);
    }
    map.map->hashed = true;
    for (uint32_t i = 0; i < pairs; i++) {
        const struct sv *at = &m->stack[m->sp - 2 * pairs + 2 * i];
        if (!sv_map_put(&m->mem, map.map, at[0], at[1])) {
            return vm_no_memory(m);
        }
    }
    return give(m, ERR_OK, 2 * pairs, map);
}

INSTRUCTION(make_empty_array)
{
    uint32_t dims = in->a;
    int64_t n = 0;
    enum err e = vm_arg_i64(m, m->stack[m->sp - dims], &n);
    if (e != ERR_OK) {
        return e;
    }
    if (n < 0) {
        return err_set(m->em, ERR_NEGATIVE_ARRAY_SIZE, "%lld", (long long)n);
    }
    enum sv_kind kind = dims == 1 ? element_kind((enum type_id)in->b) : SV_NULL;
    struct sv list, zero = kind == SV_NULL   ? sv_null()
                           : kind == SV_BOOL ? sv_bool(false)
                                             : sv_to_kind(sv_int(0), kind);
    e = vm_list(m, LIST_ARRAY, &list);
    for (int64_t i = 0; i < n && e == ERR_OK; i++) {
        e = vm_push(m, list.list, zero);
    }
    if (e == ERR_OK) {
        list.list->element = kind;
    }
    return give(m, e, dims, list);
}

INSTRUCTION(make_lambda)
{
    struct sv_func *made = ARENA_NEW(&m->mem, struct sv_func);
    struct sv *captured = ARENA_ARRAY(&m->mem, struct sv, in->a);
    if (made == NULL || captured == NULL) {
        return vm_no_memory(m);
    }
    if (in->a > 0) {
        memcpy(captured, &m->stack[m->sp - in->a], in->a * sizeof(*captured));
    }
    *made = (struct sv_func){.code = in->c, .captured = captured, .captured_n = in->a};
    return give(m, ERR_OK, in->a, (struct sv){.kind = SV_FUNC, .func = made});
}

INSTRUCTION(make_reference)
{
    struct sv_func *made = ARENA_NEW(&m->mem, struct sv_func);
    if (made == NULL) {
        return vm_no_memory(m);
    }
    *made = (struct sv_func){.code = UINT32_MAX, .type = {.id = (enum type_id)in->b}, .name = name_of(m, in)};
    if (in->b == TYPE_NONE) {
        made->object = pop(m);
        made->bound = true;
    }
    return push(m, (struct sv){.kind = SV_FUNC, .func = made});
}

INSTRUCTION(make_object)
{
    struct sv out = sv_null();
    enum err e = vm_new(m, (enum type_id)in->b, name_of(m, in), &m->stack[m->sp - in->a], in->a, &out);
    if (e == ERR_OK && in->b == TYPE_EXCEPTION) {
        struct sv code = sv_int((int32_t)exception_code(name_of(m, in)));
        e = sv_map_put(&m->mem, out.map, sv_str(STR("#code")), code) ? ERR_OK : vm_no_memory(m);
    }
    return give(m, e, in->a, out);
}
