#include "hotel/sample/sample.h"

#include "common/base/hash.h"
#include "common/base/rand.h"
#include "hotel/sample/places.h"

#include <stdio.h>

#define FIRST_ID   60000
#define ID_STEP    17
#define SPREAD_LAT 9000 /* millionths of a degree around a district's centre, about 1 km */
#define SPREAD_LON 11000
#define NO_AREA_OF 50 /* one in so many hotels has no district, one no stars */

/* Uniform in [least, most]. */
static int32_t draw(struct rng *r, int32_t least, int32_t most)
{
    return least + (int32_t)rng_below(r, (uint64_t)(most - least) + 1);
}

/* More in the middle than at the ends. */
static int32_t draw_middle(struct rng *r, int32_t least, int32_t most)
{
    return (draw(r, least, most) + draw(r, least, most)) / 2;
}

static const struct sample_city *draw_city(struct rng *r)
{
    unsigned sum = 0;
    for (size_t i = 0; i < sample_cities_n; i++) {
        sum += sample_cities[i].weight;
    }
    uint64_t at = rng_below(r, sum);
    size_t i = 0;
    for (; at >= sample_cities[i].weight; i++) {
        at -= sample_cities[i].weight;
    }
    return &sample_cities[i];
}

static const struct sample_brand *draw_brand(struct rng *r)
{
    unsigned sum = 0;
    for (size_t i = 0; i < sample_brands_n; i++) {
        sum += sample_brands[i].weight;
    }
    uint64_t at = rng_below(r, sum);
    size_t i = 0;
    for (; at >= sample_brands[i].weight; i++) {
        at -= sample_brands[i].weight;
    }
    return &sample_brands[i];
}

static const struct sample_area *draw_area(struct rng *r, const struct sample_city *city)
{
    size_t n = 0;
    while (n < ARRAY_LEN(city->areas) && city->areas[n].business != NULL) {
        n++;
    }
    return &city->areas[rng_below(r, n)];
}

/* "天安门/王府井地区" -> "王府井": what a hotel there is named after. */
static struct str place_name(struct rng *r, const struct sample_area *area)
{
    static const char *const endings[] = {"地区", "商业区", "商圈", "金融贸易区"};
    struct str rest, first = str_cut(str_of(area->business), '/', &rest);
    struct str name = rest.p != NULL && rng_below(r, 2) == 1 ? str_cut(rest, '/', &rest) : first;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        struct str ending = str_of(endings[i]);
        if (str_ends(name, ending) && name.n > ending.n) {
            return str_slice(name, 0, name.n - ending.n);
        }
    }
    return name;
}

static struct str draw_name(struct rng *r, const struct sample_city *city, const struct sample_brand *brand,
                            const struct sample_area *area, struct arena *arena)
{
    struct str place = place_name(r, area);
    const char *spot = sample_spots[rng_below(r, sample_spots_n)];
    if (brand->chain) {
        return arena_printf(arena, "%s(%s%.*s%s店)", brand->title, city->name, STR_ARG(place), spot);
    }
    return arena_printf(arena, "%s%.*s%s", city->name, STR_ARG(place), brand->title);
}

static struct str degrees(int32_t millionths, struct arena *arena)
{
    return arena_printf(arena, "%d.%06d", millionths / 1000000, millionths % 1000000);
}

bool sample_hotel(struct hotel *out, uint64_t seed, uint64_t i, struct arena *arena)
{
    struct rng r;
    rng_seed(&r, hash_u64(seed) ^ hash_u64(i + 0x9E3779B97F4A7C15U));
    const struct sample_city *city = draw_city(&r);
    const struct sample_brand *brand = draw_brand(&r);
    const struct sample_area *area = draw_area(&r, city);
    const char *star = brand->stars[brand->stars[1] != NULL ? rng_below(&r, 2) : 0];
    bool no_area = rng_below(&r, NO_AREA_OF) == 0, no_star = rng_below(&r, NO_AREA_OF) == 0;
    int64_t price = (int64_t)draw_middle(&r, brand->price_min, brand->price_max) * city->price_percent / 100;
    *out = (struct hotel){
        .id = FIRST_ID + (int64_t)i * ID_STEP + (int64_t)rng_below(&r, ID_STEP),
        .price = (int32_t)price,
        .score = draw_middle(&r, brand->score_min, brand->score_max),
        .brand = str_of(brand->name),
        .city = str_of(city->name),
        .star_name = no_star ? STR_NULL : str_of(star),
        .business = no_area ? STR_NULL : str_of(area->business),
    };
    out->name = draw_name(&r, city, brand, area, arena);
    out->address =
        arena_printf(arena, "%s%d号", sample_streets[rng_below(&r, sample_streets_n)], draw(&r, 1, 1999));
    out->latitude = degrees(draw_middle(&r, area->lat - SPREAD_LAT, area->lat + SPREAD_LAT), arena);
    out->longitude = degrees(draw_middle(&r, area->lon - SPREAD_LON, area->lon + SPREAD_LON), arena);
    return out->name.p != NULL && out->address.p != NULL && out->latitude.p != NULL
           && out->longitude.p != NULL;
}

void sample_csv_header(struct buf *out)
{
    for (unsigned c = 0; c < HOTEL_COLUMNS_N; c++) {
        buf_printf(out, "%s%s", c > 0 ? "," : "", hotel_column_name((enum hotel_column)c));
    }
    buf_char(out, '\n');
}

/* Sample texts hold neither commas nor quotes. */
void sample_csv_hotel(struct buf *out, const struct hotel *h)
{
    buf_printf(out, "%lld,%.*s,%.*s,%d,%d,%.*s,%.*s,", (long long)h->id, STR_ARG(h->name),
               STR_ARG(h->address), h->price, h->score, STR_ARG(h->brand), STR_ARG(h->city));
    buf_printf(out, "%.*s,%.*s,%.*s,%.*s,%.*s\n", STR_ARG(h->star_name), STR_ARG(h->business),
               STR_ARG(h->latitude), STR_ARG(h->longitude), STR_ARG(h->pic));
}
