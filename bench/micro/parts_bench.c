/* parts_bench.c - the parts that requests go through: JSON, IK's segmentation, the dictionary's trie, the translog.
 *
 * Times are the thread's CPU time; texts are fixed. BUILD says where the dictionaries were built (default: build). */
#include "bench/micro/bench.h"
#include "common/base/json.h"
#include "common/base/jsonw.h"
#include "common/sys/fs_posix.h"
#include "engine/analysis/analysis.h"
#include "engine/analysis/dict/ik_dict.h"
#include "engine/analysis/ik.h"
#include "engine/index/translog.h"
#include "tests/seams/clock_sim.h"
#include "tests/seams/fs_mem.h"

#include <stdlib.h>

static uint64_t sink; /* keeps results alive */

static const char document[] =
    "{\"id\":\"36934\",\"name\":\"七天连锁酒店(上海宝山路地铁站店)\",\"address\":\"静安交通路40号\","
    "\"price\":336,"
    "\"score\":37,\"brand\":\"七天酒店\",\"city\":\"上海\",\"starName\":\"二钻\",\"business\":"
    "\"四川北路商业区\","
    "\"location\":\"31.251433, 121.47522\",\"pic\":\"https://example.net/images/t0_w200_h200.jpg\","
    "\"suggestion\":[\"七天酒店\",\"四川北路商业区\"]}";

static const char text[] =
    "上海外滩华尔道夫酒店坐落于外滩万国建筑博览群，距离南京路步行街和豫园仅数步之遥。酒店由历史悠久的老楼和现"
    "代化的新楼组成，"
    "提供252间客房及套房，设有室内恒温泳池、健身中心和水疗中心，距虹桥国际机场约18公里，交通十分便利。";

static void json(void)
{
    enum { ROUNDS = 200000 };
    struct arena a;
    struct json v = {0};
    arena_init(&a, NULL, ARENA_UNLIMITED);
    double begin = now();
    for (int i = 0; i < ROUNDS; i++) {
        arena_reset(&a);
        sink += json_parse(&v, STR(document), &a, &json_limits_default, NULL) == ERR_OK;
    }
    line("parse JSON", sizeof(document) * (double)ROUNDS / (now() - begin) / 1e6, "MB/s");
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    begin = now();
    for (int i = 0; i < ROUNDS; i++) {
        buf_reset(&b);
        jsonw_init(&w, &b, false);
        jw_value(&w, &v);
        sink += b.n;
    }
    line("write JSON", sizeof(document) * (double)ROUNDS / (now() - begin) / 1e6, "MB/s");
    buf_fini(&b);
    arena_fini(&a);
}

static void segmentation(struct analysis *an, const char *name)
{
    enum { ROUNDS = 20000 };
    struct arena a;
    struct token_list l;
    const struct analyzer *analyzer = analysis_analyzer(an, str_of(name));
    arena_init(&a, NULL, ARENA_UNLIMITED);
    double begin = now();
    for (int i = 0; i < ROUNDS; i++) {
        arena_reset(&a);
        token_list_init(&l, &a);
        sink += analyzer_run(analyzer, STR(text), &l, NULL) == ERR_OK ? l.n : 0;
    }
    line(name, sizeof(text) * (double)ROUNDS / (now() - begin) / 1e6, "MB/s of text");
    arena_fini(&a);
}

/* Every unit of a text is the start of a walk, as in segmentation. */
static void trie(const struct dictionary *d)
{
    enum { ROUNDS = 200000 };
    static const uint16_t units[] = {0x4E0A, 0x6D77, 0x5916, 0x6EE9, 0x534E, 0x5C14,
                                     0x9053, 0x592B, 0x9152, 0x5E97, 0x5750, 0x843D};
    uint64_t steps = 0;
    double begin = now();
    for (int i = 0; i < ROUNDS; i++) {
        for (size_t k = 0; k < ARRAY_LEN(units); k++) {
            uint32_t state = d->lists[IK_MAIN];
            for (size_t j = k; j < ARRAY_LEN(units) && state != 0; j++, steps++) {
                state = dat_step(&d->dat, state, units[j]);
                sink += state;
            }
        }
    }
    line("walk the trie", (now() - begin) * 1e9 / (double)steps, "ns a character");
}

static void append(void)
{
    enum { ROUNDS = 200000 };
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    struct clock_sim clock;
    struct translog t;
    char id[16];
    clock_sim_init(&clock, 0);
    fs->make_dir(fs->self, "/s", NULL);
    struct tlog_opts o = {.fs = fs,
                          .clock = &clock.base,
                          .alloc = alloc_default(),
                          .dir = "/s",
                          .uuid = "uuid",
                          .id = 1,
                          .id_is_new = true};
    if (translog_create(&t, &o, 1, SEQ_NONE, SEQ_NONE, NULL) != ERR_OK) {
        abort();
    }
    double begin = now();
    for (int i = 0; i < ROUNDS; i++) {
        struct engine_op op = ENGINE_OP_INIT;
        snprintf(id, sizeof(id), "%d", i);
        op.kind = OP_INDEX;
        op.seq_no = i;
        op.primary_term = op.version = 1;
        op.id = str_of(id);
        op.source = STR(document);
        sink += translog_append(&t, &op, NULL) == ERR_OK;
    }
    line("append to the translog", (now() - begin) * 1e9 / ROUNDS, "ns an operation");
    translog_fini(&t);
    fs_mem_free(disk);
}

int main(void)
{
    const char *build = getenv("BUILD");
    char path[1024];
    struct arena a;
    struct settings none;
    struct analysis *an;
    struct dictionary *ik;
    ERR_LOCAL(em);
    snprintf(path, sizeof(path), "%s/share/serai/%s", build != NULL ? build : "build",
             dictionary_ik.compiled);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    settings_init(&none, &a);
    enum err e = dictionary_open(&ik, &dictionary_ik, fs_posix(), path, &em);
    struct analysis_env env = {.ik = ik};
    e = e == ERR_OK ? analysis_new(&an, &none, &env, &em) : e;
    if (e != ERR_OK) {
        fprintf(stderr, "%s\n", err_reason(&em));
        return 1;
    }
    json();
    segmentation(an, "ik_max_word");
    segmentation(an, "ik_smart");
    segmentation(an, "standard");
    trie(ik);
    append();
    analysis_unref(an);
    dictionary_unref(ik);
    arena_fini(&a);
    return sink == 1;
}
