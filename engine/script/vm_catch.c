/* Exceptions: which there are, how a script throws and catches them. */
#include "engine/script/instructions.h"

/* The first of a name is what a new exception of that class becomes. */
static const struct {
    const char *name;
    enum err e;
} exceptions[] = {{"IllegalArgumentException", ERR_ILLEGAL_ARGUMENT},
                  {"IllegalStateException", ERR_ILLEGAL_STATE},
                  {"ArithmeticException", ERR_ARITHMETIC},
                  {"NullPointerException", ERR_NULL_POINTER},
                  {"ClassCastException", ERR_CLASS_CAST},
                  {"NumberFormatException", ERR_NUMBER_FORMAT},
                  {"IndexOutOfBoundsException", ERR_INDEX_BOUNDS},
                  {"IndexOutOfBoundsException", ERR_STRING_BOUNDS},
                  {"IndexOutOfBoundsException", ERR_ARRAY_BOUNDS},
                  {"UnsupportedOperationException", ERR_UNSUPPORTED},
                  {"IllegalArgumentException", ERR_NUMBER_FORMAT},
                  {"DateTimeException", ERR_DATE_TIME}};

static bool is_exception(const struct ins *in, struct str name, enum err e)
{
    if (in->b != TYPE_EXCEPTION || str_is(name, "Exception") || str_is(name, "RuntimeException")) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++) {
        if (exceptions[i].e == e && str_is(name, exceptions[i].name)) {
            return true;
        }
    }
    return false;
}

enum err exception_code(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++) {
        if (str_is(name, exceptions[i].name)) {
            return exceptions[i].e;
        }
    }
    return ERR_RUNTIME;
}

/* The exception as a value: a map with its message. */
static enum err caught_value(struct script_run *m, const struct frame *f)
{
    struct sv map = {.kind = SV_MAP, .map = sv_map_new(&m->mem)}, text;
    if (map.map == NULL) {
        return vm_no_memory(m);
    }
    enum err e = vm_str(m, str_of(err_reason(f->caught)), &text);
    if (e == ERR_OK
        && (!sv_map_put(&m->mem, map.map, sv_str(STR("message")), text)
            || !sv_map_put(&m->mem, map.map, sv_str(STR("#code")), sv_int((int32_t)err_code(f->caught))))) {
        e = vm_no_memory(m);
    }
    return e == ERR_OK ? push(m, map) : e;
}

INSTRUCTION(try_begin)
{
    if (f->handlers_n == HANDLERS_MAX) {
        return err_set(m->em, ERR_PAINLESS, "try statements are nested too deeply");
    }
    f->handler[f->handlers_n].target = in->c;
    f->handler[f->handlers_n++].sp = m->sp;
    return ERR_OK;
}

INSTRUCTION(try_end)
{
    f->handlers_n--;
    return ERR_OK;
}

INSTRUCTION(is_caught)
{
    bool is = is_exception(in, name_of(m, in), err_code(f->caught));
    enum err e = is ? caught_value(m, f) : ERR_OK;
    return e == ERR_OK ? push(m, sv_bool(is)) : e;
}

INSTRUCTION(throw_it)
{
    if (in->a == 1) { /* no handler took it */
        *m->em = *f->caught;
        return err_code(f->caught);
    }
    struct sv v = pop(m);
    if (v.kind != SV_MAP) {
        return v.kind == SV_NULL ? vm_null(m, "throw") : vm_class_cast(m, v, "java.lang.Exception");
    }
    const struct sv *code = sv_map_get(v.map, sv_str(STR("#code"))),
                    *text = sv_map_get(v.map, sv_str(STR("message")));
    struct str message = STR_NULL;
    if (text != NULL && text->kind == SV_STR) {
        message = text->s;
    }
    return err_set(m->em, code != NULL ? (enum err)code->i : ERR_ILLEGAL_ARGUMENT, "%.*s", STR_ARG(message));
}

/* An error that a try statement can handle moves on to its handler. */
bool handled(struct script_run *m, struct frame *f, enum err e)
{
    if (f->handlers_n == 0 || e == ERR_PAINLESS || e == ERR_STACK_OVERFLOW || e == ERR_NO_MEMORY) {
        return false;
    }
    f->caught = f->caught != NULL ? f->caught : ARENA_NEW(&m->mem, struct errmsg);
    if (f->caught == NULL) {
        return false;
    }
    f->handlers_n--;
    m->placed = false;
    f->pc = f->handler[f->handlers_n].target;
    m->sp = f->handler[f->handlers_n].sp;
    *f->caught = *m->em;
    err_clear(m->em); /* whoever looks at the message takes what is in it for a failure */
    return true;
}
