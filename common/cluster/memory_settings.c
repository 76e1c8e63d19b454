#include "common/cluster/memory_settings.h"

#include "common/settings/setting_read.h"

static uint64_t size_of(const struct settings *s, enum setting_id id, uint64_t memory)
{
    int64_t bytes = setting_share(s, id, memory);
    return bytes >= 0 ? (uint64_t)bytes : MEMORY_UNLIMITED;
}

static double factor_of(const struct settings *s, enum setting_id id)
{
    double v = setting_double(s, id);
    return v >= 0 ? v : 1.0;
}

void memory_limits_of(struct memory_limits *out, uint64_t memory, const struct settings *set)
{
    memory -= MIN_OF(MAX_OF(MIN_OF(memory / 4, (uint64_t)GIB), (uint64_t)(16 * MIB)), memory / 2);
    *out = (struct memory_limits){.heap = MIN_OF(memory, (uint64_t)GIB)};
    out->real = setting_bool(set, SET_INDICES_BREAKER_TOTAL_USE_REAL_MEMORY);
    out->limit[MEMORY_PARENT] = size_of(set, SET_INDICES_BREAKER_TOTAL_LIMIT, memory);
    out->limit[MEMORY_REQUEST] = size_of(set, SET_INDICES_BREAKER_REQUEST_LIMIT, memory);
    out->limit[MEMORY_FIELDDATA] = size_of(set, SET_INDICES_BREAKER_FIELDDATA_LIMIT, memory);
    out->limit[MEMORY_IN_FLIGHT] = size_of(set, SET_NETWORK_BREAKER_INFLIGHT_REQUESTS_LIMIT, memory);
    out->limit[MEMORY_ACCOUNTING] = size_of(set, SET_INDICES_BREAKER_ACCOUNTING_LIMIT, memory);
    out->overhead[MEMORY_PARENT] = 1.0;
    out->overhead[MEMORY_REQUEST] = factor_of(set, SET_INDICES_BREAKER_REQUEST_OVERHEAD);
    out->overhead[MEMORY_FIELDDATA] = factor_of(set, SET_INDICES_BREAKER_FIELDDATA_OVERHEAD);
    out->overhead[MEMORY_IN_FLIGHT] = factor_of(set, SET_NETWORK_BREAKER_INFLIGHT_REQUESTS_OVERHEAD);
    out->overhead[MEMORY_ACCOUNTING] = factor_of(set, SET_INDICES_BREAKER_ACCOUNTING_OVERHEAD);
    out->request_bytes = MAX_OF(size_of(set, SET_INDICES_BREAKER_REQUEST_LIMIT, out->heap), (uint64_t)MIB);
}
