#include "engine/query/print_terms.h"

#include "common/base/inet.h"
#include "common/base/sort_items.h"

#include <stdlib.h>

#define CLAUSES_MAX 16 /* TermInSetQuery.BOOLEAN_REWRITE_TERM_COUNT_THRESHOLD */

/* InetAddress.getHostAddress(): no run of zeros is left out. */
void query_print_address(const uint8_t a[INET_BYTES], struct buf *out)
{
    if (inet_is_v4(a)) {
        inet_print(a, out);
        return;
    }
    for (int i = 0; i < INET_BYTES; i += 2) {
        buf_printf(out, "%s%x", i > 0 ? ":" : "", a[i] << 8 | a[i + 1]);
    }
}

void query_print_bytes(const struct query *q, struct str s, struct buf *out)
{
    if (q->field != NULL && q->field->type == FT_IP && s.n == INET_BYTES) {
        query_print_address((const uint8_t *)s.p, out);
    } else {
        buf_str(out, s);
    }
}

/* ---- ids as they are indexed (Uid.encodeId) ---- */

static bool id_char(char c, int *v)
{
    *v = c >= 'A' && c <= 'Z'   ? c - 'A'
         : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : c >= '0' && c <= '9' ? c - '0' + 52
         : c == '-'             ? 62
         : c == '_'             ? 63
                                : -1;
    return *v >= 0;
}

enum id_form {
    ID_DIGITS = 0xFE,
    ID_TEXT = 0xFF,
    ID_BASE64 = 0xFD /* only before bytes that look like a form */
};

static enum id_form id_form(struct str id)
{
    bool digits = id.n > 0 && !(id.n > 1 && id.p[0] == '0'), base64 = id.n > 0 && id.n % 4 != 1;
    int v = 0;
    for (size_t i = 0; i < id.n; i++) {
        digits = digits && id.p[i] >= '0' && id.p[i] <= '9';
        base64 = base64 && id_char(id.p[i], &v);
    }
    if (base64) { /* bits of the last letter that begin another byte have to be 0 */
        base64 = (v & (id.n % 4 == 2 ? 15 : id.n % 4 == 3 ? 3 : 0)) == 0;
    }
    return digits ? ID_DIGITS : base64 ? ID_BASE64 : ID_TEXT;
}

static void encode_id(struct str id, struct buf *out)
{
    enum id_form form = id_form(id);
    uint32_t bits = 0;
    unsigned have = 0;
    if (form != ID_BASE64) {
        buf_char(out, (char)form);
    }
    for (size_t i = 0; i < id.n; i++) {
        int v;
        if (form == ID_TEXT) {
            buf_char(out, id.p[i]);
        } else if (form == ID_DIGITS) {
            int low = i + 1 < id.n ? id.p[i + 1] - '0' : 15;
            buf_char(out, (char)((id.p[i] - '0') << 4 | low));
            i++;
        } else if (id_char(id.p[i], &v)) {
            bits = bits << 6 | (uint32_t)v;
            have += 6;
            if (have >= 8) {
                have -= 8;
                unsigned char byte = (unsigned char)(bits >> have);
                if (i == 1 && byte >= ID_BASE64) {
                    buf_char(out, (char)ID_BASE64);
                }
                buf_char(out, (char)byte);
            }
        }
    }
}

static void print_id(struct str id, struct buf *out)
{
    struct buf b;
    buf_init(&b, NULL, KIB * 2);
    encode_id(id, &b);
    buf_char(out, '[');
    for (size_t i = 0; i < b.n; i++) {
        buf_printf(out, i > 0 ? " %x" : "%x", (unsigned char)b.p[i]);
    }
    buf_char(out, ']');
    buf_fini(&b);
}

static int by_encoded_id(const void *a, const void *b)
{
    struct buf x, y;
    buf_init(&x, NULL, KIB * 2);
    buf_init(&y, NULL, KIB * 2);
    encode_id(*(const struct str *)a, &x);
    encode_id(*(const struct str *)b, &y);
    int by = str_cmp(buf_view(&x), buf_view(&y));
    buf_fini(&x);
    buf_fini(&y);
    return by;
}

static int by_term(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* ---- the sets ---- */

static void print_one(const struct query *q, uint32_t i, struct buf *out)
{
    if (q->ops == &q_ids) {
        print_id(q->terms.v[i], out);
    } else {
        query_print_bytes(q, q->terms.v[i], out);
    }
}

/* Addresses are points, a set of which is a query of its own. */
static bool is_points(const struct query *q)
{
    return q->field != NULL && q->field->type == FT_IP;
}

void query_print_terms(const struct query *q, bool bare, struct buf *out)
{
    bool clauses = terms_as_clauses(q), points = is_points(q);
    buf_z(out, clauses && !bare ? "ConstantScore(" : "");
    if (!clauses) {
        buf_printf(out, "%.*s:%c", STR_ARG(q->field_name), points ? '{' : '(');
    }
    for (uint32_t i = 0; i < q->terms.n; i++) {
        buf_z(out, i > 0 ? " " : "");
        if (clauses) {
            buf_printf(out, "%.*s:", STR_ARG(q->field_name));
        }
        print_one(q, i, out);
    }
    buf_z(out, clauses && bare ? "" : points ? "}" : ")");
}

bool terms_as_clauses(const struct query *q)
{
    return (q->ops == &q_terms || q->ops == &q_ids) && q->terms.clauses;
}

const struct query *terms_rewrite(const struct query *q, struct arena *arena)
{
    if (q->terms.clauses || is_points(q)) {
        return q;
    }
    struct query *c = ARENA_NEW(arena, struct query);
    struct str *v = ARENA_ARRAY(arena, struct str, q->terms.n);
    uint32_t n = 0;
    if (c == NULL || v == NULL) {
        return NULL;
    }
    memcpy(v, q->terms.v, q->terms.n * sizeof(*v));
    sort_items(v, q->terms.n, sizeof(*v), by_term);
    for (uint32_t i = 0; i < q->terms.n; i++) {
        if (n == 0 || !str_eq(v[n - 1], v[i])) {
            v[n++] = v[i];
        }
    }
    if (n > CLAUSES_MAX) {
        return q;
    }
    if (q->ops == &q_ids && n > 1) {
        sort_items(v, n, sizeof(*v), by_encoded_id);
    }
    *c = *q;
    c->terms.v = v;
    c->terms.n = n;
    c->terms.clauses = true;
    return c;
}
