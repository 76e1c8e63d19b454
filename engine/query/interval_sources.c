/* Sources of intervals: put together, simplified, printed (Intervals and Disjunctions of Lucene). */
#include "engine/query/intervals.h"

#include "common/base/stop.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"

bool interval_add(const struct interval_builder *b, struct interval_list *l, const struct interval_source *s)
{
    const struct interval_source **v = arena_grow(b->arena, (void *)l->v, l->n, &l->cap, sizeof(*v));
    if (v == NULL) {
        return false;
    }
    l->v = v;
    l->v[l->n++] = s;
    return true;
}

struct interval_source *interval_new(const struct interval_builder *b, enum interval_kind kind)
{
    struct interval_source *s = ARENA_NEW(b->arena, struct interval_source);
    if (s != NULL) {
        *s = (struct interval_source){.kind = kind};
    }
    return s;
}

static bool add_all(const struct interval_builder *b, struct interval_list *to,
                    const struct interval_list *from)
{
    bool ok = true;
    for (size_t i = 0; i < from->n && ok; i++) {
        ok = interval_add(b, to, from->v[i]);
    }
    return ok;
}

static int32_t plus(int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)x + (uint32_t)y);
}

int32_t interval_extent(const struct interval_source *s)
{
    int32_t sum = 0, least = INT32_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        int32_t own = interval_extent(s->v[i]);
        sum = plus(sum, own);
        least = MIN_OF(least, own);
    }
    switch (s->kind) {
    case INTERVAL_TERM:
    case INTERVAL_PATTERN:
    case INTERVAL_BEFORE:
    case INTERVAL_BEHIND:
        return 1;
    case INTERVAL_BLOCK:
    case INTERVAL_ORDERED:
    case INTERVAL_UNORDERED:
        return sum;
    case INTERVAL_ANY:
        return least;
    case INTERVAL_EXTENDED: {
        int32_t all = plus(plus(s->before, sum), s->after);
        return all < 0 ? INT32_MAX : all;
    }
    case INTERVAL_MAX_GAPS:
    case INTERVAL_REPEATED:
    case INTERVAL_CONTAINING:
    case INTERVAL_CONTAINED_BY:
    case INTERVAL_NOT_CONTAINING:
    case INTERVAL_NOT_CONTAINED_BY:
    case INTERVAL_OVERLAPPING:
    case INTERVAL_NOT_OVERLAPPING:
    case INTERVAL_OF_FIELD:
        return interval_extent(s->v[0]);
    case INTERVAL_NONE:
        break;
    }
    return 0;
}

/* ---- disjunctions ---- */

static enum err pull_up(const struct interval_builder *b, const struct interval_source *s,
                        struct interval_list *out);

enum err interval_any(const struct interval_builder *b, const struct interval_list *l,
                      const struct interval_source **out)
{
    struct interval_set simple = {0};
    for (size_t i = 0; i < l->n; i++) {
        const struct interval_source *s = l->v[i];
        bool any = s->kind == INTERVAL_ANY;
        for (size_t k = 0, at; k < (any ? s->n : 1) && !stop_often(); k++) {
            if (!interval_set_add(b, &simple, any ? s->v[k] : s, &at)) {
                return err_no_memory(b->em);
            }
        }
    }
    if (simple.list.n == 1) {
        *out = simple.list.v[0];
        return ERR_OK;
    }
    struct interval_source *s = interval_new(b, INTERVAL_ANY);
    if (s == NULL) {
        return err_no_memory(b->em);
    }
    s->v = simple.list.v;
    s->n = (uint32_t)simple.list.n;
    *out = s;
    return ERR_OK;
}

/* What it is any of: those that are one position long count as one, as they cannot hide each other. */
static enum err split(const struct interval_builder *b, const struct interval_source *s,
                      struct interval_list *out)
{
    struct interval_list all = {0}, single = {0}, longer = {0};
    const struct interval_source *any;
    enum err e = pull_up(b, s, &all);
    for (size_t i = 0; e == ERR_OK && i < all.n; i++) {
        struct interval_list *to = interval_extent(all.v[i]) == 1 ? &single : &longer;
        e = interval_add(b, to, all.v[i]) ? ERR_OK : err_no_memory(b->em);
    }
    if (e == ERR_OK && single.n > 0) {
        e = interval_any(b, &single, &any);
        e = e == ERR_OK && !interval_add(b, out, any) ? err_no_memory(b->em) : e;
    }
    return e == ERR_OK && !add_all(b, out, &longer) ? err_no_memory(b->em) : e;
}

