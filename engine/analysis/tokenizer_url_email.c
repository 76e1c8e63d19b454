/* The uax_url_email tokenizer: the standard one, but URLs and mail addresses stay whole. A URL is one of
 * http(s) with any host, one of file, or a bare host (with port, path, query, fragment) that is an address or
 * ends in a domain that exists. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/word_scan.h"

struct url_tokenizer {
    struct tokenizer base;
    uint32_t units_max;
};

/* Domains of the first level that a bare host may end in: those of the countries have two letters, these are
 * the others in common use. */
static const char *const generic_domains[] = {
    "com",     "org",     "net",      "edu",       "gov",       "mil",           "int",    "info",
    "biz",     "name",    "pro",      "aero",      "asia",      "cat",           "coop",   "jobs",
    "mobi",    "museum",  "post",     "tel",       "travel",    "arpa",          "app",    "art",
    "bar",     "bank",    "bet",      "bike",      "bio",       "blog",          "book",   "build",
    "buzz",    "cab",     "cafe",     "cam",       "camera",    "camp",          "car",    "care",
    "cars",    "casa",    "cash",     "center",    "chat",      "church",        "city",   "cloud",
    "club",    "codes",   "coffee",   "company",   "computer",  "cool",          "deals",  "design",
    "dev",     "digital", "direct",   "dog",       "earth",     "email",         "energy", "events",
    "expert",  "express", "farm",     "fashion",   "film",      "finance",       "fish",   "fit",
    "fun",     "fund",    "game",     "games",     "garden",    "gift",          "global", "gold",
    "golf",    "group",   "guide",    "guru",      "haus",      "health",        "help",   "host",
    "hotel",   "house",   "how",      "ink",       "institute", "international", "land",   "law",
    "life",    "link",    "live",     "love",      "ltd",       "map",           "market", "media",
    "menu",    "moe",     "money",    "movie",     "network",   "news",          "ninja",  "one",
    "online",  "page",    "paris",    "park",      "party",     "photo",         "photos", "pizza",
    "place",   "plus",    "press",    "pub",       "radio",     "red",           "rest",   "review",
    "rocks",   "run",     "sale",     "school",    "science",   "services",      "shop",   "show",
    "site",    "social",  "software", "solutions", "space",     "store",         "studio", "style",
    "support", "tech",    "team",     "tips",      "today",     "tokyo",         "tools",  "top",
    "tours",   "town",    "toys",     "trade",     "training",  "video",         "vip",    "vote",
    "wang",    "watch",   "web",      "website",   "wiki",      "win",           "wine",   "work",
    "works",   "world",   "xin",      "xxx",       "xyz",       "yoga",          "zone",   "berlin",
    "london",  "nyc",     "google",   "youtube",   "amazon",
};

static const char country_domains[] = "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg "
                                      "bh bi bj bm bn bo br bs bt bv bw by bz ca cc cd cf cg "
                                      "ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg "
                                      "er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi "
                                      "gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io "
                                      "iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky "
                                      "kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo "
                                      "mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl "
                                      "no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro "
                                      "rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr "
                                      "ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz "
                                      "ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za "
                                      "zm zw";

static bool is_domain(struct str s)
{
    if (s.n == 2) {
        char low[4] = {' ', (char)(s.p[0] | 32), (char)(s.p[1] | 32), '\0'};
        struct str all = {country_domains, sizeof(country_domains) - 1};
        return str_starts(all, str_mk(low + 1, 2)) || str_find_str(all, str_mk(low, 3)) != SIZE_MAX;
    }
    for (size_t i = 0; i < ARRAY_LEN(generic_domains); i++) {
        if (str_eq_nocase(s, str_of(generic_domains[i]))) {
            return true;
        }
    }
    return s.n > 4 && str_eq_nocase(str_slice(s, 0, 4), STR("xn--"));
}

static bool is_alnum(struct str s, size_t at)
{
    return at < s.n
           && ((s.p[at] >= '0' && s.p[at] <= '9') || ((s.p[at] | 32) >= 'a' && (s.p[at] | 32) <= 'z'));
}

static bool is_one_of(struct str s, size_t at, const char *set)
{
    return at < s.n && s.p[at] != '\0' && strchr(set, s.p[at]) != NULL;
}

/* A label: letters, digits, and hyphens inside. Returns its end, or `at`. */
static size_t label(struct str s, size_t at)
{
    size_t end = at;
    while (is_alnum(s, end) || (end > at && is_one_of(s, end, "-"))) {
        end++;
    }
    while (end > at && s.p[end - 1] == '-') {
        end--;
    }
    return token_stop(end - at) ? at : end;
}

/* Labels with dots between. *known: up to where the name ends in a domain that exists (or `at`). */
static size_t host_name(struct str s, size_t at, size_t *known)
{
    size_t end = label(s, at), from = at;
    unsigned labels = 1;
    *known = at;
    while (end > from) {
        if (labels > 1 && is_domain(str_slice(s, from, end))) {
            *known = end;
        }
        if (!is_one_of(s, end, ".") || label(s, end + 1) == end + 1) {
            break;
        }
        from = end + 1;
        end = label(s, from);
        labels++;
    }
    if (*known == end && end > at && is_one_of(s, end, ".")) { /* the root's dot */
        *known = end + 1;
    }
    return end;
}

