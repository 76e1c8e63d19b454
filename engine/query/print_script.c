/* Scripts as Elasticsearch's Script prints itself, with its parameters as Java's maps and lists do. */
#include "engine/query/print.h"

static void print_value(const struct json *v, struct buf *out)
{
    switch (v->type) {
    case JSON_NULL:
        buf_z(out, "null");
        return;
    case JSON_BOOL:
        buf_z(out, v->b ? "true" : "false");
        return;
    case JSON_ARRAY:
        buf_char(out, '[');
        for (uint32_t i = 0; i < v->n; i++) {
            buf_z(out, i > 0 ? ", " : "");
            print_value(&v->items[i], out);
        }
        buf_char(out, ']');
        return;
    case JSON_OBJECT:
        buf_char(out, '{');
        for (uint32_t i = 0; i < v->n; i++) {
            buf_z(out, i > 0 ? ", " : "");
            buf_str(out, v->members[i].key);
            buf_char(out, '=');
            print_value(&v->members[i].value, out);
        }
        buf_char(out, '}');
        return;
    case JSON_STRING:
    case JSON_NUMBER:
        buf_str(out, json_text(v));
        return;
    }
}

void query_print_script(const struct json *form, struct buf *out)
{
    const struct json *params = json_get(form, "params"), *source = json_get(form, "source"),
                      *lang = json_get(form, "lang"), *id = json_get(form, "id");
    id = id != NULL ? id : json_get(form, "stored");
    source = source != NULL ? source : json_get(form, "inline");
    struct str text = json_text(source != NULL ? source : form),
               named = json_is(lang, JSON_STRING) ? lang->s : STR("painless");
    if (id != NULL) {
        buf_printf(out, "Script{type=stored, lang='null', idOrCode='%.*s', options=null, params=",
                   STR_ARG(json_text(id)));
    } else {
        buf_printf(out,
                   "Script{type=inline, lang='%.*s', idOrCode='%.*s', options={}, params=", STR_ARG(named),
                   STR_ARG(text));
    }
    if (json_is(params, JSON_OBJECT)) {
        print_value(params, out);
    } else {
        buf_z(out, "{}");
    }
    buf_char(out, '}');
}

struct str script_form_text(const struct json *form, struct arena *a)
{
    struct buf b;
    buf_init(&b, NULL, MIB);
    query_print_script(form, &b);
    struct str s = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return s.p != NULL ? s : STR("");
}
