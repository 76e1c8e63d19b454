#include "engine/analysis/dict/pinyin_dict.h"

#include "common/base/utf8.h"

#define READINGS_FILE "pinyin.txt"
#define PHRASE_BYTES  255 /* of readings: more than any phrase has */

/* "lu:4,lv4" -> "lv": the first reading, without tones, u: as v. Appended to `to`. */
static void pinyin_plain_reading(struct str reading, struct buf *to)
{
    for (size_t i = 0; i < reading.n && reading.p[i] != ','; i++) {
        char c = reading.p[i];
        if (c >= '1' && c <= '5') {
            continue;
        }
        bool yu = c == 'u' && i + 1 < reading.n && reading.p[i + 1] == ':';
        buf_char(to, yu ? 'v' : c);
        i += yu;
    }
}

enum err pinyin_add_phrase(struct lexicon *words, struct str phrase, struct str readings, bool *added,
                           struct errmsg *em)
{
    struct buf plain;
    struct str rest = readings;
    size_t n = 0;
    enum err e = ERR_OK;
    buf_init(&plain, NULL, PHRASE_BYTES);
    for (; rest.p != NULL; n++) {
        struct str reading = str_cut(rest, ' ', &rest);
        if (n > 0) {
            buf_char(&plain, ' ');
        }
        pinyin_plain_reading(reading, &plain);
    }
    *added = phrase.n > 0 && n == utf16_length(phrase) && !plain.failed;
    if (*added) {
        e = lexicon_add(words, PINYIN_PHRASE, phrase, buf_view(&plain), em);
    }
    buf_fini(&plain);
    return e;
}

static enum err add_character(struct lexicon *words, struct str character, struct str readings,
                              struct errmsg *em)
{
    struct buf plain;
    buf_init(&plain, NULL, PHRASE_BYTES);
    pinyin_plain_reading(readings, &plain);
    enum err e = plain.failed  ? err_set(em, ERR_ILLEGAL_ARGUMENT, "a reading is too long")
                 : plain.n > 0 ? lexicon_add(words, PINYIN_CHARACTER, character, buf_view(&plain), em)
                               : ERR_OK;
    buf_fini(&plain);
    return e;
}

static enum err pinyin_add(const struct sources *s, struct lexicon *words, uint16_t list, struct str text,
                           struct errmsg *em)
{
    struct str rest = text_without_bom(text), line, value;
    enum err e = ERR_OK;
    while (e == ERR_OK && text_line(&rest, &line)) {
        if (list == PINYIN_SYLLABLE) {
            e = text_trim(line).n > 0 ? lexicon_add(words, list, line, STR_NULL, em) : ERR_OK;
            continue;
        }
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        struct str key = str_cut(line, '=', &value);
        if (value.n == 0) {
            continue;
        }
        bool added = true;
        e = list == PINYIN_CHARACTER ? add_character(words, key, value, em)
                                     : pinyin_add_phrase(words, key, value, &added, em);
        if (!added) {
            sources_warn(s, "[%.*s] has not one reading a character", STR_ARG(key));
        }
    }
    return e;
}

static enum err pinyin_gather(struct sources *s, struct errmsg *em)
{
    enum err e = sources_add(s, PINYIN_CHARACTER, STR(READINGS_FILE), true, em);
    e = e == ERR_OK ? sources_add(s, PINYIN_PHRASE, STR("polyphone.txt"), false, em) : e;
    return e == ERR_OK ? sources_add(s, PINYIN_SYLLABLE, STR("pinyin_alphabet.dict"), false, em) : e;
}

const struct dictionary_kind dictionary_pinyin = {IMAGE_PINYIN,  "analysis-pinyin", READINGS_FILE,
                                                  "pinyin.dict", pinyin_gather,     pinyin_add};

struct str pinyin_of_character(const struct dictionary *d, uint16_t unit)
{
    if (unit < PINYIN_FIRST || unit > PINYIN_LAST) {
        return STR_NULL;
    }
    uint32_t state = dat_step(&d->dat, d->lists[PINYIN_CHARACTER], unit);
    return state != 0 ? image_text(&d->image, dat_value(&d->dat, state)) : STR_NULL;
}

size_t pinyin_match_phrase(const struct dictionary *d, const uint16_t *units, size_t n, struct str *readings)
{
    uint32_t state = d->lists[PINYIN_PHRASE];
    size_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        state = dat_step(&d->dat, state, units[i]);
        if (state == 0) {
            break;
        }
        if (dat_is_word(&d->dat, state)) {
            longest = i + 1;
            *readings = image_text(&d->image, dat_value(&d->dat, state));
        }
    }
    return longest;
}

bool pinyin_is_syllable(const struct dictionary *d, struct str letters)
{
    uint32_t state = d->lists[PINYIN_SYLLABLE];
    for (size_t i = 0; i < letters.n && state != 0; i++) {
        state = dat_step(&d->dat, state, (unsigned char)letters.p[i]);
    }
    return state != 0 && letters.n > 0 && dat_is_word(&d->dat, state);
}
