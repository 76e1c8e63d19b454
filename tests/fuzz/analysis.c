/* Analyzers as requests define them, the texts that they get, and the dictionaries behind them. */
#include "tests/fuzz/fuzz.h"

#include "common/base/utf8.h"
#include "engine/analysis/analysis.h"
#include "engine/analysis/dict/image.h"
#include "engine/analysis/ik.h"
#include "engine/analysis/pinyin.h"
#include "engine/analysis/regex.h"
#include "tests/seams/fs_mem.h"

#include <stdio.h>
#include <stdlib.h>

static struct fs_mem *disk;
static struct dictionary *ik;
static struct dictionary *pinyin;

static void put_file(struct fs_mem *m, const char *path, struct str text)
{
    FUZZ_HOLDS(fs_replace_file(fs_mem_fs(m), path, text, NULL) == ERR_OK);
}

/* Dictionaries of a few words. */
static void init(void)
{
    ERR_LOCAL(em);
    disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    FUZZ_HOLDS(fs->make_dir(fs->self, "/c/analysis-ik", NULL) == ERR_OK);
    FUZZ_HOLDS(fs->make_dir(fs->self, "/c/analysis-pinyin", NULL) == ERR_OK);
    put_file(disk, "/c/analysis-ik/main.dic",
             STR("中华\n中华人民\n中华人民共和国\n人民\n共和国\n酒店\n上海\n外滩\n"));
    put_file(disk, "/c/analysis-ik/quantifier.dic", STR("个\n年\n公里\n"));
    put_file(disk, "/c/analysis-ik/stopword.dic", STR("的\nthe\n"));
    put_file(disk, "/c/analysis-pinyin/pinyin.txt",
             STR("如=ru2\n家=jia1\n酒=jiu3\n店=dian4\n上=shang4\n海=hai3\n"));
    put_file(disk, "/c/analysis-pinyin/pinyin_alphabet.dict", STR("ru\njia\njiu\ndian\nshang\nhai\na\n"));
    FUZZ_HOLDS(dictionary_load(&ik, &dictionary_ik, fs, "/c", NULL, &em) == ERR_OK);
    FUZZ_HOLDS(dictionary_load(&pinyin, &dictionary_pinyin, fs, "/c", NULL, &em) == ERR_OK);
}

static enum field_analysis no_field(void *self, struct str field, const struct analyzer **out)
{
    (void)self;
    (void)field;
    *out = NULL;
    return FIELD_UNMAPPED;
}

static void analyze(struct analysis *registry, bool has_index, const struct json *body, struct arena *a)
{
    ERR_LOCAL(em);
    struct buf b;
    struct jsonw w;
    struct json answer;
    struct analyze_context cx = {.analysis = registry,
                                 .has_index = has_index,
                                 .index_name = STR("i"),
                                 .max_token_count = 1000,
                                 .field_analyzer = no_field};
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    jsonw_init(&w, &b, false);
    err_clear(&em);
    enum err e = analyze_request(&cx, body, a, &w, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK && !b.failed) {
        e = json_parse(&answer, buf_view(&b), a, &json_limits_default, NULL);
        FUZZ_HOLDS(e == ERR_OK || e == ERR_NO_MEMORY);
    }
    buf_fini(&b);
}

/* {"settings":{...},"body":{...}}: a registry made of the settings answers the body. */
static void one_analyze(struct str in)
{
    struct arena a;
    struct json v;
    struct settings s;
    ERR_LOCAL(em);
    struct analysis *registry;
    const struct analysis_env env = {.ik = ik, .pinyin = pinyin};
    fuzz_arena(&a);
    settings_init(&s, &a);
    if (json_parse(&v, in, &a, &json_limits_default, NULL) == ERR_OK && v.type == JSON_OBJECT) {
        const struct json *given = json_get(&v, "settings"), *body = json_get(&v, "body");
        enum err e = json_is(given, JSON_OBJECT) ? settings_from_json(&s, given, STR("index"), &em) : ERR_OK;
        if (e == ERR_OK) {
            e = analysis_new(&registry, &s, &env, &em);
            fuzz_error(e, &em);
            if (e == ERR_OK) {
                if (json_is(body, JSON_OBJECT)) {
                    analyze(registry, given != NULL, body, &a);
                }
                analysis_unref(registry);
            }
        }
    }
    arena_fini(&a);
}