static enum err add_copy(const struct interval_builder *b, const struct interval_source *like,
                         const struct interval_source *const *v, uint32_t n, struct interval_list *out)
{
    struct interval_source *s = interval_new(b, like->kind);
    const struct interval_source **own = ARENA_ARRAY(b->arena, const struct interval_source *, MAX_OF(n, 1U));
    if (s == NULL || own == NULL) {
        return err_no_memory(b->em);
    }
    *s = *like;
    for (uint32_t i = 0; i < n; i++) {
        own[i] = v[i];
    }
    s->v = own;
    s->n = n;
    return interval_add(b, out, s) ? ERR_OK : err_no_memory(b->em);
}

/* As many sources as there are choices of one alternative for each of its parts. */
static enum err pull_all(const struct interval_builder *b, const struct interval_source *like,
                         struct interval_list *out)
{
    uint32_t n = like->n;
    struct interval_list *parts = ARENA_ARRAY(b->arena, struct interval_list, MAX_OF(n, 1U));
    const struct interval_source **v = ARENA_ARRAY(b->arena, const struct interval_source *, MAX_OF(n, 1U));
    size_t total = 1;
    enum err e = parts != NULL && v != NULL ? ERR_OK : err_no_memory(b->em);
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        e = split(b, like->v[i], &parts[i]);
        if (e == ERR_OK && parts[i].n != 1 && total * parts[i].n > query_node_settings()->clauses_max) {
            return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Too many disjunctions to expand");
        }
        total *= parts[i].n;
    }
    for (size_t k = 0; k < total && e == ERR_OK && !stop_often(); k++) {
        size_t rest = k;
        for (uint32_t i = 0; i < n; i++) { /* the first part's alternatives change fastest */
            v[i] = parts[i].v[rest % parts[i].n];
            rest /= parts[i].n;
        }
        e = add_copy(b, like, v, n, out);
    }
    return e;
}

/* The same of its i-th part alone. */
static enum err pull_one(const struct interval_builder *b, const struct interval_source *like, uint32_t i,
                         struct interval_list *out)
{
    struct interval_list parts = {0};
    const struct interval_source *v[2] = {like->v[0], like->n > 1 ? like->v[1] : NULL};
    enum err e = split(b, like->v[i], &parts);
    for (size_t k = 0; k < parts.n && e == ERR_OK; k++) {
        v[i] = parts.v[k];
        e = add_copy(b, like, v, like->n, out);
    }
    return e;
}

static enum err pull_extended(const struct interval_builder *b, const struct interval_source *s,
                              struct interval_list *out)
{
    struct interval_list in = {0};
    enum err e = pull_up(b, s->v[0], &in);
    for (size_t i = 0; i < in.n && e == ERR_OK; i++) {
        e = add_copy(b, s, &in.v[i], 1, out);
    }
    return e == ERR_OK && in.n == 0 && !interval_add(b, out, s) ? err_no_memory(b->em) : e;
}

static enum err pull_up(const struct interval_builder *b, const struct interval_source *s,
                        struct interval_list *out)
{
    bool ok = true;
    switch (s->kind) {
    case INTERVAL_ANY:
        for (uint32_t i = 0; i < s->n && ok; i++) {
            ok = interval_add(b, out, s->v[i]);
        }
        return ok ? ERR_OK : err_no_memory(b->em);
    case INTERVAL_ORDERED:
    case INTERVAL_UNORDERED:
    case INTERVAL_OVERLAPPING:
        return pull_all(b, s, out);
    case INTERVAL_CONTAINING:
    case INTERVAL_OF_FIELD:
        return pull_one(b, s, 0, out);
    case INTERVAL_CONTAINED_BY:
        return pull_one(b, s, 1, out);
    case INTERVAL_EXTENDED:
        return pull_extended(b, s, out);
    case INTERVAL_TERM:
    case INTERVAL_PATTERN:
    case INTERVAL_BLOCK:
    case INTERVAL_MAX_GAPS:
    case INTERVAL_REPEATED:
    case INTERVAL_BEFORE:
    case INTERVAL_BEHIND:
    case INTERVAL_NOT_CONTAINING:
    case INTERVAL_NOT_CONTAINED_BY:
    case INTERVAL_NOT_OVERLAPPING:
        return interval_add(b, out, s) ? ERR_OK : err_no_memory(b->em);
    case INTERVAL_NONE:
        break;
    }
    return ERR_OK;
}

