/* The pinyin filter and tokenizer over a small dictionary: readings, options, numbering, hostile bytes. */
#include "common/base/rand.h"
#include "common/base/utf8.h"
#include "engine/analysis/pinyin_int.h"
#include "tests/seams/fs_mem.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct fs_mem *mem;
static struct dictionary *dictionary;
static struct arena arena;
static struct buf warnings;

static void put(const char *path, const char *text)
{
    ck_assert_int_eq(fs_replace_file(fs_mem_fs(mem), path, str_of(text), NULL), ERR_OK);
}

static void setup(void)
{
    mem = fs_mem_new();
    const struct fs *fs = fs_mem_fs(mem);
    buf_init(&warnings, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(fs->make_dir(fs->self, "conf/analysis-pinyin", NULL), ERR_OK);
    put("conf/analysis-pinyin/pinyin.txt",
        "\xEF\xBB\xBF刘=liu2\n德=de2\n华=hua2,hua1\n# "
        "x\n丆=\n重=zhong4,chong2\n庆=qing4\n女=nu:3,ru3\n啊=a5\n市=shi4\n");
    put("conf/analysis-pinyin/polyphone.txt", "#重=chong2\n重庆=chong2 qing4\n重庆市=x\n庆市=qing4 shi4\n");
    put("conf/analysis-pinyin/pinyin_alphabet.dict", "a\nb\nliu\nde\nhua\nal\nxi\nan\nxian\ng\nanga\n\n");
    ck_assert_int_eq(dictionary_load(&dictionary, &dictionary_pinyin, fs, "conf", &warnings, NULL), ERR_OK);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
}

static void teardown(void)
{
    dictionary_unref(dictionary);
    arena_fini(&arena);
    buf_fini(&warnings);
    fs_mem_free(mem);
}

static void settings_of(struct settings *s, const char *options)
{
    struct str rest = str_of(options);
    settings_init(s, &arena);
    while (rest.n > 0) {
        struct str value, key = str_cut(str_cut(rest, ' ', &rest), '=', &value);
        ck_assert(settings_put(s, key, value));
    }
}

static const struct analysis_env *env(void)
{
    static struct analysis_env e;
    e = (struct analysis_env){.pinyin = dictionary};
    return &e;
}

static char *shown(const struct token_list *l)
{
    struct buf b;
    int position = -1;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < l->n; i++) {
        position += l->v[i].pos_inc;
        buf_printf(&b, "%s%.*s@%d[%u-%u]", i > 0 ? " " : "", STR_ARG(l->v[i].text), position, l->v[i].start,
                   l->v[i].end);
    }
    struct str s = arena_str(&arena, b.n > 0 ? buf_view(&b) : STR(""));
    buf_fini(&b);
    return (char *)(uintptr_t)s.p;
}

static char *filtered(const char *options, const char *text, bool first_use)
{
    const struct token_filter *f;
    struct settings s;
    struct token_list l;
    settings_of(&s, options);
    ck_assert_int_eq(pinyin_filter_new((const void **)&f, STR("py"), &s, env(), &arena, NULL), ERR_OK);
    token_list_init(&l, &arena);
    l.first_use = first_use;
    struct token t = {
        .text = str_of(text), .end = (uint32_t)strlen(text), .pos_inc = 1, .pos_len = 1, .type = "word"};
    ck_assert(token_add(&l, t));
    ck_assert_int_eq(f->apply(f, &l, NULL), ERR_OK);
    return shown(&l);
}

static char *tokenized(const char *options, const char *text)
{
    const struct tokenizer *t;
    struct settings s;
    struct token_list l;
    settings_of(&s, options);
    ck_assert_int_eq(pinyin_tokenizer_new((const void **)&t, STR("pinyin"), &s, env(), &arena, NULL), ERR_OK);
    token_list_init(&l, &arena);
    ck_assert_int_eq(t->run(t, str_of(text), &l, NULL), ERR_OK);
    return shown(&l);
}

