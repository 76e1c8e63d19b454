/* Functions shared by the readers of values. */
#include "common/base/num.h"
#include "engine/mapping/document_int.h"

enum err doc_ignore_value(struct doc_parser *p, const struct field *f)
{
    if (p->em != NULL) {
        err_clear(p->em);
    }
    return doc_ignore(p, f) ? ERR_OK : err_no_memory(p->em);
}

enum err doc_take_name(struct doc_parser *p, struct str name, bool *again)
{
    struct map *taken = &p->part->taken;
    if (taken->arena == NULL) {
        map_init(taken, p->arena);
    }
    *again = map_has(taken, name);
    return map_put(taken, name, p->part) ? ERR_OK : err_no_memory(p->em);
}

enum err doc_malformed(struct doc_parser *p, const struct field *f, const struct json *v, enum err e)
{
    bool container = v->type == JSON_OBJECT || v->type == JSON_ARRAY;
    return f->ignore_malformed && e != ERR_NO_MEMORY && !container ? doc_ignore_value(p, f) : e;
}

enum err doc_add_num(struct doc_parser *p, const struct field *f, int64_t num)
{
    if (!f->index && !f->doc_values && !f->store) {
        return ERR_OK;
    }
    struct doc_value *to = doc_add(p, f, DOC_NUM);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->num = num;
    return ERR_OK;
}

bool doc_keep_text(struct doc_parser *p, struct doc_value *v, double a, const double *b)
{
    struct buf text;
    if (!v->field->store) {
        return true;
    }
    buf_init(&text, NULL, KIB);
    if (b != NULL) {
        num_put_double(&text, a);
        buf_z(&text, ", ");
        num_put_double(&text, *b);
    } else {
        num_put_float(&text, (float)a);
    }
    v->stored = arena_str(p->arena, buf_view(&text));
    bool ok = !text.failed && v->stored.p != NULL;
    buf_fini(&text);
    return ok;
}
