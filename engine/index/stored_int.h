/* stored_int.h - a stored document as it lies in its block, for merging. */
#ifndef INDEX_STORED_INT_H
#define INDEX_STORED_INT_H

#include "engine/index/segment.h"

/* Borrowed from the reader until its next use; empty for documents that keep nothing. ERR_CORRUPT. */
enum err stored_record(struct stored_reader *r, doc_id doc, struct str *record, struct errmsg *em);

#endif
