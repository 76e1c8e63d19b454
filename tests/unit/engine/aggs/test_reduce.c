/* Partial results: shards against one, their bytes, damaged ones, limits, and memory that is refused. */
#include "tests/unit/engine/aggs/agg_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* All families, with sums that are exact in any order. */
static const char *const requests[] = {
    "{'aggs':{'k':{'terms':{'field':'k','size':100},'aggs':{'d':{'extended_stats':{'field':'d'}},'c':{'"
    "cardinality':{'field':'i'}}}},"
    "'r':{'rare_terms':{'field':'i','max_doc_count':7}},'sum':{'sum_bucket':{'buckets_path':'k>d.sum'}}}}",
    "{'aggs':{'h':{'histogram':{'field':'i','interval':5},'aggs':{'t':{'date_histogram':{'field':'t','"
    "calendar_interval':'week',"
    "'time_zone':'America/"
    "New_York'}},'x':{'derivative':{'buckets_path':'_count'}}}},'ip':{'ip_range':{'field':'ip','ranges':"
    "[{'to':'10.0.0.9'},{'mask':'10.0.0.0/25'}]}}}}",
    "{'aggs':{'g':{'geohash_grid':{'field':'g','precision':2,'size':1000},'aggs':{'b':{'geo_bounds':{'field':"
    "'g'}}}},'tile':"
    "{'geotile_grid':{'field':'g','precision':3,'size':1000}},'far':{'geo_distance':{'field':'g','origin':[0,"
    "0],'ranges':[{'to':1e6}]}}}}",
    "{'aggs':{'c':{'composite':{'size':50,'sources':[{'w':{'terms':{'field':'k','missing_bucket':true}}},{'i'"
    ":{'histogram':"
    "{'field':'i','interval':10}}}]},'aggs':{'m':{'max':{'field':'d'}}}}}}",
    "{'aggs':{'c':{'children':{'type':'x'},'aggs':{'s':{'sum':{'field':'i'}},'u':{'parent':{'type':'x'}}}}}}",
    "{'aggs':{'p':{'nested':{'path':'p'},'aggs':{'w':{'terms':{'field':'p.w'},'aggs':{'up':{'reverse_nested':"
    "{},'aggs':{'a':{'avg':"
    "{'field':'d'}}}}}}}},'f':{'filters':{'filters':[{'term':{'b':true}},{'term':{'k':'cat'}}],'other_bucket'"
    ":true}},'m':"
    "{'adjacency_matrix':{'filters':{'x':{'term':{'b':true}},'y':{'term':{'k':'cat'}}}}}}}",
    "{'aggs':{'r':{'range':{'field':'d','ranges':[{'to':0},{'from':0,'to':50},{'from':50}]},'aggs':{'n':{'"
    "value_count':{'field':'k'}},"
    "'w':{'weighted_avg':{'value':{'field':'d'},'weight':{'field':'b'}}}}},'miss':{'missing':{'field':'t'}},'"
    "all':{'global':{}}}}",
    "{'aggs':{'q':{'percentiles':{'field':'d','hdr':{'number_of_significant_value_digits':2},'missing':3,'"
    "script':{'source':"
    "'_value < 0 ? 0 : "
    "_value'}}},'l':{'percentiles':{'field':'b'}},'s':{'sampler':{'shard_size':1000},'aggs':{'k':{'terms':"
    "{'field':'k','order':{'_key':'asc'}}}}},'v':{'variable_width_histogram':{'field':'i','buckets':1000}},'"
    "top':{'top_hits':{'size':3,'sort':[{'d':'desc'},{'t':'asc'}],'_"
    "source':false}}}}",
    /* buckets that are merged again: what they are depends on the shards */
    "{'aggs':{'v':{'variable_width_histogram':{'field':'d','buckets':3,'initial_buffer':5,'shard_size':9},'"
    "aggs':{'top':{'top_hits':{'size':2,'sort':[{'d':'desc'}],'_source':false}},'k':{'terms':{'field':'k'}},'"
    "g':{'geo_centroid':{'field':'g'}}}},'a':{'auto_date_histogram':{'field':'t','buckets':4},'aggs':{'p':{'"
    "percentiles':{'field':'d'}},'top':{'top_hits':{'size':2,'sort':[{'i':'asc'}],'_source':false}}}}}}",
    "{'aggs':{'m':{'matrix_stats':{'fields':['d','i','nope','t'],'missing':{'d':1}}},'k':{'terms':{'field':"
    "'k'},'aggs':{'m':{'matrix_stats':{'fields':['i','d']}}}}}}",
    "{'aggs':{'s':{'scripted_metric':{'init_script':'state.l=[]','map_script':'state.l.add(doc.d.size())',"
    "'combine_script':'return [state.l.size(), state.l]','reduce_script':'return states'}},'k':{'terms':{"
    "'field':'k'},'aggs':{'s':{'scripted_metric':{'map_script':'state.n=params.p','combine_script':'return "
    "state.n','reduce_script':'return states.size()','params':{'p':7}}}}}}}",
};
#define ALIKE (ARRAY_LEN(requests) - 3) /* of the first, which do not */

