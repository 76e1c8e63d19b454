/* Errors as JSON (error_json.h). */
#include "coordinator/core/error_json.h"

#include "common/base/memory_account.h"
#include "coordinator/core/script_error.h"

/* One resource as a text; several, which ", " parts, as a list. */
static void write_resource(struct str ids, struct jsonw *w)
{
    bool many = false;
    jw_k(w, "resource.id");
    for (size_t at = 0, from = 0; at <= ids.n; at++) {
        const bool end = at == ids.n;
        if (end || (ids.p[at] == ',' && at + 1 < ids.n && ids.p[at + 1] == ' ')) {
            if (!end && !many) {
                jw_arr(w);
                many = true;
            }
            jw_str(w, str_slice(ids, from, at));
            from = at + 2;
        }
    }
    if (many) {
        jw_arr_end(w);
    }
}

/* What the definition of a processor was refused for: beside the outermost frames of Elasticsearch's own. */
static void write_processor(struct jsonw *w, const struct err_frame *f, const struct err_about *a)
{
    if (err_family(f->code) != ERR_FAMILY_ES) {
        return;
    }
    if (a->property[0] != '\0') {
        jw_kz(w, "property_name", a->property);
    }
    if (a->processor_type[0] != '\0') {
        jw_kz(w, "processor_type", a->processor_type);
    }
    if (a->processor_tag[0] != '\0') {
        jw_kz(w, "processor_tag", a->processor_tag);
    }
}

static void write_about(struct jsonw *w, const struct err_frame *f, const struct err_about *a)
{
    enum err code = f->code;
    write_processor(w, f, a);
    if (code == ERR_SCRIPT) {
        script_error_write(w, a, str_is(str_of(f->reason), "compile error"));
        return;
    }
    if (code == ERR_TOO_MANY_BUCKETS) {
        jw_ki64(w, "max_buckets", a->limit);
        return;
    }
    if (err_family(code) != ERR_FAMILY_ES || code == ERR_RESOURCE_NOT_FOUND || code == ERR_GENERAL_SCRIPT
        || code == ERR_NO_MEMORY) {
        return;
    }
    if (a->resource_type[0] != '\0') {
        jw_kz(w, "resource.type", a->resource_type);
        write_resource(str_of(a->resource_id), w);
    }
    bool wrapper = code == ERR_INTERNAL && f->cause != NULL; /* its cause is about the index */
    if ((a->index[0] != '\0' || a->index_uuid[0] != '\0') && code != ERR_PARSING && code != ERR_MAPPER_PARSING
        && code != ERR_PARSE && code != ERR_CLUSTER_BLOCK && !wrapper) {
        jw_kz(w, "index_uuid", a->index_uuid);
        if (a->shard >= 0) {
            jw_k(w, "shard");
            jw_strf(w, "%d", a->shard);
        }
        jw_kz(w, "index", a->index);
    }
}

void error_write_frame(struct jsonw *w, const struct err_frame *f, const struct err_about *about)
{
    jw_kz(w, "type", err_type(f->code));
    jw_k(w, "reason");
    bool silent = f->code == ERR_NO_SHARD || f->code == ERR_NO_VIABLE_ALT
                  || f->code == ERR_LEXER_NO_VIABLE_ALT || f->code == ERR_INPUT_MISMATCH
                  || f->code == ERR_STACK_OVERFLOW || f->code == ERR_NO_SUCH_ELEMENT
                  || f->code == ERR_CONCURRENT_MODIFICATION || f->code == ERR_UNSUPPORTED
                  || f->code == ERR_NULL_POINTER;
    if (silent && f->reason[0] == '\0') { /* no node could have given a reason */
        jw_null(w);
    } else {
        jw_z(w, f->reason);
    }
    if (f->line > 0) {
        jw_ki64(w, "line", f->line);
        jw_ki64(w, "col", f->col);
    }
    if (f->code == ERR_NO_MEMORY) {
        memory_write_refusal(w, &about->refused);
    }
    write_about(w, f, about);
}

void error_write_frames(struct jsonw *w, const struct err_frame *f, const struct err_about *about)
{
    error_write_frame(w, f, about);
    if (f->cause != NULL) {
        jw_kobj(w, "caused_by");
        error_write_frames(w, f->cause, about);
        jw_obj_end(w);
    }
}

/* The oldest first. */
static void write_suppressed(struct jsonw *w, const struct err_suppressed *s)
{
    if (s != NULL) {
        write_suppressed(w, s->before);
        jw_obj(w);
        error_write_frames(w, s->frame, err_about(&(struct errmsg){.about = s->about}));
        jw_obj_end(w);
    }
}

/* The member "suppressed", where there are any. */
static void write_all_suppressed(struct jsonw *w, const struct errmsg *em)
{
    if (em->suppressed != NULL) {
        jw_karr(w, "suppressed");
        write_suppressed(w, em->suppressed);
        jw_arr_end(w);
    }
}

/* Stands for an error of which nobody said anything. */
static const struct err_frame unsaid = {.code = ERR_INTERNAL, .depth = 1, .reason = ""};

void error_write_cause(struct jsonw *w, const struct errmsg *em)
{
    error_write_frames(w, err_is(em) ? em->frame : &unsaid, err_about(em));
    write_all_suppressed(w, em);
}

void error_write(struct jsonw *w, const struct errmsg *em)
{
    jw_karr(w, "root_cause");
    jw_obj(w);
    const struct err_frame *root = err_is(em) ? err_root(em) : &unsaid;
    error_write_frame(w, root, err_about(em));
    if (root == em->frame && err_family(root->code) == ERR_FAMILY_ES) {
        write_all_suppressed(w, em);
    }
    jw_obj_end(w);
    jw_arr_end(w);
    error_write_cause(w, em);
}

void error_answer(const struct errmsg *em, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, false);
    jw_obj(&w);
    jw_kobj(&w, "error");
    error_write(&w, em);
    jw_obj_end(&w);
    jw_ki64(&w, "status", err_http_status(em));
    jw_obj_end(&w);
}
