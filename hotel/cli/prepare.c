#include "hotel/cli/prepare.h"

#include "hotel/index_form.h"

#include <stdio.h>

static enum err create_index(const struct remote *r, struct arena *arena, struct errmsg *em)
{
    struct remote_answer a;
    struct buf body;
    buf_init(&body, NULL, 64 * KIB);
    index_form_write(&body);
    enum err e =
        body.failed ? err_no_memory(em) : remote_index_call(r, "PUT", "", buf_view(&body), arena, &a, em);
    buf_fini(&body);
    if (e != ERR_OK) {
        return e;
    }
    if (a.status == 400
        && str_is(json_text(json_path(&a.body, "error.type")), "resource_already_exists_exception")) {
        return ERR_OK; /* somebody else was first */
    }
    if (a.status != 200) {
        return remote_refused(&a, "creating the index", em);
    }
    return ERR_OK;
}

static enum err delete_index(const struct remote *r, struct arena *arena, struct errmsg *em)
{
    struct remote_answer a;
    enum err e = remote_index_call(r, "DELETE", "", STR_NULL, arena, &a, em);
    if (e == ERR_OK && a.status != 200) {
        e = remote_refused(&a, "deleting the index", em);
    }
    return e;
}

/* An index of another form cannot be altered, and deleting it is for its owner to decide. */
static enum err check_form(const struct remote *r, const struct json *definition, struct errmsg *em)
{
    enum index_form form;
    ERR_LOCAL(why);
    enum err e = index_form_of(definition, &form, &why, em);
    if (e != ERR_OK || form == INDEX_FORM_FINAL) {
        return e;
    }
    return err_set(
        em, ERR_ILLEGAL_ARGUMENT,
        "the index %.*s has %s: %s. A mapping cannot be altered: import with --recreate to delete the "
        "index, create it anew and load everything into it",
        STR_ARG(r->config->index),
        form == INDEX_FORM_EARLIER ? "the earlier form, without pinyin" : "another form", err_reason(&why));
}

enum err index_prepare(const struct remote *r, bool recreate, struct arena *arena, struct errmsg *em)
{
    struct remote_answer a;
    enum err e = remote_index_call(r, "GET", "", STR_NULL, arena, &a, em);
    if (e != ERR_OK) {
        return e;
    }
    if (a.status != 200 && a.status != 404) {
        return remote_refused(&a, "looking for the index", em);
    }
    if (a.status == 200 && !recreate) {
        return check_form(r, &a.body, em);
    }
    e = a.status == 200 ? delete_index(r, arena, em) : ERR_OK;
    e = e != ERR_OK ? e : create_index(r, arena, em);
    if (e == ERR_OK) {
        fprintf(stderr, "created the index %.*s\n", STR_ARG(r->config->index));
    }
    return e;
}

enum err index_ensure(const struct remote *r, struct arena *arena, bool *created, struct errmsg *em)
{
    struct remote_answer a;
    *created = false;
    enum err e = remote_index_call(r, "HEAD", "", STR_NULL, arena, &a, em);
    if (e != ERR_OK || a.status == 200) {
        return e;
    }
    if (a.status != 404) {
        return remote_refused(&a, "looking for the index", em);
    }
    e = create_index(r, arena, em);
    *created = e == ERR_OK;
    return e;
}
