/* Buckets over random documents against counting them one by one. */
#include "tests/unit/engine/aggs/agg_corpora.h"

#include "common/base/jsonw.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool has_word(const struct ar_doc *d, uint32_t w)
{
    for (uint32_t i = 0; i < d->n_words; i++) {
        if (d->words[i] == w) {
            return true;
        }
    }
    return false;
}

struct counted {
    int64_t key, count;
    double sum; /* of d */
};

static int by_count(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    return x->count != y->count ? (x->count > y->count ? -1 : 1) : (x->key > y->key) - (x->key < y->key);
}

static int by_key(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void count(struct counted *v, uint32_t *n, int64_t key, const struct ar_doc *d)
{
    uint32_t i = 0;
    while (i < *n && v[i].key != key) {
        i++;
    }
    if (i == *n) {
        v[(*n)++] = (struct counted){.key = key};
    }
    v[i].count++;
    v[i].sum += d->has_d ? d->d : 0;
}

/* The buckets of `name`, each with its key (a word's, or the number) and the sum under "s". */
static void check_counted(const struct ar_run *run, const char *name, const struct counted *want, uint32_t n,
                          bool words)
{
    char path[64];
    snprintf(path, sizeof(path), "%s.buckets", name);
    const struct json *list = ar_at(run, path);
    ck_assert_msg(list->n == n, "%s: %u of %u in %.*s", name, list->n, n, STR_ARG(run->text));
    for (uint32_t i = 0; i < n; i++) {
        const struct json *b = &list->items[i];
        if (words) {
            ck_assert_msg(str_is(json_text(json_get(b, "key")), ar_words[want[i].key]), "%s %u: %.*s", name,
                          i, STR_ARG(run->text));
        } else {
            ck_assert_msg(json_double(json_get(b, "key")) == (double)want[i].key, "%s %u: %.*s", name, i,
                          STR_ARG(run->text));
        }
        ck_assert_msg(json_double(json_get(b, "doc_count")) == (double)want[i].count, "%s %u", name, i);
        if (json_get(b, "s") != NULL) {
            ck_assert(fabs(json_double(json_path(b, "s.value")) - want[i].sum) < 1e-9);
        }
    }
}

START_TEST(terms)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    struct counted words[AR_WORDS], numbers[80];
    uint32_t n_words = 0, n_numbers = 0;
    ck_assert_int_eq(
        ar_run(r, &run,
               "{'aggs':{'k':{'terms':{'field':'k','size':100},'aggs':{'s':{'sum':{'field':'d'}}}},"
               "'key':{'terms':{'field':'k','size':100,'order':{'_key':'asc'}}},"
               "'i':{'terms':{'field':'i','size':100},'aggs':{'s':{'sum':{'field':'d'}}}},"
               "'b':{'terms':{'field':'b'}},"
               "'in':{'terms':{'field':'k','size':100,'include':['cat','ant','nowhere'],'order':{'_key':'asc'"
               "}}},"
               "'re':{'terms':{'field':'k','size':100,'include':'[a-c].*','exclude':'c.*','order':{'_key':'"
               "asc'}}},"
               "'zero':{'terms':{'field':'k','size':100,'min_doc_count':0,'order':{'_key':'asc'}}},"
               "'x':{'terms':{'field':'k','missing':'zz','include':'zz'}}}}"),
        ERR_OK);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ar_doc *d = &r->docs[i];
        for (uint32_t k = 0; k < d->n_words; k++) {
            count(words, &n_words, d->words[k], d);
        }
        for (uint32_t k = 0; k < d->n_i; k++) {
            if (k == 0 || d->i[k] != d->i[k - 1]) {
                count(numbers, &n_numbers, d->i[k], d);
            }
        }
    }
    qsort(numbers, n_numbers, sizeof(numbers[0]), by_count);
    check_counted(&run, "i", numbers, n_numbers, false);
    qsort(words, n_words, sizeof(words[0]), by_count);
    check_counted(&run, "k", words, n_words, true);
    qsort(words, n_words, sizeof(words[0]), by_key);
    check_counted(&run, "key", words, n_words, true);
    check_counted(&run, "zero", words, n_words, true);
    struct counted some[AR_WORDS], begins[AR_WORDS];
    uint32_t n_some = 0, n_begins = 0;
    for (uint32_t i = 0; i < n_words; i++) {
        const char *w = ar_words[words[i].key];
        if (strcmp(w, "cat") == 0 || strcmp(w, "ant") == 0) {
            some[n_some++] = words[i];
        }
        if (w[0] == 'a' || w[0] == 'b') {
            begins[n_begins++] = words[i];
        }
    }
    check_counted(&run, "in", some, n_some, true);
    check_counted(&run, "re", begins, n_begins, true);
    ar_run_fini(&run);
    end(r);
}
END_TEST

