/* dense_vector: numbers of a fixed count, which scripts alone read. */
#include "common/base/bytes.h"
#include "common/base/jsonr.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/vector.h"

#include <math.h>

#define NO_DIMS INT32_MIN

static const struct param vector_params[] = {
    {.name = "dims", .kind = PARAM_INT, .offset = PARAM_AT(dims), .dflt = NO_DIMS},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static void vector_init(UNUSED struct builder *b, struct node *n)
{
    n->f.index = false;
    n->f.doc_values = true;
}

static enum err build_vector(struct builder *b, struct node *n)
{
    if (n->f.dims == NO_DIMS) {
        return err_set(b->em, ERR_MAPPER_PARSING, "Missing required parameter [dims] for field [%.*s]",
                       STR_ARG(n->f.name));
    }
    if (n->f.dims < 1 || n->f.dims > VECTOR_DIMS_MAX) {
        return err_set(
            b->em, ERR_MAPPER_PARSING,
            "The number of dimensions for field [%.*s] should be in the range [1, %d] but was [%d]",
            STR_ARG(n->f.name), VECTOR_DIMS_MAX, (int)n->f.dims);
    }
    return ERR_OK;
}

/* ---- values ---- */

bool vector_read(struct str bytes, uint32_t dims, float *values, float *magnitude)
{
    if (bytes.n != (dims + (size_t)1) * sizeof(float)) {
        return false;
    }
    for (uint32_t i = 0; i <= dims; i++) {
        uint32_t bits = load_u32(bytes.p + i * sizeof(float));
        memcpy(i < dims ? &values[i] : magnitude, &bits, sizeof(bits));
    }
    return true;
}

static void put_float(char *to, uint32_t i, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    store_u32(to + i * sizeof(v), bits);
}

static enum err not_a_number(struct doc_parser *p, const struct json *at, const char *token)
{
    uint32_t line, col;
    json_place(p->text, at->off, &line, &col);
    return err_set_at(p->em, ERR_PARSING, line, col,
                      "Failed to parse object: expecting token of type [VALUE_NUMBER] but found [%s]", token);
}

static enum err read_number(struct doc_parser *p, const struct json *v, float *out)
{
    double d;
    if (json_is_broken(v)) {
        return doc_broken(p);
    }
    if (v->type != JSON_NUMBER) {
        return not_a_number(p, v, json_token_name(v));
    }
    enum err e = jr_double(v, &d, p->em);
    *out = e == ERR_OK ? (float)d : 0;
    return e;
}

/* The magnitude is computed as Elasticsearch does, in floats. */
static enum err read_numbers(struct doc_parser *p, const struct field *f, const struct json *v, char *to)
{
    uint32_t dims = (uint32_t)f->dims;
    float squares = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        float number = 0;
        if (i == dims) {
            return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                           "Field [%.*s] of type [dense_vector] of doc [%.*s] has exceeded the number of "
                           "dimensions [%u] defined in mapping",
                           STR_ARG(f->path), STR_ARG(p->in->id), dims);
        }
        enum err e = read_number(p, &v->items[i], &number);
        if (e != ERR_OK) {
            return e;
        }
        put_float(to, i, number);
        squares += number * number;
    }
    if (v->n < dims) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Field [%.*s] of type [dense_vector] of doc [%.*s] has number of dimensions [%u] less "
                       "than defined in the mapping [%u]",
                       STR_ARG(f->path), STR_ARG(p->in->id), v->n, dims);
    }
    put_float(to, dims, (float)sqrt((double)squares));
    return ERR_OK;
}

static enum err vector_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    bool again = false;
    size_t n = ((size_t)f->dims + 1) * sizeof(float);
    enum err e = json_is_broken(v) ? doc_broken(p) : doc_take_name(p, f->path, &again);
    if (e != ERR_OK) {
        return e;
    }
    if (again) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Field [%.*s] of type [dense_vector] doesn't not support indexing multiple values for "
                       "the same field in the same document",
                       STR_ARG(f->path));
    }
    if (v->type != JSON_ARRAY) { /* what comes next is not a number */
        return not_a_number(p, v, v->type == JSON_OBJECT && v->n > 0 ? "FIELD_NAME" : "END_OBJECT");
    }
    char *bytes = arena_alloc(p->arena, n);
    if (bytes == NULL) {
        return err_no_memory(p->em);
    }
    e = read_numbers(p, f, v, bytes);
    struct doc_value *to = e == ERR_OK ? doc_add(p, f, DOC_BYTES) : NULL;
    if (to == NULL) {
        return e == ERR_OK ? err_no_memory(p->em) : e;
    }
    to->bytes = str_mk(bytes, n);
    return ERR_OK;
}

static enum err refuse_terms(const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] of type [dense_vector] doesn't support queries",
                   STR_ARG(f->path));
}

static enum err refuse_values(const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Field [%.*s] of type [dense_vector] doesn't support docvalue_fields or aggregations",
                   STR_ARG(f->path));
}

const struct field_class field_class_dense_vector = {
    .name = "dense_vector",
    .params = vector_params,
    .init = vector_init,
    .build = build_vector,
    .value = vector_value,
    .takes_array = true,
    .takes_whole = true,
    .is_vector = true,
    .text = FIELD_TEXT_NONE,
    .refuse_search = refuse_terms,
    .refuse_values = refuse_values,
};
