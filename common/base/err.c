#include "common/base/err.h"

#include "common/base/invariant.h"
#include "common/base/memory_account.h"
#include "common/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int status;
    const char *type;
    enum err_family family;
} table[ERR_COUNT] = {
#define ERR_ROW(code, st, ty, fam) [code] = {st, ty, ERR_FAMILY_##fam},
    ERR_MAP(ERR_ROW)
#undef ERR_ROW
};

int err_status(enum err e)
{
    return table[e].status;
}

const char *err_type(enum err e)
{
    return table[e].type;
}

enum err_family err_family(enum err e)
{
    return table[e].family;
}

/* ---- frames ---- */

/* What stands for a frame that no memory was found for: its code is known. */
static const struct err_frame bare[ERR_COUNT] = {
#define ERR_BARE(c, st, ty, fam) [c] = {.code = (c), .depth = 1, .reason = ""},
    ERR_MAP(ERR_BARE)
#undef ERR_BARE
};
static const struct err_frame bare_no_memory = {
    .code = ERR_NO_MEMORY,
    .depth = 1,
    .reason = "[parent] Data too large: the request needs more memory than its limit"};

/* Reasons are UTF-8 whatever is quoted in them: one that did not fit ends before its last, torn character, and other
 * bytes that are none become question marks. */
static void mend(char *text)
{
    size_t n = strlen(text), at = 0, wrong, bad;
    bool torn = false;
    while (!torn && (bad = utf8_bad(str_mk(text + at, n - at), &wrong)) != SIZE_MAX) {
        torn = at + wrong == n;
        at += bad;
        text[at] = torn ? '\0' : '?';
    }
}

static void *take(const struct errmsg *em, size_t n)
{
    INVARIANT(assert(em->arena != NULL)); /* whoever declares an error names its arena */
    return em->arena != NULL ? arena_spare(em->arena, n) : NULL;
}

static int length(const char *fmt, va_list ap) PRINTF_LIKE(1, 0);

static int length(const char *fmt, va_list ap)
{
    va_list copy;
    va_copy(copy, ap);
    int n = vsnprintf(NULL, 0, fmt, copy);
    va_end(copy);
    return MAX_OF(n, 0);
}

static const struct err_frame *frame_new(const struct errmsg *em, struct err_frame as, const char *fmt,
                                         va_list ap) PRINTF_LIKE(3, 0);

/* The frame `as`, with a reason. */
static const struct err_frame *frame_new(const struct errmsg *em, struct err_frame as, const char *fmt,
                                         va_list ap)
{
    size_t n = MIN_OF((size_t)length(fmt, ap), ERR_REASON_MAX);
    struct err_frame *f = take(em, sizeof(*f) + n + 1);
    if (f == NULL) {
        return as.code == ERR_NO_MEMORY ? &bare_no_memory : &bare[as.code];
    }
    char *reason = (char *)(f + 1);
    vsnprintf(reason, n + 1, fmt, ap);
    mend(reason);
    *f = as;
    f->reason = reason;
    return f;
}