/* A shard reports its best: the error bound must hold for every term that is shown. */
START_TEST(terms_cut)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    int64_t total[AR_WORDS] = {0}, all = 0;
    ck_assert_int_eq(ar_run(r, &run,
                            "{'aggs':{'k':{'terms':{'field':'k','size':3,'shard_size':3,'show_term_doc_count_"
                            "error':true}}}}"),
                     ERR_OK);
    for (uint32_t i = 0; i < r->n; i++) {
        for (uint32_t k = 0; k < r->docs[i].n_words; k++) {
            total[r->docs[i].words[k]]++;
            all++;
        }
    }
    const struct json *list = ar_at(&run, "k.buckets");
    int64_t shown = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t n = (int64_t)json_double(json_get(&list->items[i], "doc_count"));
        int64_t error = (int64_t)json_double(json_get(&list->items[i], "doc_count_error_upper_bound"));
        for (uint32_t w = 0; w < AR_WORDS; w++) {
            if (str_is(json_text(json_get(&list->items[i], "key")), ar_words[w])) {
                ck_assert_msg(n <= total[w] && n + error >= total[w], "%s", ar_words[w]);
            }
        }
        shown += n;
    }
    ck_assert(shown + (int64_t)ar_num(&run, "k.sum_other_doc_count") == all);
    ar_run_fini(&run);
    end(r);
}
END_TEST

START_TEST(histograms)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    struct counted tens[400], days[400];
    uint32_t n_tens = 0, n_days = 0;
    ck_assert_int_eq(
        ar_run(r, &run,
               "{'aggs':{'h':{'histogram':{'field':'i','interval':7,'offset':2,'min_doc_count':1},"
               "'aggs':{'s':{'sum':{'field':'d'}}}},"
               "'d':{'date_histogram':{'field':'t','fixed_interval':'6h','offset':'+1h','min_doc_count':1},"
               "'aggs':{'s':{'sum':{'field':'d'}}}},"
               "'gaps':{'histogram':{'field':'i','interval':7,'extended_bounds':{'min':-100,'max':100}}}}}"),
        ERR_OK);
    int64_t gaps[30] = {0}; /* -105 to 98 */
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ar_doc *d = &r->docs[i];
        int64_t last = INT64_MIN, last_gap = INT64_MIN;
        for (uint32_t k = 0; k < d->n_i; k++) {
            int64_t key = (int64_t)floor((d->i[k] - 2) / 7.0) * 7 + 2, gap = (int64_t)floor(d->i[k] / 7.0);
            if (key != last) {
                count(tens, &n_tens, key, d);
            }
            if (gap != last_gap) {
                gaps[gap + 15]++;
            }
            last = key;
            last_gap = gap;
        }
        if (d->has_t) {
            count(days, &n_days, (d->t - 3600000) / 21600000 * 21600000 + 3600000, d);
        }
    }
    qsort(tens, n_tens, sizeof(tens[0]), by_key);
    qsort(days, n_days, sizeof(days[0]), by_key);
    check_counted(&run, "h", tens, n_tens, false);
    check_counted(&run, "d", days, n_days, false);
    const struct json *list = ar_at(&run, "gaps.buckets");
    for (uint32_t i = 0; i < list->n; i++) {
        ck_assert(json_double(json_get(&list->items[i], "key")) == 7.0 * ((int)i - 15));
        ck_assert(json_double(json_get(&list->items[i], "doc_count")) == (double)gaps[i]);
    }
    ck_assert_uint_eq(list->n, 30);
    ar_run_fini(&run);
    end(r);
}
END_TEST

