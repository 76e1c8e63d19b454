/* Expected values are what Elasticsearch's Rounding gave. */
#include "common/base/rand.h"
#include "common/base/rounding.h"

#include <check.h>
#include <stdlib.h>

static struct arena arena;

static const struct {
    bool calendar;
    enum date_unit unit;
    long long interval;
    const char *zone;
    long long offset, at, want, next;
} cases[] = {
    {false, UNIT_DAY, 86400000LL, "GMT+8", 0, 1615800655353LL, 1615737600000LL, 1615824000000LL},
    {true, UNIT_MINUTE, 0, "America/Havana", -7200000, 1616824987194LL, 1616824980000LL, 1616825040000LL},
    {true, UNIT_QUARTER, 0, "Asia/Tehran", 3600000, 1998018807957LL, 1995917400000LL, 2003779800000LL},
    {true, UNIT_WEEK, 0, "Antarctica/Troll", -7200000, 1635576469608LL, 1635105600000LL, 1635717600000LL},
    {false, UNIT_DAY, 5400000LL, "GMT+8", 0, 1617433026088LL, 1617427800000LL, 1617433200000LL},
    {true, UNIT_MINUTE, 0, "Antarctica/Troll", 0, 2701754891911LL, 2701754880000LL, 2701754940000LL},
    {true, UNIT_WEEK, 0, "Africa/Monrovia", 3600000, 1616833227650LL, 1616374800000LL, 1616979600000LL},
    {false, UNIT_DAY, 43200000LL, "+05:30", -7200000, 1907937251394LL, 1907901000000LL, 1907944200000LL},
    {false, UNIT_DAY, 900000LL, "Asia/Shanghai", 3600000, 2431376940042LL, 2431376100000LL, 2431377000000LL},
    {true, UNIT_MONTH, 0, "America/Havana", 0, 118977639081LL, 118296000000LL, 120978000000LL},
    {true, UNIT_MINUTE, 0, "+05:30", 0, 1615708820303LL, 1615708800000LL, 1615708860000LL},
    {false, UNIT_DAY, 1000LL, "Australia/Lord_Howe", -7200000, 1636346290481LL, 1636346290000LL,
     1636346291000LL},
    {true, UNIT_WEEK, 0, "Europe/Berlin", 0, 1616977741872LL, 1616968800000LL, 1617573600000LL},
    {true, UNIT_HOUR, 0, "Antarctica/Troll", 86400000, 1804708512465LL, 1804705200000LL, 1804708800000LL},
    {true, UNIT_YEAR, 0, "Pacific/Apia", 0, 1633182159601LL, 1609408800000LL, 1640948400000LL},
    {false, UNIT_DAY, 1000LL, "America/Havana", 0, 1617490347842LL, 1617490347000LL, 1617490348000LL},
    {false, UNIT_DAY, 1000LL, "Asia/Shanghai", 0, 1325248588184LL, 1325248588000LL, 1325248589000LL},
    {true, UNIT_DAY, 0, "America/St_Johns", 0, 1224830543839LL, 1224815400000LL, 1224901800000LL},
    {false, UNIT_DAY, 43200000LL, "Africa/Monrovia", 0, 1635634662308LL, 1635595200000LL, 1635638400000LL},
    {false, UNIT_DAY, 900000LL, "Asia/Tehran", 3600000, 163635974159LL, 163635300000LL, 163636200000LL},
    {true, UNIT_SECOND, 0, "Asia/Kathmandu", 0, 1635727294829LL, 1635727294000LL, 1635727295000LL},
    {false, UNIT_DAY, 3600000LL, "Antarctica/Troll", 0, 1635601345968LL, 1635598800000LL, 1635602400000LL},
    {true, UNIT_YEAR, 0, "America/St_Johns", 3600000, 1635624453105LL, 1609475400000LL, 1641011400000LL},
    {false, UNIT_DAY, 1000LL, "Asia/Shanghai", 3600000, 1325315988416LL, 1325315988000LL, 1325315989000LL},
    {true, UNIT_SECOND, 0, "Australia/Lord_Howe", 0, 1325245588133LL, 1325245588000LL, 1325245589000LL},
    {true, UNIT_WEEK, 0, "Asia/Tehran", 0, 1615696997838LL, 1615149000000LL, 1615753800000LL},
    {false, UNIT_DAY, 60000LL, "Pacific/Apia", -7200000, -628861081578LL, -628861140000LL, -628861080000LL},
    {false, UNIT_DAY, 3600000LL, "Europe/Oslo", 0, 1616857343430LL, 1616857200000LL, 1616860800000LL},
    {true, UNIT_MONTH, 0, "Asia/Kathmandu", 0, -379595818689LL, -381389400000LL, -378711000000LL},
    {true, UNIT_WEEK, 0, "UTC", 0, 1325247796607LL, 1324857600000LL, 1325462400000LL},
    {false, UNIT_DAY, 7776000000LL, "Australia/Lord_Howe", -7200000, 1325193781118LL, 1321873200000LL,
     1329649200000LL},
    {false, UNIT_DAY, 43200000LL, "Europe/Berlin", 86400000, 1617467265711LL, 1617444000000LL,
     1617487200000LL},
    {true, UNIT_QUARTER, 0, "America/Havana", 0, 1636251656366LL, 1633060800000LL, 1641013200000LL},
    {true, UNIT_SECOND, 0, "America/New_York", 0, 1616947563441LL, 1616947563000LL, 1616947564000LL},
    {true, UNIT_QUARTER, 0, "Europe/Berlin", -7200000, -92352229710LL, -94705200000LL, -86929200000LL},
    {true, UNIT_WEEK, 0, "Pacific/Apia", 0, 1616814724777LL, 1616320800000LL, 1616925600000LL},
    {true, UNIT_MINUTE, 0, "Pacific/Apia", 0, 1325254916362LL, 1325254860000LL, 1325254920000LL},
    {true, UNIT_DAY, 0, "Europe/Oslo", 3600000, 1325201081318LL, 1325116800000LL, 1325203200000LL},
    {false, UNIT_DAY, 5400000LL, "+05:30", 86400000, 3140441643818LL, 3140436600000LL, 3140442000000LL},
    {false, UNIT_DAY, 86400000LL, "UTC", 0, 1325312069446LL, 1325289600000LL, 1325376000000LL},
    {true, UNIT_WEEK, 0, "Africa/Monrovia", 86400000, 1633092970440LL, 1632787200000LL, 1633392000000LL},
    {true, UNIT_WEEK, 0, "Australia/Lord_Howe", -7200000, 338516699080LL, 338385600000LL, 338990400000LL},
    {true, UNIT_QUARTER, 0, "Pacific/Apia", 0, 1615699550780LL, 1609408800000LL, 1617184800000LL},
    {true, UNIT_YEAR, 0, "Asia/Shanghai", 0, 1636259274912LL, 1609430400000LL, 1640966400000LL},
    {true, UNIT_YEAR, 0, "Antarctica/Troll", 0, -509982675369LL, -536457600000LL, -504921600000LL},
    {false, UNIT_DAY, 86400000LL, "Pacific/Apia", -7200000, 1636260131529LL, 1636189200000LL,
     1636275600000LL},
    {true, UNIT_HOUR, 0, "America/Sao_Paulo", 86400000, 1616894499748LL, 1616893200000LL, 1616896800000LL},
    {false, UNIT_DAY, 7776000000LL, "America/New_York", 86400000, 168331132848LL, 163396800000LL,
     171172800000LL},
    {true, UNIT_WEEK, 0, "America/St_Johns", -7200000, 416865622448LL, 416453400000LL, 417058200000LL},
    {true, UNIT_YEAR, 0, "Europe/Dublin", 0, 1635649278435LL, 1609459200000LL, 1640995200000LL},
    {false, UNIT_DAY, 86400000LL, "America/Havana", 0, 1325296977468LL, 1325221200000LL, 1325307600000LL},
    {false, UNIT_DAY, 43200000LL, "Asia/Shanghai", -7200000, 3615183102388LL, 3615156000000LL,
     3615199200000LL},
    {false, UNIT_DAY, 5400000LL, "Europe/Dublin", 86400000, 1617456172159LL, 1617453000000LL,
     1617458400000LL},
    {true, UNIT_HOUR, 0, "GMT+8", 3600000, 1325245701022LL, 1325242800000LL, 1325246400000LL},
    {true, UNIT_WEEK, 0, "UTC", 0, 1950927469639LL, 1950825600000LL, 1951430400000LL},
    {true, UNIT_YEAR, 0, "Asia/Shanghai", 3600000, 1617517338598LL, 1609434000000LL, 1640970000000LL},
    {false, UNIT_DAY, 86400000LL, "Australia/Lord_Howe", 0, 1615704883764LL, 1615640400000LL,
     1615726800000LL},
    {true, UNIT_SECOND, 0, "Africa/Monrovia", 3600000, 1988943836113LL, 1988943836000LL, 1988943837000LL},
    {true, UNIT_MONTH, 0, "Europe/Oslo", 86400000, 1636320003449LL, 1635807600000LL, 1638399600000LL},
    {true, UNIT_HOUR, 0, "Asia/Kathmandu", 86400000, 1635641790423LL, 1635639300000LL, 1635642900000LL},
    {true, UNIT_QUARTER, 0, "Africa/Monrovia", 3600000, 400500557578LL, 394333200000LL, 402282000000LL},
    {false, UNIT_DAY, 5400000LL, "Europe/Dublin", 0, 1325230138298LL, 1325224800000LL, 1325230200000LL},
    {true, UNIT_YEAR, 0, "Europe/Oslo", 0, 1617558705356LL, 1609455600000LL, 1640991600000LL},
    {true, UNIT_QUARTER, 0, "Europe/Oslo", 3600000, 2434866581013LL, 2429913600000LL, 2437686000000LL},
    {true, UNIT_WEEK, 0, "Europe/Berlin", -7200000, 864399234129LL, 863985600000LL, 864590400000LL},
    {true, UNIT_DAY, 0, "Asia/Kathmandu", 0, 1615711617619LL, 1615659300000LL, 1615745700000LL},
    {true, UNIT_QUARTER, 0, "America/St_Johns", 0, 3134710883501LL, 3132009000000LL, 3139871400000LL},
    {false, UNIT_DAY, 3600000LL, "Africa/Monrovia", 0, 1636267533768LL, 1636264800000LL, 1636268400000LL},
    {true, UNIT_MINUTE, 0, "Pacific/Apia", -7200000, -636122696547LL, -636122700000LL, -636122640000LL},
    {true, UNIT_HOUR, 0, "America/New_York", 3600000, 1616869733479LL, 1616868000000LL, 1616871600000LL},
    {true, UNIT_MINUTE, 0, "America/Sao_Paulo", 0, 1616901835741LL, 1616901780000LL, 1616901840000LL},
    {false, UNIT_DAY, 86400000LL, "Africa/Monrovia", 0, 1633183781405LL, 1633132800000LL, 1633219200000LL},
    {true, UNIT_DAY, 0, "Antarctica/Troll", 3600000, 1616928061512LL, 1616893200000LL, 1616972400000LL},
    {true, UNIT_SECOND, 0, "Asia/Shanghai", -7200000, 1617418672656LL, 1617418672000LL, 1617418673000LL},
    {false, UNIT_DAY, 86400000LL, "Pacific/Apia", 3600000, 1633193886161LL, 1633176000000LL, 1633262400000LL},
    {true, UNIT_QUARTER, 0, "+05:30", 0, 1927464722235LL, 1924972200000LL, 1932748200000LL},
    {true, UNIT_MINUTE, 0, "America/Sao_Paulo", 3600000, 345686165366LL, 345686160000LL, 345686220000LL},
    {false, UNIT_DAY, 43200000LL, "America/New_York", 0, 1636167543497LL, 1636128000000LL, 1636171200000LL},
    {true, UNIT_QUARTER, 0, "America/Havana", 86400000, 1635640806345LL, 1633147200000LL, 1641099600000LL},
    {false, UNIT_DAY, 60000LL, "+05:30", -7200000, -883399729247LL, -883399740000LL, -883399680000LL},
    {false, UNIT_DAY, 5400000LL, "Asia/Kathmandu", 0, 1633285642615LL, 1633284900000LL, 1633290300000LL},
    {false, UNIT_DAY, 43200000LL, "Asia/Tehran", -7200000, 1615697040562LL, 1615660200000LL, 1615703400000LL},
    {false, UNIT_DAY, 3600000LL, "Antarctica/Troll", 3600000, 1615647057903LL, 1615644000000LL,
     1615647600000LL},
    {true, UNIT_QUARTER, 0, "UTC", 0, 1636261158455LL, 1633046400000LL, 1640995200000LL},
    {true, UNIT_HOUR, 0, "America/St_Johns", 0, 1636294820955LL, 1636291800000LL, 1636295400000LL},
    {false, UNIT_DAY, 900000LL, "Africa/Monrovia", 0, 619097151230LL, 619096500000LL, 619097400000LL},
    {true, UNIT_YEAR, 0, "UTC", 0, 1615666933292LL, 1609459200000LL, 1640995200000LL},
    {true, UNIT_DAY, 0, "America/New_York", -7200000, 1325183711068LL, 1325127600000LL, 1325214000000LL},
    {true, UNIT_DAY, 0, "Asia/Kathmandu", 3600000, 1615707734451LL, 1615662900000LL, 1615749300000LL},
    {true, UNIT_MINUTE, 0, "GMT+8", 0, 1633197949786LL, 1633197900000LL, 1633197960000LL},
    {true, UNIT_DAY, 0, "America/New_York", 0, 1635591146732LL, 1635566400000LL, 1635652800000LL},
    {true, UNIT_MONTH, 0, "Antarctica/Troll", -7200000, 1616905204216LL, 1614549600000LL, 1617220800000LL},
    {false, UNIT_DAY, 3600000LL, "America/Sao_Paulo", 86400000, 2730189253175LL, 2730186000000LL,
     2730189600000LL},
    {true, UNIT_HOUR, 0, "America/New_York", -7200000, 1633246755051LL, 1633244400000LL, 1633248000000LL},
    {true, UNIT_HOUR, 0, "Asia/Shanghai", -7200000, 1617471720996LL, 1617469200000LL, 1617472800000LL},
    {true, UNIT_DAY, 0, "Pacific/Apia", 3600000, 1325243001776LL, 1325242800000LL, 1325329200000LL},
    {true, UNIT_QUARTER, 0, "Antarctica/Troll", 86400000, 1615704924266LL, 1609545600000LL, 1617314400000LL},
    {true, UNIT_SECOND, 0, "Australia/Lord_Howe", 0, 1617460066931LL, 1617460066000LL, 1617460067000LL},
    {false, UNIT_DAY, 5400000LL, "GMT+8", 0, 1636298264510LL, 1636295400000LL, 1636300800000LL},
    {true, UNIT_MINUTE, 0, "Europe/Oslo", -7200000, 1616897750476LL, 1616897700000LL, 1616897760000LL},
    {true, UNIT_YEAR, 0, "Asia/Shanghai", -7200000, 1154715765941LL, 1136037600000LL, 1167573600000LL},
    {true, UNIT_SECOND, 0, "Pacific/Apia", 86400000, 2756575430010LL, 2756575430000LL, 2756575431000LL},
    {false, UNIT_DAY, 7776000000LL, "Europe/Oslo", 0, 3691361982502LL, 3685816800000LL, 3693596400000LL},
    {false, UNIT_DAY, 3600000LL, "America/New_York", 0, 1633272139713LL, 1633269600000LL, 1633273200000LL},
    {true, UNIT_SECOND, 0, "Antarctica/Troll", 0, 3784650197345LL, 3784650197000LL, 3784650198000LL},
    {false, UNIT_DAY, 900000LL, "Europe/Dublin", 0, 1325231289449LL, 1325231100000LL, 1325232000000LL},
    {true, UNIT_WEEK, 0, "Australia/Lord_Howe", 0, 2248205935542LL, 2247742800000LL, 2248347600000LL},
    {true, UNIT_HOUR, 0, "Pacific/Apia", 3600000, 1616982634092LL, 1616979600000LL, 1616983200000LL},
    {true, UNIT_MONTH, 0, "Europe/Dublin", 86400000, 1616887468287LL, 1614643200000LL, 1617318000000LL},
    {true, UNIT_WEEK, 0, "Australia/Lord_Howe", -7200000, -381260131969LL, -381326400000LL, -380721600000LL},
    {false, UNIT_DAY, 3600000LL, "Africa/Monrovia", 3600000, 1636288651349LL, 1636286400000LL,
     1636290000000LL},
    {false, UNIT_DAY, 604800000LL, "+05:30", -7200000, 797511194338LL, 797099400000LL, 797704200000LL},
    {true, UNIT_HOUR, 0, "Europe/Berlin", 0, 1635656284055LL, 1635652800000LL, 1635656400000LL},
    {true, UNIT_YEAR, 0, "Australia/Lord_Howe", -7200000, -75123404955LL, -94737600000LL, -63201600000LL},
    {true, UNIT_YEAR, 0, "Africa/Monrovia", 0, 1325229389130LL, 1293840000000LL, 1325376000000LL},
    {false, UNIT_DAY, 43200000LL, "Australia/Lord_Howe", 86400000, 1636190483788LL, 1636160400000LL,
     1636203600000LL},
    {false, UNIT_DAY, 60000LL, "+05:30", 0, 882364870593LL, 882364860000LL, 882364920000LL},
    {false, UNIT_DAY, 5400000LL, "Asia/Tehran", 3600000, 1633197110695LL, 1633194000000LL, 1633199400000LL},
    {false, UNIT_DAY, 86400000LL, "+05:30", 86400000, -989770180234LL, -989818200000LL, -989731800000LL},
    {false, UNIT_DAY, 60000LL, "America/New_York", 0, -429567355847LL, -429567360000LL, -429567300000LL},
};

