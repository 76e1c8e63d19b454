/* history.h - what clients did and heard, and what may follow from it. Pure: fed by hand in its test.
 *
 * Every write carries a value of its own. An acknowledged one is there at the end, unless a later one of the same document
 * took its place; a refused one never is; of one whose outcome is unknown either may be true. */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum write_fate { FATE_PENDING, FATE_ACKNOWLEDGED, FATE_REFUSED, FATE_UNKNOWN };

struct past_write {
    unsigned doc;
    bool is_delete, created; /* created: op_type create */
    uint64_t value;          /* of an index operation; distinct, > 0 */
    int64_t if_seq_no;       /* < 0: no condition */
    enum write_fate fate;
    int64_t seq_no, term; /* when acknowledged */
    int64_t begun_ms, ended_ms;
};

struct history {
    struct past_write *v;
    size_t n, cap;
};

struct past_write *history_begin(struct history *h, const struct past_write *w); /* by place; moves later */
void history_free(struct history *h);

#define DOC_UNKNOWN INT64_MIN
/* What a copy has of a document at the end; seq_no DOC_UNKNOWN: nobody can tell, its shard has no good copy. */
struct last_doc {
    bool found;
    uint64_t value;
    int64_t seq_no, term;
};
/* NULL: nothing is wrong; else what, in a static buffer. `last`: by document. `shard_of`: sequence numbers belong to shards. */
const char *history_check(const struct history *h, const struct last_doc *last, unsigned n_docs,
                          unsigned (*shard_of)(void *self, unsigned doc), void *self);

#endif
