/* node_calls.h - one question to several nodes, this one perhaps among them, and what each answered.
 *
 * A question is bytes, and so is an answer; what they mean, the services say that are set down in the
 * coordinator. A node that cannot be reached, or refuses, is an error in its place. The calls live in the
 * request's arena; done() is called once, on whichever thread finished last, never inside the start. */
#ifndef COORDINATOR_CORE_NODE_CALLS_H
#define COORDINATOR_CORE_NODE_CALLS_H

#include "coordinator/core/op_env.h"
#include "coordinator/core/tasks.h"

struct node_calls;

#define NODE_CALLS_TIMEOUT_MS 30000

struct node_answer {
    const struct node_meta *node; /* of the request's state */
    struct errmsg error;          /* n == 0: fine */
    struct str bytes;
    /* the calls' own */
    struct transport_rq rq;
    struct buf memory;
    struct node_calls *calls;
};

struct node_calls {
    struct op_env *r;
    struct node_answer *v; /* in the order of the state's nodes */
    uint32_t n;
    void (*done)(struct node_calls *c);
    void *user;
    struct buf question;
    uint16_t kind;
    _Atomic uint32_t pending;
    struct later end;
};

/* Asks the nodes of r's state that are chosen (node_calls_choose(), nodes_choose()). `question` is taken.
 * timeout_ms <= 0: NODE_CALLS_TIMEOUT_MS. false: no memory, and nothing was asked. */
bool node_calls_start(struct op_env *r, enum message_kind kind, const bool *chosen, struct buf *question,
                      int64_t timeout_ms, void (*done)(struct node_calls *c), void *user) NODISCARD;
/* The nodes that the list names; NULL: no memory. */
bool *node_calls_choose(struct op_env *r, struct str list);
/* Frees the answers. */
void node_calls_release(struct node_calls *c);
/* The member "_nodes": how many were asked, answered, failed, and how. */
void node_calls_write_head(const struct node_calls *c, struct jsonw *w);

/* ---- at a node that is asked ---- */

struct node_question {
    struct coordinator *co;
    struct str text;    /* lives until the answer */
    struct arena arena; /* lives as long */
    struct task task;   /* of a question from elsewhere */
    /* the calls' own */
    struct transport_call *call;
    struct node_answer *local;
};

/* Answers, once, from any thread; the question is gone then. error == NULL: `answer` is taken. */
void node_reply(struct node_question *q, struct buf *answer, const struct errmsg *error);
/* `service` answers the questions of a kind, those of other nodes too; before the transport starts. */
void node_calls_serve(struct coordinator *co, enum message_kind kind,
                      void (*service)(struct node_question *q));

#endif
