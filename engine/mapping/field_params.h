/* field_params.h - declarations shared by the readers of parameters. Inside mapping only. */
#ifndef ENGINE_MAPPING_FIELD_PARAMS_H
#define ENGINE_MAPPING_FIELD_PARAMS_H

#include "engine/mapping/mapping_int.h"

/* Rows of tables of parameters. */
#define PARAM_AT(member) (uint16_t) offsetof(struct field, member)

#define PARAM_ROW_INDEX                                                           \
    {                                                                             \
        .name = "index", .kind = PARAM_BOOL, .offset = PARAM_AT(index), .dflt = 1 \
    }
#define PARAM_ROW_DOC_VALUES                                                                \
    {                                                                                       \
        .name = "doc_values", .kind = PARAM_BOOL, .offset = PARAM_AT(doc_values), .dflt = 1 \
    }
#define PARAM_ROW_STORE                                                \
    {                                                                  \
        .name = "store", .kind = PARAM_BOOL, .offset = PARAM_AT(store) \
    }
#define PARAM_ROW_BOOST                                                 \
    {                                                                   \
        .name = "boost", .kind = PARAM_BOOST, .flags = PARAM_UPDATEABLE \
    }
#define PARAM_ROW_META                                                \
    {                                                                 \
        .name = "meta", .kind = PARAM_META, .flags = PARAM_UPDATEABLE \
    }
#define PARAM_ROW_MALFORMED                                                                 \
    {                                                                                       \
        .name = "ignore_malformed", .kind = PARAM_EXPLICIT_BOOL, .flags = PARAM_UPDATEABLE, \
        .offset = PARAM_AT(ignore_malformed)                                                \
    }
#define PARAM_ROW_MALFORMED_B                                                      \
    {                                                                              \
        .name = "ignore_malformed", .kind = PARAM_BOOL, .flags = PARAM_UPDATEABLE, \
        .offset = PARAM_AT(ignore_malformed)                                       \
    }
#define PARAM_ROW_COERCE                                                          \
    {                                                                             \
        .name = "coerce", .kind = PARAM_EXPLICIT_BOOL, .flags = PARAM_UPDATEABLE, \
        .offset = PARAM_AT(coerce), .dflt = 1                                     \
    }
#define PARAM_ROW_ORDINALS                                                              \
    {                                                                                   \
        .name = "eager_global_ordinals", .kind = PARAM_BOOL, .flags = PARAM_UPDATEABLE, \
        .offset = PARAM_AT(eager_ordinals)                                              \
    }
#define PARAM_ROW_SIMILARITY                                                   \
    {                                                                          \
        .name = "similarity", .kind = PARAM_SIMILARITY, .flags = PARAM_NULL_OK \
    }
#define PARAM_ROW_END \
    {                 \
        .name = NULL  \
    }

/* v becomes the value that prints. */
enum err param_keep(struct builder *b, struct node *n, size_t i, struct json v);
/* toString() of a node. */
enum err param_text(struct builder *b, const struct json *v, struct str *out);
/* Numbers as Java prints them. */
enum err param_fraction(struct builder *b, double v, bool single, struct json *out);
enum err param_whole(struct builder *b, int64_t v, struct json *out);
/* Elasticsearch's nodeIntegerValue and nodeDoubleValue. */
enum err parse_node_int(struct builder *b, const struct json *v, int32_t *out);
enum err parse_node_double(struct builder *b, const struct json *v, double *out);

/* ---- fields as a whole (field_build.c) ---- */

/* The text that was given for a parameter that the type has; p == NULL: none. */
struct str param_given(const struct node *n, const char *name);
/* The given value is the default, and is not printed. */
void param_forget(struct node *n, const char *name);
bool param_is_set(const struct node *n, const char *name);
/* ERR_MAPPER: an analyzer that only searches can use. */
enum err check_index_time(struct builder *b, const struct analyzer *an);
/* What was read as an int32_t becomes the greatest length of a text: UINT32_MAX for none. */
void build_ignore_above(struct node *n);
/* `format` and `locale` of dates and ranges of dates. */
enum err build_date_format(struct builder *b, struct node *n);

/* ---- kinds of parameters ---- */

enum err param_number_map(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err param_prefixes(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err param_meta(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err param_relations(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err param_null_value(struct builder *b, struct node *n, size_t i, const struct json *v);

#endif
