/* Vectors: what a script sees of a document's, and the functions of score scripts. Numbers are floats, as they are kept; sums are
 * doubles. */
#include "engine/script/vm.h"

#include <math.h>

/* ---- functions ---- */

double vector_dot(const float *q, const float *v, uint32_t dims, UNUSED float magnitude)
{
    double sum = 0;
    for (uint32_t i = 0; i < dims; i++) {
        sum += (double)(q[i] * v[i]);
    }
    return sum;
}

/* The vector of the request is brought to a length of 1 before, in floats. */
double vector_cosine(const float *q, const float *v, uint32_t dims, float magnitude)
{
    double squares = 0, sum = 0;
    for (uint32_t i = 0; i < dims; i++) {
        squares += (double)(q[i] * q[i]);
    }
    double length = sqrt(squares);
    for (uint32_t i = 0; i < dims; i++) {
        float unit = (float)((double)q[i] / length);
        sum += (double)(unit * v[i]);
    }
    return sum / (double)magnitude;
}

double vector_l1(const float *q, const float *v, uint32_t dims, UNUSED float magnitude)
{
    double sum = 0;
    for (uint32_t i = 0; i < dims; i++) {
        sum += (double)fabsf(q[i] - v[i]);
    }
    return sum;
}

double vector_l2(const float *q, const float *v, uint32_t dims, UNUSED float magnitude)
{
    double sum = 0;
    for (uint32_t i = 0; i < dims; i++) {
        double diff = (double)(q[i] - v[i]);
        sum += diff * diff;
    }
    return sqrt(sum);
}

static enum err vector_missing(struct script_run *m)
{
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "A document doesn't have a value for a vector field!");
}

enum err vector_whole_refused(struct errmsg *em)
{
    return err_set(em, ERR_UNSUPPORTED,
                   "accessing a vector field's value through 'get' or 'value' is not supported");
}

/* The field that the second argument names or is. */
static enum err field_of(struct script_run *m, struct sv arg, struct sv *out)
{
    enum err e = ERR_OK;
    *out = arg;
    if (arg.kind == SV_STR) {
        e = vm_field(m, arg.s, out);
    } else if (arg.kind != SV_FIELD) {
        e = err_set(m->em, ERR_ILLEGAL_ARGUMENT,
                    "For vector functions, the 2nd argument must be of type String or VectorScriptDocValues");
    }
    return e == ERR_OK && out->field->doc.type != SCRIPT_DOC_VECTOR
               ? vm_class_cast(m, *out, "org.elasticsearch.xpack.vectors.query.DenseVectorScriptDocValues")
               : e;
}

enum err vector_function(struct script_run *m, const struct builtin *b, struct sv *a, UNUSED uint32_t n,
                         struct sv *out)
{
    struct sv_list *query = NULL;
    struct sv field;
    enum err e = vm_arg_list(m, a[0], &query);
    e = e == ERR_OK ? field_of(m, a[1], &field) : e;
    if (e != ERR_OK) {
        return e;
    }
    const struct script_doc *doc = &field.field->doc;
    if (query->n != doc->vector.dims) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT,
                       "The query vector has a different number of dimensions [%u] than the document vectors "
                       "[%u].",
                       query->n, doc->vector.dims);
    }
    float *q = ARENA_ARRAY(&m->mem, float, query->n);
    if (q == NULL) {
        return vm_no_memory(m);
    }
    for (uint32_t i = 0; i < query->n; i++) {
        double v = 0;
        e = vm_arg_num(m, query->v[i], &v);
        if (e != ERR_OK) {
            return e;
        }
        q[i] = (float)v;
    }
    if (doc->n == 0) {
        return vector_missing(m);
    }
    *out = sv_double(b->vectors(q, doc->vector.v, doc->vector.dims, doc->vector.magnitude));
    return vm_spend(m, query->n / 8);
}

/* ---- doc['f'] ---- */

METHOD(vector_value)
{
    const struct script_doc *doc = &self.field->doc;
    if (doc->n == 0) {
        return vector_missing(m);
    }
    enum err e = vm_list(m, LIST_ARRAY, out);
    for (uint32_t i = 0; i < doc->vector.dims && e == ERR_OK; i++) {
        e = vm_push(m, out->list, sv_float(doc->vector.v[i]));
    }
    if (e == ERR_OK) {
        out->list->element = SV_FLOAT;
    }
    return e;
}

METHOD(vector_magnitude)
{
    *out = sv_float(self.field->doc.vector.magnitude);
    return self.field->doc.n > 0 ? ERR_OK : vector_missing(m);
}

METHOD(vector_size)
{
    *out = sv_int((int32_t)self.field->doc.n);
    return ERR_OK;
}

METHOD(vector_empty)
{
    *out = sv_bool(self.field->doc.n == 0);
    return ERR_OK;
}

METHOD(vector_whole)
{
    *out = sv_null();
    return vector_whole_refused(m->em);
}

enum err methods_vector(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                        struct sv *out, bool *found)
{
    static const struct method table[] = {{"getVectorValue", 0, vector_value},
                                          {"getMagnitude", 0, vector_magnitude},
                                          {"size", 0, vector_size},
                                          {"getLength", 0, vector_size},
                                          {"isEmpty", 0, vector_empty},
                                          {"getValue", 0, vector_whole},
                                          {"get", 1, vector_whole}};
    return vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
}
