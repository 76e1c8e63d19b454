#include "data/service/update_script.h"

#include "engine/mapping/java.h"
#include "engine/script/script.h"

static enum err failed(struct errmsg *em)
{
    return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "failed to execute script");
}

static bool put(struct json *o, struct arena *a, const char *key, struct json v)
{
    return json_put(o, a, str_of(key), v);
}

static struct json number(struct arena *a, int64_t v)
{
    return (struct json){.type = JSON_NUMBER, .s = arena_printf(a, "%lld", (long long)v)};
}

/* In the order in which a script that lists the keys sees them. Of a document that is still to come nothing is told. */
static enum err make_ctx(struct json *ctx, const struct update_input *in, const struct json *source,
                         bool create, struct arena *a, struct errmsg *em)
{
    const struct engine_doc *d = in->current;
    *ctx = json_mk_object();
    struct json routing = d->routing.p != NULL ? json_mk_str(d->routing) : (struct json){.type = JSON_NULL};
    bool ok = (create || put(ctx, a, "_routing", routing))
              && put(ctx, a, "op", json_mk_str(create ? STR("create") : STR("index")))
              && (create || put(ctx, a, "_index", json_mk_str(in->index_name)))
              && (create || put(ctx, a, "_type", json_mk_str(write_item_type(in->item))))
              && put(ctx, a, "_source", *source) && (create || put(ctx, a, "_id", json_mk_str(in->item->id)))
              && put(ctx, a, "_now", number(a, in->now_ms))
              && (create || put(ctx, a, "_version", number(a, d->version)));
    return ok ? ERR_OK : err_no_memory(em);
}

static enum err take_result(struct update_plan *out, const struct update_input *in, const struct json *ctx,
                            bool create, struct arena *a, struct errmsg *em)
{
    const struct json *op = json_get(ctx, "op"), *source = json_get(ctx, "_source");
    out->source = in->current->source;
    if (op == NULL || op->type == JSON_NULL) {
        return err_set(em, ERR_NULL_POINTER,
                       "Cannot invoke \"String.hashCode()\" because \"<local3>\" is null");
    }
    if (op->type != JSON_STRING) {
        return err_set(em, ERR_CLASS_CAST, "class %s cannot be cast to class java.lang.String",
                       java_class(op));
    }
    struct str name = op->s;
    if (str_is(name, "none") || str_is(name, "noop")) {
        out->result = UPDATE_NOOP;
        return ERR_OK;
    }
    if (str_is(name, "delete") && !create) {
        out->result = UPDATE_DELETE;
        return ERR_OK;
    }
    if (!str_is(name, "index") && !(create && str_is(name, "create"))) {
        out->result = UPDATE_NOOP; /* Elasticsearch warns of an unknown op and does nothing */
        return ERR_OK;
    }
    struct buf b;
    struct jsonw w;
    if (source == NULL || source->type == JSON_NULL) {
        err_set(
            em, ERR_NOT_X_CONTENT,
            "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes");
        return err_wrap(em, ERR_MAPPER_PARSING, "failed to parse");
    }
    if (source->type != JSON_OBJECT) {
        return err_set(em, ERR_CLASS_CAST, "class %s cannot be cast to class java.util.Map",
                       java_class(source));
    }
    out->result = UPDATE_INDEX;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, source);
    out->source = arena_str(a, buf_view(&b));
    bool ok = !b.failed && out->source.p != NULL;
    buf_fini(&b);
    return ok ? ERR_OK : err_no_memory(em);
}

enum err update_by_script(struct update_plan *out, const struct update_input *in, const struct json *body,
                          const struct json *source, bool create, struct arena *arena, struct errmsg *em)
{
    const struct json *form = json_get(body, "script");
    struct script *script = NULL;
    struct script_run *run = NULL;
    struct script_env env = {.now_ms = in->now_ms};
    struct json ctx, after;
    enum err e = script_compile_form(&script, form, SCRIPT_UPDATE, em);
    e = e == ERR_OK ? script_run_new(&run, script, json_get(form, "params"), NULL, em) : e;
    e = e == ERR_OK ? make_ctx(&ctx, in, source, create, arena, em) : e;
    bool unwritable = false; /* it ran, and what it left is no document */
    e = e == ERR_OK ? script_update(run, &env, &ctx, arena, &after, &unwritable, em) : e;
    script_run_free(run);
    script_unref(script);
    if (e == ERR_OK) {
        return take_result(out, in, &after, create, arena, em);
    }
    return unwritable ? e : failed(em);
}
