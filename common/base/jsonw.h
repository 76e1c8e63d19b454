/* jsonw.h - JSON out, byte for byte as Elasticsearch prints it.
 *
 * A writer appends to a buffer and keeps track of commas and indentation; errors stick in the buffer. Numbers
 * print as Java prints them (num.h). In an object, every value follows its key. */
#ifndef BASE_JSONW_H
#define BASE_JSONW_H

#include "common/base/buf.h"
#include "common/base/json.h"

#define JSONW_DEPTH_MAX 1100

struct jsonw {
    struct buf *out; /* borrowed */
    bool pretty;     /* Jackson's default pretty printer: two spaces, " : " */
    bool after_key;
    unsigned depth;
    uint64_t has_kids[(JSONW_DEPTH_MAX + 63) / 64];
};

void jsonw_init(struct jsonw *w, struct buf *out, bool pretty);
/* A writer into a new text without a limit of its own. */
static inline void jsonw_start(struct jsonw *w, struct buf *out)
{
    buf_init(out, NULL, BUF_UNLIMITED);
    jsonw_init(w, out, false);
}

/* Where the text stands: what is written behind it, whole values and members, can be taken back as long as what was open is. */
struct jsonw_mark {
    size_t n;
    bool has_kids;
};
struct jsonw_mark jw_mark(const struct jsonw *w);
void jw_rewind(struct jsonw *w, const struct jsonw_mark *m);

void jw_obj(struct jsonw *w);     /* { */
void jw_obj_end(struct jsonw *w); /* } */
void jw_arr(struct jsonw *w);     /* [ */
void jw_arr_end(struct jsonw *w); /* ] */
void jw_key(struct jsonw *w, struct str key);
void jw_k(struct jsonw *w, const char *key);

void jw_null(struct jsonw *w);
void jw_bool(struct jsonw *w, bool v);
void jw_i64(struct jsonw *w, int64_t v);
void jw_u64(struct jsonw *w, uint64_t v);
/* Java's Double.toString / Float.toString; not finite: as a string ("NaN", "Infinity"), as Jackson does. */
void jw_double(struct jsonw *w, double v);
void jw_float(struct jsonw *w, float v);
void jw_str(struct jsonw *w, struct str s);
void jw_z(struct jsonw *w, const char *z);
void jw_strf(struct jsonw *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A value that is JSON already, copied as it is (pretty printing does not reach into it). */
void jw_raw(struct jsonw *w, struct str json);
/* The members of an object that is JSON already, as the open object's own. */
void jw_members(struct jsonw *w, struct str object);
/* A tree. */
void jw_value(struct jsonw *w, const struct json *v);

/* Key and value in one; of an object or array, its beginning. */
void jw_kobj(struct jsonw *w, const char *key);
void jw_karr(struct jsonw *w, const char *key);
void jw_kstr(struct jsonw *w, const char *key, struct str v);
void jw_kz(struct jsonw *w, const char *key, const char *v);
void jw_ki64(struct jsonw *w, const char *key, int64_t v);
void jw_kbool(struct jsonw *w, const char *key, bool v);
void jw_kdouble(struct jsonw *w, const char *key, double v);

/* Appends s with JSON escapes, without the quotes. */
void buf_json_escaped(struct buf *b, struct str s);

#endif