static struct rounding rounding_of(bool calendar, enum date_unit unit, int64_t interval, const char *id,
                                   int64_t offset)
{
    const struct zone *z;
    struct rounding r;
    ck_assert_int_eq(zone_of(&z, str_of(id), &arena, NULL), ERR_OK);
    if (calendar) {
        return rounding_calendar(unit, z, offset);
    }
    ck_assert_int_eq(rounding_fixed(&r, interval, z, offset, NULL), ERR_OK);
    return r;
}

START_TEST(rounds_as_elasticsearch_does)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rounding r =
            rounding_of(cases[i].calendar, cases[i].unit, cases[i].interval, cases[i].zone, cases[i].offset);
        int64_t at = rounding_round(&r, cases[i].at);
        ck_assert_int_eq(at, cases[i].want);
        ck_assert_int_eq(rounding_next(&r, at), cases[i].next);
    }
}
END_TEST

/* A bucket begins at or before its members, holds its own start, and the next begins after it. */
START_TEST(buckets_are_sound)
{
    static const char *const zones[] = {"UTC",           "Europe/Berlin", "America/New_York",
                                        "Asia/Shanghai", "+05:30",        "America/St_Johns"};
    struct rng rng;
    rng_seed(&rng, 3);
    for (size_t k = 0; k < ARRAY_LEN(zones); k++) {
        for (int unit = UNIT_SECOND; unit <= UNIT_YEAR; unit++) {
            struct rounding r = rounding_of(true, (enum date_unit)unit, 0, zones[k], 0);
            for (int i = 0; i < 500; i++) {
                int64_t t = (int64_t)rng_below(&rng, 4102444800000ULL), start = rounding_round(&r, t);
                ck_assert(start <= t && rounding_round(&r, start) == start
                          && rounding_next(&r, start) > start);
                if (unit >= UNIT_DAY) {
                    ck_assert(rounding_next(&r, start) > t);
                }
            }
        }
    }
}
END_TEST

