"""A small random world: one or two indices with random mappings, and the documents that fill them."""
WORDS = ("red fox hen the quick brown dog running runs hotel Hotels cheap check-in wi-fi 酒店 上海外滩 北京西站店 如家 café naïve foo bar baz a I of and x1 2020 don't O'Neil "
         "ü ß fox's Red FOX").split()
TERMS = ["red", "blue", "Red", "green tea", "", "a", "b", "c", "上海", "北京", "x-1", "10", "2", "é", "zz top"]
ANALYZERS = ["standard", "simple", "whitespace", "stop", "keyword", "english", "ik_max_word", "ik_smart", "my_ngram", "my_edge", "my_syn", "my_shingle", "my_html", "my_stem"]
DATES = ["2020-01-01", "2020-02-29T12:30:45Z", "2021-12-31T23:59:59.999Z", "1969-07-20", "2020-01-01T05:00:00+05:00", 0, 1577836800000, 1600000000123, -1]
IPS = ["127.0.0.1", "8.8.8.8", "192.168.0.1", "10.0.0.255", "::1", "2001:db8::ff", "::ffff:10.0.0.1", "0.0.0.0", "255.255.255.255"]
POINTS = [{"lat": 31.24, "lon": 121.49}, "39.9,116.3", [13.4, 52.5], {"lat": -33.9, "lon": 151.2}, "0,0", "u33db", "POINT (-179.5 10)", {"lat": 89.9, "lon": 179.9}]
ANALYSIS = {
    "analyzer": {
        "my_ngram": {"type": "custom", "tokenizer": "my_ngram", "filter": ["lowercase"]},
        "my_edge": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "my_edge"]},
        "my_syn": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "my_syn"]},
        "my_shingle": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "shingle"]},
        "my_html": {"type": "custom", "tokenizer": "standard", "char_filter": ["html_strip", "my_map"], "filter": ["lowercase", "asciifolding"]},
        "my_stem": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "porter_stem"]}},
    "tokenizer": {"my_ngram": {"type": "ngram", "min_gram": 1, "max_gram": 2, "token_chars": ["letter", "digit"]}},
    "filter": {"my_edge": {"type": "edge_ngram", "min_gram": 1, "max_gram": 3}, "my_syn": {"type": "synonym_graph", "synonyms": ["fox, red dog", "hen => quick bird", "wi fi, wifi"]}},
    "char_filter": {"my_map": {"type": "mapping", "mappings": ["ü => ue", "ß => ss"]}},
    "normalizer": {"my_lower": {"type": "custom", "filter": ["lowercase", "asciifolding"]}}}
# Lengths that no beginning of the requests is one shorter than: what Elasticsearch fails at (known.py, SHORT_PREFIX).
PREFIXES = [{"min_chars": 1}, {"min_chars": 1, "max_chars": 3}, {"min_chars": 7, "max_chars": 9}]
# Where documents lie after a merge is a matter of when it runs, and of sizes.
FEW_MERGES = {"merge.policy.segments_per_tier": 200, "merge.policy.max_merge_at_once": 200, "merge.policy.deletes_pct_allowed": 50}
WHOLE = {"long": (-2**63, 2**63 - 1), "integer": (-2**31, 2**31 - 1), "short": (-32768, 32767), "byte": (-128, 127)}
FRACTIONS = ["double", "float", "half_float", "scaled_float"]
RANGES = ["integer_range", "long_range", "float_range", "double_range", "date_range", "ip_range"]
NUMBERS = list(WHOLE) + FRACTIONS


