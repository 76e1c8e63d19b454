/* Cluster states: bytes and differences give back what went in; damaged ones are refused. */
#include "common/base/rand.h"
#include "common/cluster/state.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct rng rng;

static struct str text(struct arena *a, const char *prefix, uint64_t n)
{
    return arena_printf(a, "%s%llu", prefix, (unsigned long long)n);
}

static struct index_meta *random_index(struct str name)
{
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = arena_str(a, name);
    m->uuid = text(a, "uuid-", rng_below(&rng, 1000));
    m->version = rng_below(&rng, 100);
    m->n_shards = 1 + (uint32_t)rng_below(&rng, 4);
    m->n_replicas = (uint32_t)rng_below(&rng, 3);
    m->routing_shards = routing_shards_default(m->n_shards);
    m->routing_partition = 1;
    m->mapping = STR("{}");
    ck_assert(settings_put(&m->settings, STR("index.number_of_shards"), STR("1")));
    m->aliases = ARENA_ARRAY(a, struct alias_meta, 1);
    m->aliases[0] = (struct alias_meta){.name = text(a, "alias-", rng_below(&rng, 9)), .filter = STR("{}")};
    m->n_aliases = 1;
    m->primary_terms = ARENA_ARRAY(a, uint64_t, m->n_shards);
    m->in_sync = ARENA_ARRAY(a, struct str_set, m->n_shards);
    for (uint32_t i = 0; i < m->n_shards; i++) {
        m->primary_terms[i] = 1 + rng_below(&rng, 9);
        m->in_sync[i] = (struct str_set){0};
        for (uint64_t k = rng_below(&rng, 4); k > 0; k--) {
            m->in_sync[i] = str_set_with(&m->in_sync[i], text(a, "copy-", rng_below(&rng, 5)), a);
        }
    }
    return m;
}

static struct index_routing *random_routing(struct str name)
{
    struct index_routing *empty =
        index_routing_new(name, STR("u"), 1 + (uint32_t)rng_below(&rng, 4), (uint32_t)rng_below(&rng, 3));
    struct index_routing *r = index_routing_copy(empty, 1);
    state_part_unref(&empty->part);
    struct arena *a = &r->part.arena;
    for (uint32_t i = 0; i < r->n; i++) {
        for (uint32_t k = 0; k < r->shards[i].n; k++) {
            struct shard_copy *c = &r->shards[i].copies[k];
            c->state = (enum copy_state)rng_below(&rng, 4);
            c->source = (enum recovery_source)rng_below(&rng, 3);
            c->trouble.reason = (enum copy_reason)rng_below(&rng, REASON_N);
            c->trouble.at_ms = -5;
            c->trouble.attempt = (enum copy_attempt)rng_below(&rng, ATTEMPT_N);
            c->trouble.delayed = rng_below(&rng, 2) == 0;
            if (c->state != COPY_UNASSIGNED) {
                c->node = text(a, "node-", rng_below(&rng, 5));
                c->allocation_id = text(a, "copy-", rng_below(&rng, 99));
            }
            if (c->state == COPY_RELOCATING) {
                c->target_node = text(a, "node-", rng_below(&rng, 5));
                c->target_id = text(a, "copy-", rng_below(&rng, 99));
            }
        }
    }
    return r;
}

static struct nodes_part *random_nodes(void)
{
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, 6);
    state_part_unref(&none->part);
    for (uint64_t i = rng_below(&rng, 6); i > 0; i--) {
        char id[16];
        struct node_attr attr = {STR("zone"), STR("a")};
        snprintf(id, sizeof(id), "node-%u", (unsigned)rng_below(&rng, 6));
        struct node_meta n = {.id = str_of(id),
                              .name = STR("n"),
                              .ephemeral_id = STR("e"),
                              .host = STR("h"),
                              .transport_address = STR("h:1"),
                              .roles = ROLE_DATA,
                              .attrs = &attr,
                              .n_attrs = 1};
        ck_assert(nodes_part_put(p, &n));
    }
    p->master = p->n > 0 ? p->v[0].id : STR_NULL;
    return p;
}

static struct coordination_part *random_coordination(void)
{
    struct coordination_part *c = coordination_part_new();
    struct arena *a = &c->part.arena;
    c->term = rng_below(&rng, 50);
    c->committed = str_set_with(&c->committed, text(a, "node-", rng_below(&rng, 5)), a);
    c->accepted = str_set_with(&c->committed, text(a, "node-", rng_below(&rng, 5)), a);
    c->exclusions = ARENA_ARRAY(a, struct voting_exclusion, 1);
    c->exclusions[0] = (struct voting_exclusion){STR("node-1"), STR("one")};
    c->n_exclusions = (uint32_t)rng_below(&rng, 2);
    return c;
}

