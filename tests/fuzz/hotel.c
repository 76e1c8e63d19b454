/* What a message broker and people's files bring to the hotel services. */
#include "tests/fuzz/fuzz.h"

#include "hotel/admin/record.h"
#include "hotel/csv.h"
#include "hotel/sync/payload.h"

/* A line with the content type, then the body. */
static void one_payload(struct str in)
{
    ERR_LOCAL(em);
    int64_t id;
    struct str type = fuzz_line(&in);
    fuzz_error(payload_id(type, in, &id, &em), &em);
}

static void one_csv(struct str in)
{
    struct arena a;
    struct csv c;
    ERR_LOCAL(em);
    struct str v[CSV_FIELDS_MAX];
    size_t n = 1, rows = 0;
    fuzz_arena(&a);
    csv_init(&c, in);
    while (n > 0) {
        enum err e = csv_row(&c, &a, v, &n, &em);
        fuzz_error(e, &em);
        if (e != ERR_OK) {
            break;
        }
        FUZZ_HOLDS(n <= CSV_FIELDS_MAX && ++rows <= in.n + 2);
    }
    arena_fini(&a);
}

static void one_record(struct str in)
{
    struct arena a;
    ERR_LOCAL(em);
    struct buf b;
    struct jsonw w;
    struct json again;
    static struct record r; /* large */
    fuzz_arena(&a);
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    enum err e = record_read(&r, in, true, &a, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK && r.problems_n > 0) {
        record_write_problems(&b, &r);
    } else if (e == ERR_OK) {
        jsonw_init(&w, &b, false);
        record_write(&w, &r.h);
    }
    if (e == ERR_OK && !b.failed) {
        FUZZ_HOLDS(json_parse(&again, buf_view(&b), &a, &json_limits_default, &em) == ERR_OK);
    }
    buf_fini(&b);
    arena_fini(&a);
}

const struct fuzz_target fuzz_hotel[] = {
    {"amqp_payload", one_payload, NULL, FUZZ_TEXT},
    {"csv", one_csv, NULL, FUZZ_BYTES},
    {"hotel_record", one_record, NULL, FUZZ_BYTES},
    {0},
};
