/* Addresses: terms of 16 bytes. */
#include "common/base/inet.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

static const struct param ip_params[] = {
    PARAM_ROW_INDEX,
    PARAM_ROW_DOC_VALUES,
    PARAM_ROW_STORE,
    PARAM_ROW_MALFORMED_B,
    {.name = "null_value", .kind = PARAM_NULL_TEXT, .flags = PARAM_NULL_OK},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static enum err ip_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    uint8_t address[INET_BYTES];
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s.p == NULL && f->null_value != NULL) {
        s = f->null_value->s;
        if (inet_parse(s, address, NULL) != ERR_OK) {
            return ERR_OK; /* such a null_value counts as none */
        }
    }
    if (s.p == NULL) {
        return ERR_OK;
    }
    e = inet_parse(s, address, p->em);
    if (e != ERR_OK) {
        return doc_malformed(p, f, v, e);
    }
    struct str bytes = arena_str(p->arena, str_mk(address, sizeof(address)));
    struct doc_value *to = doc_add(p, f, DOC_TERM);
    if (bytes.p == NULL || to == NULL) {
        return err_no_memory(p->em);
    }
    to->bytes = bytes;
    return ERR_OK;
}

static void show_address(UNUSED const struct value_format *f, const struct json *v,
                         UNUSED struct arena *arena, struct jsonw *w)
{
    uint8_t address[INET_BYTES];
    struct buf b;
    if (inet_parse(json_text(v), address, NULL) == ERR_OK) {
        buf_init(&b, NULL, KIB);
        inet_print(address, &b);
        value_write_buf(&b, w);
    }
}

const struct field_class field_class_ip = {
    .name = "ip",
    .params = ip_params,
    .value = ip_value,
    .kind = VALUE_ADDRESS,
    .show = show_address,
    .queries = QUERIES_ADDRESSES,
};
