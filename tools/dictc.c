/* dictc - compiles the dictionaries that come with the service, at build time.
 *
 *   dictc --jieba dict.txt --rime pinyin_simp.dict.yaml --data engine/analysis/data --out DIR
 *
 * writes DIR/ik.dict and DIR/pinyin.dict. docs/dictionaries.md says what the sources are, and why words are
 * left out. The same sources give the same bytes. */
#include "common/base/map.h"
#include "common/base/utf8.h"
#include "common/sys/fs_posix.h"
#include "engine/analysis/dict/ik_dict.h"
#include "engine/analysis/dict/pinyin_dict.h"

#include <stdio.h>

#define SOURCE_BYTES_MAX (256 * MIB)
#define FREQUENCY_MIN    3 /* of a word in jieba's corpus: rarer ones are mostly chance */
#define PHRASE_UNITS_MAX 16

struct job {
    const char *jieba, *rime, *data, *out;
    const struct fs *fs;
    struct arena arena;
    struct errmsg em;
};

static enum err read_source(struct job *j, const char *path, struct str *out)
{
    return fs_read_file(j->fs, path, SOURCE_BYTES_MAX, &j->arena, out, &j->em);
}

static enum err write_image(struct job *j, struct lexicon *words, const struct dictionary_kind *k)
{
    struct buf b;
    buf_init(&b, NULL, IMAGE_BYTES_MAX);
    size_t given = words->n;
    const char *path = arena_printf(&j->arena, "%s/%s", j->out, k->compiled).p;
    enum err e = path == NULL ? err_no_memory(&j->em) : lexicon_compile(words, k->image, &b, &j->em);
    if (e == ERR_OK) {
        e = fs_replace_file(j->fs, path, buf_view(&b), &j->em);
    }
    if (e == ERR_OK) {
        printf("%s: %zu words given, %zu kept, %zu bytes\n", path, given, words->n, b.n);
    }
    buf_fini(&b);
    return e;
}

/* One of our own lists: a word a line, '#' begins a comment. */
static enum err add_list(struct job *j, struct lexicon *words, uint16_t list, const char *name)
{
    struct str text, line;
    const char *path = arena_printf(&j->arena, "%s/%s", j->data, name).p;
    enum err e = path == NULL ? err_no_memory(&j->em) : read_source(j, path, &text);
    while (e == ERR_OK && text_line(&text, &line)) {
        line = text_trim(line);
        if (line.n > 0 && line.p[0] != '#') {
            e = lexicon_add(words, list, line, STR_NULL, &j->em);
        }
    }
    return e;
}

static bool is_ideograph(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0xF900 && c <= 0xFAFF);
}

/* Two characters or more, all of them ideographs. */
static bool is_chinese_word(struct str word)
{
    size_t n = 0;
    for (size_t at = 0; at < word.n; n++) {
        if (!is_ideograph(utf8_next(word, &at))) {
            return false;
        }
    }
    return n >= 2;
}

static uint64_t number_of(struct str s)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && v < UINT32_MAX; i++) {
        v = v * 10 + (uint64_t)(s.p[i] - '0');
    }
    return v;
}

/* Lines "word frequency tag". Numerals (tag m) are left to the segmenter of numbers. */
static enum err add_jieba(struct job *j, struct lexicon *words)
{
    struct str text, line;
    enum err e = read_source(j, j->jieba, &text);
    while (e == ERR_OK && text_line(&text, &line)) {
        struct str rest, tag;
        struct str word = str_cut(line, ' ', &rest);
        struct str frequency = str_cut(rest, ' ', &tag);
        if (is_chinese_word(word) && number_of(frequency) >= FREQUENCY_MIN && !str_is(text_trim(tag), "m")) {
            e = lexicon_add(words, IK_MAIN, word, STR_NULL, &j->em);
        }
    }
    return e;
}

