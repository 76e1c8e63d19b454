/* Places in a completion section. */
#include "engine/suggest/completion_search.h"

void completion_cursor_init(struct completion_cursor *c, const struct completion_section *s)
{
    *c = (struct completion_cursor){.s = s, .pos = s->n_groups};
    buf_init(&c->path, NULL, BUF_UNLIMITED);
}

void completion_cursor_fini(struct completion_cursor *c)
{
    buf_fini(&c->path);
}

static bool block_bytes(const struct completion_section *s, uint32_t block, struct bytes_in *in)
{
    uint64_t at = load_u64(s->offsets + 8 * (size_t)block);
    *in = bytes_in(str_slice(s->blocks, (size_t)MIN_OF(at, s->blocks.n), s->blocks.n));
    return at < s->blocks.n;
}

static bool damaged(struct completion_cursor *c)
{
    c->corrupt = true;
    c->pos = c->s->n_groups;
    return false;
}

bool completion_cursor_block(struct completion_cursor *c, uint32_t block)
{
    c->pos = c->s->n_groups;
    if (block >= c->s->n_blocks || c->corrupt) {
        return false;
    }
    if (!block_bytes(c->s, block, &c->in) || !completion_group_read(&c->in, true, &c->path, &c->group)) {
        return damaged(c);
    }
    c->pos = (uint64_t)block * COMPLETION_BLOCK;
    return true;
}

bool completion_cursor_next(struct completion_cursor *c)
{
    if (c->pos >= c->s->n_groups || ++c->pos == c->s->n_groups) {
        return false;
    }
    if (!completion_group_read(&c->in, c->pos % COMPLETION_BLOCK == 0, &c->path, &c->group)) {
        return damaged(c);
    }
    return true;
}

/* The first path of a block, borrowed: it shares nothing with what is before. */
static bool first_path(struct completion_cursor *c, uint32_t block, struct str *out)
{
    struct bytes_in in;
    if (!block_bytes(c->s, block, &in) || get_varint(&in) != 0) {
        return damaged(c);
    }
    *out = get_str(&in);
    return !in.bad || damaged(c);
}

bool completion_cursor_seek(struct completion_cursor *c, struct str target)
{
    uint32_t lo = 0,
             hi = c->s->n_blocks; /* blocks below lo begin below the target, blocks from hi on do not */
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        struct str path;
        if (!first_path(c, mid, &path)) {
            return false;
        }
        if (str_cmp(path, target) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    bool there = completion_cursor_block(c, lo > 0 ? lo - 1 : 0);
    while (there && str_cmp(buf_view(&c->path), target) < 0) {
        there = completion_cursor_next(c);
    }
    return there;
}

bool completion_cursor_pass(struct completion_cursor *c, struct str prefix)
{
    while (prefix.n > 0 && (uint8_t)prefix.p[prefix.n - 1] == 0xFF) {
        prefix.n--;
    }
    if (prefix.n == 0) {
        c->pos = c->s->n_groups;
        return false;
    }
    struct buf after;
    buf_init(&after, NULL, BUF_UNLIMITED);
    buf_str(&after, prefix);
    bool there = false;
    if (after.failed) {
        c->path.failed = true;
        c->pos = c->s->n_groups;
    } else {
        after.p[after.n - 1]++;
        there = completion_cursor_seek(c, buf_view(&after));
    }
    buf_fini(&after);
    return there;
}
