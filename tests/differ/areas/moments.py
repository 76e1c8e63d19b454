"""Dates in every format, read and written: patterns of Java, named formats, date math, zones with daylight saving."""
# Without what a locale of Java says of weeks, their days, and the long names of months and eras: that depends on how the JVM was started.
KINDS = ["date", "date_nanos", "date_range"]
LETTERS = ["yyyy", "uuuu", "yy", "y", "u", "uu", "MM", "M", "MMM", "LL", "dd", "d", "D", "DDD", "HH", "H", "hh", "h", "kk", "KK", "mm", "m", "ss", "s", "SSS", "S", "SSSSSS", "SSSSSSSSS", "n", "A", "N", "a", "EEE", "E", "Q", "QQ", "QQQ", "q", "F", "G",
           "Z", "ZZ", "ZZZ", "ZZZZ", "ZZZZZ", "X", "XX", "XXX", "x", "xxx", "VV", "z", "zzzz", "O", "OOOO", "VVV", "p", "ppH", "g", "L", "MMMMM", "'T'", "''", "[", "]", "'o''clock'", "T", "b", "#", "{", "'", "yyyyy", "ddd", "HHH", "aa", "SSSSSSSSSS"]
JOINS = ["-", "/", " ", ".", ":", "", "'T'", "T", ", "]
COMMON = ["yyyy-MM-dd", "yyyy/MM/dd HH:mm:ss", "uuuu-MM-dd'T'HH:mm:ss.SSSXXX", "dd.MM.yyyy", "yyyyMMdd", "yyyyMMddHHmmss", "yyyy-MM-dd HH:mm:ss Z", "yyyy-MM-dd'T'HH:mm[:ss][.SSS][X]", "EEE MMM dd HH:mm:ss Z yyyy", "MMM d, yyyy h:mm a", "yyyy-DDD", "HH:mm", "MM-dd", "yyyy-QQQ", "yyyy", "yyyy-MM-dd HH:mm z", "yyyy-MM-dd VV",
          "8yyyy-MM-dd", "yyyy-MM-dd||epoch_millis", "strict_date_optional_time||epoch_second", "yyyy-MM-dd G", "M/d/yy", "8uuuu", "yyyy-MM-dd||", "||", "", "epoch_millis||yyyy", "yyyy-MM||yyyy-MM-dd||dd/MM/yyyy"]
NAMED = ("epoch_millis epoch_second date_optional_time strict_date_optional_time strict_date_optional_time_nanos basic_date basic_date_time basic_date_time_no_millis basic_ordinal_date basic_ordinal_date_time basic_ordinal_date_time_no_millis basic_time basic_time_no_millis basic_t_time basic_t_time_no_millis "
         "basic_week_date strict_basic_week_date basic_week_date_time basic_week_date_time_no_millis strict_basic_week_date_time strict_basic_week_date_time_no_millis date strict_date date_hour strict_date_hour date_hour_minute strict_date_hour_minute date_hour_minute_second strict_date_hour_minute_second "
         "date_hour_minute_second_fraction strict_date_hour_minute_second_fraction date_hour_minute_second_millis strict_date_hour_minute_second_millis date_time strict_date_time date_time_no_millis strict_date_time_no_millis hour strict_hour hour_minute strict_hour_minute hour_minute_second strict_hour_minute_second "
         "hour_minute_second_fraction strict_hour_minute_second_fraction hour_minute_second_millis strict_hour_minute_second_millis ordinal_date strict_ordinal_date ordinal_date_time strict_ordinal_date_time ordinal_date_time_no_millis time strict_time time_no_millis strict_time_no_millis t_time strict_t_time t_time_no_millis "
         "week_date strict_week_date week_date_time strict_week_date_time week_date_time_no_millis strict_week_date_time_no_millis weekyear strict_weekyear weekyear_week strict_weekyear_week weekyear_week_day strict_weekyear_week_day year strict_year year_month strict_year_month year_month_day strict_year_month_day iso8601 "
         "dateOptionalTime strictDateOptionalTime basicDate weekyearWeek strict_nope DATE").split()