static enum err compile_ik(struct job *j)
{
    struct lexicon words;
    lexicon_init(&words);
    enum err e = add_jieba(j, &words);
    if (e == ERR_OK) {
        e = add_list(j, &words, IK_MAIN, "hotel.txt");
    }
    if (e == ERR_OK) {
        e = add_list(j, &words, IK_QUANTIFIER, "quantifier.txt");
    }
    if (e == ERR_OK) {
        e = add_list(j, &words, IK_STOP, "stopword.txt");
    }
    if (e == ERR_OK) {
        e = write_image(j, &words, &dictionary_ik);
    }
    lexicon_fini(&words);
    return e;
}

/* A word of rime's with the reading that weighs most. */
struct reading {
    struct str word, text;
    uint64_t weight;
    uint32_t units;
};

struct readings {
    struct job *j;
    struct map by_word; /* struct reading */
    struct map phrases; /* those that go into the dictionary */
    struct lexicon words;
};

/* Rime writes lue and nue where the plugin's table has lve and nve; the rest is spelt alike. */
static struct str respell(struct job *j, struct str text)
{
    struct buf b;
    buf_init(&b, NULL, 4096);
    struct str rest = text;
    while (rest.p != NULL) {
        struct str s = str_cut(rest, ' ', &rest);
        buf_str(&b, str_is(s, "lue") ? STR("lve") : str_is(s, "nue") ? STR("nve") : s);
        if (rest.p != NULL) {
            buf_char(&b, ' ');
        }
    }
    struct str out = b.failed ? STR_NULL : arena_str(&j->arena, buf_view(&b));
    buf_fini(&b);
    return out;
}

static enum err note_reading(struct readings *r, struct str word, struct str text, uint64_t weight)
{
    struct reading *old = map_get(&r->by_word, word);
    if (old != NULL && old->weight >= weight) {
        return ERR_OK;
    }
    struct reading *now = old != NULL ? old : ARENA_NEW(&r->j->arena, struct reading);
    struct str spelt = respell(r->j, text);
    if (now == NULL || spelt.p == NULL) {
        return err_no_memory(&r->j->em);
    }
    *now = (struct reading){word, spelt, weight, (uint32_t)utf16_length(word)};
    return old != NULL || map_put(&r->by_word, word, now) ? ERR_OK : err_no_memory(&r->j->em);
}

/* Lines "word<TAB>readings<TAB>weight" behind a head that ends in "...". Their syllables are those of the
 * language. */
static enum err read_rime(struct readings *r)
{
    struct str text, line;
    enum err e = read_source(r->j, r->j->rime, &text);
    while (e == ERR_OK && text_line(&text, &line)) {
        struct str rest, weight;
        struct str word = str_cut(line, '\t', &rest);
        struct str syllables = str_cut(rest, '\t', &weight);
        if (weight.p == NULL || word.n == 0) {
            continue;
        }
        e = note_reading(r, word, syllables, number_of(weight));
        while (e == ERR_OK && syllables.p != NULL) {
            e = lexicon_add(&r->words, PINYIN_SYLLABLE, str_cut(syllables, ' ', &syllables), STR_NULL,
                            &r->j->em);
        }
    }
    return e;
}

/* Also splits: what people type for u with dots, and single letters. */
static enum err add_spellings(struct readings *r)
{
    static const char *const more[] = {"lve", "nve", "zh", "ch", "sh"};
    enum err e = ERR_OK;
    for (char c = 'a'; c <= 'z' && e == ERR_OK; c++) {
        e = lexicon_add(&r->words, PINYIN_SYLLABLE, str_mk(&c, 1), STR_NULL, &r->j->em);
    }
    for (size_t i = 0; i < ARRAY_LEN(more) && e == ERR_OK; i++) {
        e = lexicon_add(&r->words, PINYIN_SYLLABLE, str_of(more[i]), STR_NULL, &r->j->em);
    }
    return e;
}

/* What the dictionary as it is now reads `word` as: the longest phrases from the left, characters between
 * them. */
