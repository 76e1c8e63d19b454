/* run_int.h - the inside of a run: run.c (from beginning to end), clients.c, befall.c (faults), members.c (who comes and leaves),
 * damage.c (what disks do to files), readers.c,
 * invariants.c (what holds in every state),
 * promises.c (what nodes promise each other), ending.c (what must be true at the end). One thread. */
#ifndef SIM_RUN_INT_H
#define SIM_RUN_INT_H

#include "coordinator/ops/writes.h"
#include "tests/sim/history.h"
#include "tests/sim/run.h"
#include "tests/sim/world.h"

#define DOCS      12
#define CLIENTS   4
#define SHARDS    2
#define TERMS_MAX 4096
#define COPY_IDS  512 /* allocation ids that a run may see */
#define SECOND    (1000LL * 1000 * 1000)

struct client {
    struct run *run;
    unsigned number;
    struct writing *now; /* NULL: between two */
};

struct seen_primary { /* of a shard and term, in the newest state seen */
    uint64_t version;
    char id[32], target[32];
};

/* What a place is to the cluster. */
enum place { PLACE_EMPTY, PLACE_MEMBER, PLACE_LEAVING, PLACE_GONE };

struct members {
    enum place places[SIM_NODES_MAX];
    bool orderly; /* nodes leave by an operator's orders; else without a word */
    /* the operator's wishes; SIM_NODES_MAX: none */
    unsigned no_voter, no_copies;
    bool ordering; /* an order is under way */
    uint64_t orders;
    int64_t ordered_ms;
    int64_t red_since_ms; /* 0: it is not */
};

struct damages {
    int64_t refused_ms[SIM_NODES_MAX];        /* since when a node refuses to start; 0: it does not */
    int64_t marked_ms[SIM_NODES_MAX][SHARDS]; /* since when a copy says that it is damaged; 0: it does not */
    bool troubled[SIM_NODES_MAX];
    char dirs[SHARDS][80]; /* of the index's shards, in every data folder */
    uint64_t reads, failed_reads;
};

struct run {
    struct run_opts o;
    struct run_shape shape;
    struct run_result *r;
    struct world w;
    struct rng rng;
    struct sim_lane *lane; /* of the clients and of what befalls */
    const struct timers *timers;
    struct client clients[CLIENTS];
    struct history h;
    struct {
        int64_t seq_no, term;
    } known[DOCS];
    uint64_t next_value;
    bool over; /* clients begin nothing new */
    bool created;
    /* what was applied anywhere */
    struct cluster_state *newest; /* NULL: nothing yet */
    char masters[TERMS_MAX][32];
    uint64_t first_version[TERMS_MAX], last_version[TERMS_MAX], term_max;
    struct seen_primary primaries[SHARDS][TERMS_MAX];
    struct {
        char id[32], node[32];
    } copies[COPY_IDS];
    unsigned n_copies;
    bool partitioned;
    int64_t look_ms; /* at the end: when to look again */
    struct members members;
    struct damages damages;
};

void violated(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* invariants.c */
void state_applied(void *self, unsigned at, struct cluster_state *s); /* struct world's */
/* The node that a copy of this allocation id was on; NULL: nobody saw. */
const char *node_of_copy(const struct run *run, struct str allocation_id);

/* promises.c */
void promises_watch(struct run *run); /* before any node starts */
/* What a node applies lies on the disks of a majority of its voters. */
void promises_committed(struct run *run, const struct cluster_state *s);

/* clients.c */
struct sim_node *some_node(struct run *run); /* NULL: none is up */
void clients_start(struct run *run);
bool clients_quiet(const struct run *run);
void make_index(struct run *run);

/* befall.c */
void befall_machines(struct run *run); /* clocks and disks, as the run's shape has them */
void befall_start(struct run *run);

/* members.c */
void members_init(struct run *run);
bool is_member(const struct run *run, unsigned at);      /* it is to be up */
unsigned place_of(const struct run *run, struct str id); /* SIM_NODES_MAX: a machine that was given up */
/* The machine there is given up, and its place taken by a new one: when others have all that it had, and a majority without it. */
bool members_replace(struct run *run, unsigned at);
void members_befall(struct run *run);
/* The operator takes his orders back, and who was on the way out stays; who left for good does. */
void members_settle(struct run *run);
/* Every half second: what the operator wants is ordered, again if need be; who is needed comes back. */
void members_start(struct run *run);
/* The cluster is as the operator wants it, and votes as it should. */
bool members_settled(const struct run *run, const struct cluster_state *s);

/* damage.c */
void damage_start(struct run *run);
void damage_befall(struct run *run, unsigned at);
/* Does a power cut take what nobody could miss? One right after a write that did not get to its place does. */
bool damage_hides(const struct run *run, unsigned at);
/* Is a file of that shard there not as it was written? */
bool damage_in_shard(const struct run *run, unsigned at, unsigned shard);
/* What a new state says: no damaged copy is the primary where there is a good one. */
void damage_state(struct run *run, const struct cluster_state *s);
/* Disks are good again from now on; what they damaged stays. */
void damage_ends(struct run *run);
/* May the shard be red? Each copy that may become its primary is damaged. */
bool damage_excuses(const struct run *run, const struct cluster_state *s, unsigned shard);

/* met.c: everything on the disks is read, and what is found damaged is made anew or red, with the reason. `settle` waits until
 * the cluster is at rest again, in so many ms from that moment on at most. false: it was not, or something is wrong. */
bool damage_is_met(struct run *run, bool (*settle)(struct run *run, int64_t since));
/* At the end: nothing is said to be damaged that is as it was written. */
void damage_check_whole(struct run *run);
/* At the end, every 10 s: what was tried too often is tried again. */
void damage_retries(struct run *run);

/* readers.c */
void readers_start(struct run *run);
/* All documents of each copy are read, as they are in segments. */
void readers_read_all(struct run *run);

/* ending.c */
void mend_and_check(struct run *run);

#endif
