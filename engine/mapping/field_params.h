/* field_params.h - what the readers of single parameters share. Inside mapping only. */
#ifndef ENGINE_MAPPING_FIELD_PARAMS_H
#define ENGINE_MAPPING_FIELD_PARAMS_H

#include "engine/mapping/mapping_int.h"

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

enum err param_number_map(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err param_prefixes(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err param_meta(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err param_null_value(struct builder *b, struct node *n, size_t i, const struct json *v);

#endif