/* Days of local time: where the clock goes forward a day has 23 hours. */
START_TEST(local_days)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    struct counted days[100];
    uint32_t n = 0;
    ck_assert_int_eq(ar_run(r, &run,
                            "{'aggs':{'d':{'date_histogram':{'field':'t','calendar_interval':'1d','time_zone'"
                            ":'Europe/Berlin',"
                            "'min_doc_count':1}}}}"),
                     ERR_OK);
    const int64_t change = 1585443600000; /* 2020-03-29T01:00Z: +01:00 becomes +02:00 */
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ar_doc *d = &r->docs[i];
        if (d->has_t) {
            int64_t local = d->t + (d->t < change ? 3600000 : 7200000), day = local / 86400000 * 86400000;
            count(days, &n, day - (day - 3600000 < change ? 3600000 : 7200000), d);
        }
    }
    qsort(days, n, sizeof(days[0]), by_key);
    check_counted(&run, "d", days, n, false);
    ar_run_fini(&run);
    end(r);
}
END_TEST

START_TEST(ranges)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    ck_assert_int_eq(
        ar_run(r, &run,
               "{'aggs':{'i':{'range':{'field':'i','ranges':[{'to':0},{'from':-10,'to':20},{'from':15},{'"
               "from':5,'to':5}]}},"
               "'ip':{'ip_range':{'field':'ip','ranges':[{'to':'10.0.0.100'},{'mask':'10.0.0.64/26'}]}},"
               "'m':{'missing':{'field':'i'}},'g':{'global':{}},"
               "'t':{'date_range':{'field':'t','ranges':[{'from':1585500000000,'to':1587000000000}]}}},"
               "'query':{'term':{'b':true}}}"),
        ERR_OK);
    double i_counts[4] = {0}, ip[2] = {0}, missing = 0, dates = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        const struct ar_doc *d = &r->docs[k];
        bool in[4] = {false};
        if (!d->b) {
            continue;
        }
        for (uint32_t v = 0; v < d->n_i; v++) {
            in[0] |= d->i[v] >= -10 && d->i[v] < 20; /* as sorted: without a lower bound first */
            in[1] |= d->i[v] < 0;
            in[3] |= d->i[v] >= 15;
        }
        i_counts[1] += in[0];
        i_counts[0] += in[1];
        i_counts[3] += in[3];
        ip[0] += d->ip < 100;
        ip[1] += d->ip >= 64 && d->ip < 128;
        missing += d->n_i == 0;
        dates += d->has_t && d->t >= 1585500000000 && d->t < 1587000000000;
    }
    char path[40];
    for (uint32_t b = 0; b < 4; b++) {
        snprintf(path, sizeof(path), "i.buckets.%u.doc_count", b);
        ck_assert_msg(ar_num(&run, path) == i_counts[b], "%s: %.*s", path, STR_ARG(run.text));
    }
    ck_assert(ar_num(&run, "ip.buckets.0.doc_count") == ip[0]
              && ar_num(&run, "ip.buckets.1.doc_count") == ip[1]);
    ck_assert(ar_num(&run, "m.doc_count") == missing && ar_num(&run, "t.buckets.0.doc_count") == dates);
    ck_assert(ar_num(&run, "g.doc_count") == r->n);
    ar_run_fini(&run);
    end(r);
}
END_TEST

