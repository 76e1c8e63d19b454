/* The bytes of what changes as copies and voters come and go: routing, voting configurations. */
#include "common/cluster/state_int.h"

static void put_copy(struct buf *b, const struct shard_copy *c)
{
    put_u8(b, (uint8_t)c->state);
    put_bool(b, c->primary);
    state_opt_out(b, c->node);
    state_opt_out(b, c->allocation_id);
    state_opt_out(b, c->target_node);
    state_opt_out(b, c->target_id);
    put_u8(b, (uint8_t)c->source);
    put_u8(b, (uint8_t)c->trouble.reason);
    put_zigzag(b, c->trouble.at_ms);
    put_varint(b, c->trouble.failed);
    put_u8(b, (uint8_t)((unsigned)c->trouble.attempt << 1 | c->trouble.delayed));
    state_opt_out(b, c->trouble.details);
    state_opt_out(b, c->trouble.last_node);
}

static void get_copy(struct bytes_in *in, struct shard_copy *c, struct arena *a)
{
    uint8_t state = get_u8(in);
    c->primary = get_bool(in);
    c->node = state_opt_in(in, a);
    c->allocation_id = state_opt_in(in, a);
    c->target_node = state_opt_in(in, a);
    c->target_id = state_opt_in(in, a);
    uint8_t source = get_u8(in), reason = get_u8(in);
    c->trouble.at_ms = get_zigzag(in);
    c->trouble.failed = (uint32_t)get_varint(in);
    uint8_t attempt = get_u8(in);
    c->trouble.details = state_opt_in(in, a);
    c->trouble.last_node = state_opt_in(in, a);
    in->bad |=
        state > COPY_RELOCATING || source > RECOVER_PEER || reason >= REASON_N || attempt >> 1 >= ATTEMPT_N;
    in->bad |= (state == COPY_UNASSIGNED) != (c->node.p == NULL)
               || (c->node.p == NULL) != (c->allocation_id.p == NULL)
               || (state == COPY_RELOCATING) != (c->target_node.p != NULL)
               || (c->target_node.p == NULL) != (c->target_id.p == NULL);
    if (!in->bad) {
        c->state = (enum copy_state)state;
        c->source = (enum recovery_source)source;
        c->trouble.reason = (enum copy_reason)reason;
        c->trouble.delayed = (attempt & 1) != 0;
        c->trouble.attempt = (enum copy_attempt)(attempt >> 1);
    }
}

static bool opt_eq(struct str a, struct str b)
{
    return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

/* What put_copy() writes. */
static bool copy_eq(const struct shard_copy *a, const struct shard_copy *b)
{
    const struct copy_trouble *x = &a->trouble, *y = &b->trouble;
    return a->state == b->state && a->primary == b->primary && opt_eq(a->node, b->node)
           && opt_eq(a->allocation_id, b->allocation_id) && opt_eq(a->target_node, b->target_node)
           && opt_eq(a->target_id, b->target_id) && a->source == b->source && x->reason == y->reason
           && x->at_ms == y->at_ms && x->failed == y->failed && x->attempt == y->attempt
           && x->delayed == y->delayed && opt_eq(x->details, y->details)
           && opt_eq(x->last_node, y->last_node);
}

bool state_shard_eq(const struct shard_routing *a, const struct shard_routing *b)
{
    for (uint32_t i = 0; a->n == b->n && i < a->n; i++) {
        if (!copy_eq(&a->copies[i], &b->copies[i])) {
            return false;
        }
    }
    return a->n == b->n;
}

void state_shard_out(const struct shard_routing *s, struct buf *out)
{
    put_varint(out, s->n);
    for (uint32_t k = 0; k < s->n; k++) {
        put_copy(out, &s->copies[k]);
    }
}

void state_shard_in(struct bytes_in *in, struct shard_routing *s, struct arena *a)
{
    size_t copies = get_count(in, 13);
    *s = (struct shard_routing){ARENA_ARRAY(a, struct shard_copy, copies), 0};
    in->bad |= s->copies == NULL || copies == 0;
    for (size_t k = 0; k < copies && !in->bad; k++) {
        get_copy(in, &s->copies[k], a);
        in->bad |= s->copies[k].primary != (k == 0);
        s->n++;
    }
}

void state_routing_encode(const struct index_routing *r, struct buf *out)
{
    put_u8(out, PART_VERSION);
    put_str(out, r->name);
    put_str(out, r->uuid);
    put_varint(out, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        state_shard_out(&r->shards[i], out);
    }
}

struct index_routing *state_routing_decode(struct bytes_in *in)
{
    struct index_routing *r = state_part_new(sizeof(*r));
    if (r == NULL) {
        in->bad = true;
        return NULL;
    }
    struct arena *a = &r->part.arena;
    in->bad |= get_u8(in) != PART_VERSION;
    r->name = state_str_in(in, a);
    r->uuid = state_str_in(in, a);
    size_t n = get_count(in, 2);
    r->shards = ARENA_ARRAY(a, struct shard_routing, n);
    in->bad |= r->shards == NULL || n > SHARDS_MAX;
    for (size_t i = 0; i < n && !in->bad; i++) {
        state_shard_in(in, &r->shards[i], a);
        r->n++;
    }
    if (in->bad) {
        state_part_unref(&r->part);
        return NULL;
    }
    return r;
}

void state_coordination_encode(const struct coordination_part *p, struct buf *out)
{
    put_u8(out, PART_VERSION);
    put_varint(out, p->term);
    state_set_out(out, &p->committed);
    state_set_out(out, &p->accepted);
    put_bool(out, p->uuid_committed);
    put_varint(out, p->n_exclusions);
    for (uint32_t i = 0; i < p->n_exclusions; i++) {
        put_str(out, p->exclusions[i].node_id);
        put_str(out, p->exclusions[i].node_name);
    }
}

struct coordination_part *state_coordination_decode(struct bytes_in *in)
{
    struct coordination_part *p = coordination_part_new();
    if (p == NULL) {
        in->bad = true;
        return NULL;
    }
    struct arena *a = &p->part.arena;
    in->bad |= get_u8(in) != PART_VERSION;
    p->term = get_varint(in);
    p->committed = state_set_in(in, a);
    p->accepted = state_set_in(in, a);
    p->uuid_committed = get_bool(in);
    size_t n = get_count(in, 2);
    p->exclusions = ARENA_ARRAY(a, struct voting_exclusion, n);
    in->bad |= p->exclusions == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        p->exclusions[i].node_id = state_str_in(in, a);
        p->exclusions[i].node_name = state_str_in(in, a);
        p->n_exclusions++;
    }
    if (in->bad) {
        state_part_unref(&p->part);
        return NULL;
    }
    return p;
}
