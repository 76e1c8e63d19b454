/* node_calls.h - one question to several nodes, perhaps including this one, and their answers.
 *
 * Question and answer are the structs of a message of NODE_MESSAGES (proto/node_messages.h). A node that cannot be reached, or
 * refuses, is an error in its place. The calls and the answers live as long as the request's arena; done() is called once, on
 * whichever thread finished last, never inside the start. */
#ifndef COORDINATOR_CORE_NODE_CALLS_H
#define COORDINATOR_CORE_NODE_CALLS_H

#include "coordinator/core/op_env.h"
#include "coordinator/core/tasks.h"
#include "proto/node_messages.h"
#include "proto/remote.h"

struct node_calls;

struct node_answer {
    const struct node_meta *node; /* of the request's state */
    struct errmsg error;          /* empty: fine; in the call's arena */
    const void *answer;           /* the message's struct */
    /* the calls' own */
    struct remote_call call;
    struct node_calls *calls;
};

struct node_calls {
    struct op_env *r;
    struct node_answer *v; /* in the order of the state's nodes */
    uint32_t n;
    void (*done)(struct node_calls *c);
    void *user;
    const struct message *message;
    const void *question;
    _Atomic uint32_t pending;
    struct later end;
};

/* Asks the nodes of r's state that are chosen (node_calls_choose(), nodes_choose()). `question` is copied; its texts live as long
 * as r's arena. timeout_ms <= 0: the message's. false: no memory, and nothing was asked. */
bool node_calls_start(struct op_env *r, const struct message *message, const bool *chosen,
                      const void *question, int64_t timeout_ms, void (*done)(struct node_calls *c),
                      void *user) NODISCARD;
/* The nodes that the list names; NULL: no memory. */
bool *node_calls_choose(struct op_env *r, struct str list);
/* The member "_nodes": how many were asked, answered, failed, and how. */
void node_calls_write_head(const struct node_calls *c, struct jsonw *w);

/* ---- at a node that is asked ---- */

struct node_question {
    struct coordinator *co;
    const struct message *message;
    const void *body;   /* the message's struct; lives until the answer */
    struct arena arena; /* lives as long */
    struct task task;   /* of a question from elsewhere */
    /* the calls' own */
    struct remote_rq *rq;
    struct node_answer *local;
};

/* Answers, once, from any thread; the question is gone then. */
void node_reply(struct node_question *q, const void *answer);
void node_reply_bytes(struct node_question *q, struct buf *answer /* taken */); /* encoded already */
void node_refuse(struct node_question *q, const struct errmsg *error);
/* The services answer the questions of NODE_MESSAGES, in their order, those of other nodes too; before the transport starts. */
void node_calls_serve(struct coordinator *co, void (*const *services)(struct node_question *q));

#endif
