/* sample.h - made-up hotels: the same seed and number give the same hotel, on every machine. Pure; any
 * thread.
 *
 * Cities, districts and brands are real names, all else is drawn: no hotel of these is to be found. Whole
 * numbers only, so that no machine's arithmetic shows. */
#ifndef HOTEL_SAMPLE_SAMPLE_H
#define HOTEL_SAMPLE_SAMPLE_H

#include "common/base/arena.h"
#include "hotel/hotel.h"

#define SAMPLE_SEED 1 /* unless another is asked for */

/* Hotel number `i` (from 0) of the seed; ids grow with i. Texts are in arena. false: no memory. */
bool sample_hotel(struct hotel *out, uint64_t seed, uint64_t i, struct arena *arena) NODISCARD;

/* Appends the header line of tb_hotel's columns, a hotel as a line of CSV. */
void sample_csv_header(struct buf *out);
void sample_csv_hotel(struct buf *out, const struct hotel *h);

#endif