static bool reads_as(const struct readings *r, struct str word, struct buf *out)
{
    size_t at = 0;
    while (at < word.n) {
        const struct reading *found = NULL;
        for (size_t end = word.n; end > at && found == NULL; end--) {
            struct str part = str_slice(word, at, end);
            size_t next = at;
            utf8_next(word, &next);
            found = map_get(next == end ? &r->by_word : &r->phrases, part);
        }
        if (found == NULL) {
            return false;
        }
        if (at > 0) {
            buf_char(out, ' ');
        }
        buf_str(out, found->text);
        at += found->word.n;
    }
    return true;
}

/* A word is a phrase if it would be read wrongly without it. Shorter ones first: they serve the longer. */
static enum err add_word(struct readings *r, struct reading *w)
{
    struct buf now;
    bool added;
    enum err e = ERR_OK;
    buf_init(&now, NULL, 4096);
    if (reads_as(r, w->word, &now) && !str_eq(buf_view(&now), w->text)) {
        e = pinyin_add_phrase(&r->words, w->word, w->text, &added, &r->j->em);
        if (e == ERR_OK && added && !map_put(&r->phrases, w->word, w)) {
            e = err_no_memory(&r->j->em);
        }
    }
    buf_fini(&now);
    return e;
}

static enum err add_readings(struct readings *r)
{
    enum err e = ERR_OK;
    for (uint32_t units = 1; units <= PHRASE_UNITS_MAX; units++) {
        for (size_t i = 0; i < r->by_word.n && e == ERR_OK; i++) {
            struct reading *w = r->by_word.entries[i].value;
            if (w->units != units) {
                continue;
            }
            e = units == 1 ? lexicon_add(&r->words, PINYIN_CHARACTER, w->word, w->text, &r->j->em)
                           : add_word(r, w);
        }
    }
    return e;
}

static enum err compile_pinyin(struct job *j)
{
    struct readings r = {.j = j};
    map_init(&r.by_word, &j->arena);
    map_init(&r.phrases, &j->arena);
    lexicon_init(&r.words);
    enum err e = read_rime(&r);
    if (e == ERR_OK) {
        e = add_spellings(&r);
    }
    if (e == ERR_OK) {
        e = add_readings(&r);
    }
    if (e == ERR_OK) {
        e = write_image(j, &r.words, &dictionary_pinyin);
    }
    lexicon_fini(&r.words);
    return e;
}

static bool read_arguments(struct job *j, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **to;
    } known[] = {{"--jieba", &j->jieba}, {"--rime", &j->rime}, {"--data", &j->data}, {"--out", &j->out}};
    for (int i = 1; i + 1 < argc; i += 2) {
        for (size_t k = 0; k < ARRAY_LEN(known); k++) {
            if (strcmp(argv[i], known[k].name) == 0) {
                *known[k].to = argv[i + 1];
            }
        }
    }
    return argc == 9 && j->jieba != NULL && j->rime != NULL && j->data != NULL && j->out != NULL;
}

int main(int argc, char **argv)
{
    struct job j = {.fs = fs_posix()};
    if (!read_arguments(&j, argc, argv)) {
        fprintf(stderr, "usage: dictc --jieba FILE --rime FILE --data DIR --out DIR\n");
        return 2;
    }
    arena_init(&j.arena, NULL, ARENA_UNLIMITED);
    j.em = err_in(&j.arena);
    enum err e = j.fs->make_dir(j.fs->self, j.out, &j.em);
    if (e == ERR_OK) {
        e = compile_ik(&j);
    }
    if (e == ERR_OK) {
        e = compile_pinyin(&j);
    }
    if (e != ERR_OK) {
        fprintf(stderr, "dictc: %s\n", err_is(&j.em) ? err_reason(&j.em) : err_type(e));
    }
    arena_fini(&j.arena);
    return e == ERR_OK ? 0 : 1;
}
