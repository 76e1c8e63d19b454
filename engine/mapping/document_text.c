/* Values of text fields: their tokens, and what is indexed beside them for index_prefixes and index_phrases. */
#include "engine/analysis/grams.h"
#include "engine/mapping/document_int.h"

static bool keep_tokens(struct doc_parser *p, const struct token_list *list, struct doc_value *to)
{
    struct token *v = arena_alloc(p->arena, list->n * sizeof(*v));
    if (v == NULL) {
        return false;
    }
    if (list->n > 0) {
        memcpy(v, list->v, list->n * sizeof(*v));
    }
    to->text.v = v;
    to->text.n = (uint32_t)list->n;
    to->text.end_pos_inc = list->end_pos_inc;
    to->text.end_offset = list->end_offset;
    return true;
}

static enum err hidden_value(struct doc_parser *p, const struct field *hidden,
                             const struct token_list *tokens, bool made)
{
    struct doc_value *to = made ? doc_add(p, hidden, DOC_TEXT) : NULL;
    return to != NULL && keep_tokens(p, tokens, to) ? ERR_OK : err_no_memory(p->em);
}

static enum err hidden_values(struct doc_parser *p, const struct field *f)
{
    struct token_list more;
    enum err e = ERR_OK;
    if (f->prefix_field != NULL) {
        token_list_init(&more, p->arena);
        bool made = edge_grams(&p->tokens, f->prefix_min_chars, f->prefix_max_chars, &more);
        e = hidden_value(p, f->prefix_field, &more, made);
    }
    if (e == ERR_OK && f->phrase_field != NULL) {
        token_list_init(&more, p->arena);
        bool made = pairs_of_tokens(&p->tokens, &more);
        e = hidden_value(p, f->phrase_field, &more, made);
    }
    return e;
}

enum err doc_text_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK || s.p == NULL || (!f->index && !f->store)) {
        return e;
    }
    struct doc_value *to = doc_add(p, f, DOC_TEXT);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->text.raw = s;
    if (!f->index) {
        return ERR_OK;
    }
    e = analyzer_run(f->analyzer, s, &p->tokens, p->em);
    if (e != ERR_OK) {
        return e;
    }
    return keep_tokens(p, &p->tokens, to) ? hidden_values(p, f) : err_no_memory(p->em);
}