TEXTS = ["2020-01-01", "2020-02-29", "2021-02-29", "2020-1-1", "20200229", "2020060", "2020-060", "2020W091", "2020-W09-1", "2020-W53-7", "2020-W9-1", "2021-W53", "2020-02", "2020-2", "2020", "20", "99", "10000-01-01", "+12020-01-01", "-0001-01-01", "0000-01-01", "12:30", "12:30:45", "12:30:45.123", "123045.1Z", "T123045Z", "T12:30:45.123+01:00",
         "2020-02-29T12:30:45Z", "2020-02-29T12:30:45.123Z", "2020-02-29T12:30:45.123456789Z", "2020-02-29T12:30:45.1234567891Z", "2020-02-29T12:30:45+05:30", "2020-02-29T12:30:45+0530", "2020-02-29T12:30:45+05", "2020-02-29T12:30Z", "2020-02-29T12Z", "2020-02-29T12", "2020-02-29T", "2020-02-29T24:00:00Z", "2020-02-29T23:59:60Z", "20200229T123045Z", "20200229T123045.5+0100",
         "2020-02-29 12:30:45", "2020/02/29 12:30:45", "29.02.2020", "02/29/20", "2/9/99", "Sat Feb 29 12:30:45 +0000 2020", "Feb 29, 2020 1:05 PM", "2020-Q1", "2020-02-29 12:30 UTC", "2020-02-29 Europe/Berlin", "2020-02-29 12:30 CET", "2020-02-29 12:30:45 +0100", "2020-02-29 AD", "0", "1", "-1", "1582979445123", "1582979445", "1582979445.5", "-1.5", "1582979445123.25", "1e12", "-62135596800000",
         "9223372036854775807", "9999999999999999999", " 2020-01-01", "2020-01-01 ", "", "2020-01-01T12:30:45,123Z", "2020-02-30", "2020-13-01", "2020-04-31T00:00:00Z", "2020-02-29T12:30:45[Europe/Paris]", "2020-02-29T12:30:45+25:00", "2262-04-12", "1677-09-20", "1969-12-31T23:59:59.999Z", "٢٠٢٠-٠١-٠١", "2020-01-01t00:00:00z", "292278995-01-01", "-292275055-05-16T16:47:04.192Z"]
MATH = ["||+1M", "||-1d", "||/M", "||/y", "||/w", "||/d", "||/h", "||/H", "||/m", "||/s", "||+1y-1M+1w-2d+3h-4H+5m-6s", "||+1M/M", "||", "||1d", "||+d", "||/", "||//d", "||+1x", "||/2d", "||/Y", "||+99999999y", "||-1M/d+1h", "|| +1d", "||+1 d", "||+2147483648d", "||+0d", "||+1", "||/q", "||+1Q"]
ZONES = ["+08:00", "-03:30", "UTC", "Z", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "Africa/Casablanca", "GMT+1", "UTC-5", "EST", "CET", "+1", "+0100", "+18:00", "+18:01", "PST8PDT", "Etc/GMT+5", "x", "", "europe/berlin", "PST", "+01:30:15", "Asia/Shanghai", "America/Havana", "Antarctica/Troll"]
INSTANTS = ["2020-03-29T01:59:59.999Z", "2020-03-29T00:30:00Z", "2020-10-25T00:30:00Z", "2020-10-25T01:30:00Z", "2011-12-29T10:00:00Z", "2011-12-30T12:00:00Z", "2018-11-04T03:00:00Z", "1900-01-01T00:00:00Z", "1883-11-18T17:00:00Z", "2100-07-01T00:00:00Z", "2020-11-01T05:30:00Z", "2020-11-01T06:30:00Z", "1986-05-04T12:00:00Z", "1949-12-31T16:00:00Z", "2020-04-04T15:15:00Z", "1970-01-01"]


def pattern(draw):
    kind = draw.random()
    if kind < 0.35:
        return draw.choice(COMMON)
    if kind < 0.7:
        return draw.choice(NAMED)
    if kind < 0.8:
        return "||".join(draw.choice(NAMED + COMMON) for _ in range(2))
    parts = [draw.choice(LETTERS) for _ in range(draw.randint(1, 5))]
    return "".join(p + (draw.choice(JOINS) if i < len(parts) - 1 else "") for i, p in enumerate(parts))


def moment(draw):
    kind = draw.random()
    if kind < 0.1:
        return draw.choice(["now/d", "now/M", "now/y", "now/w", "now+1d/d", "now-1y/y", "now/x", "now+", "now1d"])
    text = draw.choice(TEXTS + INSTANTS)
    if kind < 0.2:
        at = draw.randint(0, len(text))
        text = text[:at] + draw.choice(["0", "-", ":", "Z", " ", "T", "1", "+", "x", ""]) + text[at + draw.randint(0, 1):]
    return text + (draw.choice(MATH) if kind > 0.75 else "")


