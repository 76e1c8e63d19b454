/* The disk watermarks among each other. */
#include "master/metadata_int.h"

#include "common/base/num.h"
#include "common/settings/setting_read.h"

#define KEY "cluster.routing.allocation.disk.watermark."

struct mark {
    const char *name; /* in errors */
    struct str text;
    bool is_ratio;
    double used;   /* is_ratio: percent */
    int64_t bytes; /* else: that must stay free */
};

static struct mark mark_of(const struct settings *s, const char *name, enum setting_id id)
{
    struct mark m = {.name = name, .text = setting_str(s, id)};
    bool percent = m.text.n > 0 && m.text.p[m.text.n - 1] == '%';
    m.is_ratio = num_parse_double(str_slice(m.text, 0, m.text.n - (percent ? 1 : 0)), &m.used);
    m.used *= percent ? 1 : 100;
    if (!m.is_ratio) {
        parse_bytes(m.text, "", &m.bytes, NULL);
    }
    return m;
}

static enum err check_order(const struct mark *a, const struct mark *b, struct errmsg *em)
{
    bool wrong = a->is_ratio ? a->used > b->used : a->bytes < b->bytes;
    return !wrong ? ERR_OK
                  : err_set(em, ERR_ILLEGAL_ARGUMENT,
                            "%s disk watermark [%.*s] %s than %s disk watermark [%.*s]", a->name,
                            STR_ARG(a->text), a->is_ratio ? "more" : "less", b->name, STR_ARG(b->text));
}

enum err watermarks_check(const struct settings *s, struct errmsg *em)
{
    struct mark low = mark_of(s, "low", SET_CLUSTER_ROUTING_ALLOCATION_DISK_WATERMARK_LOW),
                high = mark_of(s, "high", SET_CLUSTER_ROUTING_ALLOCATION_DISK_WATERMARK_HIGH),
                flood = mark_of(s, "flood stage", SET_CLUSTER_ROUTING_ALLOCATION_DISK_WATERMARK_FLOOD_STAGE);
    if (low.is_ratio != high.is_ratio || high.is_ratio != flood.is_ratio) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "unable to consistently parse [" KEY "low=%.*s], [" KEY "high=%.*s], and [" KEY
                       "flood_stage=%.*s] as percentage or bytes",
                       STR_ARG(low.text), STR_ARG(high.text), STR_ARG(flood.text));
    }
    enum err e = check_order(&low, &high, em);
    return e == ERR_OK ? check_order(&high, &flood, em) : e;
}