START_TEST(filters)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    ck_assert_int_eq(
        ar_run(r, &run,
               "{'aggs':{'f':{'filters':{'filters':{'a':{'term':{'k':'ant'}},'b':{'term':{'b':true}}},'other_"
               "bucket':true}},"
               "'m':{'adjacency_matrix':{'filters':{'a':{'term':{'k':'ant'}},'b':{'term':{'b':true}}}}},"
               "'one':{'filter':{'term':{'k':'ant'}},'aggs':{'n':{'value_count':{'field':'k'}}}}}}"),
        ERR_OK);
    double a = 0, b = 0, both = 0, other = 0, words = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        bool ant = has_word(&r->docs[i], 4);
        a += ant;
        b += r->docs[i].b;
        both += ant && r->docs[i].b;
        other += !ant && !r->docs[i].b;
        words += ant ? r->docs[i].n_words : 0;
    }
    ck_assert(ar_num(&run, "f.buckets.a.doc_count") == a && ar_num(&run, "f.buckets.b.doc_count") == b);
    ck_assert(ar_num(&run, "f.buckets._other_.doc_count") == other);
    ck_assert(ar_num(&run, "one.doc_count") == a && ar_num(&run, "one.n.value") == words);
    double met[3] = {a, both, b}; /* "a", "a&b", "b", without those of no document */
    const struct json *list = ar_at(&run, "m.buckets");
    for (uint32_t i = 0, k = 0; k < 3; k++) {
        if (met[k] > 0) {
            ck_assert(i < list->n && json_double(json_get(&list->items[i], "doc_count")) == met[k]);
            i++;
        }
    }
    ar_run_fini(&run);
    end(r);
}
END_TEST

START_TEST(nested)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    struct counted words[4], roots[4];
    uint32_t n = 0, n_roots = 0;
    double parts = 0;
    ck_assert_int_eq(
        ar_run(
            r, &run,
            "{'aggs':{'p':{'nested':{'path':'p'},'aggs':{'w':{'terms':{'field':'p.w','order':{'_key':'asc'}},"
            "'aggs':{'n':{'sum':{'field':'p.n'}},'up':{'reverse_nested':{},'aggs':{'d':{'sum':{'field':'d'}}}"
            "}}}}}}}"),
        ERR_OK);
    double sums[4] = {0};
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ar_doc *d = &r->docs[i];
        bool met[4] = {false};
        for (uint32_t k = 0; k < d->n_parts; k++) {
            parts++;
            count(words, &n, d->parts[k].word, d);
            sums[d->parts[k].word] += d->parts[k].n;
            if (!met[d->parts[k].word]) {
                count(roots, &n_roots, d->parts[k].word, d);
            }
            met[d->parts[k].word] = true;
        }
    }
    qsort(words, n, sizeof(words[0]), by_key);
    qsort(roots, n_roots, sizeof(roots[0]), by_key);
    ck_assert(ar_num(&run, "p.doc_count") == parts);
    check_counted(&run, "p.w", words, n, true);
    for (uint32_t i = 0; i < n; i++) {
        char path[64];
        snprintf(path, sizeof(path), "p.w.buckets.%u.n.value", i);
        ck_assert(ar_num(&run, path) == sums[words[i].key]);
        snprintf(path, sizeof(path), "p.w.buckets.%u.up.doc_count", i);
        ck_assert(ar_num(&run, path) == (double)roots[i].count);
        snprintf(path, sizeof(path), "p.w.buckets.%u.up.d.value", i);
        ck_assert(fabs(ar_num(&run, path) - roots[i].sum) < 1e-9);
    }
    ar_run_fini(&run);
    end(r);
}
END_TEST