START_TEST(zones_round_trip)
{
    static const char *const ids[] = {"Europe/Berlin",  "America/New_York", "Australia/Lord_Howe",
                                      "Asia/Kathmandu", "+05:30",           "UTC"};
    struct rng rng;
    rng_seed(&rng, 5);
    for (size_t k = 0; k < ARRAY_LEN(ids); k++) {
        const struct zone *z;
        ck_assert_int_eq(zone_of(&z, str_of(ids[k]), &arena, NULL), ERR_OK);
        for (int i = 0; i < 5000; i++) {
            int64_t utc = (int64_t)rng_below(&rng, 13569465600000ULL) - 3000000000000LL;
            int32_t offsets[2];
            int64_t local = zone_to_local(z, utc);
            int n = zone_offsets_at_local(z, local, offsets, NULL);
            ck_assert(n >= 1 && (local - offsets[0] == utc || (n == 2 && local - offsets[1] == utc)));
            ck_assert(zone_to_utc(z, local) == local - offsets[0]);
        }
    }
}
END_TEST

START_TEST(zone_names)
{
    static const struct {
        const char *id, *want;
        enum err e;
    } cases_of[] = {{"Z", "Z", ERR_OK},
                    {"+8", "+08:00", ERR_OK},
                    {"-0530", "-05:30", ERR_OK},
                    {"GMT+8", "GMT+08:00", ERR_OK},
                    {"UTC", "UTC", ERR_OK},
                    {"+00:00", "Z", ERR_OK},
                    {"EST5EDT", "EST5EDT", ERR_OK},
                    {"PST", NULL, ERR_ZONE_RULES},
                    {"EST", NULL, ERR_ZONE_RULES},
                    {"Mars/Olympus", NULL, ERR_ZONE_RULES},
                    {"a b", NULL, ERR_DATE_TIME},
                    {"+25", NULL, ERR_DATE_TIME},
                    {"", NULL, ERR_DATE_TIME},
                    {"utc", NULL, ERR_ZONE_RULES}};
    for (size_t i = 0; i < ARRAY_LEN(cases_of); i++) {
        const struct zone *z;
        enum err e = zone_of(&z, str_of(cases_of[i].id), &arena, NULL);
        ck_assert_msg(e == cases_of[i].e, "%s: %s", cases_of[i].id, err_type(e));
        if (e == ERR_OK) {
            ck_assert(str_is(z->id, cases_of[i].want));
        }
    }
}
END_TEST

