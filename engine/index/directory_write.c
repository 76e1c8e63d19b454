#include "engine/index/directory_write.h"

#include "common/base/bits.h"

void directory_init(struct directory *d, struct seg_out *out)
{
    *d = (struct directory){.out = out};
    buf_init(&d->stored, NULL, BUF_UNLIMITED);
    buf_init(&d->ids, NULL, BUF_UNLIMITED);
    buf_init(&d->fields, NULL, BUF_UNLIMITED);
}

void directory_fini(struct directory *d)
{
    buf_fini(&d->stored);
    buf_fini(&d->ids);
    buf_fini(&d->fields);
}

void directory_add(struct directory *d, const struct directory_field *f, const struct buf *meta)
{
    put_str(&d->fields, f->name);
    put_varint(&d->fields, f->has);
    put_varint(&d->fields, f->doc_count);
    put_varint(&d->fields, f->sum_df);
    put_varint(&d->fields, f->sum_ttf);
    put_varint(&d->fields, f->n_terms);
    buf_add(&d->fields, meta->p, meta->n);
    seg_out_check(d->out, meta);
    d->n_fields++;
}

enum err directory_finish(struct directory *d, uint32_t doc_count)
{
    struct seg_out *o = d->out;
    struct buf head;
    buf_init(&head, NULL, BUF_UNLIMITED);
    put_varint(&head, d->roots);
    buf_add(&head, d->stored.p, d->stored.n);
    buf_add(&head, d->ids.p, d->ids.n);
    put_varint(&head, d->n_fields);
    seg_out_check(o, &d->stored);
    seg_out_check(o, &d->ids);
    seg_out_check(o, &d->fields);
    seg_out_check(o, &head);
    seg_out_begin(o, SECTION_FIELDS);
    seg_out_bytes(o, head.p, head.n);
    seg_out_bytes(o, d->fields.p, d->fields.n);
    seg_out_end(o);
    buf_fini(&head);
    return seg_out_finish(o, doc_count);
}

void norms_write(struct seg_out *o, const uint8_t *norms, const uint64_t *present, uint32_t doc_count,
                 struct buf *meta)
{
    bool all = bits_count(present, doc_count) == doc_count;
    seg_out_begin(o, SECTION_NORMS);
    seg_out_bytes(o, norms, doc_count);
    seg_out_align(o, 8);
    if (!all) {
        seg_out_bytes(o, present, bits_words(doc_count) * sizeof(*present));
    }
    put_varint(meta, seg_out_end(o));
    put_bool(meta, all);
}