static const struct err_frame *frame_of(const struct errmsg *em, struct err_frame as, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

static const struct err_frame *frame_of(const struct errmsg *em, struct err_frame as, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const struct err_frame *f = frame_new(em, as, fmt, ap);
    va_end(ap);
    return f;
}

enum err err_setv(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt, va_list ap)
{
    if (em != NULL) {
        const struct err_frame *f =
            frame_new(em, (struct err_frame){.code = e, .line = line, .col = col, .depth = 1}, fmt, ap);
        err_clear(em);
        em->frame = f;
    }
    return e;
}

enum err err_set(struct errmsg *em, enum err e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(em, e, 0, 0, fmt, ap);
    va_end(ap);
    return e;
}

enum err err_set_at(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(em, e, line, col, fmt, ap);
    va_end(ap);
    return e;
}

static enum err err_wrapv(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt,
                          va_list ap) PRINTF_LIKE(5, 0);

static enum err err_wrapv(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt,
                          va_list ap)
{
    if (em != NULL) {
        const struct err_frame *cause = em->frame;
        if (cause != NULL && cause->depth >= ERR_FRAMES_MAX) {
            cause = cause->cause;
        }
        struct err_frame as = {.code = e,
                               .line = line,
                               .col = col,
                               .depth = cause != NULL ? cause->depth + 1 : 1,
                               .cause = cause};
        em->frame = frame_new(em, as, fmt, ap);
    }
    return e;
}

enum err err_wrap(struct errmsg *em, enum err e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_wrapv(em, e, 0, 0, fmt, ap);
    va_end(ap);
    return e;
}

enum err err_wrap_at(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_wrapv(em, e, line, col, fmt, ap);
    va_end(ap);
    return e;
}

enum err err_setv_placed(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt,
                         va_list ap)
{
    ERR_LOCAL(said);
    if (em != NULL) {
        err_setv(&said, e, 0, 0, fmt, ap);
        err_set(em, e, "[%u:%u] %s", line, col, err_reason(&said));
    }
    return e;
}

enum err err_wrapv_placed(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt,
                          va_list ap)
{
    ERR_LOCAL(said);
    if (em != NULL) {
        err_setv(&said, e, 0, 0, fmt, ap);
        err_wrap(em, e, "[%u:%u] %s", line, col, err_reason(&said));
    }
    return e;
}

enum err err_prefix(struct errmsg *em, enum err e, const char *fmt, ...)
{
    if (em != NULL && em->frame != NULL) {
        ERR_LOCAL(prefix);
        va_list ap;
        va_start(ap, fmt);
        err_setv(&prefix, e, 0, 0, fmt, ap);
        va_end(ap);
        em->frame = frame_of(em, *em->frame, "%s: %s", err_reason(&prefix), em->frame->reason);
    }
    return e;
}

enum err err_no_memory(struct errmsg *em)
{
    char why[512];
    struct err_refused refused;
    if (!memory_refusal(why, sizeof(why), &refused)) {
        return err_set(em, ERR_NO_MEMORY, "%s", bare_no_memory.reason);
    }
    err_set(em, ERR_NO_MEMORY, "%s", why);
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->refused = refused;
    }
    return ERR_NO_MEMORY;
}

enum err err_errno(struct errmsg *em, int errnum, const char *what)
{
    char text[128];
    /* The GNU strerror_r, which may return a string of its own. */
    const char *said = strerror_r(errnum, text, sizeof(text));
    return err_set(em, ERR_IO, "%s: %s", what, said);
}

/* ---- what it is about ---- */

static const struct err_about about_nothing = {.index = "",
                                               .index_uuid = "",
                                               .resource_type = "",
                                               .resource_id = "",
                                               .shard = -1,
                                               .script = "",
                                               .script_id = "",
                                               .lang = "",
                                               .processor_type = "",
                                               .processor_tag = "",
                                               .property = ""};

const struct err_about *err_about(const struct errmsg *em)
{
    return em->about != NULL ? em->about : &about_nothing;
}

struct err_about *err_about_change(struct errmsg *em)
{
    struct err_about *a = em != NULL ? take(em, sizeof(*a)) : NULL;
    if (a != NULL) {
        *a = *err_about(em);
        em->about = a;
    }
    return a;
}

const char *err_text(const struct errmsg *em, struct str s)
{
    size_t n = MIN_OF(s.n, ERR_REASON_MAX);
    char *copy = n > 0 ? take(em, n + 1) : NULL;
    if (copy == NULL) {
        return "";
    }
    memcpy(copy, s.p, n);
    copy[n] = '\0';
    mend(copy);
    return copy;
}

void err_about_index(struct errmsg *em, struct str index, struct str uuid)
{
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->index = err_text(em, index);
        a->index_uuid = err_text(em, uuid);
    }
}

void err_about_shard(struct errmsg *em, int shard)
{
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->shard = shard;
    }
}

void err_about_resource(struct errmsg *em, const char *type, struct str id)
{
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->resource_type = err_text(em, str_of(type));
        a->resource_id = err_text(em, id);
    }
}

void err_about_processor(struct errmsg *em, struct str type, struct str tag, struct str property)
{
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->processor_type = err_text(em, type);
        a->processor_tag = err_text(em, tag);
        a->property = err_text(em, property);
    }
}

void err_about_status(struct errmsg *em, int http_status)
{
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->http_status = http_status;
    }
}

