/* Bytes, which documents give in base64. */
#include "common/base/base64.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

static const struct param binary_params[] = {
    PARAM_ROW_STORE,
    {.name = "doc_values", .kind = PARAM_BOOL, .offset = PARAM_AT(doc_values)},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static void binary_init(UNUSED struct builder *b, struct node *n)
{
    n->f.index = false;
}

/* Jackson's MIME-NO-LINEFEEDS: white space between units is skipped, padding is required. */
static bool mime_decode(struct str s, struct arena *arena, struct str *out, bool *room)
{
    char *to = arena_alloc(arena, s.n / 4 * 3 + 3);
    size_t n = 0, digits = 0, pads = 0;
    uint32_t bits = 0;
    *room = to != NULL;
    for (size_t i = 0; to != NULL && i < s.n; i++) {
        int d = base64_digit(s.p[i]);
        if (s.p[i] == '=' && digits >= 2) {
            d = 0;
            pads++;
        } else if ((uint8_t)s.p[i] <= ' ' && digits == 0) {
            continue;
        } else if (d < 0 || pads > 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)d;
        if (++digits == 4) {
            to[n++] = (char)(bits >> 16);
            to[n++] = (char)(bits >> 8);
            to[n++] = (char)bits;
            n -= pads;
            digits = 0;
            bits = 0;
        }
    }
    *out = str_mk(to, n);
    return to != NULL && digits == 0;
}

static enum err binary_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str bytes;
    bool room = true;
    if ((!f->store && !f->doc_values) || v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_STRING) {
        return err_set(
            p->em, ERR_JSON,
            "Current token (%s) not VALUE_STRING or VALUE_EMBEDDED_OBJECT, can not access as binary",
            json_token_name(v));
    }
    if (!mime_decode(v->s, p->arena, &bytes, &room)) {
        return room ? err_set(p->em, ERR_JSON,
                              "Failed to decode VALUE_STRING as base64 (MIME-NO-LINEFEEDS): illegal text")
                    : err_no_memory(p->em);
    }
    struct doc_value *to = doc_add(p, f, DOC_BYTES);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->bytes = bytes;
    return ERR_OK;
}

static enum err refuse_binary(UNUSED const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Binary fields do not support searching");
}

const struct field_class field_class_binary = {
    .name = "binary",
    .params = binary_params,
    .init = binary_init,
    .value = binary_value,
    .skips_objects = true,
    .kind = VALUE_TEXT,
    .is_binary = true,
    .show_format = value_no_formats,
    .show = value_show_text,
    .text = FIELD_TEXT_NONE,
    .refuse_search = refuse_binary,
};