static struct agg_rig *begin(uint64_t seed, uint32_t shards, uint32_t n, uint32_t segment)
{
    struct agg_rig *r = malloc(sizeof(*r));
    ar_init(r, seed, shards, n, segment);
    return r;
}

static void end(struct agg_rig *r)
{
    ar_fini(r);
    free(r);
}

START_TEST(shards_equal_one)
{
    for (size_t q = 0; q < ALIKE; q++) {
        struct agg_rig *one = begin((uint64_t)_i, 1, 120, 0),
                       *many = begin((uint64_t)_i, 2 + (uint32_t)_i % 3, 120, 11);
        struct ar_run a, b;
        ck_assert_msg(ar_run(one, &a, requests[q]) == ERR_OK, "%s: %s", requests[q], err_reason(&a.em));
        ck_assert_msg(ar_run(many, &b, requests[q]) == ERR_OK, "%s: %s", requests[q], err_reason(&b.em));
        ck_assert_msg(str_eq(a.text, b.text), "%s\n%.*s\n%.*s", requests[q], STR_ARG(a.text),
                      STR_ARG(b.text));
        ar_run_fini(&a);
        ar_run_fini(&b);
        end(one);
        end(many);
    }
}
END_TEST

/* Decoded and encoded again, the bytes are as many and say the same (the order within sketches is free). */
START_TEST(bytes_round_trip)
{
    struct agg_rig *r = begin(9, 2, 150, 20);
    for (size_t q = 0; q < ARRAY_LEN(requests); q++) {
        struct ar_run run;
        ck_assert_int_eq(ar_run(r, &run, requests[q]), ERR_OK);
        struct str again[AR_SHARDS], answer = run.text;
        for (uint32_t s = 0; s < r->n_shards; s++) {
            struct bytes_in in;
            struct buf out;
            in = bytes_in(run.partials[s]);
            buf_init(&out, NULL, BUF_UNLIMITED);
            put_u8(&out, get_u8(&in));
            put_varint(&out, get_varint(&in));
            struct agg_result *res = results_new(&run.arena, &run.source.agg_spec->root);
            for (uint32_t i = 0; i < run.source.agg_spec->root.n_subs; i++) {
                ck_assert_int_eq(result_decode(&res[i], &in, &run.arena, NULL), ERR_OK);
                result_encode(&res[i], &out);
            }
            ck_assert_uint_eq(out.n, run.partials[s].n);
            again[s] = arena_str(&run.arena, buf_view(&out));
            buf_fini(&out);
        }
        ck_assert_int_eq(ar_reduce(r, &run, again, r->n_shards), ERR_OK);
        ck_assert(str_eq(run.text, answer));
        ar_run_fini(&run);
    }
    end(r);
}
END_TEST

