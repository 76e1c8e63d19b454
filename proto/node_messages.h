/* node_messages.h - questions to every node: about its condition and its work. The structs of NODE_MESSAGES. */
#ifndef PROTO_NODE_MESSAGES_H
#define PROTO_NODE_MESSAGES_H

#include "proto/message.h"

#define NODE_QUESTION_MS            30000 /* the usual time-out */
#define HOT_THREADS_INTERVAL_MS_MAX 60000

/* MESSAGE_NODE_INFO; the answer: the object of the node, as JSON. */
struct node_info_question {
    unsigned metrics; /* a bit of each */
    bool flat, human;
};

/* MESSAGE_NODE_STATS; the answer: bytes, of what was asked for. */
struct node_stats_question {
    enum node_stats_kind {
        NODE_STATS_JSON,         /* the object of the node */
        NODE_STATS_FIGURES,      /* struct node_figures */
        NODE_STATS_FIGURES_SUMS, /* with the sums of its shards */
        NODE_STATS_HOT_THREADS   /* text */
    } kind;
    /* NODE_STATS_JSON */
    unsigned metrics, index_metrics;
    bool by_index, by_shard, human;
    /* NODE_STATS_HOT_THREADS */
    int64_t interval_ms;
    int32_t threads;
    bool ignore_idle;
};

/* MESSAGE_TASKS: tasks are found, and done to. */
struct tasks_question {
    struct str actions;     /* patterns; n == 0: all */
    struct str parent_node; /* of `parent` */
    uint64_t id, parent;    /* 0: any */
    struct str asker;       /* id of the node that asks */
    uint64_t asking;        /* its task; 0: none */
    bool detailed, wait;    /* wait: until those found have ended, timeout_ms at most */
    bool cancel, rethrottle;
    float per_second;
    int64_t timeout_ms;
};

struct listed {                   /* a snapshot of a task */
    const struct node_meta *node; /* of the asking node */
    uint64_t id, parent;          /* parent 0: none */
    struct str parent_node;
    int64_t start_ms, running_ns;
    struct str json;                                 /* an object, but for its closing brace */
    struct str type, action, description, opaque_id; /* p == NULL: none */
};

enum tasks_refusal { TASKS_DONE, TASKS_NOT_CANCELLABLE, TASKS_NOT_THROTTLED };

struct tasks_found {  /* the answer */
    struct listed *v; /* in an arena */
    size_t n;
    bool found;     /* the task asked for is there, whatever was refused */
    bool timed_out; /* some had not ended in time */
    enum tasks_refusal refusal;
};

#endif
