/* Metrics over random documents against sums and sorts of the same values. */
#include "tests/unit/engine/aggs/agg_rig.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct numbers {
    double v[AR_DOCS * AR_VALUES];
    uint32_t n;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void integers(const struct agg_rig *r, struct numbers *out)
{
    out->n = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        for (uint32_t i = 0; i < r->docs[k].n_i; i++) {
            out->v[out->n++] = r->docs[k].i[i];
        }
    }
    qsort(out->v, out->n, sizeof(out->v[0]), by_value);
}

static void doubles(const struct agg_rig *r, struct numbers *out, const double *missing)
{
    out->n = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        if (r->docs[k].has_d || missing != NULL) {
            out->v[out->n++] = r->docs[k].has_d ? r->docs[k].d : *missing;
        }
    }
    qsort(out->v, out->n, sizeof(out->v[0]), by_value);
}

static void near(const struct ar_run *run, const char *path, double want)
{
    double got = ar_num(run, path);
    ck_assert_msg(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)), "%s: %.17g, want %.17g", path, got, want);
}

static void check_stats(const struct ar_run *run, const char *name, const struct numbers *x)
{
    double sum = 0, squares = 0, n = x->n;
    char path[64];
    for (uint32_t i = 0; i < x->n; i++) {
        sum += x->v[i];
        squares += x->v[i] * x->v[i];
    }
    double variance = squares / n - sum / n * (sum / n);
    const struct {
        const char *name;
        double want;
    } parts[] = {{"count", n},
                 {"min", x->v[0]},
                 {"max", x->v[x->n - 1]},
                 {"avg", sum / n},
                 {"sum", sum},
                 {"sum_of_squares", squares},
                 {"variance", variance},
                 {"std_deviation", sqrt(variance)},
                 {"variance_sampling", variance * n / (n - 1)},
                 {"std_deviation_bounds.upper", sum / n + 3 * sqrt(variance)},
                 {"std_deviation_bounds.lower", sum / n - 3 * sqrt(variance)}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        snprintf(path, sizeof(path), "%s.%s", name, parts[i].name);
        near(run, path, parts[i].want);
    }
}

START_TEST(sums_and_extremes)
{
    struct agg_rig *r = malloc(sizeof(*r));
    struct numbers *x = malloc(sizeof(*x));
    struct ar_run run;
    ar_init(r, (uint64_t)_i + 1, 1 + (uint32_t)_i % 3, 300, _i % 2 == 0 ? 0 : 37);
    ck_assert_int_eq(
        ar_run(r, &run,
               "{'aggs':{'i':{'extended_stats':{'field':'i','sigma':3}},'d':{'extended_stats':{'field':'d','"
               "sigma':3}},"
               "'m':{'extended_stats':{'field':'d','sigma':3,'missing':-7.5}},'a':{'avg':{'field':'i'}},"
               "'s':{'sum':{'field':'i'}},'lo':{'min':{'field':'d'}},'hi':{'max':{'field':'d'}},"
               "'n':{'value_count':{'field':'k'}},'w':{'weighted_avg':{'value':{'field':'d'},'weight':{'"
               "field':'b'}}}}}"),
        ERR_OK);
    double missing = -7.5, sum = 0, weighted = 0, weights = 0;
    uint32_t words = 0;
    integers(r, x);
    check_stats(&run, "i", x);
    for (uint32_t i = 0; i < x->n; i++) {
        sum += x->v[i];
    }
    near(&run, "a.value", sum / x->n);
    near(&run, "s.value", sum);
    doubles(r, x, &missing);
    check_stats(&run, "m", x);
    doubles(r, x, NULL);
    check_stats(&run, "d", x);
    near(&run, "lo.value", x->v[0]);
    near(&run, "hi.value", x->v[x->n - 1]);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ar_doc *d = &r->docs[i];
        words += d->n_words;
        weighted += d->has_d && d->b ? d->d : 0;
        weights += d->has_d && d->b;
    }
    near(&run, "n.value", words);
    near(&run, "w.value", weighted / weights);
    ar_run_fini(&run);
    ar_fini(r);
    free(x);
    free(r);
}
END_TEST

