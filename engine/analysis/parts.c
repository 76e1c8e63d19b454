#include "engine/analysis/parts.h"

#include "common/base/arena_list.h"
#include "common/base/num.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unicode/uchar.h>
#include <unistd.h>

enum err part_int(const struct settings *s, const char *key, int32_t otherwise, int32_t *out,
                  struct errmsg *em)
{
    const struct setting *t = settings_find(s, str_of(key));
    *out = otherwise;
    if (t == NULL || t->is_null || (!t->is_list && num_parse_i32(t->value, out))) {
        return ERR_OK;
    }
    struct buf b;
    buf_init(&b, NULL, ERR_REASON_MAX);
    settings_put_text(t, &b);
    err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", (int)b.n, b.n > 0 ? b.p : "");
    enum err e = err_wrap(em, ERR_SETTINGS, "Failed to parse int setting [%s] with value [%.*s]", key,
                          (int)b.n, b.n > 0 ? b.p : "");
    buf_fini(&b);
    return e;
}

void tokens_keep(struct token_list *l, bool (*keep)(const void *cx, const struct token *t), const void *cx)
{
    size_t n = 0;
    int32_t skipped = 0;
    for (size_t i = 0; token_next(l, i); i++) {
        struct token *t = &l->v[i];
        if (!keep(cx, t)) {
            skipped += t->pos_inc;
            continue;
        }
        t->pos_inc += skipped;
        skipped = 0;
        l->v[n++] = *t;
    }
    l->n = n;
    l->end_pos_inc += skipped;
}

int part_cmp_utf16(struct str a, struct str b)
{
    size_t n = MIN_OF(a.n, b.n), at = 0;
    while (at < n && a.p[at] == b.p[at]) {
        at++;
    }
    if (at == n) {
        return a.n < b.n ? -1 : a.n > b.n;
    }
    unsigned char x = (unsigned char)a.p[at], y = (unsigned char)b.p[at];
    bool late_x = x == 0xEE || x == 0xEF, late_y = y == 0xEE || y == 0xEF;
    if (late_x != late_y && (late_x ? y : x) >= 0xF0) {
        return late_x ? 1 : -1;
    }
    return x < y ? -1 : 1;
}

size_t part_units(struct str s, size_t units)
{
    size_t at = 0;
    while (at < s.n) {
        size_t next = at;
        size_t width = utf8_next(s, &next) >= 0x10000 ? 2 : 1;
        if (width > units) {
            return at;
        }
        units -= width;
        at = next;
    }
    return at;
}

bool part_is_young(uint32_t c)
{
    if (c < 0x80) {
        return false;
    }
    UVersionInfo age;
    u_charAge((UChar32)c, age);
    return age[0] > 13;
}

bool part_is_letter(uint32_t c)
{
    return c < 0x80 ? (c | 32) >= 'a' && (c | 32) <= 'z' : u_isalpha((UChar32)c) && !part_is_young(c);
}

uint32_t part_lower_char(uint32_t c)
{
    uint32_t low = (uint32_t)u_tolower((UChar32)c);
    return low != c && !part_is_young(c) && !part_is_young(low) ? low : c;
}

uint32_t part_upper_char(uint32_t c)
{
    uint32_t up = (uint32_t)u_toupper((UChar32)c);
    return up != c && !part_is_young(c) && !part_is_young(up) ? up : c;
}

