#include "hotel/mysql/hotels.h"

#include "common/base/num.h"
#include "hotel/web_files.h"

#define T_HOTEL  "tb_hotel"
#define T_OUTBOX "tb_hotel_outbox"
#define COLUMNS  "id, name, address, price, score, brand, city, star_name, business, latitude, longitude, pic"
#define TEN      "?,?,?,?,?,?,?,?,?,?"
#define HUNDRED  TEN "," TEN "," TEN "," TEN "," TEN "," TEN "," TEN "," TEN "," TEN "," TEN
/* Text is looked for as it is: the caller has escaped what LIKE takes for a pattern. Not with the backslash,
 * whose meaning is the server's sql_mode's. */
#define LIKE_ESCAPE     '!'
#define LIKE            " LIKE ? ESCAPE '!'"
#define MATCHING        " WHERE name" LIKE " OR brand" LIKE " OR city" LIKE " OR business" LIKE " OR id = ? "
#define MATCHING_PARAMS 5

static const char sql_get[] = "SELECT " COLUMNS " FROM " T_HOTEL " WHERE id IN (" HUNDRED ") ORDER BY id";
static const char sql_after[] = "SELECT " COLUMNS " FROM " T_HOTEL " WHERE id > ? ORDER BY id LIMIT ?";
static const char sql_first[] = "SELECT " COLUMNS " FROM " T_HOTEL " ORDER BY id LIMIT ?";
static const char sql_page[] = "SELECT " COLUMNS " FROM " T_HOTEL " ORDER BY id LIMIT ? OFFSET ?";
static const char sql_find[] = "SELECT " COLUMNS " FROM " T_HOTEL MATCHING "ORDER BY id LIMIT ? OFFSET ?";
static const char sql_count[] = "SELECT COUNT(*) FROM " T_HOTEL;
static const char sql_count_found[] = "SELECT COUNT(*) FROM " T_HOTEL MATCHING;
static const char sql_lock[] = "SELECT " COLUMNS " FROM " T_HOTEL " WHERE id = ? FOR UPDATE";
static const char sql_insert[] = "INSERT INTO " T_HOTEL " (" COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?)";
static const char sql_update[] =
    "UPDATE " T_HOTEL " SET name = ?, address = ?, price = ?, score = ?, brand = ?, city = ?, star_name = ?, "
    "business = ?, latitude = ?, longitude = ?, pic = ? WHERE id = ?";
static const char sql_delete[] = "DELETE FROM " T_HOTEL " WHERE id = ?";
static const char sql_outbox_add[] = "INSERT INTO " T_OUTBOX " (hotel_id, event) VALUES (?, ?)";
static const char sql_outbox_read[] =
    "SELECT seq, hotel_id, event = 'delete' FROM " T_OUTBOX " ORDER BY seq LIMIT ?";
static const char sql_outbox_remove[] = "DELETE FROM " T_OUTBOX " WHERE seq IN (" HUNDRED ")";
static const char sql_outbox_state[] =
    "SELECT COUNT(*), CAST(COALESCE(TIMESTAMPDIFF(MICROSECOND, MIN(created_at), CURRENT_TIMESTAMP(3)), 0) "
    "AS SIGNED) FROM " T_OUTBOX;
/* A lock's name has 64 characters at most, a database's as many. */
static const char sql_lead[] = "SELECT GET_LOCK(CONCAT('" T_OUTBOX ".', LEFT(SHA2(DATABASE(), 256), 32)), 0)";
static const char sql_there[] = "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM " T_HOTEL " LIMIT 1) h), "
                                "(SELECT COUNT(*) FROM (SELECT 1 FROM " T_OUTBOX " LIMIT 1) o)";

enum err hotels_create_tables(struct db_conn *c, struct arena *arena, struct errmsg *em)
{
    enum err e = db_run(c, sql_there, NULL, 0, arena, NULL, em);
    for (size_t i = 0; i < hotel_schema_files.n && e == ERR_NO_SUCH_FILE; i++) {
        const struct web_file *f = &hotel_schema_files.v[i];
        e = db_script(c, str_mk(f->bytes, f->bytes_n), em);
        e = e == ERR_OK && i + 1 < hotel_schema_files.n ? ERR_NO_SUCH_FILE : e;
    }
    return e;
}

/* ---- rows ---- */