START_TEST(quantiles_and_distinct)
{
    struct agg_rig *r = malloc(sizeof(*r));
    struct numbers *x = malloc(sizeof(*x));
    struct ar_run run;
    ar_init(r, (uint64_t)_i + 20, 1 + (uint32_t)_i % 3, 400, 0);
    ck_assert_int_eq(
        ar_run(
            r, &run,
            "{'aggs':{'p':{'percentiles':{'field':'d','percents':[1,25,50,75,99],'keyed':false}},"
            "'r':{'percentile_ranks':{'field':'d','values':[0,50,100],'keyed':false}},"
            "'h':{'percentiles':{'field':'d','missing':1,'percents':[50,90],'keyed':false,'script':{'source':"
            "'_value < 0 ? -_value : _value'},'hdr':{'number_of_significant_value_digits':3}}},"
            "'mad':{'median_absolute_deviation':{'field':'d'}},'c':{'cardinality':{'field':'i'}},"
            "'ck':{'cardinality':{'field':'k'}},'cd':{'cardinality':{'field':'d'}}}}"),
        ERR_OK);
    static const double percents[] = {1, 25, 50, 75, 99}, ranks[] = {0, 50, 100};
    char path[64];
    uint32_t distinct = 1;
    doubles(r, x, NULL);
    for (uint32_t i = 1; i < x->n; i++) {
        distinct += x->v[i] != x->v[i - 1];
    }
    near(&run, "cd.value", distinct);
    for (size_t i = 0; i < ARRAY_LEN(percents); i++) { /* within the neighbourhood of the rank */
        snprintf(path, sizeof(path), "p.values.%zu.value", i);
        double at = percents[i] / 100 * x->n, got = ar_num(&run, path);
        uint32_t lo = (uint32_t)fmax(at - 6, 0), hi = (uint32_t)fmin(at + 6, x->n - 1);
        ck_assert_msg(got >= x->v[lo] && got <= x->v[hi], "%s: %g", path, got);
    }
    for (size_t i = 0; i < ARRAY_LEN(ranks); i++) {
        uint32_t below = 0;
        while (below < x->n && x->v[below] <= ranks[i]) {
            below++;
        }
        snprintf(path, sizeof(path), "r.values.%zu.value", i);
        ck_assert(fabs(ar_num(&run, path) - 100.0 * below / x->n) < 1.5);
    }
    for (uint32_t i = 0; i < x->n; i++) {
        x->v[i] = fabs(x->v[i]);
    }
    qsort(x->v, x->n, sizeof(x->v[0]), by_value);
    ck_assert(ar_num(&run, "h.values.0.value") > 0);
    ck_assert(ar_num(&run, "h.values.1.value") >= ar_num(&run, "h.values.0.value"));
    integers(r, x);
    distinct = 1;
    for (uint32_t i = 1; i < x->n; i++) {
        distinct += x->v[i] != x->v[i - 1];
    }
    near(&run, "c.value", distinct);
    near(&run, "ck.value", AR_WORDS);
    ck_assert(ar_num(&run, "mad.value") > 0);
    ar_run_fini(&run);
    ar_fini(r);
    free(x);
    free(r);
}
END_TEST

START_TEST(nothing_to_measure)
{
    struct agg_rig *r = malloc(sizeof(*r));
    ar_init(r, 3, 2, 10, 0);
    ar_expect(
        r,
        "{'aggs':{'a':{'avg':{'field':'nope'}},'s':{'sum':{'field':'nope'}},'m':{'max':{'field':'nope'}},"
        "'c':{'value_count':{'field':'nope'}},'u':{'cardinality':{'field':'nope'}},'g':{'geo_bounds':{'field'"
        ":'nope'}},"
        "'p':{'percentiles':{'field':'nope','percents':[50]}},'w':{'geo_centroid':{'field':'nope'}}}}",
        "{'a':{'value':null},'s':{'value':0.0},'m':{'value':null},'c':{'value':0},'u':{'value':0},'g':{},"
        "'p':{'values':{'50.0':null}},'w':{'count':0}}");
    r->typed_keys = true;
    ar_expect(r,
              "{'aggs':{'a':{'avg':{'field':'nope'}},'p':{'percentiles':{'field':'nope','percents':[50]}}}}",
              "{'avg#a':{'value':null},'tdigest_percentiles#p':{'values':{'50.0':null}}}");
    ar_fini(r);
    free(r);
}
END_TEST