def mapping_of(draw, kind):
    """The mapping of one field of a type, with random options."""
    m = {"type": kind}
    if kind == "text":
        m.update(draw.keys(analyzer=(0.7, lambda: draw.choice(ANALYZERS)), fielddata=(0.25, lambda: True), norms=(0.1, lambda: False), store=(0.1, lambda: True),
                           term_vector=(0.2, lambda: draw.choice(["yes", "with_positions_offsets"])), index_options=(0.15, lambda: draw.choice(["docs", "freqs", "positions", "offsets"])),
                           index_prefixes=(0.12, lambda: draw.choice(PREFIXES)), index_phrases=(0.12, lambda: True), search_analyzer=(0.1, lambda: draw.choice(["standard", "whitespace", "my_syn"])), similarity=(0.05, lambda: "boolean"),
                           fields=(0.4, lambda: {"raw": {"type": "keyword", **draw.keys(ignore_above=(0.2, lambda: 8))}}), copy_to=(0.05, lambda: "k1"), position_increment_gap=(0.05, lambda: 0)))
    elif kind == "keyword":
        m.update(draw.keys(normalizer=(0.2, lambda: "my_lower"), ignore_above=(0.1, lambda: 4), null_value=(0.15, lambda: "NULL"), doc_values=(0.07, lambda: False), store=(0.1, lambda: True),
                           index=(0.05, lambda: False), eager_global_ordinals=(0.05, lambda: True), split_queries_on_whitespace=(0.1, lambda: True), norms=(0.05, lambda: True)))
    elif kind in NUMBERS:
        m.update(draw.keys(null_value=(0.1, lambda: 1), doc_values=(0.05, lambda: False), index=(0.05, lambda: False), store=(0.1, lambda: True), ignore_malformed=(0.1, lambda: True), coerce=(0.1, lambda: False)))
        if kind == "scaled_float":
            m["scaling_factor"] = draw.choice([1, 10, 100, 1000])
    elif kind in ("date", "date_nanos"):
        m.update(draw.keys(format=(0.25, lambda: draw.choice(["yyyy-MM-dd||epoch_millis||strict_date_optional_time", "epoch_second||date_optional_time", "basic_date||strict_date_optional_time||epoch_millis"])),
                           null_value=(0.1, lambda: "2020-01-01"), doc_values=(0.05, lambda: False), store=(0.1, lambda: True), ignore_malformed=(0.1, lambda: True)))
    elif kind in ("boolean", "ip", "geo_point"):
        null = {"boolean": True, "ip": "127.0.0.1", "geo_point": "1,2"}[kind]
        m.update(draw.keys(null_value=(0.1, lambda: null), doc_values=(0.05, lambda: False), store=(0.05, lambda: True), index=(0.03, lambda: False)))
    elif kind == "completion":
        m.update(draw.keys(analyzer=(0.4, lambda: draw.choice(["standard", "simple", "keyword", "whitespace"])), preserve_separators=(0.1, lambda: False), max_input_length=(0.1, lambda: 5)))
    elif kind == "token_count":
        m["analyzer"] = draw.choice(["standard", "whitespace"])
    elif kind == "binary":
        m.update(draw.keys(doc_values=(0.4, lambda: True), store=(0.2, lambda: True)))
    return m


def value_of(draw, m):
    """A value for a field of this mapping."""
    kind = m["type"]
    if draw.chance(0.03):
        return None
    if kind not in ("completion", "binary", "geo_point", "nested") and draw.chance(0.15):
        return [one_value(draw, m) for _ in range(draw.randint(0, 3))]
    return one_value(draw, m)


