#include "master/state_pack.h"

#include "common/base/bytes.h"

#include <lz4.h>

#define WORTH_BYTES 1024 /* shorter ones fit a packet as they are */
#define RATIO_MAX   255  /* LZ4 makes at most that many bytes of one */

void state_pack(struct str bytes, struct buf *out)
{
    size_t start = out->n;
    if (bytes.n >= WORTH_BYTES && bytes.n <= LZ4_MAX_INPUT_SIZE) {
        put_varint(out, bytes.n);
        char *to = buf_reserve(out, bytes.n);
        int n = to != NULL ? LZ4_compress_default(bytes.p, to, (int)bytes.n, (int)bytes.n) : 0;
        if (n > 0) {
            out->n += (size_t)n;
            return;
        }
        buf_truncate(out, start);
    }
    put_varint(out, 0);
    buf_str(out, bytes);
}

enum err state_unpack(struct str *out, struct str packed, struct arena *arena, struct errmsg *em)
{
    struct bytes_in in = bytes_in(packed);
    uint64_t raw = get_varint(&in);
    struct str rest = str_mk((const char *)in.at, bytes_left(&in));
    if (in.bad || raw / RATIO_MAX > rest.n || raw > LZ4_MAX_INPUT_SIZE || (raw > 0 && rest.n > raw)) {
        return err_set(em, ERR_CORRUPT, "the bytes of a state cannot be unpacked");
    }
    *out = rest;
    if (raw == 0) {
        return ERR_OK;
    }
    char *to = arena_alloc(arena, raw);
    if (to == NULL) {
        return err_no_memory(em);
    }
    if (LZ4_decompress_safe(rest.p, to, (int)rest.n, (int)raw) != (int)raw) {
        return err_set(em, ERR_CORRUPT, "the bytes of a state cannot be unpacked");
    }
    *out = str_mk(to, raw);
    return ERR_OK;
}