/* Columns come in the table's order. */
static struct hotel hotel_of(const struct db_value *v)
{
    return (struct hotel){
        .id = v[HOTEL_COL_id].i,
        .name = v[HOTEL_COL_name].s,
        .address = v[HOTEL_COL_address].s,
        .price = (int32_t)v[HOTEL_COL_price].i,
        .score = (int32_t)v[HOTEL_COL_score].i,
        .brand = v[HOTEL_COL_brand].s,
        .city = v[HOTEL_COL_city].s,
        .star_name = v[HOTEL_COL_star_name].s,
        .business = v[HOTEL_COL_business].s,
        .latitude = v[HOTEL_COL_latitude].s,
        .longitude = v[HOTEL_COL_longitude].s,
        .pic = v[HOTEL_COL_pic].s,
    };
}

static enum err select_hotels(struct db_conn *c, const char *sql, const struct db_value *params, size_t n,
                              struct arena *arena, struct hotel **out, size_t *out_n, struct errmsg *em)
{
    struct db_rows rows;
    *out_n = 0;
    enum err e = db_run(c, sql, params, n, arena, &rows, em);
    if (e != ERR_OK) {
        return e;
    }
    *out = ARENA_ARRAY(arena, struct hotel, rows.rows + 1);
    if (*out == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < rows.rows; i++) {
        (*out)[i] = hotel_of(rows.v + i * rows.columns);
    }
    *out_n = rows.rows;
    return ERR_OK;
}

/* Always a hundred: the last id is repeated. */
enum err hotels_get(struct db_conn *c, const int64_t *ids, size_t n, struct arena *arena, struct hotel **out,
                    size_t *out_n, struct errmsg *em)
{
    struct db_value params[HOTELS_IDS_MAX];
    assert(n > 0 && n <= HOTELS_IDS_MAX);
    for (size_t i = 0; i < HOTELS_IDS_MAX; i++) {
        params[i] = db_i64(ids[MIN_OF(i, n - 1)]);
    }
    return select_hotels(c, sql_get, params, HOTELS_IDS_MAX, arena, out, out_n, em);
}

enum err hotels_after(struct db_conn *c, bool first, int64_t after, int64_t n, struct arena *arena,
                      struct hotel **out, size_t *out_n, struct errmsg *em)
{
    const struct db_value params[] = {db_i64(after), db_i64(n)};
    return first ? select_hotels(c, sql_first, params + 1, 1, arena, out, out_n, em)
                 : select_hotels(c, sql_after, params, 2, arena, out, out_n, em);
}

/* The parameters of MATCHING. */
static enum err matching(struct str key, struct arena *arena, struct db_value *params, struct errmsg *em)
{
    struct buf like;
    int64_t id;
    buf_init(&like, NULL, BUF_UNLIMITED);
    buf_char(&like, '%');
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '%' || key.p[i] == '_' || key.p[i] == LIKE_ESCAPE) {
            buf_char(&like, LIKE_ESCAPE);
        }
        buf_char(&like, key.p[i]);
    }
    buf_char(&like, '%');
    struct str text = like.failed ? STR_NULL : arena_str(arena, buf_view(&like));
    buf_fini(&like);
    for (size_t i = 0; i + 1 < MATCHING_PARAMS; i++) {
        params[i] = db_text(text);
    }
    params[MATCHING_PARAMS - 1] = num_parse_i64(key, &id) ? db_i64(id) : (struct db_value){.kind = DB_NULL};
    return text.p != NULL ? ERR_OK : err_no_memory(em);
}

enum err hotels_page(struct db_conn *c, struct str key, int64_t from, int64_t n, struct arena *arena,
                     struct hotel **out, size_t *out_n, struct errmsg *em)
{
    struct db_value params[MATCHING_PARAMS + 2];
    struct db_value *limit = key.n > 0 ? params + MATCHING_PARAMS : params;
    limit[0] = db_i64(n);
    limit[1] = db_i64(from);
    if (key.n == 0) {
        return select_hotels(c, sql_page, params, 2, arena, out, out_n, em);
    }
    enum err e = matching(key, arena, params, em);
    return e != ERR_OK ? e : select_hotels(c, sql_find, params, MATCHING_PARAMS + 2, arena, out, out_n, em);
}

enum err hotels_count(struct db_conn *c, struct str key, struct arena *arena, int64_t *out, struct errmsg *em)
{
    struct db_value params[MATCHING_PARAMS];
    struct db_rows rows;
    enum err e = key.n > 0 ? matching(key, arena, params, em) : ERR_OK;
    e = e != ERR_OK ? e
                    : db_run(c, key.n > 0 ? sql_count_found : sql_count, params,
                             key.n > 0 ? MATCHING_PARAMS : 0, arena, &rows, em);
    *out = e == ERR_OK && rows.rows == 1 ? rows.v[0].i : 0;
    return e;
}