/* Changes inside a part, as most are: some may leave all as it is. */
static struct index_meta *index_touched(const struct index_meta *m)
{
    struct index_meta *c = index_meta_copy(m);
    struct arena *a = &c->part.arena;
    uint32_t shard = (uint32_t)rng_below(&rng, c->n_shards);
    for (uint64_t i = rng_below(&rng, 3); i > 0; i--) {
        switch (rng_below(&rng, 7)) {
        case 0:
            c->primary_terms[shard]++;
            break;
        case 1:
            c->in_sync[shard] = str_set_with(&c->in_sync[shard], text(a, "copy-", rng_below(&rng, 5)), a);
            break;
        case 2:
            c->in_sync[shard] = str_set_without(&c->in_sync[shard], text(a, "copy-", rng_below(&rng, 5)), a);
            break;
        case 3:
            c->mapping = text(a, "{\"m\":", rng_below(&rng, 9));
            c->type = rng_below(&rng, 2) == 0 ? STR_NULL : text(a, "type-", rng_below(&rng, 3));
            c->mapping_version++;
            break;
        case 4:
            ck_assert(
                settings_put(&c->settings, STR("index.refresh_interval"), text(a, "", rng_below(&rng, 9))));
            break;
        case 5:
            c->n_aliases = (uint32_t)rng_below(&rng, (uint64_t)c->n_aliases + 1);
            break;
        default:
            c->closed = !c->closed;
            c->n_replicas = (uint32_t)rng_below(&rng, 4);
        }
    }
    return c;
}

static struct index_routing *routing_touched(const struct index_routing *r)
{
    struct index_routing *c = index_routing_copy(r, 1);
    for (uint64_t i = rng_below(&rng, 3); i > 0; i--) {
        struct shard_routing *s = &c->shards[rng_below(&rng, c->n)];
        struct shard_copy *copy = &s->copies[rng_below(&rng, s->n)];
        switch (rng_below(&rng, 3)) {
        case 0:
            copy->trouble.failed++;
            break;
        case 1:
            s->n = MAX_OF(s->n - 1, 1U);
            break;
        default:
            if (copy->state != COPY_UNASSIGNED) {
                copy->node = text(&c->part.arena, "node-", rng_below(&rng, 50));
            }
        }
    }
    return c;
}

static struct nodes_part *nodes_touched(const struct nodes_part *p)
{
    struct nodes_part *c = nodes_part_copy(p, 1);
    char id[16];
    struct node_meta n = {.id = str_of(id),
                          .name = STR("n"),
                          .ephemeral_id = STR("other"),
                          .host = STR("h"),
                          .transport_address = STR("h:1"),
                          .http_address = STR("h:2"),
                          .roles = ROLE_DATA};
    snprintf(id, sizeof(id), "node-%u", (unsigned)rng_below(&rng, 6));
    n.id = str_of(id);
    if (rng_below(&rng, 2) == 0) {
        nodes_part_remove(c, n.id);
    } else {
        ck_assert(nodes_part_put(c, &n));
    }
    c->master = rng_below(&rng, 2) == 0 && c->n > 0 ? c->v[c->n - 1].id : STR_NULL;
    return c;
}

static void touch(struct state_builder *b)
{
    const struct cluster_state *s = b->next;
    if (s->n_indices > 0) {
        ck_assert(state_put_index(b, index_touched(s->indices[rng_below(&rng, s->n_indices)])));
    }
    if (s->n_routing > 0) {
        ck_assert(state_put_routing(b, routing_touched(s->routing[rng_below(&rng, s->n_routing)])));
    }
    if (s->nodes != NULL && rng_below(&rng, 2) == 0) {
        state_put_nodes(b, nodes_touched(s->nodes));
    }
}

/* A few random changes of a state. */
static struct cluster_state *changed(struct cluster_state *from)
{
    struct state_builder b;
    char name[32], uuid[32];
    ck_assert(state_builder_init(&b, from));
    ck_assert(state_set_names(&b, STR("cluster"), STR("cu")));
    for (uint64_t i = rng_below(&rng, 8); i > 0; i--) {
        snprintf(name, sizeof(name), "i-%u", (unsigned)rng_below(&rng, 8));
        switch (rng_below(&rng, 10)) {
        case 0:
            ck_assert(state_put_index(&b, random_index(str_of(name))));
            break;
        case 1:
            state_remove_index(&b, str_of(name));
            break;
        case 2:
            ck_assert(state_put_routing(&b, random_routing(str_of(name))));
            break;
        case 3:
            state_remove_routing(&b, str_of(name));
            break;
        case 4:
            state_put_nodes(&b, random_nodes());
            break;
        case 5:
            state_put_coordination(&b, random_coordination());
            break;
        case 6:
        case 7:
        case 8:
            touch(&b);
            break;
        default:
            state_put_settings(&b, settings_part_new(NULL), rng_below(&rng, 2) == 0);
        }
    }
    snprintf(uuid, sizeof(uuid), "state-%llu", (unsigned long long)rng_u64(&rng));
    return state_builder_seal(&b, str_of(uuid));
}