/* ---- combinations ---- */

/* Those of the same kind among them become its own. */
static enum err flatten(const struct interval_builder *b, const struct interval_list *l,
                        enum interval_kind kind, struct interval_list *out)
{
    bool ok = true;
    for (size_t i = 0; i < l->n && ok; i++) {
        bool same = l->v[i]->kind == kind;
        for (uint32_t k = 0; k < (same ? l->v[i]->n : 1) && ok; k++) {
            ok = interval_add(b, out, same ? l->v[i]->v[k] : l->v[i]);
        }
    }
    return ok ? ERR_OK : err_no_memory(b->em);
}

static enum err source_of(const struct interval_builder *b, enum interval_kind kind,
                          const struct interval_list *l, struct interval_source **out)
{
    struct interval_source *s = *out = interval_new(b, kind);
    if (s == NULL) {
        return err_no_memory(b->em);
    }
    s->v = l->v;
    s->n = (uint32_t)l->n;
    return ERR_OK;
}

static enum err block(const struct interval_builder *b, const struct interval_list *l,
                      const struct interval_source **out)
{
    const struct interval_source like = {.kind = INTERVAL_BLOCK, .v = l->v, .n = (uint32_t)l->n};
    struct interval_list pulled = {0}, flat = {0};
    enum err e = pull_all(b, &like, &pulled);
    for (size_t i = 0; i < pulled.n && e == ERR_OK; i++) {
        struct interval_list parts = {0}, of = {.v = NULL};
        struct interval_source *s;
        for (uint32_t k = 0; k < pulled.v[i]->n && e == ERR_OK; k++) {
            e = interval_add(b, &of, pulled.v[i]->v[k]) ? ERR_OK : err_no_memory(b->em);
        }
        e = e == ERR_OK ? flatten(b, &of, INTERVAL_BLOCK, &parts) : e;
        e = e == ERR_OK ? source_of(b, INTERVAL_BLOCK, &parts, &s) : e;
        e = e == ERR_OK && !interval_add(b, &flat, s) ? err_no_memory(b->em) : e;
    }
    return e == ERR_OK ? interval_any(b, &flat, out) : e;
}

static enum err repeated(const struct interval_builder *b, const struct interval_source *in, int32_t count,
                         struct interval_list *out)
{
    struct interval_list one = {0};
    struct interval_source *s;
    if (count == 1) {
        return interval_add(b, out, in) ? ERR_OK : err_no_memory(b->em);
    }
    enum err e = interval_add(b, &one, in) ? source_of(b, INTERVAL_REPEATED, &one, &s) : err_no_memory(b->em);
    if (e == ERR_OK) {
        s->before = count;
        e = interval_add(b, out, s) ? ERR_OK : err_no_memory(b->em);
    }
    return e;
}

/* Equal ones count each as one of several in a row. */
static enum err deduplicate(const struct interval_builder *b, const struct interval_list *l,
                            struct interval_list *out)
{
    struct interval_set set = {0};
    int32_t *counts = ARENA_ARRAY(b->arena, int32_t, MAX_OF(l->n, (size_t)1));
    enum err e = counts != NULL ? ERR_OK : err_no_memory(b->em);
    for (size_t i = 0, at; e == ERR_OK && i < l->n && !stop_often(); i++) {
        if (interval_set_add(b, &set, l->v[i], &at)) {
            counts[at]++;
        } else {
            e = err_no_memory(b->em);
        }
    }
    for (size_t i = 0; e == ERR_OK && i < set.list.n; i++) {
        e = repeated(b, set.list.v[i], counts[i], out);
    }
    return e;
}