struct str part_lower(struct arena *arena, struct str s)
{
    size_t at = 0;
    while (at < s.n && (unsigned char)s.p[at] < 0x80 && !(s.p[at] >= 'A' && s.p[at] <= 'Z')) {
        at++;
    }
    if (at == s.n) {
        return s.p != NULL ? s : STR("");
    }
    /* A lower-case letter may take one byte more than its capital (U+023A: two and three bytes). */
    char *to = arena_alloc(arena, s.n + s.n / 2 + 1);
    if (to == NULL) {
        return STR_NULL;
    }
    memcpy(to, s.p, at);
    size_t n = at;
    while (at < s.n) {
        char c = s.p[at];
        if ((unsigned char)c < 0x80) {
            to[n++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
            at++;
        } else {
            n += utf8_put(to + n, part_lower_char(utf8_next(s, &at)));
        }
    }
    return str_mk(to, n);
}

bool word_set_has(const struct word_set *set, struct str word)
{
    if (!set->ignore_case) {
        return map_has(&set->words, word);
    }
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct str low = part_lower(&scratch, word);
    bool has = low.p != NULL && map_has(&set->words, low);
    arena_fini(&scratch);
    return has;
}

/* Adds a word (copied, lowered when ignore_case is set). false: no memory. */
static bool word_set_add(struct word_set *set, struct arena *arena, struct str word)
{
    struct str copy = arena_str(arena, word);
    if (copy.p != NULL && set->ignore_case) {
        copy = part_lower(arena, copy);
    }
    return copy.p != NULL && map_put(&set->words, copy, set);
}

bool word_set_add_named(struct word_set *set, struct arena *arena, struct str name, bool *known)
{
    *known = false;
    if (name.n < 3 || name.p[0] != '_' || name.p[name.n - 1] != '_') {
        return true;
    }
    const char *list = stop_words_of(str_slice(name, 1, name.n - 1));
    if (list == NULL) {
        return true;
    }
    *known = true;
    struct str rest = str_of(list);
    while (rest.p != NULL) {
        struct str word = str_cut(rest, ' ', &rest);
        if (word.n > 0 && !word_set_add(set, arena, word)) {
            return false;
        }
    }
    return true;
}

#define CONFIG_FILE_BYTES_MAX (64 * MIB)

static enum err no_file(enum err why, const char *reason, const char *setting, const char *shown,
                        struct errmsg *em)
{
    err_set(em, why, "%s", reason);
    return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "IOException while reading %s: %s", setting, shown);
}

/* The path climbs nowhere, and is below the folder or begins there. */
static bool stays_below(const char *folder, const char *path)
{
    size_t n = strlen(folder);
    if (strncmp(folder, path, n) != 0 || path[n] != '/') {
        return false;
    }
    struct str rest = str_of(path + n + 1);
    while (rest.p != NULL) {
        if (str_is(str_cut(rest, '/', &rest), "..")) {
            return false;
        }
    }
    return true;
}

/* Whether there is something outside of the folder is not told: such paths are refused unseen. `shown` is the path as
 * errors name it, *real the file itself (free it). */
static enum err resolve_file(const char *folder, const char *shown, const char *setting, char **real,
                             struct errmsg *em)
{
    static const char outside[] = "access denied: not below the configuration folder";
    *real = NULL;
    char *root = realpath(folder, NULL);
    bool below = root != NULL && (stays_below(folder, shown) || stays_below(root, shown));
    char *found = below ? realpath(shown, NULL) : NULL;
    int why = errno;
    enum err e = ERR_OK;
    if (!below || (found != NULL && !stays_below(root, found) && strcmp(root, found) != 0)) {
        e = no_file(ERR_IO, outside, setting, shown, em);
    } else if (found == NULL) {
        e = why == ENOENT ? no_file(ERR_NO_SUCH_FILE, shown, setting, shown, em)
                          : no_file(ERR_IO, "the file cannot be opened", setting, shown, em);
    }
    free(root);
    if (e != ERR_OK) {
        free(found);
        return e;
    }
    *real = found;
    return ERR_OK;
}