/* Page by page every combination comes once, in order, with its count. */
START_TEST(composite)
{
    struct agg_rig *r = begin(_i);
    int64_t counts[AR_WORDS][2] = {{0}}, seen = 0, last = -1;
    for (uint32_t i = 0; i < r->n; i++) {
        for (uint32_t k = 0; k < r->docs[i].n_words; k++) {
            counts[r->docs[i].words[k]][r->docs[i].b]++;
        }
    }
    char after[200] = "";
    for (;;) {
        struct ar_run run;
        char body[500];
        snprintf(body, sizeof(body),
                 "{'aggs':{'c':{'composite':{'size':3%s,'sources':[{'w':{'terms':{'field':'k'}}},{'b':{'"
                 "terms':{'field':'b','order':'desc'}}}]},"
                 "'aggs':{'n':{'value_count':{'field':'k'}}}}}}",
                 after);
        ck_assert_int_eq(ar_run(r, &run, body), ERR_OK);
        const struct json *list = ar_at(&run, "c.buckets");
        for (uint32_t i = 0; i < list->n; i++) {
            const struct json *key = json_get(&list->items[i], "key");
            uint32_t w = 0;
            while (!str_is(json_text(json_get(key, "w")), ar_words[w])) {
                w++;
            }
            int64_t place = (int64_t)w * 2 + (json_get(key, "b")->b ? 0 : 1);
            ck_assert(place > last);
            ck_assert((int64_t)json_double(json_get(&list->items[i], "doc_count"))
                      == counts[w][json_get(key, "b")->b]);
            ck_assert(json_double(json_path(&list->items[i], "n.value"))
                      >= (double)counts[w][json_get(key, "b")->b]);
            last = place;
            seen++;
        }
        uint32_t n = list->n;
        if (n > 0) {
            const struct json *key = ar_at(&run, "c.after_key");
            snprintf(after, sizeof(after), ",'after':{'w':'%.*s','b':%s}",
                     STR_ARG(json_text(json_get(key, "w"))), json_get(key, "b")->b ? "true" : "false");
        }
        ar_run_fini(&run);
        if (n == 0) {
            break;
        }
    }
    for (uint32_t w = 0; w < AR_WORDS; w++) {
        seen -= (counts[w][0] > 0) + (counts[w][1] > 0);
    }
    ck_assert_int_eq(seen, 0);
    end(r);
}
END_TEST

START_TEST(grids_and_distances)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    struct counted tiles[64];
    uint32_t n = 0;
    double near_by = 0, points = 0;
    ck_assert_int_eq(
        ar_run(
            r, &run,
            "{'aggs':{'t':{'geotile_grid':{'field':'g','precision':2,'size':100}},'h':{'geohash_grid':{'"
            "field':'g',"
            "'precision':1,'size':100}},'d':{'geo_distance':{'field':'g','origin':'0,0','unit':'km','ranges':"
            "[{'to':5000},{'from':5000}]}}}}"),
        ERR_OK);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ar_doc *d = &r->docs[i];
        if (!d->has_point) {
            continue;
        }
        double lat = d->lat * M_PI / 180, y = (1 - log(tan(lat) + 1 / cos(lat)) / M_PI) / 2;
        count(tiles, &n, (int64_t)floor((d->lon + 180) / 360 * 4) * 4 + (int64_t)floor(y * 4), d);
        double h = acos(fmin(1, cos(lat) * cos(d->lon * M_PI / 180))) * 6371.0087714;
        near_by += h < 5000;
        points++;
    }
    const struct json *list = ar_at(&run, "t.buckets");
    ck_assert_uint_eq(list->n, n);
    for (uint32_t i = 0; i < list->n; i++) {
        int x, y;
        ck_assert_int_eq(sscanf(json_text(json_get(&list->items[i], "key")).p, "2/%d/%d", &x, &y), 2);
        uint32_t k = 0;
        while (k < n && tiles[k].key != x * 4 + y) {
            k++;
        }
        ck_assert(k < n && json_double(json_get(&list->items[i], "doc_count")) == (double)tiles[k].count);
    }
    double sum = 0;
    list = ar_at(&run, "h.buckets");
    for (uint32_t i = 0; i < list->n; i++) {
        sum += json_double(json_get(&list->items[i], "doc_count"));
    }
    ck_assert(sum == points);
    ck_assert(ar_num(&run, "d.buckets.0.doc_count") == near_by
              && ar_num(&run, "d.buckets.1.doc_count") == points - near_by);
    ar_run_fini(&run);
    end(r);
}
END_TEST

