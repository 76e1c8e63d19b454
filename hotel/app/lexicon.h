/* lexicon.h - the values that the index has of cities, districts, brands and classes, each with the ways in which guests write it.
 *
 * It is made of two answers of the search service: the values with their numbers of hotels, and their pinyin. One loop's thread;
 * counted, for searches under way keep the one that they began with. */
#ifndef HOTEL_APP_LEXICON_H
#define HOTEL_APP_LEXICON_H

#include "common/base/buf.h"
#include "hotel/app/words.h"

enum form_kind {
    FORM_TEXT,   /* the value, or without its ending */
    FORM_SAME,   /* another name */
    FORM_PINYIN, /* "shanghai" */
    FORM_SAME_PINYIN,
    FORM_INITIALS /* "sh" */
};

struct lex_city { /* hotels of a district in one city */
    struct str name;
    int64_t hotels;
};

struct lex_value {
    enum value_kind kind;
    struct str text; /* of a district: one part of what the field has between '/' */
    int64_t hotels;
    struct str *terms; /* of the field */
    size_t terms_n, terms_cap;
    struct lex_city *cities; /* of a district */
    size_t cities_n, cities_cap;
};

struct lex_form {
    enum form_kind kind;
    struct folded text;
    struct str written; /* what pinyin is asked of; n == 0: of none */
    uint32_t value;
};

struct lexicon {
    unsigned refs;
    struct arena arena;
    int64_t made_ms; /* the owner's */
    struct lex_value *values;
    size_t values_n, values_cap;
    struct lex_form *forms;
    size_t forms_n, forms_cap;
};

/* The search for all values. */
void lexicon_ask_values(struct buf *out);
/* Of its answer; one reference is the caller's. ERR_PARSE, ERR_IO, ERR_TIMEOUT, ERR_NO_MEMORY. */
enum err lexicon_new(struct lexicon **out, const struct words *words, struct str reply, struct errmsg *em);
struct lexicon *lexicon_ref(struct lexicon *l);
void lexicon_unref(struct lexicon *l); /* NULL ok */

/* The analysis that gives the pinyin of all values; false: none has any. */
bool lexicon_ask_pinyin(const struct lexicon *l, struct buf *out);
/* Adds the forms that its answer gives. Scratch goes to arena. */
enum err lexicon_add_pinyin(struct lexicon *l, const struct words *words, struct str reply,
                            struct arena *arena, struct errmsg *em);

/* The same for some texts: out[i] is the pinyin of texts[i], n == 0 where there is none. Borrowed from arena. */
void pinyin_ask(struct buf *out, const struct str *texts, size_t n);
enum err pinyin_reply(struct str reply, const struct str *texts, size_t n, struct arena *arena,
                      struct str *pinyin, struct str *initials, struct errmsg *em);

/* May the value be in one of these cities? A district is in those where it has hotels, all else anywhere. */
bool lexicon_in_city(const struct lex_value *v, struct str city);

/* The form that is written most alike: by pinyin, or with few letters changed, left out or exchanged. pinyin may have no
 * characters. NULL: none is near. */
const struct lex_form *lexicon_nearest(const struct lexicon *l, const struct folded *text,
                                       const struct folded *pinyin);

#endif
