#include "common/cluster/memory_settings.h"

#include "common/base/num.h"

struct source {
    const struct settings *node;
    const struct cluster_state *state;
    double memory; /* of which percentages are */
};

static struct str text_of(const struct source *f, const char *key, const char *otherwise)
{
    struct str own = settings_str(f->node, key, str_of(otherwise));
    return f->state != NULL ? cluster_setting(f->state, key, own) : own;
}

/* Bytes or a share; MEMORY_UNLIMITED for "-1", and for what cannot be read, which the settings' own check has refused. */
static uint64_t size_of(const struct source *f, const char *key, const char *otherwise)
{
    struct str text = text_of(f, key, otherwise);
    double percent;
    int64_t bytes;
    if (text.n > 0 && text.p[text.n - 1] == '%') {
        bool ok =
            num_parse_double(str_slice(text, 0, text.n - 1), &percent) && percent >= 0 && percent <= 100;
        return ok ? (uint64_t)(percent / 100 * f->memory) : MEMORY_UNLIMITED;
    }
    return parse_bytes(text, "", &bytes, NULL) == ERR_OK && bytes >= 0 ? (uint64_t)bytes : MEMORY_UNLIMITED;
}

static double factor_of(const struct source *f, const char *key, const char *otherwise)
{
    double v;
    return num_parse_double(text_of(f, key, otherwise), &v) && v >= 0 ? v : 1.0;
}

void memory_limits_of(struct memory_limits *out, uint64_t memory, const struct settings *node,
                      const struct cluster_state *s)
{
    memory -= MIN_OF(MAX_OF(MIN_OF(memory / 4, (uint64_t)GIB), (uint64_t)(16 * MIB)), memory / 2);
    struct source f = {node, s, (double)memory};
    *out = (struct memory_limits){.heap = MIN_OF(memory, (uint64_t)GIB)};
    out->real = !str_is(text_of(&f, "indices.breaker.total.use_real_memory", "true"), "false");
    out->limit[MEMORY_PARENT] = size_of(&f, "indices.breaker.total.limit", out->real ? "95%" : "70%");
    out->limit[MEMORY_REQUEST] = size_of(&f, "indices.breaker.request.limit", "60%");
    out->limit[MEMORY_FIELDDATA] = size_of(&f, "indices.breaker.fielddata.limit", "40%");
    out->limit[MEMORY_IN_FLIGHT] = size_of(&f, "network.breaker.inflight_requests.limit", "100%");
    out->limit[MEMORY_ACCOUNTING] = size_of(&f, "indices.breaker.accounting.limit", "100%");
    out->overhead[MEMORY_PARENT] = 1.0;
    out->overhead[MEMORY_REQUEST] = factor_of(&f, "indices.breaker.request.overhead", "1.0");
    out->overhead[MEMORY_FIELDDATA] = factor_of(&f, "indices.breaker.fielddata.overhead", "1.03");
    out->overhead[MEMORY_IN_FLIGHT] = factor_of(&f, "network.breaker.inflight_requests.overhead", "2.0");
    out->overhead[MEMORY_ACCOUNTING] = factor_of(&f, "indices.breaker.accounting.overhead", "1.0");
    f.memory = (double)out->heap;
    out->request_bytes = MAX_OF(size_of(&f, "indices.breaker.request.limit", "60%"), (uint64_t)MIB);
}
