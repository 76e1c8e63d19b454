/* places.h - the cities, districts, brands and streets that sample hotels are made of. Constant data. */
#ifndef HOTEL_SAMPLE_PLACES_H
#define HOTEL_SAMPLE_PLACES_H

#include "common/base/defs.h"

struct sample_area {
    const char *business; /* as the column has it: parts separated by '/' */
    int32_t lat, lon;     /* its centre in millionths of a degree */
};

struct sample_city {
    const char *name;
    unsigned weight;              /* how many of the hotels, in shares */
    unsigned price_percent;       /* of a brand's usual prices */
    struct sample_area areas[10]; /* business NULL: the end */
};

struct sample_brand {
    const char *name;
    const char *title; /* how its hotels are called: "如家酒店" */
    unsigned weight;
    int32_t price_min, price_max, score_min, score_max;
    const char *stars[2]; /* the second may be NULL */
    bool chain;           /* "如家酒店(上海外滩店)"; else "上海外滩万豪酒店" */
};

extern const struct sample_city sample_cities[];
extern const size_t sample_cities_n;
extern const struct sample_brand sample_brands[];
extern const size_t sample_brands_n;
extern const char *const sample_streets[];
extern const size_t sample_streets_n;
extern const char *const sample_spots[]; /* what a branch is named after: "地铁站" */
extern const size_t sample_spots_n;

#endif