static size_t address(struct str s, size_t at)
{
    for (unsigned i = 0; i < 4; i++) {
        size_t from = at;
        unsigned v = 0;
        while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9' && at < from + 3) {
            v = v * 10 + (unsigned)(s.p[at++] - '0');
        }
        if (at == from || v > 255 || (i < 3 && !is_one_of(s, at, "."))) {
            return 0;
        }
        at += i < 3;
    }
    return is_alnum(s, at) ? 0 : at;
}

static size_t run_of(struct str s, size_t at, const char *marks)
{
    size_t end = at;
    while (is_alnum(s, end) || is_one_of(s, end, marks)) {
        end++;
    }
    return token_stop(end - at) ? at : end;
}

/* Port, path, query and fragment behind a host. */
static size_t url_rest(struct str s, size_t at)
{
    if (is_one_of(s, at, ":") && at + 1 < s.n && s.p[at + 1] >= '0' && s.p[at + 1] <= '9') {
        for (at++; at < s.n && s.p[at] >= '0' && s.p[at] <= '9';) {
            at++;
        }
    }
    if (is_one_of(s, at, "/")) {
        at = run_of(s, at, "-._~!$&'()*+,;=:@%/");
    }
    if (is_one_of(s, at, "?")) {
        at = run_of(s, at + 1, "-._~!$&'()*+,;=:@%/?");
    }
    return is_one_of(s, at, "#") ? run_of(s, at + 1, "-._~!$&'()*+,;=:@%/?") : at;
}

static size_t url(struct str s, size_t at)
{
    static const struct {
        const char *scheme;
        bool any_host;
    } schemes[] = {{"http://", true}, {"https://", true}};
    struct str rest = str_slice(s, at, s.n);
    if (str_eq_nocase(str_slice(rest, 0, 8), STR("file:///"))) {
        size_t path = run_of(s, at + 8, "-._~$&=:@%/");
        return is_one_of(s, path, "#") ? run_of(s, path + 1, "-._~!$&'()*+,;=:@%/?") : path;
    }
    size_t host = at, known;
    bool any_host = false;
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        struct str scheme = str_of(schemes[i].scheme);
        if (rest.n > scheme.n && str_eq_nocase(str_slice(rest, 0, scheme.n), scheme)) {
            host = at + scheme.n;
            any_host = schemes[i].any_host;
        }
    }
    size_t end = host_name(s, host, &known), numeric = address(s, host);
    size_t best = MAX_OF(MAX_OF(numeric, known > host ? known : 0), any_host && end > host ? end : 0);
    size_t next = best;
    if (best > host && host == at && best < s.n && part_is_letter(utf8_next(s, &next))) {
        return at; /* the name goes on in another script */
    }
    return best > host ? url_rest(s, best) : at;
}

static size_t mail(struct str s, size_t at)
{
    static const char marks[] = "!#$%&'*+,-/=?^_`{|}~";
    size_t end = at, known;
    for (;;) {
        size_t from = end;
        end = run_of(s, end, marks);
        if (end == from) {
            return at;
        }
        if (!is_one_of(s, end, ".")) {
            break;
        }
        end++;
    }
    if (!is_one_of(s, end, "@")) {
        return at;
    }
    host_name(s, end + 1, &known);
    return known > end + 1 ? known : at;
}

static enum err url_email_run(const struct tokenizer *self, struct str text, struct token_list *out,
                              struct errmsg *em)
{
    const struct url_tokenizer *t = (const struct url_tokenizer *)self;
    for (size_t at = 0; at < text.n && !token_stop(0);) {
        const char *type = NULL;
        /* no rule sees more than a token may have */
        size_t window = at
                        + part_units(str_slice(text, at, MIN_OF(text.n, at + (size_t)t->units_max * 3 + 4)),
                                     t->units_max);
        struct str seen = str_slice(text, 0, window > at ? window : text.n);
        size_t end = word_scan(seen, at, &type), link = url(seen, at), address_end = mail(seen, at);
        if (link > at && link >= end) {
            end = link;
            type = "<URL>";
        }
        if (address_end > end) {
            end = address_end;
            type = "<EMAIL>";
        }
        if (end == at) {
            utf8_next(text, &at);
            continue;
        }
        end = MIN_OF(end, at + part_units(str_slice(text, at, end), t->units_max));
        struct token tok = {.text = str_slice(text, at, end),
                            .start = (uint32_t)at,
                            .end = (uint32_t)end,
                            .pos_inc = 1,
                            .pos_len = 1,
                            .type = type};
        if (end == at || !token_add(out, tok)) {
            return err_no_memory(em);
        }
        at = end;
    }
    return ERR_OK;
}

PART_FACTORY(uax_url_email_tokenizer_new)
{
    struct url_tokenizer *t = ARENA_NEW(arena, struct url_tokenizer);
    int32_t max;
    enum err e = part_int(s, "max_token_length", 255, &max, em);
    if (t == NULL || e != ERR_OK) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    if (max < 1 || max > 1048576) {
        return err_set(em, ERR_PART_UNUSABLE,
                       max < 1 ? "maxTokenLength must be greater than zero"
                               : "maxTokenLength may not exceed 1048576");
    }
    t->base.run = url_email_run;
    t->base.ends_at_token = true;
    t->units_max = (uint32_t)max;
    *out = &t->base;
    return ERR_OK;
}
