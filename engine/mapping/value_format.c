#include "engine/mapping/value_format.h"

void value_write_buf(struct buf *b, struct jsonw *w)
{
    jw_str(w, buf_view(b));
    buf_fini(b);
}

void value_write_date(const struct value_format *f, struct instant t, struct jsonw *w)
{
    struct buf b;
    buf_init(&b, NULL, 4 * KIB);
    if (f->date == NULL || !date_print(f->date, t, NULL, &b)) {
        buf_reset(&b);
        buf_i64(&b, instant_to_ms(t));
    }
    value_write_buf(&b, w);
}

void value_show_text(UNUSED const struct value_format *f, const struct json *v, UNUSED struct arena *arena,
                     struct jsonw *w)
{
    jw_str(w, json_text(v));
}

enum err value_date_format(struct value_format *out, struct str format, struct arena *arena,
                           struct errmsg *em)
{
    return date_format_new(&out->date, format, arena, em);
}

enum err value_decimal_format(struct value_format *out, struct str format, struct arena *arena,
                              struct errmsg *em)
{
    return decimal_format_new(&out->decimal, format, arena, em);
}

enum err value_no_formats(struct value_format *out, UNUSED struct str format, UNUSED struct arena *arena,
                          struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] doesn't support formats.",
                   STR_ARG(out->field->path));
}

enum err source_format_new(struct value_format *out, const struct field *f, struct str format,
                           struct arena *arena, struct errmsg *em)
{
    *out = (struct value_format){.field = f, .date = f->format};
    if (format.p == NULL) {
        return ERR_OK;
    }
    return f->class->show_format != NULL
               ? f->class->show_format(out, format, arena, em)
               : err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] of type [%s] doesn't support formats.",
                         STR_ARG(f->path), f->class->name);
}

void source_value_write(const struct value_format *f, const struct json *v, struct arena *arena,
                        struct jsonw *w)
{
    const struct field *field = f->field;
    if (v->type == JSON_NULL) {
        if (field->null_value == NULL) {
            return;
        }
        v = field->null_value;
    }
    if (field->class->show != NULL) {
        field->class->show(f, v, arena, w);
    } else {
        jw_value(w, v);
    }
}
