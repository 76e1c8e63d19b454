/* Sort values outside of the shard: their order, and how answers show them. */
#include "engine/collect/top_doc.h"

#include "common/base/inet.h"
#include "engine/mapping/mapping.h"

static int value_cmp(const struct sort_value *a, const struct sort_value *b)
{
    bool a_bytes = sort_value_is_bytes(a), b_bytes = sort_value_is_bytes(b);
    if (a_bytes
        != b_bytes) { /* a text in one index, a number in another: they have no order, but must not be mistaken */
        return a_bytes ? 1 : -1;
    }
    if (a_bytes) {
        return str_cmp(a->s, b->s);
    }
    if (a->kind == SV_LONG && b->kind == SV_LONG) {
        return a->l < b->l ? -1 : a->l > b->l;
    }
    double x = a->kind == SV_LONG ? (double)a->l : a->d, y = b->kind == SV_LONG ? (double)b->l : b->d;
    int64_t sx = num_from_double(x), sy = num_from_double(y);
    return sx < sy ? -1 : sx > sy;
}

int sort_values_cmp(const struct sort_spec *specs, uint32_t n, const struct sort_value *a,
                    const struct sort_value *b)
{
    for (uint32_t i = 0; i < n; i++) {
        bool an = a[i].kind == SV_NULL, bn = b[i].kind == SV_NULL;
        int c;
        if (an || bn) {
            const struct json *m = specs[i].missing;
            bool first = json_is(m, JSON_STRING) && str_is(m->s, "_first");
            c = (int)an - (int)bn;
            c = first ? -c : c;
        } else {
            c = value_cmp(&a[i], &b[i]);
            c = specs[i].descending ? -c : c;
        }
        if (c != 0) {
            return c;
        }
    }
    return 0;
}

static void write_address(struct str bytes, struct jsonw *w)
{
    uint8_t address[INET_BYTES] = {[10] = 0xff, [11] = 0xff};
    struct buf shown;
    if (!sort_address_is_one(bytes)) { /* refused where hits are put together */
        jw_str(w, bytes);
        return;
    }
    memcpy(address + INET_BYTES - bytes.n, bytes.p, bytes.n);
    buf_init(&shown, NULL, KIB);
    inet_print(address, &shown);
    jw_str(w, buf_view(&shown));
    buf_fini(&shown);
}

void sort_value_write(const struct sort_value *v, struct jsonw *w)
{
    switch (v->kind) {
    case SV_NULL:
        jw_null(w);
        break;
    case SV_LONG:
        jw_i64(w, v->l);
        break;
    case SV_DOUBLE:
        jw_double(w, v->d);
        break;
    case SV_FLOAT:
        jw_float(w, (float)v->d);
        break;
    case SV_STR:
        jw_str(w, v->s);
        break;
    case SV_BOOL:
        jw_bool(w, v->l != 0);
        break;
    case SV_IP:
        write_address(v->s, w);
        break;
    }
}