/* A regular file of a bounded size: opening or reading anything else could wait for ever. */
static enum err open_file(const char *real, const char *shown, const char *setting, int *fd,
                          struct errmsg *em)
{
    struct stat st;
    *fd = open(real, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (*fd < 0 || fstat(*fd, &st) != 0) {
        return no_file(ERR_IO, "the file cannot be opened", setting, shown, em);
    }
    if (!S_ISREG(st.st_mode)) {
        return no_file(ERR_IO, S_ISDIR(st.st_mode) ? "Is a directory" : "not a regular file", setting, shown,
                       em);
    }
    if (st.st_size > (off_t)CONFIG_FILE_BYTES_MAX) {
        return no_file(ERR_IO, "the file is larger than 64mb", setting, shown, em);
    }
    return ERR_OK;
}

static enum err read_all(int fd, const char *shown, const char *setting, struct buf *text, struct errmsg *em)
{
    ssize_t got;
    do {
        char *room = buf_reserve(text, 64 * KIB);
        if (room == NULL) {
            return err_no_memory(em);
        }
        got = read(fd, room, 64 * KIB);
        text->n += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    if (got < 0) {
        return no_file(ERR_IO, "the file cannot be read", setting, shown, em);
    }
    return utf8_valid(buf_view(text))
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "Unsupported character encoding detected while reading %s: %s - files "
                         "must be UTF-8 encoded",
                         setting, shown);
}

static enum err read_file(const char *folder, const char *shown, const char *setting, struct buf *text,
                          struct errmsg *em)
{
    char *real;
    int fd = -1;
    enum err e = resolve_file(folder, shown, setting, &real, em);
    e = e == ERR_OK ? open_file(real, shown, setting, &fd, em) : e;
    e = e == ERR_OK ? read_all(fd, shown, setting, text, em) : e;
    if (fd >= 0) {
        close(fd);
    }
    free(real);
    return e;
}

enum err config_line_error(enum err e, const char *setting, struct errmsg *em)
{
    bool quotes = e != ERR_OK && e != ERR_NO_MEMORY;
    return quotes ? err_set(em, e, "a line of the file of %s is not understood", setting) : e;
}

static enum err split_lines(struct str text, struct arena *arena, struct str **out, size_t *n,
                            struct errmsg *em)
{
    size_t cap = 0;
    struct str rest = text;
    while (rest.p != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        if (line.n > 0 && line.p[line.n - 1] == '\r') {
            line.n--;
        }
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        if (!ARENA_ADD(arena, *out, *n, cap, line)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

enum err config_lines(const char *setting, struct str path, const struct analysis_env *env,
                      struct arena *arena, struct str **out, size_t *n, struct errmsg *em)
{
    *out = NULL;
    *n = 0;
    bool absolute = path.n > 0 && path.p[0] == '/';
    const char *folder = env->path_conf != NULL ? env->path_conf : "";
    struct str whole =
        absolute ? arena_str(arena, path) : arena_printf(arena, "%s/%.*s", folder, STR_ARG(path));
    if (whole.p == NULL) {
        return err_no_memory(em);
    }
    struct buf text;
    buf_init(&text, NULL, CONFIG_FILE_BYTES_MAX + 128 * KIB);
    enum err e = read_file(folder, whole.p, setting, &text, em);
    if (e == ERR_OK) {
        struct str copy = arena_str(arena, buf_view(&text));
        e = copy.p != NULL ? split_lines(copy, arena, out, n, em) : err_no_memory(em);
    }
    buf_fini(&text);
    return e;
}

static enum err add_word(struct word_set *set, struct str word, bool named, struct arena *arena,
                         struct errmsg *em)
{
    bool known = false;
    if (named && !word_set_add_named(set, arena, word, &known)) {
        return err_no_memory(em);
    }
    return known || word_set_add(set, arena, word) ? ERR_OK : err_no_memory(em);
}

enum err word_set_read(struct word_set *set, bool *found, const struct settings *s, const char *key,
                       bool named, const struct analysis_env *env, struct arena *arena, struct errmsg *em)
{
    map_init(&set->words, arena);
    struct str path_key = arena_printf(arena, "%s_path", key);
    if (path_key.p == NULL) {
        return err_no_memory(em);
    }
    struct str *words = NULL, path = settings_str(s, path_key.p, STR_NULL);
    size_t n = 0;
    if (path.p != NULL) {
        enum err e = config_lines(path_key.p, path, env, arena, &words, &n, em);
        if (e != ERR_OK) {
            return e;
        }
        named = false;
    } else {
        uint32_t n_words = 0;
        if (!settings_list(s, key, arena, &words, &n_words)) {
            return err_no_memory(em);
        }
        n = n_words;
    }
    *found = path.p != NULL || words != NULL || settings_find(s, str_of(key)) != NULL;
    for (size_t i = 0; i < n; i++) {
        enum err e = add_word(set, words[i], named, arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}
