#include "proto/recovery_bytes.h"
#include "proto/flat.h"

#define COPY_BYTES_MIN 3      /* an empty id, a checkpoint, a flag */
#define REQUEST_MS     30000  /* a request without an answer has failed */
#define CHUNK_MS       900000 /* a part of a file, which waits for its turn under a low limit */

#define START_FIELDS(M) \
    M(str, index_uuid)  \
    M(u32_varint, shard) M(str, allocation_id) M(str, node_id) M(str, history_uuid) M(zigzag, from)
FLAT_CODEC(start, recovery_start, START_FIELDS, m->allocation_id.n > 0 && m->node_id.n > 0);

#define PLAN_FIELDS(M) \
    M(varint, session) M(varint, primary_term) M(zigzag, global_checkpoint) M(str, manifest) M(varint, ops)
FLAT_CODEC(plan, recovery_plan, PLAN_FIELDS, m->primary_term > 0 && m->primary_term <= INT64_MAX);
MESSAGE(RECOVERY_START, recovery_start, "internal:index/shard/recovery/start_recovery", TRANSPORT_RECOVERY,
        MESSAGE_ON_WRITES, REQUEST_MS, &start_codec, &plan_codec);

#define CHUNK_FIELDS(M) M(varint, session) M(u32_varint, file) M(varint, offset) M(u32_varint, length)
FLAT_CODEC(chunk, recovery_chunk, CHUNK_FIELDS, m->length > 0 && m->length <= TRANSPORT_CHUNK_BYTES);
MESSAGE(RECOVERY_CHUNK, recovery_chunk, "internal:index/shard/recovery/file_chunk", TRANSPORT_RECOVERY,
        MESSAGE_ON_READS, CHUNK_MS, &chunk_codec, &codec_bytes);

MESSAGE(RECOVERY_CLEAN, recovery_clean, "internal:index/shard/recovery/clean_files", TRANSPORT_RECOVERY,
        MESSAGE_ON_WRITES, REQUEST_MS, &codec_number, &codec_nothing);

#define WISH_FIELDS(M) M(varint, session) M(varint, batch)
FLAT_CODEC(wish, recovery_ops_wish, WISH_FIELDS, true);

#define OPS_FIELDS(M) \
    M(varint, batch) M(varint, n) M(varint, total) M(bool, more) M(varint, mapping_version) M(rest, ops)
FLAT_CODEC(ops, recovery_ops, OPS_FIELDS, m->n <= m->ops.n);
MESSAGE(RECOVERY_OPS, recovery_ops, "internal:index/shard/recovery/translog_ops", TRANSPORT_RECOVERY,
        MESSAGE_ON_WRITES, REQUEST_MS, &wish_codec, &ops_codec);

#define FINALIZE_FIELDS(M) M(varint, session) M(zigzag, local_checkpoint)
FLAT_CODEC(finalize, recovery_finalize, FINALIZE_FIELDS, true);

#define FINALIZED_FIELDS(M) M(bool, in_sync) M(zigzag, global_checkpoint)
FLAT_CODEC(finalized, recovery_finalized, FINALIZED_FIELDS, true);
MESSAGE(RECOVERY_FINALIZE, recovery_finalize, "internal:index/shard/recovery/finalize", TRANSPORT_RECOVERY,
        MESSAGE_ON_WRITES, REQUEST_MS, &finalize_codec, &finalized_codec);

#define COPY_FIELDS(M) M(str, allocation_id) M(zigzag, local_checkpoint) M(bool, in_sync)
FLAT_LIST(copies, recovery_copy, COPY_FIELDS, COPY_BYTES_MIN)

static void handoff_encode(const void *of, struct buf *out)
{
    const struct recovery_handoff *m = of;
    put_zigzag(out, m->global_checkpoint);
    put_copies(out, m->v, m->n);
}

static void handoff_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_handoff *m = of;
    m->global_checkpoint = get_zigzag(in);
    uint32_t n;
    m->v = get_copies(in, &n, a);
    m->n = n;
}

static const struct codec handoff_codec = {sizeof(struct recovery_handoff), handoff_encode, handoff_decode};
MESSAGE(RECOVERY_HANDOFF, recovery_handoff, "internal:index/shard/recovery/handoff_primary_context",
        TRANSPORT_RECOVERY, MESSAGE_ON_WRITES, REQUEST_MS, &codec_number, &handoff_codec);