START_TEST(the_dictionary)
{
    ck_assert(str_is(pinyin_of_character(dictionary, 0x91CD), "zhong")); /* 重 */
    ck_assert(str_is(pinyin_of_character(dictionary, 0x5973), "nv"));    /* 女 */
    ck_assert(str_is(pinyin_of_character(dictionary, 0x5218), "liu"));   /* 刘, behind the byte order mark */
    ck_assert_uint_eq(pinyin_of_character(dictionary, 0x4E06).n, 0);     /* 丆 */
    ck_assert_uint_eq(pinyin_of_character(dictionary, 'a').n, 0);
    static const uint16_t units[] = {0x91CD, 0x5E86, 0x5E02};
    struct str readings;
    ck_assert_uint_eq(pinyin_match_phrase(dictionary, units, 3, &readings), 2);
    ck_assert(str_is(readings, "chong qing"));
    ck_assert_uint_eq(pinyin_match_phrase(dictionary, units, 1, &readings), 0);
    ck_assert(pinyin_is_syllable(dictionary, STR("liu")) && !pinyin_is_syllable(dictionary, STR("li")));
    ck_assert(!pinyin_is_syllable(dictionary, STR("")));
    ck_assert(str_find_str(buf_view(&warnings), STR("重庆市"))
              != SIZE_MAX); /* one reading for three characters */
    uint64_t a, b;
    const struct fs *fs = fs_mem_fs(mem);
    ck_assert_int_eq(dictionary_fingerprint(&dictionary_pinyin, fs, "conf", &a, NULL), ERR_OK);
    put("conf/analysis-pinyin/polyphone.txt", "");
    ck_assert_int_eq(dictionary_fingerprint(&dictionary_pinyin, fs, "conf", &b, NULL), ERR_OK);
    ck_assert(a != b && a != 0 && b != 0);
    struct dictionary *other;
    ck_assert_int_eq(dictionary_load(&other, &dictionary_pinyin, fs, "conf", NULL, NULL), ERR_OK);
    ck_assert_uint_ne(other->image.hash, dictionary->image.hash);
    dictionary_unref(other);
    ck_assert_int_eq(dictionary_load(&other, &dictionary_pinyin, fs, "elsewhere", NULL, NULL), ERR_IO);
    ck_assert_int_eq(dictionary_open(&other, &dictionary_pinyin, fs, "conf/analysis-pinyin/pinyin.txt", NULL),
                     ERR_CORRUPT);
}
END_TEST

