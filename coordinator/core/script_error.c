#include "coordinator/core/script_error.h"

#include "common/base/buf.h"
#include "common/base/utf8.h"

/* UTF-16 units before a byte. Of a long script only the beginning is known: from there on a byte counts as one. */
static size_t units_before(struct str script, uint32_t at)
{
    size_t known = MIN_OF((size_t)at, script.n);
    return utf16_length(str_slice(script, 0, known)) + (at - known);
}

static void pointer(struct jsonw *w, size_t spaces)
{
    struct buf b;
    buf_init(&b, NULL, 4096);
    for (size_t i = 0; i < spaces; i++) {
        buf_z(&b, " ");
    }
    buf_z(&b, "^---- HERE");
    jw_str(w, buf_view(&b));
    buf_fini(&b);
}

static void stack(struct jsonw *w, const struct err_about *a, bool cut)
{
    struct str script = str_of(a->script);
    size_t start = MIN_OF((size_t)a->script_start, script.n), end = MIN_OF((size_t)a->script_end, script.n);
    bool before = cut && start > 0, after = cut && end < script.n;
    jw_karr(w, "script_stack");
    if (str_is(str_of(a->lang), "mustache")) { /* it has none */
    } else if (str_is(str_of(a->lang), "expression")) {
        jw_str(w, str_slice(script, start, MAX_OF(start, end)));
        size_t from = units_before(script, a->script_start), to = units_before(script, a->script_at);
        pointer(w, to > from ? to - from : 0);
    } else if (a->script_placed) {
        jw_strf(w, "%s%.*s%s", before ? "... " : "", STR_ARG(str_slice(script, start, MAX_OF(start, end))),
                after ? " ..." : "");
        size_t from = units_before(script, a->script_start), to = units_before(script, a->script_at);
        pointer(w, (before ? 4 : 0) + (to > from ? to - from : 0));
    } else {
        jw_z(w, "<<< unknown portion of script >>>");
    }
    jw_arr_end(w);
}

void script_error_write(struct jsonw *w, const struct err_about *a, bool cut)
{
    struct str script = str_of(a->script);
    stack(w, a, cut);
    jw_kz(w, "script", a->script_id[0] != '\0' ? a->script_id : a->script);
    jw_kz(w, "lang", a->lang);
    if (a->script_placed) {
        jw_kobj(w, "position");
        jw_ki64(w, "offset", (int64_t)units_before(script, a->script_at));
        jw_ki64(w, "start", (int64_t)units_before(script, a->script_start));
        jw_ki64(w, "end", (int64_t)units_before(script, a->script_end));
        jw_obj_end(w);
    }
}
