/* frame.h - the envelope of every message between nodes.
 *
 * magic(4) version(1) flags(1) class(1) kind(2) checksum(8) from target payload, integers little-endian, the
 * three texts with their lengths. The checksum is XXH3 of all that follows it, seeded with what precedes
 * it. */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include "common/base/bytes.h"
#include "common/base/err.h"

#define FRAME_VERSION    1
#define FRAME_HEADER_MAX 128 /* bytes beside the payload, at most */
#define FRAME_ID_BYTES   32  /* an ephemeral id, at most */

enum { FRAME_ANSWER = 1, FRAME_REFUSAL = 2 /* an answer whose payload is an error */ };

struct frame {
    uint8_t flags, cls;
    uint16_t kind;
    struct str from, target; /* ephemeral ids; target.n == 0: any receiver */
    struct str payload;
};

void frame_encode(const struct frame *f, struct buf *out);
/* All but the payload's bytes, which are to follow it. */
void frame_encode_head(const struct frame *f, struct buf *out);
/* Borrows from bytes. ERR_CORRUPT when it is none, damaged, or of another version. */
enum err frame_decode(struct frame *f, struct str bytes, struct errmsg *em);

#endif
