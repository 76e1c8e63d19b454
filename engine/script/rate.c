#include "engine/script/rate.h"

#include "common/base/hash.h"
#include "common/base/time_text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define CONTEXTS SCRIPT_CONTEXTS
#define SEEN     100 /* scripts that a cache of Elasticsearch's holds */

struct bucket {
    double tokens;
    int64_t at_ms;
    uint64_t seen[SEEN]; /* hashes, the one used last in front */
    uint32_t n_seen;
};

static struct {
    pthread_mutex_t lock;
    atomic_bool any; /* is there a limit? */
    struct script_rates rates;
    struct bucket bucket[CONTEXTS];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *script_context_name(unsigned context)
{
    static const char *const names[] = {
        [SCRIPT_SCORE] = "score",
        [SCRIPT_FIELD] = "field",
        [SCRIPT_FILTER] = "filter",
        [SCRIPT_NUMBER_SORT] = "number_sort",
        [SCRIPT_STRING_SORT] = "string_sort",
        [SCRIPT_AGG] = "aggs",
        [SCRIPT_UPDATE] = "update",
        [SCRIPT_BUCKET] = "bucket_aggregation",
        [SCRIPT_BUCKET_SELECTOR] = "aggregation_selector",
        [SCRIPT_MOVING_FN] = "moving-function",
        [SCRIPT_TERMS_SET] = "terms_set",
        [SCRIPT_INGEST] = "ingest",
        [SCRIPT_CONDITION] = "processor_conditional",
        [SCRIPT_AGG_INIT] = "aggs_init",
        [SCRIPT_AGG_MAP] = "aggs_map",
        [SCRIPT_AGG_COMBINE] = "aggs_combine",
        [SCRIPT_AGG_REDUCE] = "aggs_reduce",
    };
    return context < ARRAY_LEN(names) ? names[context] : NULL;
}

static bool rate_same(const struct script_rates *a, const struct script_rates *b)
{
    bool ok = a->one == b->one;
    for (unsigned i = 0; ok && i < CONTEXTS; i++) {
        ok = a->of[i].count == b->of[i].count && a->of[i].window_ms == b->of[i].window_ms;
    }
    return ok;
}

void script_rates_set(const struct script_rates *rates)
{
    bool any = false;
    pthread_mutex_lock(&all.lock);
    if (!rate_same(&all.rates, rates)) {
        for (unsigned i = 0; i < CONTEXTS; i++) {
            all.bucket[i] =
                (struct bucket){.tokens = rates->of[i].count, .at_ms = clock_mono_ms(rates->clock)};
        }
    }
    for (unsigned i = 0; i < CONTEXTS; i++) {
        any = any || rates->of[i].window_ms > 0;
    }
    all.rates = *rates;
    atomic_store(&all.any, any);
    pthread_mutex_unlock(&all.lock);
}

/* Was it among the last ones? It is the last one now, when it was. */
static bool rate_seen(struct bucket *b, uint64_t hash)
{
    uint32_t at = 0;
    while (at < b->n_seen && b->seen[at] != hash) {
        at++;
    }
    if (at == b->n_seen) {
        return false;
    }
    memmove(b->seen + 1, b->seen, at * sizeof(*b->seen));
    b->seen[0] = hash;
    return true;
}

static void rate_keep(struct bucket *b, uint64_t hash)
{
    b->n_seen = MIN_OF(b->n_seen + 1, (uint32_t)SEEN);
    memmove(b->seen + 1, b->seen, (b->n_seen - 1) * sizeof(*b->seen));
    b->seen[0] = hash;
}

static bool rate_take(struct bucket *b, const struct script_rate *r, int64_t now)
{
    double more = (double)(now - b->at_ms) * r->count / (double)r->window_ms;
    b->tokens = MIN_OF(b->tokens + more, (double)r->count);
    b->at_ms = now;
    if (b->tokens < 1) {
        return false;
    }
    b->tokens -= 1;
    return true;
}

static enum err rate_refuse(const struct script_rate *r, bool one, enum script_context context,
                            struct str source, struct str lang, struct errmsg *em)
{
    struct buf time;
    const char *of = one ? "" : script_context_name(context);
    char key[64];
    snprintf(key, sizeof(key), "script.%s%s%smax_compilations_rate", one ? "" : "context.", of,
             one ? "" : ".");
    buf_init(&time, NULL, BUF_UNLIMITED);
    time_put_ns(&time, r->window_ms * 1000000);
    err_set(em, ERR_NO_MEMORY,
            "[script] Too many dynamic script compilations within, max: [%u/%.*s]; please use indexed, or "
            "scripts with "
            "parameters instead; this limit can be changed by the [%s] setting",
            r->count, STR_ARG(buf_view(&time)), key);
    buf_fini(&time);
    return err_wrap(em, ERR_GENERAL_SCRIPT, "Failed to compile inline script [%.*s] using lang [%.*s]",
                    STR_ARG(source), STR_ARG(lang));
}

enum err script_rate_take(enum script_context context, struct str source, struct str lang, struct errmsg *em)
{
    if (!atomic_load_explicit(&all.any, memory_order_relaxed)) {
        return ERR_OK;
    }
    lang = lang.n > 0 ? lang : STR("painless");
    uint64_t hash = hash_bytes(source.p, source.n, hash_bytes(lang.p, lang.n, (uint64_t)context));
    pthread_mutex_lock(&all.lock);
    bool one = all.rates.one;
    struct script_rate r = all.rates.of[one ? 0 : context];
    struct bucket *b = &all.bucket[one ? 0 : context];
    bool ok = r.window_ms == 0 || rate_seen(b, hash);
    if (!ok && rate_take(b, &r, clock_mono_ms(all.rates.clock))) {
        rate_keep(b, hash);
        ok = true;
    }
    pthread_mutex_unlock(&all.lock);
    return ok ? ERR_OK : rate_refuse(&r, one, context, source, lang, em);
}