static void check_same(const struct cluster_state *a, const struct cluster_state *b)
{
    struct buf x, y;
    buf_init(&x, NULL, BUF_UNLIMITED);
    buf_init(&y, NULL, BUF_UNLIMITED);
    cluster_state_encode(a, &x);
    cluster_state_encode(b, &y);
    ck_assert(!x.failed && str_eq(buf_view(&x), buf_view(&y)));
    buf_fini(&x);
    buf_fini(&y);
}

START_TEST(bytes_and_differences)
{
    struct buf b;
    ERR_LOCAL(em);
    rng_seed(&rng, (uint64_t)_i);
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct cluster_state *here = changed(NULL), *there;
    cluster_state_encode(here, &b);
    ck_assert_int_eq(cluster_state_decode(&there, buf_view(&b), &em), ERR_OK);
    for (int i = 0; i < 50; i++) {
        check_same(here, there);
        struct cluster_state *next = changed(here), *patched, *wrong;
        buf_reset(&b);
        if (rng_below(&rng, 4) == 0) { /* equal parts need not be the same ones */
            cluster_state_encode(here, &b);
            cluster_state_unref(here);
            ck_assert_int_eq(cluster_state_decode(&here, buf_view(&b), &em), ERR_OK);
            buf_reset(&b);
        }
        cluster_state_diff(here, next, &b);
        ck_assert_int_eq(cluster_state_patch(&patched, there, buf_view(&b), &em), ERR_OK);
        ck_assert_int_eq(cluster_state_patch(&wrong, next, buf_view(&b), &em), ERR_ILLEGAL_STATE);
        cluster_state_unref(here);
        cluster_state_unref(there);
        here = next;
        there = patched;
    }
    cluster_state_unref(here);
    cluster_state_unref(there);
    buf_fini(&b);
}
END_TEST

/* Any one byte of either changed, or the end cut off: read as something else or refused, never worse. */
START_TEST(damaged_bytes)
{
    struct buf b;
    ERR_LOCAL(em);
    rng_seed(&rng, (uint64_t)_i);
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct cluster_state *one = changed(NULL), *two = changed(one), *out;
    for (int diff = 0; diff < 2; diff++) {
        buf_reset(&b);
        if (diff == 1) {
            cluster_state_diff(one, two, &b);
        } else {
            cluster_state_encode(two, &b);
        }
        for (size_t i = 0; i < b.n; i++) {
            char was = b.p[i];
            b.p[i] = (char)(b.p[i] ^ (1 << rng_below(&rng, 8)));
            enum err e = diff == 1 ? cluster_state_patch(&out, one, buf_view(&b), &em)
                                   : cluster_state_decode(&out, buf_view(&b), &em);
            cluster_state_unref(e == ERR_OK ? out : NULL);
            b.p[i] = was;
            char *exact = malloc(i + 1); /* the sanitizer sees a read behind its end */
            memcpy(exact, b.p, i);
            e = diff == 1 ? cluster_state_patch(&out, one, str_mk(exact, i), &em)
                          : cluster_state_decode(&out, str_mk(exact, i), &em);
            ck_assert_int_ne(e, ERR_OK);
            free(exact);
        }
    }
    cluster_state_unref(one);
    cluster_state_unref(two);
    buf_fini(&b);
}
END_TEST

static struct cluster_state *big_state(void)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("cu")));
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = STR("big");
    m->uuid = STR("big-uuid");
    m->n_shards = m->routing_shards = 200;
    m->routing_partition = 1;
    m->mapping =
        text(a, "{\"long\":\"................................................................\",\"n\":", 1);
    ck_assert(settings_put(&m->settings, STR("index.number_of_shards"), STR("200")));
    m->primary_terms = ARENA_ARRAY(a, uint64_t, m->n_shards);
    m->in_sync = ARENA_ARRAY(a, struct str_set, m->n_shards);
    for (uint32_t i = 0; i < m->n_shards; i++) {
        m->in_sync[i] = (struct str_set){0};
        m->primary_terms[i] = 1;
    }
    ck_assert(state_put_index(&b, m));
    ck_assert(state_put_routing(&b, index_routing_new(STR("big"), STR("big-uuid"), 200, 1)));
    return state_builder_seal(&b, STR("one"));
}