START_TEST(points)
{
    struct agg_rig *r = malloc(sizeof(*r));
    struct ar_run run;
    ar_init(r, 77, 3, 200, 0);
    ck_assert_int_eq(ar_run(r, &run,
                            "{'aggs':{'b':{'geo_bounds':{'field':'g','wrap_longitude':false}},'c':{'geo_"
                            "centroid':{'field':'g'}}}}"),
                     ERR_OK);
    double top = -90, bottom = 90, left = 180, right = -180, lat = 0, lon = 0, n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ar_doc *d = &r->docs[i];
        if (d->has_point) {
            top = fmax(top, d->lat);
            bottom = fmin(bottom, d->lat);
            left = fmin(left, d->lon);
            right = fmax(right, d->lon);
            lat += d->lat;
            lon += d->lon;
            n++;
        }
    }
    ck_assert(fabs(ar_num(&run, "b.bounds.top_left.lat") - top) < 1e-6);
    ck_assert(fabs(ar_num(&run, "b.bounds.bottom_right.lat") - bottom) < 1e-6);
    ck_assert(fabs(ar_num(&run, "b.bounds.top_left.lon") - left) < 1e-6);
    ck_assert(fabs(ar_num(&run, "b.bounds.bottom_right.lon") - right) < 1e-6);
    ck_assert(fabs(ar_num(&run, "c.location.lat") - lat / n) < 1e-6);
    ck_assert(fabs(ar_num(&run, "c.location.lon") - lon / n) < 1e-6);
    near(&run, "c.count", n);
    ar_run_fini(&run);
    ar_fini(r);
    free(r);
}
END_TEST

/* Moments about the mean, computed with the mean known; the value of i is the middle one. */
START_TEST(matrices)
{
    struct agg_rig *r = malloc(sizeof(*r));
    struct ar_run run;
    ar_init(r, (uint64_t)_i + 70, 1 + (uint32_t)_i % 4, 90, 13);
    double x[AR_DOCS], y[AR_DOCS], n = 0, mx = 0, my = 0, xx = 0, xxx = 0, xxxx = 0, yy = 0, xy = 0;
    uint32_t have = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        const struct ar_doc *d = &r->docs[k];
        if (d->n_i > 0) {
            x[have] = d->has_d ? d->d : 2.5;
            y[have] = d->n_i % 2 == 1 ? d->i[d->n_i / 2] : (d->i[d->n_i / 2 - 1] + d->i[d->n_i / 2]) / 2.0;
            mx += x[have];
            my += y[have++];
        }
    }
    n = have;
    mx /= n;
    my /= n;
    for (uint32_t k = 0; k < have; k++) {
        double dx = x[k] - mx, dy = y[k] - my;
        xx += dx * dx;
        xxx += dx * dx * dx;
        xxxx += dx * dx * dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    const char *body = "{'aggs':{'m':{'matrix_stats':{'fields':['i','d','nope','d'],'mode':'median',"
                       "'missing':{'d':2.5}}}}}";
    ck_assert_msg(ar_run(r, &run, body) == ERR_OK, "%s", err_reason(&run.em));
    const struct {
        const char *path;
        double want;
    } parts[] = {{"m.doc_count", n},
                 {"m.fields.0.count", n},
                 {"m.fields.0.mean", mx},
                 {"m.fields.0.variance", xx / (n - 1)},
                 {"m.fields.0.skewness", sqrt(n) * xxx / pow(xx, 1.5)},
                 {"m.fields.0.kurtosis", n * xxxx / (xx * xx)},
                 {"m.fields.0.covariance.d", xx / (n - 1)},
                 {"m.fields.0.covariance.i", xy / (n - 1)},
                 {"m.fields.0.correlation.d", 1},
                 {"m.fields.0.correlation.i", xy / sqrt(xx * yy)},
                 {"m.fields.1.mean", my},
                 {"m.fields.1.variance", yy / (n - 1)},
                 {"m.fields.1.correlation.d", xy / sqrt(xx * yy)}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        near(&run, parts[i].path, parts[i].want);
    }
    ck_assert_uint_eq(ar_at(&run, "m.fields")->n, 2);
    ar_run_fini(&run);
    ar_refused(r, "{'aggs':{'m':{'matrix_stats':{'fields':['k']}}}}", ERR_AGG_EXECUTION);
    ar_refused(r, "{'aggs':{'m':{'matrix_stats':{'fields':[1]}}}}", ERR_PARSING);
    ar_refused(r, "{'aggs':{'m':{'matrix_stats':{'fields':'d','mode':'most'}}}}", ERR_ILLEGAL_ARGUMENT);
    ar_expect(r, "{'aggs':{'m':{'matrix_stats':{}}}}", "{'m':{'doc_count':0}}");
    ar_fini(r);
    free(r);
}
END_TEST

