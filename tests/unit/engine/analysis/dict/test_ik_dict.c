/* IK's configuration folder: what is read, what is left out, when it counts as changed. */
#include "common/base/bytes.h"
#include "engine/analysis/dict/ik_dict.h"
#include "engine/analysis/dict/xml_properties.h"
#include "tests/seams/fs_mem.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct fs_mem *mem;
static const struct fs *fs;

static void setup(void)
{
    mem = fs_mem_new();
    fs = fs_mem_fs(mem);
}

static void teardown(void)
{
    fs_mem_free(mem);
}

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "conf/analysis-ik/%s", name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    ck_assert_int_eq(fs->make_dir(fs->self, path, NULL), ERR_OK);
    *slash = '/';
    ck_assert_int_eq(fs_replace_file(fs, path, str_of(text), NULL), ERR_OK);
}

static bool has(const struct dictionary *d, uint32_t list, const char *word)
{
    struct lexicon l; /* spells the word as units */
    lexicon_init(&l);
    ck_assert_int_eq(lexicon_add(&l, IK_MAIN, str_of(word), STR_NULL, NULL), ERR_OK);
    uint32_t state = list;
    for (uint32_t i = 1; i < l.v[0].n; i++) {
        state = dat_step(&d->dat, state, l.v[0].units[i]);
    }
    lexicon_fini(&l);
    return state != 0 && dat_is_word(&d->dat, state);
}

#define CONFIG(entries)                                                         \
    "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n"                \
    "<!DOCTYPE properties SYSTEM \"http://java.sun.com/dtd/properties.dtd\">\n" \
    "<properties><comment>x &amp; y</comment><!-- c -->" entries "</properties>\n"

START_TEST(reads_what_the_configuration_names)
{
    struct dictionary *d;
    struct buf warnings;
    ERR_LOCAL(em);
    buf_init(&warnings, NULL, BUF_UNLIMITED);
    put("main.dic", "\xEF\xBB\xBF中国\r\n\r\n  人民 \r\n\xEF\xBB\xBFx");
    put("quantifier.dic", "个\n");
    put("stopword.dic", "the");
    put("my.dic", "如家\n");
    put("more/a.dic", "汉庭\n");
    put("more/b/c.dic", "全季\n");
    put("stop.dic", "的\n");
    put("IKAnalyzer.cfg.xml",
        CONFIG("<entry key=\"ext_dict\">my.dic; more ;absent.dic;../my.dic;/etc/passwd;</entry>"
               "<entry key='ext_stopwords'><![CDATA[stop.dic]]></entry><entry "
               "key=\"remote_ext_dict\">http://x</entry>"
               "<entry key=\"other\"/>"));
    ck_assert_int_eq(dictionary_load(&d, &dictionary_ik, fs, "conf", &warnings, &em), ERR_OK);
    static const char *const words[] = {"中国", "人民", "如家", "汉庭", "全季", "\xEF\xBB\xBFx"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        ck_assert_msg(has(d, d->lists[IK_MAIN], words[i]), "%s", words[i]);
    }
    ck_assert(has(d, d->lists[IK_QUANTIFIER], "个") && has(d, d->lists[IK_STOP], "the")
              && has(d, d->lists[IK_STOP], "的"));
    ck_assert(!has(d, d->lists[IK_MAIN], "的") && !has(d, d->lists[IK_STOP], "中国")
              && !has(d, d->lists[IK_MAIN], "\xEF\xBB\xBF中国"));
    size_t lines = 0;
    for (size_t i = 0; i < warnings.n; i++) {
        lines += warnings.p[i] == '\n';
    }
    ck_assert_uint_eq(lines, 4); /* absent.dic, two that lead out, the remote one */
    struct dictionary *again = dictionary_ref(d);
    ck_assert_ptr_eq(again, d);
    dictionary_unref(again);
    dictionary_unref(d);
    dictionary_unref(NULL);
    buf_fini(&warnings);
}
END_TEST

START_TEST(hash_and_fingerprint_tell_changes)
{
    struct dictionary *a, *b;
    uint64_t f[5];
    bool present;
    ck_assert_int_eq(dictionary_present(&dictionary_ik, fs, "conf", &present, NULL), ERR_OK);
    ck_assert(!present);
    ck_assert_int_eq(dictionary_fingerprint(&dictionary_ik, fs, "conf", &f[0], NULL), ERR_OK);
    ck_assert_uint_eq(f[0], 0);
    ck_assert_int_eq(dictionary_load(&a, &dictionary_ik, fs, "conf", NULL, NULL), ERR_IO);
    ck_assert_ptr_null(a);
    put("main.dic", "中国\n人民\n");
    ck_assert_int_eq(dictionary_fingerprint(&dictionary_ik, fs, "conf", &f[1], NULL), ERR_OK);
    ck_assert_int_eq(dictionary_load(&a, &dictionary_ik, fs, "conf", NULL, NULL), ERR_OK);
    put("main.dic", "人民\n中国\n");
    ck_assert_int_eq(dictionary_fingerprint(&dictionary_ik, fs, "conf", &f[2], NULL), ERR_OK);
    ck_assert_int_eq(dictionary_load(&b, &dictionary_ik, fs, "conf", NULL, NULL), ERR_OK);
    ck_assert_uint_eq(a->image.hash, b->image.hash);
    dictionary_unref(b);
    put("IKAnalyzer.cfg.xml", CONFIG("<entry key=\"ext_dict\">my.dic</entry>"));
    ck_assert_int_eq(dictionary_fingerprint(&dictionary_ik, fs, "conf", &f[3], NULL), ERR_OK);
    put("my.dic", "上海\n");
    ck_assert_int_eq(dictionary_fingerprint(&dictionary_ik, fs, "conf", &f[4], NULL), ERR_OK);
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < i; k++) {
            ck_assert_uint_ne(f[i], f[k]);
        }
    }
    ck_assert_int_eq(dictionary_load(&b, &dictionary_ik, fs, "conf", NULL, NULL), ERR_OK);
    ck_assert_uint_ne(a->image.hash, b->image.hash);
    dictionary_unref(a);
    dictionary_unref(b);
}
END_TEST