/* Whatever the bytes: an error or an answer, never a read outside of them. */
START_TEST(hostile_bytes)
{
    struct agg_rig *r = begin(4, 1, 60, 0);
    struct rng rng;
    rng_seed(&rng, (uint64_t)_i + 1);
    struct ar_run run;
    ck_assert_int_eq(ar_run(r, &run, requests[_i]), ERR_OK);
    struct str whole = run.partials[0];
    uint32_t rounds = getenv("LONG") != NULL ? 1000 : 200;
    for (uint32_t round = 0; round < rounds; round++) {
        struct ar_run again = {.source = run.source};
        arena_init(&again.arena, NULL, 64 * MIB);
        size_t n = round % 3 == 0 ? rng_below(&rng, whole.n) : whole.n;
        char *p = malloc(n + 1);
        memcpy(p, whole.p, n);
        for (uint64_t flips = round % 3 == 0 ? 0 : 1 + rng_below(&rng, 4); flips > 0 && n > 0; flips--) {
            p[rng_below(&rng, n)] ^= (char)(1 << rng_below(&rng, 8));
        }
        struct str damaged = str_mk(p, n);
        enum err e = ar_reduce(r, &again, &damaged, 1);
        ck_assert(round % 3 != 0 || n == 0 || e != ERR_OK); /* a beginning alone is noticed */
        arena_fini(&again.arena);
        free(p);
    }
    ar_run_fini(&run);
    end(r);
}
END_TEST

START_TEST(many_buckets)
{
    struct agg_rig *r = begin(5, 2, 100, 0);
    r->max_buckets = AR_WORDS;
    ar_refused(r, "{'aggs':{'k':{'terms':{'field':'k','size':100}},'b':{'terms':{'field':'b'}}}}",
               ERR_TOO_MANY_BUCKETS);
    ar_refused(r, "{'aggs':{'c':{'composite':{'size':13,'sources':[{'k':{'terms':{'field':'k'}}}]}}}}",
               ERR_TOO_MANY_BUCKETS);
    ar_refused(r, "{'aggs':{'h':{'histogram':{'field':'i','interval':1e-9}}}}", ERR_TOO_MANY_BUCKETS);
    ar_refused(r, "{'aggs':{'h':{'date_histogram':{'field':'t','fixed_interval':'1ms'}}}}",
               ERR_TOO_MANY_BUCKETS);
    struct ar_run run;
    ck_assert_int_eq(ar_run(r, &run, "{'aggs':{'k':{'terms':{'field':'k','size':100}}}}"), ERR_OK);
    ar_run_fini(&run);
    ck_assert_int_eq(
        ar_run(r, &run, "{'aggs':{'k':{'terms':{'field':'k','size':100}},'b':{'terms':{'field':'b'}}}}"),
        ERR_TOO_MANY_BUCKETS);
    ck_assert_int_eq((int)err_about(&run.em)->limit, AR_WORDS);
    ar_run_fini(&run);
    r->max_buckets = 65535;
    ar_refused(r,
               "{'aggs':{'c':{'composite':{'size':2147483647,'sources':[{'k':{'terms':{'field':'k'}}}]}}}}",
               ERR_TOO_MANY_BUCKETS);
    end(r);
}
END_TEST

/* Requests to the allocator fail, each of the first and then every 13th: an error, nothing worse; and what
 * works in the end is what worked at first. */
