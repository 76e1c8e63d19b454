#include "engine/query/print.h"

#include "common/base/inet.h"
#include "common/base/num.h"
#include "engine/query/query_ops.h"

void query_print_field(const struct query *q, struct buf *out)
{
    buf_str(out, q->field_name);
    buf_char(out, ':');
}

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
    if (q->field != NULL && q->field->class->kind == VALUE_ADDRESS && s.n == INET_BYTES) {
        query_print_address((const uint8_t *)s.p, out);
    } else {
        buf_str(out, s);
    }
}

bool query_in_parens(const struct query *q)
{
    return q->ops == &q_bool && q->boolean.common == NULL && q->boost == 1;
}

/* With what its boost is printed around. */
static void print_by(void (*print)(const struct query *q, struct buf *out), const struct query *q,
                     struct buf *out)
{
    if (q->boost == 1) {
        print(q, out);
        return;
    }
    buf_char(out, '(');
    print(q, out);
    buf_z(out, ")^");
    num_put_float(out, q->boost);
}

void query_print(const struct query *q, struct buf *out)
{
    print_by(q->ops->print, q, out);
}

void query_print_bare(const struct query *q, struct buf *out)
{
    if (terms_as_clauses(q)) {
        q->ops->print_bare(q, out);
    } else {
        query_print(q, out);
    }
}

void query_print_column(const struct query *q, struct buf *out)
{
    (q->ops->print_column != NULL ? q->ops->print_column : q->ops->print)(q, out);
}