START_TEST(samples_and_rare)
{
    struct agg_rig *r = begin(_i);
    struct ar_run run;
    struct counted words[AR_WORDS];
    uint32_t n = 0, kept = 0, first = 0;
    double sum = 0;
    ck_assert_int_eq(ar_run(r, &run,
                            "{'aggs':{'r':{'rare_terms':{'field':'k','max_doc_count':100}},'s':{'sampler':{'"
                            "shard_size':5},'aggs':"
                            "{'d':{'sum':{'field':'d'}}}},'g':{'significant_terms':{'field':'k','min_doc_"
                            "count':1,'size':100}}},"
                            "'query':{'term':{'k':'ant'}}}"),
                     ERR_OK);
    uint32_t per_shard[AR_SHARDS] = {0};
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ar_doc *d = &r->docs[i];
        if (!has_word(d, 4)) {
            continue;
        }
        for (uint32_t k = 0; k < d->n_words; k++) {
            count(words, &n, d->words[k], d);
        }
        if (per_shard[i % r->n_shards]++ < 5) { /* equal scores: the first documents */
            first++;
            sum += d->has_d ? d->d : 0;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (words[i].count <= 100) {
            words[kept] = words[i];
            words[kept++].count = -words[i].count; /* rare ones first */
        }
    }
    qsort(words, kept, sizeof(words[0]), by_count);
    for (uint32_t i = 0; i < kept; i++) {
        words[i].count = -words[i].count;
    }
    check_counted(&run, "r", words, kept, true);
    ck_assert(ar_num(&run, "s.doc_count") == first && fabs(ar_num(&run, "s.d.value") - sum) < 1e-9);
    const struct json *list = ar_at(&run, "g.buckets");
    for (uint32_t i = 0; i < list->n; i++) {
        const struct json *b = &list->items[i];
        double in = json_double(json_get(b, "doc_count")) / ar_num(&run, "g.doc_count");
        double all = json_double(json_get(b, "bg_count")) / ar_num(&run, "g.bg_count");
        ck_assert(fabs(json_double(json_get(b, "score")) - (in - all) * (in / all)) < 1e-9);
    }
    ar_run_fini(&run);
    end(r);
}
END_TEST

/* Clusters hold every value once, and stand one behind the other. */
START_TEST(clusters)
{
    static const char *const sizes[] = {"'buckets':4", "'buckets':3,'shard_size':4,'initial_buffer':3",
                                        "'buckets':5,'shard_size':9,'initial_buffer':40", "'buckets':1"};
    static const double most[] = {4, 3, 5, 1};
    struct agg_rig *r = begin(_i);
    double values = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        values += r->docs[i].n_i;
    }
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        struct ar_run run;
        char body[256];
        snprintf(body, sizeof(body),
                 "{'aggs':{'v':{'variable_width_histogram':{'field':'i',%s},'aggs':{'n':{'value_count':{'"
                 "field':'i'}}}}}}",
                 sizes[k]);
        ck_assert_int_eq(ar_run(r, &run, body), ERR_OK);
        const struct json *list = ar_at(&run, "v.buckets");
        double count = 0, end = -INFINITY;
        ck_assert(list->n <= most[k]);
        for (uint32_t i = 0; i < list->n; i++) {
            const struct json *b = &list->items[i];
            double min = json_double(json_get(b, "min")), max = json_double(json_get(b, "max"));
            ck_assert(end <= min && min <= max);
            count += json_double(json_get(b, "doc_count"));
            end = max;
        }
        ck_assert(count == values);
        ar_run_fini(&run);
    }
    end(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("aggregations: buckets");
    TCase *c = tcase_create("buckets");
    tcase_set_timeout(c, 60);
    int n = (int)ARRAY_LEN(corpora);
    tcase_add_loop_test(c, terms, 0, n);
    tcase_add_loop_test(c, terms_cut, 0, n);
    tcase_add_loop_test(c, histograms, 0, n - 1);
    tcase_add_loop_test(c, local_days, 0, n);
    tcase_add_loop_test(c, ranges, 0, n);
    tcase_add_loop_test(c, filters, 0, n);
    tcase_add_loop_test(c, nested, 0, n);
    tcase_add_loop_test(c, composite, 0, n);
    tcase_add_loop_test(c, grids_and_distances, 0, n);
    tcase_add_loop_test(c, samples_and_rare, 0, n);
    tcase_add_loop_test(c, clusters, 0, n);
    suite_add_tcase(s, c);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