/* Equal ones beside each other count as one of several in a row. */
static enum err join_runs(const struct interval_builder *b, const struct interval_list *l,
                          struct interval_list *out)
{
    enum err e = ERR_OK;
    for (size_t i = 0, next; i < l->n && e == ERR_OK; i = next) {
        for (next = i + 1; next < l->n && interval_same(l->v[next], l->v[i]) && !stop_often(); next++) {
        }
        e = repeated(b, l->v[i], (int32_t)(next - i), out);
    }
    return e;
}

static enum err combination(const struct interval_builder *b, const struct interval_list *l,
                            enum interval_kind kind, const struct interval_source **out)
{
    struct interval_list flat = {0}, parts = {0};
    struct interval_source *s = NULL;
    bool ordered = kind == INTERVAL_ORDERED;
    enum err e = flatten(b, l, kind, &flat);
    e = e == ERR_OK ? (ordered ? join_runs : deduplicate)(b, &flat, &parts) : e;
    if (e == ERR_OK && parts.n == 1) {
        s = interval_new(b, INTERVAL_NONE);
        if (s == NULL) {
            return err_no_memory(b->em);
        }
        *s = *parts.v[0];
        s->alone = s->kind != INTERVAL_REPEATED ? NULL : ordered ? "ORDERED" : "UNORDERED";
    } else if (e == ERR_OK) {
        e = source_of(b, kind, &parts, &s);
    }
    *out = s;
    return e;
}

static enum err max_gaps_of(const struct interval_builder *b, const struct interval_source *in, int32_t gaps,
                            const struct interval_source **out)
{
    struct interval_list all = {0}, limited = {0};
    const struct interval_source like = {.kind = INTERVAL_MAX_GAPS, .before = gaps};
    enum err e = pull_up(b, in, &all);
    for (size_t i = 0; i < all.n && e == ERR_OK; i++) {
        e = add_copy(b, &like, &all.v[i], 1, &limited);
    }
    return e == ERR_OK ? interval_any(b, &limited, out) : e;
}

enum err interval_combine(const struct interval_builder *b, const struct interval_list *l, int32_t max_gaps,
                          bool ordered, const struct interval_source **out)
{
    if (l->n == 0) {
        *out = interval_new(b, INTERVAL_NONE);
        return *out != NULL ? ERR_OK : err_no_memory(b->em);
    }
    if (l->n == 1) {
        *out = l->v[0];
        return ERR_OK;
    }
    if (max_gaps == 0 && ordered) {
        return block(b, l, out);
    }
    enum err e = combination(b, l, ordered ? INTERVAL_ORDERED : INTERVAL_UNORDERED, out);
    return e == ERR_OK && max_gaps != -1 ? max_gaps_of(b, *out, max_gaps, out) : e;
}

enum err interval_extend(const struct interval_builder *b, const struct interval_source *in, int32_t before,
                         int32_t after, const struct interval_source **out)
{
    struct interval_list one = {0};
    struct interval_source *s;
    enum err e = interval_add(b, &one, in) ? source_of(b, INTERVAL_EXTENDED, &one, &s) : err_no_memory(b->em);
    if (e == ERR_OK) {
        s->before = before;
        s->after = after;
        *out = s;
    }
    return e;
}

enum err interval_relate(const struct interval_builder *b, enum interval_kind kind,
                         const struct interval_source *in, const struct interval_source *by,
                         const struct interval_source **out)
{
    struct interval_list two = {0}, pulled = {0};
    struct interval_source *s;
    enum err e = interval_add(b, &two, in) && interval_add(b, &two, by) ? source_of(b, kind, &two, &s)
                                                                        : err_no_memory(b->em);
    if (e != ERR_OK) {
        return e;
    }
    *out = s;
    if (kind == INTERVAL_OVERLAPPING || kind == INTERVAL_NOT_OVERLAPPING) {
        return ERR_OK;
    }
    bool second = kind == INTERVAL_CONTAINED_BY || kind == INTERVAL_NOT_CONTAINED_BY;
    e = pull_one(b, s, second ? 1 : 0, &pulled);
    return e == ERR_OK ? interval_any(b, &pulled, out) : e;
}