/* Sums that scripts make, of each bucket and of the shards. */
START_TEST(scripted)
{
    struct agg_rig *r = malloc(sizeof(*r));
    struct ar_run run;
    ar_init(r, (uint64_t)_i + 90, 1 + (uint32_t)_i % 4, 150, 13);
    const char *body =
        "{'aggs':{'a':{'scripted_metric':{'init_script':'state.s = 0L','map_script':'for (def x : doc.i) { "
        "state.s += x * params.f }','combine_script':'state.s','reduce_script':'long t = 0; for (s in "
        "states) "
        "{ t += s } return t','params':{'f':2}}},'b':{'terms':{'field':'b'},'aggs':{'n':{'scripted_metric':{'"
        "map_script':'state.n = (state.n == null ? 0 : state.n) + "
        "1','combine_script':'state.n','reduce_script':"
        "'int t = 0; for (s in states) { t += s == null ? 0 : s } return t'}}}}}}";
    ck_assert_msg(ar_run(r, &run, body) == ERR_OK, "%s", err_reason(&run.em));
    double sum = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        for (uint32_t i = 0; i < r->docs[k].n_i; i++) {
            sum += 2 * r->docs[k].i[i];
        }
    }
    near(&run, "a.value", sum);
    for (uint32_t i = 0; i < ar_at(&run, "b.buckets")->n; i++) {
        char path[2][40];
        snprintf(path[0], sizeof(path[0]), "b.buckets.%u.n.value", i);
        snprintf(path[1], sizeof(path[1]), "b.buckets.%u.doc_count", i);
        near(&run, path[0], ar_num(&run, path[1]));
    }
    ar_run_fini(&run);
    ar_refused(r, "{'aggs':{'m':{'scripted_metric':{}}}}", ERR_ILLEGAL_ARGUMENT);
    ar_refused(r, "{'aggs':{'m':{'scripted_metric':{'map_script':'1'}}}}", ERR_SCRIPT);
    ar_refused(r, "{'aggs':{'m':{'scripted_metric':{'map_script':''}}}}", ERR_SCRIPT);
    ar_refused(r, "{'aggs':{'m':{'scripted_metric':{'map_script':'state.a = 1'}}}}", ERR_ILLEGAL_ARGUMENT);
    ar_refused(r,
               "{'aggs':{'m':{'scripted_metric':{'map_script':{'source':'state.a = "
               "1','params':{'p':1}},'combine_script':'1','reduce_script':'1','params':{'p':1}}}}}",
               ERR_ILLEGAL_ARGUMENT);
    ar_fini(r);
    free(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("aggregations: metrics");
    TCase *c = tcase_create("metrics");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, sums_and_extremes, 0, 6);
    tcase_add_loop_test(c, quantiles_and_distinct, 0, 6);
    tcase_add_test(c, nothing_to_measure);
    tcase_add_test(c, points);
    tcase_add_loop_test(c, matrices, 0, 8);
    tcase_add_loop_test(c, scripted, 0, 8);
    suite_add_tcase(s, c);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
