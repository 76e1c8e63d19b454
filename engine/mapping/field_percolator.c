/* percolator: a query that a document holds. A column has it as it is written. A hidden field beside it has what documents need so that
 * the query may match them: any one of its terms, each a field's path and a term of that field ("title\0tree"). */
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

#define NEEDED_NAME "extracted_terms"

static const struct param percolator_params[] = {PARAM_ROW_END};

static void percolator_init(UNUSED struct builder *b, struct node *n)
{
    n->f.index = false;
    n->f.doc_values = true;
}

static enum err link_needed(struct builder *b, struct node *n)
{
    struct field *needed = ARENA_NEW(b->arena, struct field);
    struct str path = arena_printf(b->arena, "%.*s." NEEDED_NAME, STR_ARG(n->f.path));
    if (needed == NULL || path.p == NULL) {
        return no_memory(b);
    }
    *needed = n->f;
    needed->class = &field_class_keyword;
    needed->path = path;
    needed->name = str_slice(path, n->f.path.n + 1, path.n);
    needed->is_hidden = true;
    needed->index = true;
    needed->doc_values = false;
    needed->options = INDEX_DOCS;
    n->f.needed = needed;
    return ERR_OK;
}

/* ---- a value ---- */

static enum err add_terms(struct doc_parser *p, const struct field *f, const struct held_query *q)
{
    for (uint32_t i = 0; i < q->n; i++) {
        struct doc_value *to = doc_add(p, f, DOC_TERM);
        if (to == NULL) {
            return err_no_memory(p->em);
        }
        to->bytes = q->terms[i];
    }
    return ERR_OK;
}

static enum err add_query(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_value(&w, v);
    struct str text = b.failed ? STR_NULL : arena_str(p->arena, buf_view(&b));
    buf_fini(&b);
    struct doc_value *to = text.p != NULL ? doc_add(p, f, DOC_BYTES) : NULL;
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->bytes = text;
    return ERR_OK;
}

static enum err percolator_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    static const struct str unread[] = {{HELD_QUERY_ANY, 1}};
    struct held_query q = {unread, 1};
    const struct query_reader *reader = p->in->queries;
    if (p->broken != NULL) {
        return doc_broken(p);
    }
    for (size_t i = 0; i < p->part->n; i++) {
        if (p->part->v[i].field == f) {
            return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "a document can only contain one percolator query");
        }
    }
    enum err e = reader != NULL ? reader->read(reader, p->m, v, p->text, p->arena, &q, p->em) : ERR_OK;
    e = e == ERR_OK ? add_query(p, f, v) : e;
    return e == ERR_OK ? add_terms(p, f->needed, &q) : e;
}

static enum err refuse_percolator(UNUSED const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_QUERY_SHARD,
                   "Percolator fields are not searchable directly, use a percolate query instead");
}

const struct field_class field_class_percolator = {
    .name = "percolator",
    .params = percolator_params,
    .init = percolator_init,
    .link = link_needed,
    .value = percolator_value,
    .takes_whole = true,
    .alone = true,
    .kind = VALUE_NONE,
    .show_format = value_no_formats,
    .text = FIELD_TEXT_NONE,
    .refuse_search = refuse_percolator,
};
