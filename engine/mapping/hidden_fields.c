/* The extra terms of index_prefixes and index_phrases: prefixes of a text's words, and pairs of words. */
#include "engine/mapping/mapping_int.h"

#define PREFIX_NAME "_index_prefix"
#define PHRASE_NAME "_index_phrase"

static enum err hidden(struct builder *b, const struct field *of, const char *name, struct field **out)
{
    struct field *f = *out = ARENA_NEW(b->arena, struct field);
    if (f == NULL) {
        return no_memory(b);
    }
    *f = *of;
    f->path = arena_printf(b->arena, "%.*s.%s", STR_ARG(of->path), name);
    if (f->path.p == NULL) {
        return no_memory(b);
    }
    f->name = str_slice(f->path, of->path.n + 1, f->path.n);
    f->store = f->fielddata = false;
    f->is_hidden = true;
    f->prefix_field = f->phrase_field = NULL;
    f->prefix_min_chars = f->prefix_max_chars = 0;
    f->index_phrases = false;
    f->multi_fields = NULL;
    f->n_multi_fields = f->n_copy_to = 0;
    bool known; /* the index's own: a field that is not mapped names none */
    return similarity_of(b, STR("default"), &f->similarity, &known);
}

enum err text_hidden_fields(struct builder *b, struct node *n)
{
    struct field *f = &n->f;
    struct field *prefix = NULL, *phrase = NULL;
    enum err e = ERR_OK;
    for (size_t i = 0; i < n->n_kids; i++) {
        if (str_is(n->kids[i]->f.name, PREFIX_NAME) || str_is(n->kids[i]->f.name, PHRASE_NAME)) {
            return err_set(b->em, ERR_MAPPER_PARSING, "Cannot use reserved field name [%.*s]",
                           STR_ARG(n->kids[i]->f.path));
        }
    }
    if (f->prefix_max_chars > 0) {
        e = hidden(b, f, PREFIX_NAME, &prefix);
    }
    if (e == ERR_OK && f->index_phrases) {
        e = hidden(b, f, PHRASE_NAME, &phrase);
    }
    if (e == ERR_OK && prefix != NULL) { /* its lengths count for nothing */
        prefix->norms = false;
        prefix->options = f->options >= INDEX_POSITIONS ? INDEX_POSITIONS : INDEX_DOCS;
    }
    f->prefix_field = prefix;
    f->phrase_field = phrase;
    return e;
}
