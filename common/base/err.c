#include "common/base/err.h"

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

void err_clear(struct errmsg *em)
{
    if (em != NULL) {
        em->n = 0;
        em->n_suppressed = 0;
        em->about = (struct err_about){.shard = -1};
    }
}

/* Reasons are UTF-8 whatever is quoted in them: one that did not fit ends before its last, torn character, and other
 * bytes that are none become question marks. */
static void mend(char *text)
{
    size_t n = strlen(text), wrong, bad;
    while ((bad = utf8_bad(str_mk(text, n), &wrong)) != SIZE_MAX) {
        text[bad] = '?';
        if (wrong == n) {
            text[n = bad] = '\0';
        }
    }
}

static void fill(struct err_frame *f, enum err e, uint32_t line, uint32_t col, const char *fmt, va_list ap)
    PRINTF_LIKE(5, 0);

static void fill(struct err_frame *f, enum err e, uint32_t line, uint32_t col, const char *fmt, va_list ap)
{
    f->code = e;
    f->line = line;
    f->col = col;
    vsnprintf(f->reason, sizeof(f->reason), fmt, ap);
    mend(f->reason);
}

enum err err_set(struct errmsg *em, enum err e, const char *fmt, ...)
{
    if (em != NULL) {
        err_clear(em);
        va_list ap;
        va_start(ap, fmt);
        fill(&em->frame[0], e, 0, 0, fmt, ap);
        va_end(ap);
        em->n = 1;
    }
    return e;
}

enum err err_set_at(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt, ...)
{
    if (em != NULL) {
        err_clear(em);
        va_list ap;
        va_start(ap, fmt);
        fill(&em->frame[0], e, line, col, fmt, ap);
        va_end(ap);
        em->n = 1;
    }
    return e;
}

static void push_front(struct errmsg *em)
{
    unsigned keep = MIN_OF(em->n, ERR_FRAMES_MAX - 1U);
    if (em->n == ERR_FRAMES_MAX) { /* the innermost is the most telling: it stays */
        em->frame[ERR_FRAMES_MAX - 2] = em->frame[ERR_FRAMES_MAX - 1];
    }
    memmove(&em->frame[1], &em->frame[0], keep * sizeof(em->frame[0]));
    em->n = keep + 1;
}

enum err err_wrap(struct errmsg *em, enum err e, const char *fmt, ...)
{
    if (em != NULL) {
        struct err_frame f;
        va_list ap;
        va_start(ap, fmt);
        fill(&f, e, 0, 0, fmt, ap);
        va_end(ap);
        push_front(em);
        em->frame[0] = f;
    }
    return e;
}

enum err err_wrap_at(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt, ...)
{
    if (em != NULL) {
        struct err_frame f;
        va_list ap;
        va_start(ap, fmt);
        fill(&f, e, line, col, fmt, ap);
        va_end(ap);
        push_front(em);
        em->frame[0] = f;
    }
    return e;
}

void err_suppress(struct errmsg *em, const struct errmsg *other)
{
    if (em != NULL && other->n > 0 && em->n_suppressed < ERR_SUPPRESSED_MAX) {
        em->suppressed_by[em->n_suppressed].reason[0] = '\0';
        if (other->n > 1) {
            em->suppressed_by[em->n_suppressed] = other->frame[1];
        }
        em->suppressed[em->n_suppressed++] = other->frame[0];
    }
}

enum err err_prefix(struct errmsg *em, enum err e, const char *fmt, ...)
{
    if (em != NULL && em->n > 0) {
        struct err_frame *f = &em->frame[0];
        char prefix[ERR_REASON_BYTES], whole[2 * ERR_REASON_BYTES + 2];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(prefix, sizeof(prefix), fmt, ap);
        va_end(ap);
        snprintf(whole, sizeof(whole), "%s: %s", prefix, f->reason);
        size_t n = MIN_OF(strlen(whole), sizeof(f->reason) - 1);
        memcpy(f->reason, whole, n);
        f->reason[n] = '\0';
        mend(f->reason);
    }
    return e;
}

enum err err_no_memory(struct errmsg *em)
{
    char why[ERR_REASON_BYTES];
    struct err_refused refused = {0};
    bool told = memory_refusal(why, sizeof(why), &refused);
    err_set(em, ERR_NO_MEMORY, "%s",
            told ? why : "[parent] Data too large: the request needs more memory than its limit");
    if (em != NULL) {
        em->about.refused = refused;
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

static void copy_name(char *to, size_t cap, struct str s)
{
    size_t n = MIN_OF(s.n, cap - 1);
    if (n > 0) {
        memcpy(to, s.p, n);
    }
    to[n] = '\0';
    if (n < s.n) {
        mend(to);
    }
}

void err_about_index(struct errmsg *em, struct str index, struct str uuid)
{
    if (em != NULL) {
        copy_name(em->about.index, sizeof(em->about.index), index);
        copy_name(em->about.index_uuid, sizeof(em->about.index_uuid), uuid);
    }
}

void err_about_shard(struct errmsg *em, int shard)
{
    if (em != NULL) {
        em->about.shard = shard;
    }
}

void err_about_resource(struct errmsg *em, const char *type, struct str id)
{
    if (em != NULL) {
        copy_name(em->about.resource_type, sizeof(em->about.resource_type), str_of(type));
        copy_name(em->about.resource_id, sizeof(em->about.resource_id), id);
    }
}

enum err err_code(const struct errmsg *em)
{
    return em->n > 0 ? em->frame[0].code : ERR_OK;
}

int err_http_status(const struct errmsg *em)
{
    if (em->about.status_set) {
        return em->about.http_status;
    }
    return em->n > 0 ? err_status(em->frame[0].code) : 200;
}

unsigned err_root(const struct errmsg *em)
{
    unsigned at = 0;
    while (at + 1 < em->n) {
        enum err_family here = err_family(em->frame[at].code), below = err_family(em->frame[at + 1].code);
        bool deeper = (here == ERR_FAMILY_ES && below == ERR_FAMILY_ES)
                      || (here == ERR_FAMILY_XC && below != ERR_FAMILY_JAVA);
        if (!deeper) {
            break;
        }
        at++;
    }
    return at;
}