START_TEST(intervals)
{
    int64_t ms;
    enum date_unit unit;
    ck_assert(fixed_interval_parse(STR("90m"), "x", &ms, NULL) == ERR_OK && ms == 5400000);
    ck_assert(fixed_interval_parse(STR("30d"), "x", &ms, NULL) == ERR_OK && ms == 30LL * 86400000);
    ck_assert(fixed_interval_parse(STR("250ms"), "x", &ms, NULL) == ERR_OK && ms == 250);
    ck_assert(fixed_interval_parse(STR("0d"), "x", &ms, NULL) == ERR_OK && ms == 0);
    ck_assert(fixed_interval_parse(STR("1M"), "x", &ms, NULL) == ERR_ILLEGAL_ARGUMENT);
    ck_assert(fixed_interval_parse(STR("1.5h"), "x", &ms, NULL) == ERR_ILLEGAL_ARGUMENT);
    ck_assert(fixed_interval_parse(STR("x"), "x", &ms, NULL) == ERR_ILLEGAL_ARGUMENT);
    ck_assert(date_unit_of(STR("1M"), &unit) && unit == UNIT_MONTH && date_unit_of(STR("quarter"), &unit)
              && unit == UNIT_QUARTER);
    ck_assert(!date_unit_of(STR("2M"), &unit) && !date_unit_of(STR("fortnight"), &unit));
    struct rounding r;
    ck_assert_int_eq(rounding_fixed(&r, 0, NULL, 0, NULL), ERR_ILLEGAL_ARGUMENT);
}
END_TEST