START_TEST(filter_options)
{
    ck_assert_str_eq(filtered("", "刘德华", false), "liu@0[0-9] de@1[0-9] hua@2[0-9] ldh@2[0-9]");
    ck_assert_str_eq(filtered("", "刘德华", true), "liu@0[0-9] ldh@0[0-9] de@1[0-9] hua@2[0-9]");
    ck_assert_str_eq(
        filtered("keep_full_pinyin=false keep_joined_full_pinyin=true keep_original=true", "重庆", false),
        "重庆@0[0-6] chongqing@0[0-6] cq@0[0-6]");
    ck_assert_str_eq(filtered("keep_first_letter=false keep_separate_first_letter=true", "刘啊", false),
                     "l@0[0-6] liu@0[0-6] a@1[0-6]");
    ck_assert_str_eq(filtered("keep_separate_chinese=true keep_first_letter=false", "刘", false),
                     "liu@0[0-3] 刘@0[0-3]");
    ck_assert_str_eq(filtered("limit_first_letter_length=2 keep_full_pinyin=false", "刘德华", false),
                     "ld@0[0-9]");
    ck_assert_str_eq(filtered("keep_none_chinese_together=false keep_first_letter=false", "A1刘b", false),
                     "a@-1[0-6] 1@0[0-6] liu@0[0-6] b@2[0-6]");
    ck_assert_str_eq(
        filtered("lowercase=false keep_full_pinyin=false none_chinese_pinyin_tokenize=false", "AB刘", false),
        "AB@0[0-5] ABl@0[0-5]");
    ck_assert_str_eq(filtered("keep_none_chinese=false", "ab刘", false), "liu@0[0-5] abl@0[0-5]");
    ck_assert_str_eq(filtered("remove_duplicated_term=true keep_first_letter=false", "刘德刘", false),
                     "liu@0[0-9] de@1[0-9]");
    ck_assert_str_eq(filtered("keep_none_chinese_in_first_letter=false keep_full_pinyin=false "
                              "keep_joined_full_pinyin=true keep_none_chinese_in_joined_full_pinyin=true",
                              "a刘", false),
                     "a@0[0-4] aliu@0[0-4] l@0[0-4]");
    ck_assert_str_eq(filtered("", "!", false), "!@0[0-1]");
    ck_assert_str_eq(filtered("keep_original=true", "\xE3\x80\x80", false),
                     "\xE3\x80\x80@0[0-3] \xE3\x80\x80@1[0-3]");
    /* small letters by context: the last sigma of a word; an I with a dot becomes two characters */
    ck_assert_str_eq(filtered("keep_original=true", "ΑΣ \xC4\xB0", false), "ας i\xCC\x87@0[0-7]");
}
END_TEST

START_TEST(letters_are_split)
{
    ck_assert_str_eq(filtered("keep_first_letter=false", "liudehua", false),
                     "liu@0[0-8] de@1[0-8] hua@2[0-8]");
    /* as many from the back as from the front: the front's; fewer: the back's */
    ck_assert_str_eq(filtered("keep_first_letter=false", "xiang", false), "xian@0[0-5] g@1[0-5]");
    ck_assert_str_eq(filtered("keep_first_letter=false", "xianga", false), "xi@0[0-6] anga@1[0-6]");
    /* what is no syllable comes behind the next that is one */
    ck_assert_str_eq(filtered("keep_first_letter=false", "xyzde", false), "de@0[0-5] xyz@1[0-5]");
    ck_assert_str_eq(filtered("keep_first_letter=false", "12a34", false), "12@0[0-5] a@1[0-5] 34@2[0-5]");
    ck_assert_str_eq(filtered("keep_first_letter=false", "ＤＥde", false), "de@0[0-8]");
}
END_TEST

START_TEST(tokenizer_options)
{
    ck_assert_str_eq(tokenized("", "刘德华"), "liu@0[0-0] ldh@0[0-0] de@1[0-0] hua@2[0-0]");
    ck_assert_str_eq(tokenized("", " \xE3\x80\x80"), "");
    ck_assert_str_eq(tokenized("keep_first_letter=false ignore_pinyin_offset=false", "刘a1华"),
                     "liu@0[0-3] a@1[3-4] 1@2[4-5] hua@3[5-8]");
    ck_assert_str_eq(tokenized("keep_full_pinyin=false", "刘a华"), "a@0[0-0] lah@0[0-0]");
    ck_assert_str_eq(tokenized("type=pinyin_first_letter", "刘A华"), "lah@0[0-0]");
}
END_TEST

START_TEST(options_that_are_none)
{
    const struct token_filter *f;
    struct settings s;
    struct analysis_env none = {0};
    settings_of(&s, "keep_first_letter=false keep_full_pinyin=false");
    ck_assert_int_eq(pinyin_filter_new((const void **)&f, STR("py"), &s, env(), &arena, NULL),
                     ERR_CONFIG_ERROR);
    settings_of(&s, "keep_original=maybe");
    ck_assert_int_eq(pinyin_filter_new((const void **)&f, STR("py"), &s, env(), &arena, NULL),
                     ERR_ILLEGAL_ARGUMENT);
    settings_of(&s, "");
    ck_assert_int_eq(pinyin_filter_new((const void **)&f, STR("py"), &s, &none, &arena, NULL),
                     ERR_ILLEGAL_STATE);
}
END_TEST

