/* The term suggester: for every word of the text, words like it. */
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/suggest/suggest_int.h"

#include "engine/mapping/field_class.h"

enum err words_request(const struct suggest_run *r, const struct suggestion *s, struct str text,
                       struct str *field, struct token_list *tokens, const struct analyzer **used)
{
    const struct mapping *m = r->cx->query.mapping;
    const struct field *f = mapping_field(m, s->field);
    if (f == NULL || f->class->is_object) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "no mapping found for field [%.*s]", STR_ARG(s->field));
    }
    const struct analyzer *an = f->search_analyzer != NULL ? f->search_analyzer
                                : f->normalizer != NULL    ? f->normalizer
                                                           : f->analyzer;
    if (s->analyzer.p != NULL) {
        an = analysis_analyzer(mapping_analysis(m), s->analyzer);
        if (an == NULL) {
            return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "analyzer [%.*s] doesn't exists",
                           STR_ARG(s->analyzer));
        }
    }
    if (s->shard_size != INT32_MIN && s->shard_size <= 0) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "ShardSize must be positive but was: %d", s->shard_size);
    }
    if (text.p == NULL) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "The required text option is missing");
    }
    *field = f->path;
    token_list_init(tokens, r->arena);
    if (an == NULL) {
        an = analysis_analyzer(mapping_analysis(m), STR("keyword"));
    }
    *used = an;
    return an != NULL ? analyzer_run(an, text, tokens, r->em) : ERR_OK;
}

static enum err show_words(const struct suggest_run *r, const struct term_suggestion *s, struct str field,
                           struct suggest_entry *entry)
{
    struct similar_word *words;
    uint32_t n, size = (uint32_t)(s->common.shard_size != INT32_MIN ? s->common.shard_size
                                                                    : MAX_OF(s->common.size, 5));
    enum err e = similar_words(r, &s->direct, field, entry->text, size, s->direct.min_doc_freq, &words, &n);
    entry->options = ARENA_ARRAY(r->arena, struct suggest_option, n);
    if (e == ERR_OK && entry->options == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        entry->options[entry->n++] =
            (struct suggest_option){.text = words[i].word, .score = words[i].score, .freq = words[i].freq};
    }
    return e;
}

enum err term_run(const struct suggest_run *r, const struct term_suggestion *s, struct str text,
                  struct suggest_result *out)
{
    struct token_list tokens;
    const struct analyzer *an;
    struct str field;
    enum err e = words_request(r, &s->common, text, &field, &tokens, &an);
    if (e != ERR_OK) {
        return e;
    }
    *out = (struct suggest_result){ARENA_ARRAY(r->arena, struct suggest_entry, tokens.n), 0};
    if (out->entries == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < tokens.n && !stop_now(); i++) {
        const struct token *t = &tokens.v[i];
        struct suggest_entry *entry = &out->entries[out->n++];
        entry->text = arena_str(r->arena, t->text);
        entry->offset = (uint32_t)utf16_length(str_slice(text, 0, t->start));
        entry->length = (uint32_t)utf16_length(str_slice(text, t->start, t->end));
        if (entry->text.p == NULL) {
            return err_no_memory(r->em);
        }
        e = r->cx->shard->view->live_count > 0 ? show_words(r, s, field, entry) : ERR_OK;
    }
    return e;
}
