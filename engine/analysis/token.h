/* token.h - the output of analysis: a list of tokens.
 *
 * A stage of the pipeline (tokenizer, token filter) works on whole lists, not on one token at a time: that
 * keeps look-ahead and reordering simple, and costs one array per stage of a field's value. Token texts are
 * slices of the input or bytes in the list's arena; nothing is freed singly.
 *
 * A text may become many more tokens than it has bytes, and they may be long. So every loop over tokens asks
 * token_next() for the next one, and every token goes through token_add(): both end when the work is to end
 * (common/base/stop.h). What is left then is a list that is safe to free, and of no other use.
 *
 * Offsets are BYTE offsets into the original UTF-8 text of the value; what Elasticsearch prints (UTF-16
 * units) is converted where it is printed. */
#ifndef ENGINE_ANALYSIS_TOKEN_H
#define ENGINE_ANALYSIS_TOKEN_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/base/stop.h"

struct token {
    struct str text;
    uint32_t start, end; /* byte offsets in the original text */
    int32_t pos_inc;     /* usually 1; 0: same position as the token before */
    uint16_t pos_len;    /* positions that it spans; 1 but for graph filters */
    bool keyword;        /* protected from stemming (keyword_marker) */
    const char *type;    /* static or in the analyzer: "word", "<ALPHANUM>", "CN_WORD" ... */
};

struct token_list {
    struct arena *arena; /* borrowed */
    struct token *v;
    size_t n, cap;
    /* byte length of the original text; what the tokenizer says, where it sets another one */
    uint32_t end_offset;
    struct str source;   /* the original text; p == NULL: not at hand */
    bool ends_at_token;  /* the tokenizer reads no further than the token that was asked for */
    int32_t end_pos_inc; /* positions skipped behind the last token (stop words at the end) */
    bool no_graph;       /* positions are no graph, whatever pos_len says: queries take the tokens position by
                          * position (Elasticsearch's DisableGraphAttribute) */
    bool first_use;      /* the caller's: the analyzer was made for this request and has had no token yet. The
                          * plugin's pinyin filter orders the first token that it ever sees in another way
                          * (pinyin_filter.c) */
};

/* The text that a token was cut from, if the list knows it; else its own text. */
struct str token_source(const struct token_list *l, const struct token *t);
/* Prepares an empty list. */
void token_list_init(struct token_list *l, struct arena *arena);
/* Makes room for n tokens in an empty list, so that filling it moves nothing; false: no memory. */
bool token_reserve(struct token_list *l, size_t n) NODISCARD;
/* The list has the tokens of another, which is not to be used any more. */
static inline void token_list_take(struct token_list *l, const struct token_list *from)
{
    l->v = from->v;
    l->n = from->n;
    l->cap = from->cap;
}
/* Counts a step over `bytes` bytes. true: leave the loop, the work is to end. */
static inline bool token_stop(size_t bytes)
{
    return stop_worked(1 + bytes / 64);
}
/* Is there a token number i that is to be looked at? false behind the last one, and when the work is to end. */
static inline bool token_next(const struct token_list *l, size_t i)
{
    return i < l->n && !token_stop(l->v[i].text.n);
}
/* Appends; false: no memory, or the work is to end. */
bool token_add(struct token_list *l, struct token t) NODISCARD;

#endif