START_TEST(any_bytes_and_options_are_safe)
{
    static const char *const names[] = {"keep_first_letter",
                                        "keep_separate_first_letter",
                                        "keep_joined_full_pinyin",
                                        "keep_none_chinese",
                                        "keep_none_chinese_together",
                                        "none_chinese_pinyin_tokenize",
                                        "keep_original",
                                        "lowercase",
                                        "trim_whitespace",
                                        "keep_none_chinese_in_first_letter",
                                        "keep_none_chinese_in_joined_full_pinyin",
                                        "remove_duplicated_term",
                                        "fixed_pinyin_offset",
                                        "ignore_pinyin_offset",
                                        "keep_separate_chinese"};
    static const char *const pieces[] = {"刘",       "德", "重庆", "a",    "Z1",   " ", "é",
                                         "\xC4\xB0", "Σ",  "😀",    "\xFF", "\xE4", "丆"};
    struct rng r;
    rng_seed(&r, 4);
    for (int round = 0; round < 3000; round++) {
        struct settings s;
        struct token_list l;
        const struct token_filter *f;
        const struct tokenizer *t;
        struct buf b;
        settings_init(&s, &arena);
        buf_init(&b, NULL, BUF_UNLIMITED);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            ck_assert(settings_put(&s, str_of(names[i]), rng_below(&r, 2) == 0 ? STR("true") : STR("false")));
        }
        for (uint64_t n = rng_below(&r, 40); n > 0; n--) {
            buf_z(&b, pieces[rng_below(&r, ARRAY_LEN(pieces))]);
        }
        ck_assert_int_eq(pinyin_filter_new((const void **)&f, STR("py"), &s, env(), &arena, NULL), ERR_OK);
        ck_assert_int_eq(pinyin_tokenizer_new((const void **)&t, STR("py"), &s, env(), &arena, NULL), ERR_OK);
        token_list_init(&l, &arena);
        ck_assert_int_eq(t->run(t, buf_view(&b), &l, NULL), ERR_OK);
        for (size_t i = 0; i < l.n; i++) {
            ck_assert(l.v[i].start <= l.v[i].end && l.v[i].end <= b.n && l.v[i].pos_inc >= 0);
        }
        ck_assert_uint_le(l.end_offset, b.n);
        l.first_use = round % 2 == 0;
        ck_assert_int_eq(f->apply(f, &l, NULL), ERR_OK); /* its own tokens once more */
        buf_fini(&b);
        arena_reset(&arena);
    }
}
END_TEST

START_TEST(no_memory_is_reported)
{
    const struct tokenizer *t;
    struct settings s;
    settings_of(&s, "keep_joined_full_pinyin=true keep_original=true");
    ck_assert_int_eq(pinyin_tokenizer_new((const void **)&t, STR("py"), &s, env(), &arena, NULL), ERR_OK);
    for (size_t max = 0;; max += 64) {
        struct arena small;
        struct token_list l;
        arena_init(&small, NULL, max);
        token_list_init(&l, &small);
        enum err e = t->run(t, STR("刘德华liudehua重庆İΣ"), &l, NULL);
        arena_fini(&small);
        if (e == ERR_OK) {
            break;
        }
        ck_assert_int_eq(e, ERR_NO_MEMORY);
        ck_assert_uint_lt(max, MIB);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pinyin");
    TCase *t = tcase_create("pinyin");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_dictionary);
    tcase_add_test(t, filter_options);
    tcase_add_test(t, letters_are_split);
    tcase_add_test(t, tokenizer_options);
    tcase_add_test(t, options_that_are_none);
    tcase_add_test(t, any_bytes_and_options_are_safe);
    tcase_add_test(t, no_memory_is_reported);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
