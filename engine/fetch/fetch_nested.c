/* Nested documents as hits: what they are of, where they stand in the root's source. */
#include "common/base/bits.h"
#include "engine/fetch/fetch.h"
#include "engine/mapping/field_class.h"
#include "engine/mapping/source_filter.h"

/* A cursor over the documents of one nested object. false: the segment has none. */
static bool open_path(struct postings *p, const struct leaf *leaf, const struct field *path)
{
    const struct seg_field *f = segment_field(leaf->segment, STR("_nested_path"));
    struct term_info t;
    if (f == NULL || !seg_term(f, path->path, &t)) {
        return false;
    }
    postings_init(p, f, &t, false);
    return true;
}

static const struct field *path_below(const struct field *object, const struct leaf *leaf, doc_id doc)
{
    struct postings p;
    for (uint32_t i = 0; i < object->n_children; i++) {
        const struct field *child = object->children[i];
        if (!child->class->is_object) {
            continue;
        }
        if (child->class->is_nested && open_path(&p, leaf, child) && postings_seek(&p, doc) == doc) {
            return child;
        }
        const struct field *found = path_below(child, leaf, doc);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

const struct field *nested_path_of(const struct mapping *m, const struct leaf *leaf, doc_id doc)
{
    return path_below(mapping_root(m), leaf, doc);
}

doc_id nested_root(const struct leaf *leaf, doc_id doc)
{
    return leaf->roots == NULL ? doc : (doc_id)bits_next(leaf->roots, doc, leaf->doc_count);
}

doc_id nested_block_start(const struct leaf *leaf, doc_id doc)
{
    while (doc > 0 && leaf->roots != NULL && !bits_test(leaf->roots, doc - 1)) {
        doc--;
    }
    return doc;
}

static const struct field *nested_around(const struct field *path)
{
    return path->parent != NULL ? path->parent->nested : NULL;
}

/* The first document that shares its nearest parent of `around` with `doc`. */
static doc_id siblings_start(const struct leaf *leaf, doc_id doc, const struct field *around)
{
    doc_id from = nested_block_start(leaf, doc);
    struct postings p;
    if (around == NULL || !open_path(&p, leaf, around)) {
        return from;
    }
    for (doc_id d = postings_seek(&p, from); d < doc; d = postings_next(&p)) {
        from = d + 1;
    }
    return from;
}

/* Documents of a path come in the order of the source: the offset is how many came before under the same
 * parent. */
const struct nested_place *nested_place_of(const struct leaf *leaf, doc_id doc, const struct field *path,
                                           struct arena *arena)
{
    const struct nested_place *inside = NULL;
    for (const struct field *f = path; f != NULL; f = nested_around(f)) {
        const struct field *around = nested_around(f);
        struct nested_place *p = ARENA_NEW(arena, struct nested_place);
        struct postings docs;
        if (p == NULL) {
            return NULL;
        }
        p->field = around == NULL ? f->path : str_slice(f->path, around->path.n + 1, f->path.n);
        p->inside = inside;
        if (open_path(&docs, leaf, f)) {
            doc_id from = siblings_start(leaf, doc, around);
            for (doc_id d = postings_seek(&docs, from); d < doc; d = postings_next(&docs)) {
                p->offset++;
            }
        }
        inside = p;
    }
    return inside;
}

void nested_place_write(const struct nested_place *p, struct jsonw *w)
{
    jw_kobj(w, "_nested");
    jw_kstr(w, "field", p->field);
    jw_ki64(w, "offset", p->offset);
    if (p->inside != NULL) {
        nested_place_write(p->inside, w);
    }
    jw_obj_end(w);
}

/* ---- the source ---------------------------------------------------------------------------------------- */

/* What stands at a dotted path, keys with dots in them included. */
static const struct json *at_path(const struct json *v, struct str path)
{
    const struct json *found = json_get_str(v, path);
    for (uint32_t i = 0; found == NULL && json_is(v, JSON_OBJECT) && i < v->n; i++) {
        struct str key = v->members[i].key;
        if (str_starts(path, key) && path.n > key.n && path.p[key.n] == '.') {
            found = at_path(&v->members[i].value, str_slice(path, key.n + 1, path.n));
        }
    }
    return found;
}

/* {"a":{"b":value}} for the path a.b; type JSON_NULL: no memory. */
static struct json wrapped(struct str path, struct json value, struct arena *arena)
{
    struct str rest, key = str_cut(path, '.', &rest);
    struct json o = json_mk_object();
    struct json inside = rest.p != NULL ? wrapped(rest, value, arena) : value;
    return inside.type != JSON_NULL && json_put(&o, arena, key, inside) ? o
                                                                        : (struct json){.type = JSON_NULL};
}

static struct json source_at(const struct json *v, const struct nested_place *p, struct arena *arena,
                             const struct json **own)
{
    const struct json none = {.type = JSON_NULL};
    const struct json *at = at_path(v, p->field);
    if (json_is(at, JSON_ARRAY)) {
        at = p->offset < at->n ? &at->items[p->offset] : NULL;
    }
    if (!json_is(at, JSON_OBJECT)) {
        return none;
    }
    if (p->inside == NULL) {
        *own = at;
        return wrapped(p->field, *at, arena);
    }
    struct json inside = source_at(at, p->inside, arena, own);
    return inside.type == JSON_NULL ? none : wrapped(p->field, inside, arena);
}

const struct json *nested_source(const struct json *root, const struct nested_place *p, struct arena *arena,
                                 const struct json **own)
{
    struct json *tree = ARENA_NEW(arena, struct json);
    *own = NULL;
    if (tree == NULL) {
        return NULL;
    }
    *tree = source_at(root, p, arena, own);
    return tree->type == JSON_OBJECT ? tree : NULL;
}

/* Patterns name the whole path; what they leave is shown without it. */
enum err nested_source_write(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    const struct source_filter *sf = &f->source->source;
    const struct json *tree = fetch_source_tree(f, h);
    if (tree == NULL) {
        return ERR_OK;
    }
    jw_k(w, "_source");
    if (sf->n_includes == 0 && sf->n_excludes == 0) {
        jw_value(w, h->own_source);
        return ERR_OK;
    }
    struct source_patterns patterns = {sf->includes, sf->excludes, sf->n_includes, sf->n_excludes};
    struct json left;
    struct buf b;
    struct jsonw inner;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&inner, &b, false);
    source_filter_write(tree, &patterns, &inner);
    struct str text = arena_str(h->arena, buf_view(&b));
    bool ok = !b.failed && text.p != NULL;
    buf_fini(&b);
    enum err e = ok ? json_parse(&left, text, h->arena, &json_limits_default, f->em) : err_no_memory(f->em);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *own = &left;
    for (const struct nested_place *p = h->place; own != NULL && p != NULL; p = p->inside) {
        own = at_path(own, p->field);
    }
    if (own != NULL) {
        jw_value(w, own);
    } else {
        jw_obj(w);
        jw_obj_end(w);
    }
    return ERR_OK;
}
