#include "engine/analysis/dict/pinyin_dict.h"

#include "common/base/utf8.h"
#include "engine/analysis/dict/sources.h"

#include <stdlib.h>

#define READINGS_FILE "pinyin.txt"
#define PHRASE_BYTES  255 /* of readings: more than any phrase has */

/* The dictionary whose image was opened, or not: then nothing is left. */
static enum err pinyin_dict_finish(struct pinyin_dictionary **out, struct pinyin_dictionary *d,
                                   enum err opened)
{
    if (opened != ERR_OK) {
        free(d);
        return opened;
    }
    d->characters = dat_step(&d->dat, DAT_ROOT, PINYIN_CHARACTER);
    d->phrases = dat_step(&d->dat, DAT_ROOT, PINYIN_PHRASE);
    d->syllables = dat_step(&d->dat, DAT_ROOT, PINYIN_SYLLABLE);
    atomic_init(&d->refs, 1);
    *out = d;
    return ERR_OK;
}

/* Makes a dictionary of gathered words. */
static enum err pinyin_dictionary_of(struct pinyin_dictionary **out, struct lexicon *words, struct errmsg *em)
{
    struct pinyin_dictionary *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (d == NULL) {
        return err_no_memory(em);
    }
    return pinyin_dict_finish(out, d, lexicon_open(words, IMAGE_PINYIN, &d->image, &d->dat, em));
}

enum err pinyin_dictionary_open(struct pinyin_dictionary **out, const struct fs *fs, const char *path,
                                struct errmsg *em)
{
    struct pinyin_dictionary *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (d == NULL) {
        return err_no_memory(em);
    }
    return pinyin_dict_finish(out, d, image_open(&d->image, &d->dat, fs, path, IMAGE_PINYIN, em));
}

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

struct reader {
    struct lexicon *words;
    const struct sources *sources; /* for warnings */
};

static enum err add_character(struct reader *r, struct str character, struct str readings, struct errmsg *em)
{
    struct buf plain;
    buf_init(&plain, NULL, PHRASE_BYTES);
    pinyin_plain_reading(readings, &plain);
    enum err e = plain.failed  ? err_set(em, ERR_ILLEGAL_ARGUMENT, "a reading is too long")
                 : plain.n > 0 ? lexicon_add(r->words, PINYIN_CHARACTER, character, buf_view(&plain), em)
                               : ERR_OK;
    buf_fini(&plain);
    return e;
}

static enum err add_lines(void *self, uint16_t list, struct str text, struct errmsg *em)
{
    struct reader *r = self;
    struct str rest = text_without_bom(text), line, value;
    enum err e = ERR_OK;
    while (e == ERR_OK && text_line(&rest, &line)) {
        if (list == PINYIN_SYLLABLE) {
            e = text_trim(line).n > 0 ? lexicon_add(r->words, list, line, STR_NULL, em) : ERR_OK;
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
        e = list == PINYIN_CHARACTER ? add_character(r, key, value, em)
                                     : pinyin_add_phrase(r->words, key, value, &added, em);
        if (!added) {
            sources_warn(r->sources, "[%.*s] has not one reading a character", STR_ARG(key));
        }
    }
    return e;
}

static enum err gather(struct sources *s, const struct fs *fs, const char *path_conf, struct buf *warnings,
                       struct arena *arena, struct errmsg *em)
{
    enum err e = sources_init(s, fs, path_conf, PINYIN_CONFIG_FOLDER, warnings, arena, em);
    if (e == ERR_OK) {
        e = sources_add(s, PINYIN_CHARACTER, STR(READINGS_FILE), true, em);
    }
    if (e == ERR_OK) {
        e = sources_add(s, PINYIN_PHRASE, STR("polyphone.txt"), false, em);
    }
    if (e == ERR_OK) {
        e = sources_add(s, PINYIN_SYLLABLE, STR("pinyin_alphabet.dict"), false, em);
    }
    return e;
}

enum err pinyin_dictionary_load(struct pinyin_dictionary **out, const struct fs *fs, const char *path_conf,
                                struct buf *warnings, struct errmsg *em)
{
    struct arena arena;
    struct sources s;
    struct lexicon words;
    *out = NULL;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    lexicon_init(&words);
    enum err e = gather(&s, fs, path_conf, warnings, &arena, em);
    if (e == ERR_OK) {
        struct reader r = {&words, &s};
        e = sources_read(&s, add_lines, &r, em);
    }
    if (e == ERR_OK) {
        e = pinyin_dictionary_of(out, &words, em);
    }
    lexicon_fini(&words);
    arena_fini(&arena);
    return e;
}

enum err pinyin_dictionary_present(const struct fs *fs, const char *path_conf, bool *present,
                                   struct errmsg *em)
{
    struct arena arena;
    struct sources s;
    *present = false;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    enum err e = sources_init(&s, fs, path_conf, PINYIN_CONFIG_FOLDER, NULL, &arena, em);
    if (e == ERR_OK) {
        e = sources_exists(&s, READINGS_FILE, present, em);
    }
    arena_fini(&arena);
    return e;
}

enum err pinyin_dictionary_fingerprint(const struct fs *fs, const char *path_conf, uint64_t *out,
                                       struct errmsg *em)
{
    bool present;
    *out = 0;
    enum err e = pinyin_dictionary_present(fs, path_conf, &present, em);
    if (e != ERR_OK || !present) {
        return e;
    }
    struct arena arena;
    struct sources s;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    e = gather(&s, fs, path_conf, NULL, &arena, em);
    if (e == ERR_OK) {
        e = sources_fingerprint(&s, out, em);
    }
    arena_fini(&arena);
    return e;
}

struct pinyin_dictionary *pinyin_dictionary_ref(struct pinyin_dictionary *d)
{
    atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    return d;
}

void pinyin_dictionary_unref(struct pinyin_dictionary *d)
{
    if (d != NULL && atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) == 1) {
        image_close(&d->image);
        free(d);
    }
}

uint64_t pinyin_dictionary_hash(const struct pinyin_dictionary *d)
{
    return d->image.hash;
}

struct str pinyin_of_character(const struct pinyin_dictionary *d, uint16_t unit)
{
    if (unit < PINYIN_FIRST || unit > PINYIN_LAST) {
        return STR_NULL;
    }
    uint32_t state = dat_step(&d->dat, d->characters, unit);
    return state != 0 ? image_text(&d->image, dat_value(&d->dat, state)) : STR_NULL;
}

size_t pinyin_match_phrase(const struct pinyin_dictionary *d, const uint16_t *units, size_t n,
                           struct str *readings)
{
    uint32_t state = d->phrases;
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

bool pinyin_is_syllable(const struct pinyin_dictionary *d, struct str letters)
{
    uint32_t state = d->syllables;
    for (size_t i = 0; i < letters.n && state != 0; i++) {
        state = dat_step(&d->dat, state, (unsigned char)letters.p[i]);
    }
    return state != 0 && letters.n > 0 && dat_is_word(&d->dat, state);
}