START_TEST(compiled_files_open)
{
    struct dictionary *a, *b;
    put("main.dic", "中国\n人民\n");
    put("stopword.dic", "the\n");
    ck_assert_int_eq(dictionary_load(&a, &dictionary_ik, fs, "conf", NULL, NULL), ERR_OK);
    struct str bytes = str_mk(a->image.heap, load_u64(a->image.heap + 16)); /* the header has its length */
    ck_assert_int_eq(fs_replace_file(fs, "ik.dict", bytes, NULL), ERR_OK);
    ck_assert_int_eq(dictionary_open(&b, &dictionary_ik, fs, "ik.dict", NULL), ERR_OK);
    ck_assert_uint_eq(a->image.hash, b->image.hash);
    ck_assert(has(b, b->lists[IK_MAIN], "人民") && has(b, b->lists[IK_STOP], "the")
              && !has(b, b->lists[IK_MAIN], "the") && b->lists[IK_QUANTIFIER] == 0);
    dictionary_unref(a);
    dictionary_unref(b);
    ck_assert_int_eq(dictionary_open(&b, &dictionary_ik, fs, "conf/analysis-ik/main.dic", NULL), ERR_CORRUPT);
    ck_assert_ptr_null(b);
}
END_TEST

START_TEST(every_failing_read_is_reported)
{
    put("main.dic", "中国\n");
    put("my.dic", "上海\n");
    put("IKAnalyzer.cfg.xml", CONFIG("<entry key=\"ext_dict\">my.dic</entry>"));
    for (uint64_t n = 1;; n++) {
        struct dictionary *d;
        fs_mem_fail_at(mem, n, FS_MEM_FAIL);
        enum err e = dictionary_load(&d, &dictionary_ik, fs, "conf", NULL, NULL);
        bool fired = fs_mem_fired(mem);
        fs_mem_fail_at(mem, 0, FS_MEM_FAIL);
        ck_assert(e == ERR_OK || e == ERR_IO);
        ck_assert((e == ERR_OK) == (d != NULL));
        dictionary_unref(d);
        if (!fired) {
            ck_assert_int_eq(e, ERR_OK);
            break;
        }
    }
}
END_TEST

START_TEST(strict_xml)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        {"<properties></properties>", true},
        {" <!-- a --> <properties> </properties> <!-- b -->\n", true},
        {"<properties><entry key=\"k\">&lt;&#65;&#x42;&quot;</entry></properties>", true},
        {"", false},
        {"<properties>", false},
        {"<properties></properties>x", false},
        {"<properties><entry>v</entry></properties>", false},
        {"<properties><entry key=k>v</entry></properties>", false},
        {"<properties><entry key=\"k\" a=\"b\">v</entry></properties>", false},
        {"<properties><entry key=\"k\">v</properties>", false},
        {"<properties><entry key=\"k\"><b/></entry></properties>", false},
        {"<properties>text</properties>", false},
        {"<properties><entry key=\"k\">&e;</entry></properties>", false},
        {"<properties><entry key=\"k\">&#0;</entry></properties>", false},
        {"<properties><entry key=\"k\">&#99999999999;</entry></properties>", false},
        {"<properties><entry key=\"k\">&#xD800;</entry></properties>", false},
        {"<!DOCTYPE properties [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><properties></properties>", false},
        {"<!DOCTYPE properties", false},
        {"<?xml <properties></properties>", false},
        {"<properties><!-- </properties>", false},
        {"<properties><entry key=\"\xFF\">v</entry></properties>", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        struct xml_properties p;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        enum err e = xml_properties_parse(&p, str_of(cases[i].text), &a, NULL);
        ck_assert_msg((e == ERR_OK) == cases[i].ok, "%s", cases[i].text);
        if (i == 2) {
            ck_assert(str_is(xml_properties_get(&p, "k"), "<AB\""));
            ck_assert_ptr_null(xml_properties_get(&p, "absent").p);
        }
        /* every prefix ends well, whatever it gives */
        for (size_t n = 0; n < strlen(cases[i].text); n++) {
            e = xml_properties_parse(&p, str_mk(cases[i].text, n), &a, NULL);
            ck_assert(e == ERR_OK || e == ERR_ILLEGAL_ARGUMENT);
        }
        arena_fini(&a);
    }
    put("main.dic", "中国\n");
    put("IKAnalyzer.cfg.xml", "nonsense");
    struct dictionary *d;
    ck_assert_int_eq(dictionary_load(&d, &dictionary_ik, fs, "conf", NULL, NULL), ERR_ILLEGAL_ARGUMENT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ik_dict");
    TCase *t = tcase_create("ik_dict");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, reads_what_the_configuration_names);
    tcase_add_test(t, hash_and_fingerprint_tell_changes);
    tcase_add_test(t, compiled_files_open);
    tcase_add_test(t, every_failing_read_is_reported);
    tcase_add_test(t, strict_xml);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