/* A line with the name of an analyzer, then the text. */
static void one_text(struct str in)
{
    static struct analysis *registry;
    struct arena a;
    ERR_LOCAL(em);
    if (registry == NULL) {
        static const char settings_text[] =
            "{\"analysis\":{\"analyzer\":{\"py\":{\"tokenizer\":\"ik_max_word\",\"filter\":[\"p\"]},"
            "\"whole\":{\"tokenizer\":\"keyword\",\"filter\":[\"p\"]},"
            "\"grams\":{\"tokenizer\":\"edge_ngram\",\"filter\":[\"lowercase\",\"word_delimiter_graph\","
            "\"shingle\"]},"
            "\"html\":{\"tokenizer\":\"uax_url_email\",\"char_filter\":[\"html_strip\"],\"filter\":["
            "\"asciifolding\",\"cjk_bigram\"]}},"
            "\"filter\":{\"p\":{\"type\":\"pinyin\",\"keep_full_pinyin\":true,\"keep_joined_full_pinyin\":"
            "true,"
            "\"keep_original\":true,\"remove_duplicated_term\":true}}}}";
        static struct arena kept;
        struct settings s;
        struct json v;
        const struct analysis_env env = {.ik = ik, .pinyin = pinyin};
        fuzz_arena(&kept);
        settings_init(&s, &kept);
        FUZZ_HOLDS(json_parse(&v, str_of(settings_text), &kept, &json_limits_default, NULL) == ERR_OK);
        FUZZ_HOLDS(settings_from_json(&s, &v, STR("index"), &em) == ERR_OK);
        FUZZ_HOLDS(analysis_new(&registry, &s, &env, &em) == ERR_OK);
    }
    struct str name = fuzz_line(&in);
    const struct analyzer *an = analysis_analyzer(registry, name);
    an = an != NULL ? an : analysis_default(registry);
    fuzz_arena(&a);
    if (utf8_valid(in)) {
        struct token_list l;
        token_list_init(&l, &a);
        enum err e = analyzer_run(an, in, &l, &em);
        fuzz_error(e, &em);
        for (size_t i = 0; e == ERR_OK && i < l.n; i++) {
            FUZZ_HOLDS(l.v[i].start <= l.v[i].end && l.v[i].end <= in.n);
            FUZZ_HOLDS(utf8_valid(l.v[i].text));
        }
    }
    arena_fini(&a);
}

/* A line with a pattern, one with a replacement, then the text. */
static void one_java_regex(struct str in)
{
    struct arena a;
    struct part_cleanup *cleanups = NULL;
    const struct analysis_env env = {.cleanups = &cleanups};
    const struct regex *r;
    struct matcher *m;
    ERR_LOCAL(em);
    struct buf out;
    bool found = false;
    fuzz_arena(&a);
    buf_init(&out, NULL, MIB);
    struct str pattern = fuzz_line(&in), replacement = fuzz_line(&in);
    if (utf8_valid(pattern) && utf8_valid(replacement) && utf8_valid(in)) {
        enum err e = part_regex_new(&r, pattern, STR(""), &env, &a, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK && matcher_new(&m, r, in, &em) == ERR_OK) {
            for (int i = 0; i < 100 && (e = matcher_find(m, &found, &em)) == ERR_OK && found; i++) {
                size_t start, end;
                FUZZ_HOLDS(matcher_group(m, 0, &start, &end) && start <= end && end <= in.n);
                fuzz_error(matcher_expand(m, in, replacement, &out, &em), &em);
            }
            matcher_free(m);
        }
    }
    for (; cleanups != NULL; cleanups = cleanups->next) {
        cleanups->run(cleanups->arg);
    }
    buf_fini(&out);
    arena_fini(&a);
}

/* Dictionaries as people write them: a line that says which file, then its text. */
static void one_word_list(struct str in)
{
    static const char *const paths[] = {"/c/analysis-ik/main.dic", "/c/analysis-ik/IKAnalyzer.cfg.xml",
                                        "/c/analysis-pinyin/pinyin.txt", "/c/analysis-pinyin/polyphone.txt",
                                        "/c/analysis-pinyin/pinyin_alphabet.dict"};
    struct fs_mem *m = fs_mem_new();
    const struct fs *fs = fs_mem_fs(m);
    struct dictionary *words;
    struct dictionary *readings;
    ERR_LOCAL(em);
    struct buf warnings;
    buf_init(&warnings, NULL, MIB);
    FUZZ_HOLDS(fs->make_dir(fs->self, "/c/analysis-ik", NULL) == ERR_OK);
    FUZZ_HOLDS(fs->make_dir(fs->self, "/c/analysis-pinyin", NULL) == ERR_OK);
    put_file(m, "/c/analysis-ik/main.dic", STR("酒店\n"));
    put_file(m, "/c/analysis-pinyin/pinyin.txt", STR("如=ru2\n"));
    size_t which = in.n > 0 ? (uint8_t)in.p[0] % ARRAY_LEN(paths) : 0;
    put_file(m, paths[which], in.n > 0 ? str_mk(in.p + 1, in.n - 1) : in);
    enum err e = dictionary_load(&words, &dictionary_ik, fs, "/c", &warnings, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        dictionary_unref(words);
    }
    e = dictionary_load(&readings, &dictionary_pinyin, fs, "/c", &warnings, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        dictionary_unref(readings);
    }
    buf_fini(&warnings);
    fs_mem_free(m);
}

/* A compiled dictionary. */
static void one_dictionary(struct str in)
{
    struct fs_mem *m = fs_mem_new();
    const struct fs *fs = fs_mem_fs(m);
    struct dictionary *words;
    struct dictionary *readings;
    ERR_LOCAL(em);
    FUZZ_HOLDS(fs->make_dir(fs->self, "/d", NULL) == ERR_OK);
    put_file(m, "/d/x", in);
    enum err e = dictionary_open(&words, &dictionary_ik, fs, "/d/x", &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        dictionary_unref(words);
    }
    e = dictionary_open(&readings, &dictionary_pinyin, fs, "/d/x", &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        dictionary_unref(readings);
    }
    fs_mem_free(m);
}

const struct fuzz_target fuzz_analysis[] = {
    {"analyze", one_analyze, init, FUZZ_BYTES},       {"text", one_text, init, FUZZ_TEXT},
    {"java_regex", one_java_regex, NULL, FUZZ_TEXT},  {"word_list", one_word_list, NULL, FUZZ_BYTES},
    {"dictionary", one_dictionary, NULL, FUZZ_BYTES}, {0},
};