/* One copy that starts is told as that. */
START_TEST(small_changes_are_small)
{
    struct buf b;
    ERR_LOCAL(em);
    struct state_builder sb;
    struct cluster_state *one = big_state(), *same, *patched;
    buf_init(&b, NULL, BUF_UNLIMITED);
    ck_assert(state_builder_init(&sb, one));
    struct index_routing *r = index_routing_copy(one->routing[0], 0);
    struct shard_copy *c = &r->shards[77].copies[0];
    c->state = COPY_STARTED;
    c->node = STR("some-node");
    c->allocation_id = STR("some-copy");
    ck_assert(state_put_routing(&sb, r));
    struct index_meta *m = index_meta_copy(one->indices[0]);
    m->in_sync[77] = str_set_with(&m->in_sync[77], STR("some-copy"), &m->part.arena);
    m->version++;
    ck_assert(state_put_index(&sb, m));
    struct cluster_state *two = state_builder_seal(&sb, STR("two"));
    cluster_state_diff(one, two, &b);
    ck_assert_uint_lt(b.n, 150);
    ck_assert_int_eq(cluster_state_patch(&patched, one, buf_view(&b), &em), ERR_OK);
    check_same(two, patched);
    cluster_state_unref(patched);
    /* what is equal is not told, whoever made it */
    buf_reset(&b);
    cluster_state_encode(two, &b);
    ck_assert_int_eq(cluster_state_decode(&same, buf_view(&b), &em), ERR_OK);
    buf_reset(&b);
    cluster_state_diff(two, same, &b);
    ck_assert_uint_lt(b.n, 40);
    cluster_state_unref(same);
    cluster_state_unref(one);
    cluster_state_unref(two);
    buf_fini(&b);
}
END_TEST

/* Scripts go as one part, and states without any end before it. */
START_TEST(scripts_of_a_state)
{
    struct buf b;
    ERR_LOCAL(em);
    struct state_builder sb;
    struct cluster_state *one = big_state(), *patched, *read;
    const struct script_meta m[] = {{STR("b"), STR("painless"), STR("1"), STR_NULL},
                                    {STR("a"), STR("mustache"), STR("{}"), STR("text/plain")},
                                    {STR("b"), STR("painless"), STR("2"), STR_NULL}};
    struct scripts_part *p = NULL;
    for (size_t i = 0; i < ARRAY_LEN(m); i++) {
        struct scripts_part *next = scripts_part_with(p, &m[i]);
        state_part_unref(p != NULL ? &p->part : NULL);
        p = next;
    }
    ck_assert(state_builder_init(&sb, one));
    state_put_scripts(&sb, p);
    struct cluster_state *two = state_builder_seal(&sb, STR("two"));
    ck_assert_uint_eq(two->scripts->n, 2);
    ck_assert(str_is(cluster_script(two, STR("b"))->source, "2"));
    ck_assert_ptr_null(cluster_script(one, STR("b")));
    buf_init(&b, NULL, BUF_UNLIMITED);
    cluster_state_diff(one, two, &b);
    ck_assert_int_eq(cluster_state_patch(&patched, one, buf_view(&b), &em), ERR_OK);
    check_same(two, patched);
    for (size_t cut = 1; cut < b.n; cut += 3) { /* part of it is none, or what came before the scripts */
        if (cluster_state_patch(&read, one, str_mk(b.p, b.n - cut), &em) == ERR_OK) {
            ck_assert_ptr_null(read->scripts);
            cluster_state_unref(read);
        }
    }
    buf_reset(&b);
    cluster_state_encode(two, &b);
    ck_assert_int_eq(cluster_state_decode(&read, buf_view(&b), &em), ERR_OK);
    check_same(two, read);
    ck_assert(str_is(cluster_script(read, STR("a"))->content_type, "text/plain"));
    struct scripts_part *left = scripts_part_without(two->scripts, STR("a"));
    ck_assert(left->n == 1 && str_is(left->v[0].id, "b"));
    state_part_unref(&left->part);
    cluster_state_unref(read);
    cluster_state_unref(patched);
    cluster_state_unref(one);
    cluster_state_unref(two);
    buf_fini(&b);
}
END_TEST