enum err interval_place(const struct interval_builder *b, bool behind, const struct interval_source *in,
                        const struct interval_source *by, const struct interval_source **out)
{
    struct interval_list one = {0};
    struct interval_source *s;
    const struct interval_source *wide;
    enum err e = interval_add(b, &one, by)
                     ? source_of(b, behind ? INTERVAL_BEHIND : INTERVAL_BEFORE, &one, &s)
                     : err_no_memory(b->em);
    e = e == ERR_OK ? interval_extend(b, s, behind ? 0 : INT32_MAX, behind ? INT32_MAX : 0, &wide) : e;
    return e == ERR_OK ? interval_relate(b, INTERVAL_CONTAINED_BY, in, wide, out) : e;
}

/* ---- texts ---- */

static void print_all(const struct interval_source *s, struct buf *out)
{
    for (uint32_t i = 0; i < s->n; i++) {
        buf_z(out, i > 0 ? "," : "");
        interval_print(s->v[i], out);
    }
}

static void print_repeated(const struct interval_source *s, struct buf *out)
{
    if (s->alone != NULL) {
        buf_printf(out, "%s(", s->alone);
    }
    for (int32_t i = 0; i < s->before && !out->failed && !stop_often(); i++) {
        buf_z(out, i > 0 ? "," : "");
        interval_print(s->v[0], out);
    }
    buf_z(out, s->alone != NULL ? ")" : "");
}

void interval_print(const struct interval_source *s, struct buf *out)
{
    static const char *const names[] = {[INTERVAL_BLOCK] = "BLOCK",
                                        [INTERVAL_ORDERED] = "ORDERED",
                                        [INTERVAL_UNORDERED] = "UNORDERED",
                                        [INTERVAL_ANY] = "or",
                                        [INTERVAL_BEFORE] = "PRECEDING",
                                        [INTERVAL_BEHIND] = "FOLLOWING",
                                        [INTERVAL_CONTAINING] = "CONTAINING",
                                        [INTERVAL_CONTAINED_BY] = "CONTAINED_BY",
                                        [INTERVAL_NOT_CONTAINING] = "NOT_CONTAINING",
                                        [INTERVAL_NOT_CONTAINED_BY] = "NOT_CONTAINED_BY",
                                        [INTERVAL_OVERLAPPING] = "OVERLAPPING",
                                        [INTERVAL_NOT_OVERLAPPING] = "NON_OVERLAPPING"};
    switch (s->kind) {
    case INTERVAL_TERM:
        buf_str(out, s->text);
        return;
    case INTERVAL_PATTERN:
        buf_z(out, "MultiTerm(");
        buf_str(out, s->text);
        buf_char(out, ')');
        return;
    case INTERVAL_MAX_GAPS:
        buf_printf(out, "MAXGAPS/%d(", (int)s->before);
        print_all(s, out);
        buf_char(out, ')');
        return;
    case INTERVAL_EXTENDED:
        buf_z(out, "EXTEND(");
        print_all(s, out);
        buf_printf(out, ",%d,%d)", (int)s->before, (int)s->after);
        return;
    case INTERVAL_REPEATED:
        print_repeated(s, out);
        return;
    case INTERVAL_OF_FIELD:
        buf_printf(out, "FIELD(%.*s,", STR_ARG(s->field));
        print_all(s, out);
        buf_char(out, ')');
        return;
    case INTERVAL_NONE:
        buf_z(out, "no_match");
        return;
    case INTERVAL_BLOCK:
    case INTERVAL_ORDERED:
    case INTERVAL_UNORDERED:
    case INTERVAL_ANY:
    case INTERVAL_BEFORE:
    case INTERVAL_BEHIND:
    case INTERVAL_CONTAINING:
    case INTERVAL_CONTAINED_BY:
    case INTERVAL_NOT_CONTAINING:
    case INTERVAL_NOT_CONTAINED_BY:
    case INTERVAL_OVERLAPPING:
    case INTERVAL_NOT_OVERLAPPING:
        break;
    }
    buf_printf(out, "%s(", names[s->kind]);
    print_all(s, out);
    buf_char(out, ')');
}