/* ---- from one arena to another ---- */

/* Chains are short (ERR_FRAMES_MAX, ERR_SUPPRESSED_MAX). */
static const struct err_frame *frames_copy(const struct errmsg *to, const struct err_frame *f)
{
    struct err_frame as = *f;
    as.cause = f->cause != NULL ? frames_copy(to, f->cause) : NULL;
    return frame_of(to, as, "%s", f->reason);
}

static const struct err_about *about_copy(const struct errmsg *to, const struct err_about *from)
{
    struct err_about *a = from != NULL ? take(to, sizeof(*a)) : NULL;
    if (a != NULL) {
        *a = *from;
        a->index = err_text(to, str_of(from->index));
        a->index_uuid = err_text(to, str_of(from->index_uuid));
        a->resource_type = err_text(to, str_of(from->resource_type));
        a->resource_id = err_text(to, str_of(from->resource_id));
        a->script = err_text(to, str_of(from->script));
        a->lang = err_text(to, str_of(from->lang));
        a->script_id = err_text(to, str_of(from->script_id));
        a->processor_type = err_text(to, str_of(from->processor_type));
        a->processor_tag = err_text(to, str_of(from->processor_tag));
        a->property = err_text(to, str_of(from->property));
    }
    return a;
}

static const struct err_suppressed *suppressed_new(const struct errmsg *em, const struct err_frame *f,
                                                   const struct err_about *about,
                                                   const struct err_suppressed *before)
{
    struct err_suppressed *s = take(em, sizeof(*s));
    if (s == NULL) {
        return before;
    }
    *s = (struct err_suppressed){frames_copy(em, f), about_copy(em, about), before,
                                 before != NULL ? before->n + 1 : 1};
    return s;
}

static const struct err_suppressed *suppressed_copy(const struct errmsg *to, const struct err_suppressed *s)
{
    return s != NULL ? suppressed_new(to, s->frame, s->about, suppressed_copy(to, s->before)) : NULL;
}

void err_copy(struct errmsg *to, const struct errmsg *from)
{
    if (to == NULL || to == from) {
        return;
    }
    if (to->arena == from->arena) {
        *to = *from;
        return;
    }
    err_clear(to);
    to->frame = from->frame != NULL ? frames_copy(to, from->frame) : NULL;
    to->suppressed = suppressed_copy(to, from->suppressed);
    to->about = about_copy(to, from->about);
}

struct errmsg *err_out_of_memory(void)
{
    static struct errmsg at_hand = {.frame = &bare_no_memory};
    return &at_hand;
}

struct errmsg *err_keep(struct arena *a, const struct errmsg *em)
{
    struct errmsg *kept = ARENA_NEW(a, struct errmsg);
    if (kept == NULL) {
        return err_out_of_memory();
    }
    *kept = err_in(a);
    err_copy(kept, em);
    return kept;
}

void err_suppress(struct errmsg *em, const struct errmsg *other)
{
    const bool full = em != NULL && em->suppressed != NULL && em->suppressed->n >= ERR_SUPPRESSED_MAX;
    if (em != NULL && other->frame != NULL && !full) {
        em->suppressed = suppressed_new(em, other->frame, other->about, em->suppressed);
    }
}

/* ---- looking at it ---- */

int err_http_status(const struct errmsg *em)
{
    int own = err_about(em)->http_status;
    return own != 0 ? own : em->frame != NULL ? err_status(em->frame->code) : 200;
}

const struct err_frame *err_innermost(const struct errmsg *em)
{
    const struct err_frame *f = em->frame;
    while (f != NULL && f->cause != NULL) {
        f = f->cause;
    }
    return f;
}

const struct err_frame *err_root(const struct errmsg *em)
{
    const struct err_frame *f = em->frame;
    while (f != NULL && f->cause != NULL) {
        enum err_family here = err_family(f->code), below = err_family(f->cause->code);
        bool deeper = (here == ERR_FAMILY_ES && below == ERR_FAMILY_ES)
                      || (here == ERR_FAMILY_XC && below != ERR_FAMILY_JAVA);
        if (!deeper) {
            break;
        }
        f = f->cause;
    }
    return f;
}