def readings(draw, world):
    """A range, by what it becomes."""
    f = world.field(*draw.choice([("date",), ("date",), ("date_nanos",), ("date_range",)]))
    ends = {draw.choice(["gte", "gt"]): moment(draw), **draw.keys(**{draw.choice(["lte", "lt"]): (0.5, lambda: moment(draw))})}
    if draw.chance(0.1):
        ends = {k: draw.choice([0, -1, 1582979445123, 1.5, -2**63, 2**63, 1e20, True]) for k in ends}
    body = {"query": {"range": {f: {**ends, **draw.keys(format=(0.75, lambda: pattern(draw)), time_zone=(0.3, lambda: draw.choice(ZONES)), relation=(0.05, lambda: "within"))}}}}
    if draw.chance(0.1):
        body = {"query": {"term": {f: moment(draw)}}}
    return "POST", f"/{world.indices[0]}/_validate/query?explain=true&all_shards=true", body


def writings(draw, world):
    f = world.field("date", "date_nanos")
    how = {"docvalue_fields" if draw.chance(0.5) else "fields": [{"field": f, "format": pattern(draw)}]}
    return "POST", f"/{world.indices[0]}/_search", {**how, "_source": False, "sort": draw.choice([["_id"], [{f: {"order": "asc", **draw.keys(format=(0.5, lambda: pattern(draw)), numeric_type=(0.1, lambda: "date_nanos"))}}, "_id"]])}


def mapped(draw, world):
    name = f"m{draw.randint(0, 10**9)}"
    return "PUT", f"/{world.indices[0]}/_mapping", {"properties": {name: {"type": draw.choice(["date", "date", "date_nanos", "date_range"]), "format": pattern(draw), **draw.keys(null_value=(0.2, lambda: moment(draw)), locale=(0.1, lambda: draw.choice(["en", "de", "fr_FR", "zh-CN", "x", "", "ROOT"])))}}}


def stored(draw, world):
    f = world.field("date", "date_nanos", "date_range")
    values = [draw.choice(TEXTS + INSTANTS + [0, 1582979445123, -1, 1.5]) for _ in range(8)]
    if world.leaves().get(f, {}).get("type") == "date_range":
        values = [{"gte": v, "lt": draw.choice(INSTANTS)} for v in values]
    lines = []
    for i, v in enumerate(values):
        lines += [{"index": {"_id": f"z{draw.randint(0, 40)}"}}, {f: v}]
    return "POST", f"/{world.indices[0]}/_bulk?refresh", lines


def counted(draw, world):
    f = world.field("date", "date", "date_nanos")
    if draw.chance(0.3):
        ranges = [{k: moment(draw) for k in draw.choice([["from"], ["to"], ["from", "to"]])} for _ in range(draw.randint(1, 3))]
        return "POST", f"/{world.indices[0]}/_search", {"size": 0, "aggs": {"a": {"date_range": {"field": f, "ranges": ranges, **draw.keys(format=(0.4, lambda: pattern(draw)), time_zone=(0.4, lambda: draw.choice(ZONES)), missing=(0.15, lambda: moment(draw)), keyed=(0.2, lambda: True))}}}}
    every = draw.choice([{"calendar_interval": draw.choice(["1M", "month", "1y", "year", "quarter", "1q", "week", "1w", "day", "1d", "hour", "1h", "2d", "x", "minute", "1s", ""])}, {"fixed_interval": draw.choice(["1d", "30d", "1h", "90m", "1000d", "1w", "0d", "-1d", "1.5h", "7d", "100h", "1", "1M", ""])}])
    small = any(v in ("minute", "1s", "1h", "90m", "hour") for v in every.values())
    o = draw.keys(time_zone=(0.6, lambda: draw.choice(ZONES)), offset=(0.3, lambda: draw.choice(["+6h", "-1d", "1h", "+90m", "-30m", 3600000, "+1w", "x", "1", "-1"])), format=(0.4, lambda: pattern(draw)), keyed=(0.15, lambda: True), missing=(0.1, lambda: moment(draw)), order=(0.1, lambda: {"_key": "desc"}))
    if not small and draw.chance(0.3):
        o.update(draw.keys(hard_bounds=(0.3, lambda: {"min": draw.choice(INSTANTS), "max": draw.choice(INSTANTS)})))
    o["min_doc_count"] = 1
    return "POST", f"/{world.indices[0]}/_search", {"size": 0, "aggs": {"a": {"date_histogram": {"field": f, **every, **o}}}}


def request(draw, world):
    return draw.choice([readings, readings, readings, writings, writings, counted, counted, mapped, stored])(draw, world)