/* Nothing leaves the range of the type; the sanitizers' builds look. */
START_TEST(ends_of_time)
{
    static const int64_t times[] = {INT64_MIN,           INT64_MIN + 1, -9200000000000000000,
                                    9200000000000000000, INT64_MAX - 1, INT64_MAX};
    static const char *const zones[] = {"UTC", "Europe/Berlin", "-18:00", "+18:00"};
    for (size_t z = 0; z < ARRAY_LEN(zones); z++) {
        const struct zone *zone;
        ck_assert_int_eq(zone_of(&zone, str_of(zones[z]), &arena, NULL), ERR_OK);
        for (unsigned unit = 0; unit <= UNIT_YEAR + 1; unit++) {
            struct rounding r;
            if (unit <= UNIT_YEAR) {
                r = rounding_calendar((enum date_unit)unit, zone, z % 2 == 0 ? 3600000 : INT64_MIN);
            } else {
                ck_assert_int_eq(rounding_fixed(&r, 9000000000000, zone, z % 2 == 0 ? -1 : INT64_MIN, NULL),
                                 ERR_OK);
            }
            for (size_t i = 0; i < ARRAY_LEN(times); i++) {
                int64_t at = rounding_round(&r, times[i]);
                ck_assert(at > INT64_MIN && rounding_next(&r, at) >= at - 1);
            }
        }
    }
}
END_TEST

int main(void)
{
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    Suite *s = suite_create("rounding");
    TCase *t = tcase_create("rounding");
    tcase_add_test(t, rounds_as_elasticsearch_does);
    tcase_add_test(t, buckets_are_sound);
    tcase_add_test(t, zones_round_trip);
    tcase_add_test(t, zone_names);
    tcase_add_test(t, intervals);
    tcase_add_test(t, ends_of_time);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    arena_fini(&arena);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