def one_value(draw, m):
    kind = m["type"]
    if kind in ("text", "token_count"):
        return ". ".join(" ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 6))) for _ in range(draw.choice([1, 1, 1, 2])))
    if kind == "keyword":
        return draw.choice(TERMS)
    if kind in WHOLE:
        lo, hi = WHOLE[kind]
        return draw.choice([draw.randint(-5, 20), draw.randint(0, 3), draw.randint(0, 100), str(draw.randint(0, 9)), lo if draw.chance(0.1) else 7, hi if draw.chance(0.1) else 100])
    if kind in FRACTIONS:
        return draw.choice([draw.randint(-5, 20), round(draw.uniform(-10, 100), 2), 0.5, 1.25, str(draw.randint(0, 9)) + ".5", 3])
    if kind in ("date", "date_nanos"):
        return draw.choice([d for d in DATES if d != -1] if kind == "date_nanos" else DATES) if "format" not in m else draw.choice(["2020-01-01", "2020-03-01", "2021-06-15"]) if m["format"][0] in "ye" else "2020-05-05"
    if kind == "boolean":
        return draw.choice([True, False, "true", "false", ""])
    if kind == "ip":
        return draw.choice(IPS)
    if kind == "geo_point":
        return draw.choice(POINTS)
    if kind == "binary":
        return draw.choice(["aGVsbG8=", "U29tZQ==", "AA=="])
    if kind == "completion":
        word = lambda: " ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 2)))
        return draw.choice([word(), [word(), word()], {"input": [word(), word()], "weight": draw.randint(0, 9)}, {"input": word()}])
    if kind in RANGES:
        return range_value(draw, kind)
    return {f: value_of(draw, sub) for f, sub in m.get("properties", {}).items() if draw.chance(0.8)}


def range_value(draw, kind):
    if kind == "ip_range":
        return draw.choice(["10.0.0.0/8", "192.168.0.0/24", {"gte": "10.0.0.1", "lte": "10.0.0.200"}])
    ends = sorted(draw.sample([d for d in DATES[:4]], 2)) if kind == "date_range" else sorted([draw.randint(-5, 10), draw.randint(11, 40)])
    if kind in ("float_range", "double_range"):
        ends = [ends[0] + 0.5, ends[1] + 0.25]
    return {k: v for k, v in zip([draw.choice(["gte", "gt"]), draw.choice(["lte", "lt"])], ends) if draw.chance(0.92)}


class World:
    """What the two services were told, as far as requests need to know it."""

    def __init__(self, draw, prefix, kinds=()):
        self.draw, self.prefix, self.indices, self.ids = draw, prefix, [prefix + "a"], []
        self.properties = self.mapping(kinds)
        self.shards = {}
        if draw.chance(0.2):
            self.indices.append(prefix + "b")
        self.serial = 0

    def mapping(self, kinds):
        draw = self.draw
        properties = {"t1": mapping_of(draw, "text"), "k1": mapping_of(draw, "keyword"), "n1": mapping_of(draw, draw.choice(NUMBERS)), "d1": mapping_of(draw, "date")}
        pool = [("t2", "text"), ("k2", "keyword"), ("n2", draw.choice(NUMBERS)), ("n3", draw.choice(list(WHOLE))), ("f1", draw.choice(FRACTIONS)), ("b1", "boolean"), ("ip1", "ip"), ("g1", "geo_point"),
                ("r1", draw.choice(RANGES)), ("c1", "completion"), ("d2", draw.choice(["date", "date_nanos"])), ("tc1", "token_count"), ("bin1", "binary")]
        for name, kind in draw.some(pool, 2, 8):
            properties[name] = mapping_of(draw, kind)
        for i, kind in enumerate(kinds):
            properties[f"x{i}"] = mapping_of(draw, kind)
        if draw.chance(0.35):
            properties["o"] = {"properties": {"t": mapping_of(draw, "text"), "k": mapping_of(draw, "keyword")}}
        if draw.chance(0.35):
            properties["ne"] = {"type": "nested", "properties": {"k": mapping_of(draw, "keyword"), "n": mapping_of(draw, "integer"), "t": mapping_of(draw, "text")}}
        return properties

    def settings(self):
        draw = self.draw
        return {"number_of_shards": draw.choice([1, 1, 1, 2, 3, 5]), "number_of_replicas": 0, "refresh_interval": "-1", "analysis": ANALYSIS,
                "max_ngram_diff": 10, **FEW_MERGES}

    def create(self):
        """The requests that make the indices."""
        for i, name in enumerate(self.indices):
            properties, settings = dict(self.properties), self.settings()
            if i and self.draw.chance(0.7):  # the second index lacks a field, or has it with another type
                gone = self.draw.choice(sorted(properties))
                properties.pop(gone)
                settings["number_of_shards"] = 1  # which document of a bulk maps a new field first is a race between shards
                if self.draw.chance(0.3):
                    properties[gone] = mapping_of(self.draw, self.draw.choice(["keyword", "long", "double", "text", "date", "ip", "boolean"]))
            self.shards[name] = settings["number_of_shards"]
            yield "PUT", "/" + name, {"settings": settings, "mappings": {"properties": properties}}

    def document(self):
        doc = {}
        for f, m in self.properties.items():
            if self.draw.chance(0.75):
                doc[f] = [one_value(self.draw, m) for _ in range(self.draw.randint(0, 3))] if m["type" if "type" in m else "properties"] == "nested" else value_of(self.draw, {"type": "object", **m})
        return doc

    def is_spread(self, *names):
        """Whether one of these indices has several shards: in which of them a document with a made id lies differs."""
        return any(self.shards.get(n, 1) > 1 for n in names or self.indices)

    def new_id(self):
        self.serial += 1
        self.ids.append(str(self.serial))
        return str(self.serial)

    def any_id(self):
        return self.draw.choice(self.ids) if self.ids and self.draw.chance(0.9) else "none"

    def change(self):
        """One request that changes documents."""
        draw, index = self.draw, self.draw.choice(self.indices)
        kind = draw.random()
        if kind < 0.3 or not self.ids:
            return "POST", f"/{index}/_bulk?refresh", self.bulk(draw.randint(1, 8))
        if kind < 0.5:
            return "PUT", f"/{index}/_doc/{self.new_id()}{draw.choice(['', '?refresh', '?refresh'])}", self.document()
        if kind < 0.6:
            return "PUT", f"/{index}/_doc/{self.any_id()}?refresh", self.document()
        if kind < 0.75:
            return "DELETE", f"/{index}/_doc/{self.any_id()}?refresh", None
        if kind < 0.85:
            return "POST", f"/{index}/_update/{self.any_id()}?refresh", {"doc": dict(list(self.document().items())[:2])}
        return "POST", f"/{index}/_refresh", None

    def bulk(self, n):
        lines = []
        for _ in range(n):
            lines += [{"index": {"_id": self.new_id()}}, self.document()]
        return lines

    def index(self):
        """What stands in a path for indices."""
        return self.indices[0] if len(self.indices) == 1 or self.draw.chance(0.2) else ",".join(self.indices)

    # ---- fields ----
    def leaves(self, properties=None, prefix=""):
        """name -> mapping of every field that has values, also of those inside objects; nested ones under their path."""
        out = {}
        for name, m in (self.properties if properties is None else properties).items():
            if "properties" in m:
                out.update(self.leaves(m["properties"], prefix + name + "."))
            else:
                out[prefix + name] = m
                for sub, mm in m.get("fields", {}).items():
                    out[f"{prefix}{name}.{sub}"] = mm
        return out

    def field(self, *kinds, nested=False):
        """A field of one of these types; one that nobody has when there is none."""
        names = [n for n, m in self.leaves().items() if (not kinds or m["type"] in kinds) and n.startswith("ne.") == nested]
        return self.draw.choice(names) if names and self.draw.chance(0.97) else self.draw.choice(["nope", "t1", "k1"])

    def value(self, field):
        m = self.leaves().get(field, {"type": self.draw.choice(["keyword", "text", "integer"])})
        return one_value(self.draw, m)

    def text(self, most=3):
        return " ".join(self.draw.choice(WORDS) for _ in range(self.draw.randint(1, most)))