enum err hotels_lock(struct db_conn *c, int64_t id, struct arena *arena, struct hotel *out, bool *found,
                     struct errmsg *em)
{
    const struct db_value param = db_i64(id);
    struct hotel *v;
    size_t n;
    enum err e = select_hotels(c, sql_lock, &param, 1, arena, &v, &n, em);
    *found = e == ERR_OK && n == 1;
    if (*found) {
        *out = v[0];
    }
    return e;
}

/* All but the id. */
static void put_columns(struct db_value *v, const struct hotel *h)
{
    const struct db_value all[] = {
        db_text(h->name),     db_text(h->address),   db_i64(h->price),      db_i64(h->score),
        db_text(h->brand),    db_text(h->city),      db_text(h->star_name), db_text(h->business),
        db_text(h->latitude), db_text(h->longitude), db_text(h->pic),
    };
    memcpy(v, all, sizeof(all));
}

enum err hotels_insert(struct db_conn *c, const struct hotel *h, struct arena *arena, struct errmsg *em)
{
    struct db_value v[HOTEL_COLUMNS_N];
    v[0] = db_i64(h->id);
    put_columns(v + 1, h);
    return db_run(c, sql_insert, v, HOTEL_COLUMNS_N, arena, NULL, em);
}

enum err hotels_update(struct db_conn *c, const struct hotel *h, struct arena *arena, struct errmsg *em)
{
    struct db_value v[HOTEL_COLUMNS_N];
    put_columns(v, h);
    v[HOTEL_COLUMNS_N - 1] = db_i64(h->id);
    return db_run(c, sql_update, v, HOTEL_COLUMNS_N, arena, NULL, em);
}

enum err hotels_delete(struct db_conn *c, int64_t id, struct arena *arena, struct errmsg *em)
{
    const struct db_value param = db_i64(id);
    return db_run(c, sql_delete, &param, 1, arena, NULL, em);
}

/* ---- the outbox ---- */

enum err outbox_add(struct db_conn *c, int64_t hotel_id, bool deleted, struct arena *arena, struct errmsg *em)
{
    const struct db_value params[] = {db_i64(hotel_id), db_text(deleted ? STR("delete") : STR("insert"))};
    return db_run(c, sql_outbox_add, params, 2, arena, NULL, em);
}

enum err outbox_read(struct db_conn *c, int64_t n, struct arena *arena, struct outbox_row **out,
                     size_t *out_n, struct errmsg *em)
{
    const struct db_value param = db_i64(n);
    struct db_rows rows;
    *out_n = 0;
    enum err e = db_run(c, sql_outbox_read, &param, 1, arena, &rows, em);
    if (e != ERR_OK) {
        return e;
    }
    *out = ARENA_ARRAY(arena, struct outbox_row, rows.rows + 1);
    if (*out == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < rows.rows; i++) {
        const struct db_value *v = rows.v + i * rows.columns;
        (*out)[i] = (struct outbox_row){v[0].i, v[1].i, v[2].i != 0};
    }
    *out_n = rows.rows;
    return ERR_OK;
}

enum err outbox_remove(struct db_conn *c, const struct outbox_row *rows, size_t n, struct arena *arena,
                       struct errmsg *em)
{
    struct db_value params[OUTBOX_ROWS_MAX];
    assert(n > 0 && n <= OUTBOX_ROWS_MAX);
    for (size_t i = 0; i < OUTBOX_ROWS_MAX; i++) {
        params[i] = db_i64(rows[MIN_OF(i, n - 1)].seq);
    }
    return db_run(c, sql_outbox_remove, params, OUTBOX_ROWS_MAX, arena, NULL, em);
}

enum err outbox_state(struct db_conn *c, struct arena *arena, int64_t *waiting, int64_t *oldest_ms,
                      struct errmsg *em)
{
    struct db_rows rows;
    enum err e = db_run(c, sql_outbox_state, NULL, 0, arena, &rows, em);
    bool ok = e == ERR_OK && rows.rows == 1;
    *waiting = ok ? rows.v[0].i : 0;
    *oldest_ms = ok ? MAX_OF((int64_t)0, rows.v[1].i / 1000) : 0;
    return e;
}

enum err outbox_lead(struct db_conn *c, struct arena *arena, bool *leading, struct errmsg *em)
{
    struct db_rows rows;
    enum err e = db_run(c, sql_lead, NULL, 0, arena, &rows, em);
    *leading = e == ERR_OK && rows.rows == 1 && rows.v[0].kind == DB_I64 && rows.v[0].i == 1;
    return e;
}