/* Pipelines end a state, behind scripts or without any. */
START_TEST(pipelines_of_a_state)
{
    struct buf b;
    ERR_LOCAL(em);
    struct state_builder sb;
    struct cluster_state *one = big_state(), *patched, *read;
    const struct pipeline_meta m[] = {{STR("b"), STR("{\"processors\":[]}")}, {STR("a"), STR("{}")}};
    struct pipelines_part *first = pipelines_part_with(NULL, &m[0]), *p = pipelines_part_with(first, &m[1]);
    state_part_unref(&first->part);
    ck_assert(state_builder_init(&sb, one));
    state_put_pipelines(&sb, p);
    struct cluster_state *two = state_builder_seal(&sb, STR("two"));
    ck_assert(str_is(cluster_pipeline(two, STR("a"))->body, "{}"));
    ck_assert_ptr_null(cluster_pipeline(two, STR("c")));
    buf_init(&b, NULL, BUF_UNLIMITED);
    cluster_state_diff(one, two, &b);
    ck_assert_int_eq(cluster_state_patch(&patched, one, buf_view(&b), &em), ERR_OK);
    check_same(two, patched);
    for (size_t cut = 1; cut < b.n; cut += 3) { /* part of it is none, or what came before the pipelines */
        if (cluster_state_patch(&read, one, str_mk(b.p, b.n - cut), &em) == ERR_OK) {
            ck_assert_ptr_null(read->pipelines);
            cluster_state_unref(read);
        }
    }
    buf_reset(&b);
    cluster_state_encode(two, &b);
    ck_assert_int_eq(cluster_state_decode(&read, buf_view(&b), &em), ERR_OK);
    check_same(two, read);
    ck_assert(read->scripts == NULL && read->pipelines->n == 2);
    struct pipelines_part *left = pipelines_part_without(two->pipelines, STR("a"));
    ck_assert(left->n == 1 && str_is(left->v[0].id, "b"));
    state_part_unref(&left->part);
    cluster_state_unref(read);
    cluster_state_unref(patched);
    cluster_state_unref(one);
    cluster_state_unref(two);
    buf_fini(&b);
}
END_TEST

/* As disks have them that were written before: parts whole, and counted. */
START_TEST(differences_of_the_first_format)
{
    struct buf b;
    ERR_LOCAL(em);
    struct cluster_state *one = big_state(), *patched;
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_u8(&b, 1);
    put_str(&b, STR("one"));
    put_str(&b, STR("two"));
    put_str(&b, STR("c"));
    put_str(&b, STR("cu"));
    put_varint(&b, 3);
    put_varint(&b, 9);
    for (int i = 0; i < 4; i++) { /* nodes, coordination, settings: as before */
        put_u8(&b, 0);
    }
    put_varint(&b, 0);
    put_varint(&b, 1);
    struct index_meta *m = index_meta_copy(one->indices[0]);
    m->closed = true;
    index_meta_encode(m, &b);
    state_part_unref(&m->part);
    put_varint(&b, 1);
    put_str(&b, STR("big"));
    for (int i = 0; i < 3; i++) { /* routing, templates: none */
        put_varint(&b, 0);
    }
    ck_assert_int_eq(cluster_state_patch(&patched, one, buf_view(&b), &em), ERR_OK);
    ck_assert(patched->indices[0]->closed && patched->n_routing == 0 && patched->version == 9);
    cluster_state_unref(patched);
    cluster_state_unref(one);
    buf_fini(&b);
}
END_TEST

START_TEST(sets)
{
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    bool in[16] = {false};
    struct str_set s = {0};
    rng_seed(&rng, 7);
    for (int i = 0; i < 500; i++) {
        char x[8];
        unsigned k = (unsigned)rng_below(&rng, 16);
        snprintf(x, sizeof(x), "%02u", k);
        in[k] = rng_below(&rng, 2) == 0;
        s = in[k] ? str_set_with(&s, str_of(x), &a) : str_set_without(&s, str_of(x), &a);
        uint32_t n = 0;
        for (k = 0; k < 16; k++) {
            snprintf(x, sizeof(x), "%02u", k);
            ck_assert(str_set_has(&s, str_of(x)) == in[k]);
            n += in[k];
        }
        ck_assert_uint_eq(s.n, n);
    }
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("state");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, bytes_and_differences, 0, 20);
    tcase_add_loop_test(c, damaged_bytes, 0, 10);
    tcase_add_test(c, small_changes_are_small);
    tcase_add_test(c, scripts_of_a_state);
    tcase_add_test(c, pipelines_of_a_state);
    tcase_add_test(c, differences_of_the_first_format);
    tcase_add_test(c, sets);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
