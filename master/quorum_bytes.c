/* Messages of coordination as bytes. One form for all kinds: fields that a kind does not use are empty. */
#include "master/quorum.h"
#include "proto/flat.h"

#define MESSAGE_VERSION 1

#define ATTR_FIELDS(M) M(str, name) M(str, value)
FLAT_LIST(attrs, node_attr, ATTR_FIELDS, 2)
#define NAME_FIELDS(M) \
    M(str, id)         \
    M(str, name)       \
    M(str, ephemeral_id) M(str, host) M(str, transport_address) M(opt, http_address) M(u32_varint, roles)
FLAT_PART(names, node_meta, NAME_FIELDS)
#define HEAD_FIELDS(M) \
    M(str, cluster_name) M(str, cluster_uuid) M(varint, term) M(varint, accepted_term) M(varint, version)
FLAT_PART(head, quorum_message, HEAD_FIELDS)

static void put_node(struct buf *b, const struct node_meta *n)
{
    put_names(b, n);
    put_attrs(b, n->attrs, n->n_attrs);
}

static void get_node(struct bytes_in *in, struct node_meta *n, struct arena *a)
{
    get_names(in, n);
    n->attrs = get_attrs(in, &n->n_attrs, a);
    in->bad |= n->id.n == 0 || n->id.n > 31 || n->ephemeral_id.n == 0 || n->ephemeral_id.n > 31;
}

static void message_encode(const void *of, struct buf *out)
{
    const struct quorum_message *m = of;
    put_u8(out, MESSAGE_VERSION);
    put_u8(out, (uint8_t)m->kind);
    put_u8(out, (uint8_t)(m->answer | m->ok << 1 | m->has_vote << 2 | (m->master.id.p != NULL) << 3));
    put_node(out, &m->from);
    put_head(out, m);
    if (m->master.id.p != NULL) {
        put_node(out, &m->master);
    }
    put_varint(out, m->n_nodes);
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        put_node(out, &m->nodes[i]);
    }
    put_str(out, m->base_uuid);
    put_str(out, m->state);
}

static void message_decode(void *of, struct bytes_in *in, struct arena *arena)
{
    struct quorum_message *m = of;
    in->bad |= get_u8(in) != MESSAGE_VERSION;
    m->kind = (enum message_kind)get_u8(in);
    uint8_t flags = get_u8(in);
    m->answer = (flags & 1) != 0;
    m->ok = (flags & 2) != 0;
    m->has_vote = (flags & 4) != 0;
    get_node(in, &m->from, arena);
    get_head(in, m);
    if ((flags & 8) != 0) {
        get_node(in, &m->master, arena);
    }
    size_t n = get_count(in, 9);
    struct node_meta *nodes = ARENA_ARRAY(arena, struct node_meta, n);
    in->bad |= nodes == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        get_node(in, &nodes[m->n_nodes++], arena);
    }
    m->nodes = nodes;
    m->base_uuid = get_str(in);
    m->state = get_str(in);
}

static const struct codec message_codec = {sizeof(struct quorum_message), message_encode, message_decode};

/* The settings say how long each may take. */
#define ROW(NAME, name, action)                                                                    \
    MESSAGE(NAME, name, "internal:" action, TRANSPORT_CONTROL, MESSAGE_ON_LOOP, 0, &message_codec, \
            &message_codec)
ROW(HANDSHAKE, handshake, "transport/handshake");
ROW(PEERS, peers, "discovery/request_peers");
ROW(PRE_VOTE, pre_vote, "cluster/request_pre_vote");
ROW(START_JOIN, start_join, "cluster/coordination/start_join");
ROW(JOIN, join, "cluster/coordination/join");
ROW(PUBLISH, publish, "cluster/coordination/publish_state");
ROW(COMMIT, commit, "cluster/coordination/commit_state");
ROW(FOLLOWER_CHECK, follower_check, "coordination/fault_detection/follower_check");
ROW(LEADER_CHECK, leader_check, "coordination/fault_detection/leader_check");
ROW(HAND_OVER, hand_over, "cluster/coordination/hand_over");