START_TEST(memory_refused)
{
    struct agg_rig *r = begin(6, 2, 40, 7);
    struct ar_run whole;
    ck_assert_int_eq(ar_run(r, &whole, requests[_i]), ERR_OK);
    bool fired = true;
    for (uint64_t n = 1; fired; n += n < 100 ? 1 : 13) {
        struct alloc_failing f;
        struct ar_run run;
        alloc_failing_init(&f, n);
        enum err e = ar_run_with(r, &run, requests[_i], &f.base);
        fired = f.fired;
        ck_assert_msg(fired ? e == ERR_NO_MEMORY : e == ERR_OK, "%u: %d", (unsigned)n, (int)e);
        ck_assert(fired || str_eq(run.text, whole.text));
        ar_run_fini(&run);
    }
    ar_run_fini(&whole);
    end(r);
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *body;
        enum err code;
    } cases[] = {
        {"{'aggs':{'a':{}}}", ERR_PARSING},
        {"{'aggs':{'a':{'nope':{}}}}", ERR_PARSING},
        {"{'aggs':{'a':{'terms':{'field':'k','size':0}}}}", ERR_X_CONTENT},
        {"{'aggs':{'a':{'terms':{}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{'aggs':{'a':{'avg':{'field':'k'}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{'aggs':{'a':{'terms':{'field':'k','format':'0'}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{'aggs':{'a':{'terms':{'field':'i','include':'x.*'}}}}", ERR_AGG_EXECUTION},
        {"{'aggs':{'a':{'terms':{'field':'k','order':{'x':'asc'}}}}}", ERR_AGG_EXECUTION},
        {"{'aggs':{'a':{'reverse_nested':{}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{'aggs':{'a':{'sampler':{}}}}", ERR_AGG_EXECUTION},
        {"{'aggs':{'a':{'auto_date_histogram':{'field':'t','buckets':5000}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{'aggs':{'a':{'percentiles':{'field':'d','hdr':{}}}}}", ERR_ARRAY_BOUNDS},
        {"{'aggs':{'a':{'significant_terms':{'field':'k','script_heuristic':{'script':'1'}}}}}",
         ERR_ILLEGAL_ARGUMENT},
        /* fields of the whole tree first, aggregators' own refusals then */
        {"{'aggs':{'a':{'terms':{'field':'i','include':'x.*'}},'b':{'avg':{'field':'k'}}}}",
         ERR_ILLEGAL_ARGUMENT},
        {"{'aggs':{'a':{'avg_bucket':{'buckets_path':'nope'}}}}", ERR_ACTION_VALIDATION},
    };
    struct agg_rig *r = begin(8, 1, 30, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ar_refused(r, cases[i].body, cases[i].code);
    }
    end(r);
}
END_TEST

/* Each row of the list has what its class needs, and stands under its own name. */
START_TEST(rows_are_whole)
{
    for (size_t i = 0; agg_types[i] != NULL; i++) {
        const struct agg_type *t = agg_types[i];
        bool pipe = t->class >= CLASS_SIBLING, many = t->class == CLASS_MULTI,
             metric = t->class == CLASS_METRIC;
        ck_assert_str_eq(t->name, agg_type_names[i]);
        ck_assert(t->parse != NULL);
        ck_assert_int_eq(t->collector != NULL, !pipe);
        ck_assert_int_eq(t->reduce != NULL, !pipe);
        ck_assert_int_eq(t->factory != NULL, t->class <= CLASS_MULTI);
        ck_assert(many || pipe || t->builder != NULL);
        ck_assert(t->class > CLASS_MULTI || t->results[0] != NULL);
        ck_assert_int_eq(t->print_bucket != NULL, many);
        ck_assert(!(metric || pipe) || t->print != NULL);
        ck_assert(!metric || (t->put != NULL && t->get != NULL));
        ck_assert_int_eq(t->put != NULL, t->get != NULL);
        ck_assert_int_eq(t->put_bucket != NULL, t->get_bucket != NULL);
        ck_assert_int_eq(t->validate != NULL, pipe);
        ck_assert_int_eq(t->run != NULL, t->class == CLASS_PARENT);
        ck_assert_int_eq(t->finish != NULL, t->class == CLASS_SIBLING);
        ck_assert(t->has_value == NULL || t->value != NULL);
        ck_assert_int_eq(t->gapless != NULL, t->next_key != NULL);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("aggregations: partial results");
    TCase *c = tcase_create("reduce");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, shards_equal_one, 1, 5);
    tcase_add_test(c, bytes_round_trip);
    tcase_add_loop_test(c, hostile_bytes, 0, (int)ARRAY_LEN(requests));
    tcase_add_test(c, many_buckets);
    tcase_add_loop_test(c, memory_refused, 0, (int)ARRAY_LEN(requests));
    tcase_add_test(c, refusals);
    tcase_add_test(c, rows_are_whole);
    suite_add_tcase(s, c);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
