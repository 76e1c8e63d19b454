/* Statuses and responses of by-query operations as JSON. */
#include "coordinator/ops/by_query_int.h"

#include "common/base/time_text.h"
#include "engine/mapping/java.h"

#include <math.h>

struct sums { /* of one worker, or of the slices that have ended */
    int64_t total, updated, created, deleted, batches, conflicts, noops, bulk_retries, search_retries,
        throttled_ns, until_ns;
    double per_second;
};

static int64_t until(const struct by_query *op, const struct by_query_worker *w)
{
    const struct clock *c = op->co->o.clock;
    int64_t at = w->n.until_ns;
    return at == 0 ? 0 : MAX_OF(at - c->mono_ns(c->self), (int64_t)0);
}

static struct sums sums_of(const struct by_query *op, const struct by_query_worker *w)
{
    const struct by_query_counts *n = &w->n;
    return (struct sums){.total = n->total,
                         .updated = n->updated,
                         .created = n->created,
                         .deleted = n->deleted,
                         .batches = n->batches,
                         .conflicts = n->conflicts,
                         .noops = n->noops,
                         .bulk_retries = n->bulk_retries,
                         .search_retries = n->search_retries,
                         .throttled_ns = n->throttled_ns,
                         .until_ns = until(op, w),
                         .per_second = (double)n->per_second};
}

/* A slice counts once it has ended, well. */
static struct sums all_slices(const struct by_query *op)
{
    struct sums all = {.until_ns = INT64_MAX};
    for (uint32_t i = 0; i < op->n_workers; i++) {
        const struct by_query_worker *w = &op->workers[i];
        if (!w->n.done || w->error.n > 0) {
            continue;
        }
        struct sums s = sums_of(op, w);
        all.total += s.total;
        all.updated += s.updated;
        all.created += s.created;
        all.deleted += s.deleted;
        all.batches += s.batches;
        all.conflicts += s.conflicts;
        all.noops += s.noops;
        all.bulk_retries += s.bulk_retries;
        all.search_retries += s.search_retries;
        all.throttled_ns += s.throttled_ns;
        all.until_ns = MIN_OF(all.until_ns, s.until_ns);
        all.per_second += s.per_second;
    }
    all.until_ns = all.until_ns == INT64_MAX ? 0 : all.until_ns;
    return all;
}

static void write_ms(struct jsonw *j, const char *name, const char *name_ms, int64_t ns, unsigned flags)
{
    if ((flags & PRINT_HUMAN) != 0) {
        struct buf text;
        buf_init(&text, NULL, KIB);
        time_put_ns(&text, ns);
        jw_kstr(j, name, buf_view(&text));
        buf_fini(&text);
    }
    jw_ki64(j, name_ms, ns / 1000000);
}

static void write_sums(const struct by_query *op, const struct sums *s, bool cancelled, unsigned flags,
                       struct jsonw *j)
{
    enum by_query_kind kind = op->spec.kind;
    bool all = (flags & PRINT_ALL) != 0;
    jw_ki64(j, "total", s->total);
    if (all || kind != BY_QUERY_DELETE) {
        jw_ki64(j, "updated", s->updated);
    }
    if (all || kind == BY_QUERY_REINDEX) {
        jw_ki64(j, "created", s->created);
    }
    jw_ki64(j, "deleted", s->deleted);
    jw_ki64(j, "batches", s->batches);
    jw_ki64(j, "version_conflicts", s->conflicts);
    jw_ki64(j, "noops", s->noops);
    jw_kobj(j, "retries");
    jw_ki64(j, "bulk", s->bulk_retries);
    jw_ki64(j, "search", s->search_retries);
    jw_obj_end(j);
    write_ms(j, "throttled", "throttled_millis", s->throttled_ns, flags);
    jw_k(j, "requests_per_second");
    jw_float(j, isinf(s->per_second) ? -1 : (float)s->per_second);
    if (cancelled) {
        jw_kz(j, "canceled", "by user request");
    }
    write_ms(j, "throttled_until", "throttled_until_millis", s->until_ns, flags);
}

static void write_worker(const struct by_query *op, const struct by_query_worker *w, unsigned flags,
                         struct jsonw *j)
{
    struct sums s = sums_of(op, w);
    if (w->slice >= 0) {
        jw_ki64(j, "slice_id", w->slice);
    }
    write_sums(op, &s, by_query_cancelled(w), flags, j);
}

static void write_slices(const struct by_query *op, unsigned flags, struct jsonw *j)
{
    jw_karr(j, "slices");
    for (uint32_t i = 0; i < op->n_workers; i++) {
        const struct by_query_worker *w = &op->workers[i];
        if (!w->n.done) {
            jw_null(j);
        } else if (w->error.n > 0) {
            jw_raw(j, buf_view(&w->error));
        } else {
            jw_obj(j);
            write_worker(op, w, flags, j);
            jw_obj_end(j);
        }
    }
    jw_arr_end(j);
}

void status_members(const struct by_query *op, const struct by_query_worker *w, unsigned flags,
                    struct jsonw *j)
{
    if (w != NULL) {
        write_worker(op, w, flags, j);
        return;
    }
    struct sums s = all_slices(op);
    write_sums(op, &s, op->task.cancelled, flags, j);
    write_slices(op, flags, j);
}

void response_members(const struct by_query *op, unsigned flags, struct jsonw *j, int *status)
{
    bool timed_out = false;
    *status = 200;
    for (uint32_t i = 0; i < op->n_workers; i++) {
        timed_out |= op->workers[i].timed_out;
        *status = MAX_OF(*status, op->workers[i].failure_status);
    }
    *status = timed_out ? MAX_OF(*status, 408) : *status;
    jw_ki64(j, "took", op->took_ms);
    jw_kbool(j, "timed_out", timed_out);
    status_members(op, op->n_workers == 1 ? &op->workers[0] : NULL, flags, j);
    jw_karr(j, "failures");
    for (uint32_t i = 0; i < op->n_workers; i++) {
        if (op->workers[i].failures.n > 0) {
            jw_raw(j, buf_view(&op->workers[i].failures)); /* one or more */
        }
    }
    jw_arr_end(j);
}

static void put_list(struct buf *out, struct str list)
{
    struct str rest = list;
    buf_char(out, '[');
    while (rest.p != NULL && list.n > 0) {
        buf_str(out, str_cut(rest, ',', &rest));
        buf_z(out, rest.p != NULL ? ", " : "");
    }
    buf_char(out, ']');
}

void describe_by_query(const struct by_query *op, struct buf *out)
{
    static const char *const verbs[] = {"update-by-query ", "delete-by-query ", "reindex from "};
    const struct by_query_spec *s = &op->spec;
    buf_z(out, verbs[s->kind]);
    put_list(out, s->search.index);
    if (s->has_script) {
        buf_printf(out, " updated with Script{type=inline, lang='%.*s', idOrCode='%.*s', options={}, params=",
                   STR_ARG(s->lang), STR_ARG(s->script));
        if (s->params != NULL) {
            java_put_text(out, s->params);
        } else {
            buf_z(out, "{}");
        }
        buf_char(out, '}');
    }
    if (s->kind == BY_QUERY_REINDEX) {
        buf_printf(out, " to [%.*s][%.*s]", STR_ARG(s->dest),
                   STR_ARG(s->dest_type.n > 0 ? s->dest_type : STR("_doc")));
    }
}
