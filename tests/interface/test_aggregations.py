#!/usr/bin/env python3
"""Aggregations and completions."""
import sys

import rules

HOTELS = rules.hotels()


def aggregate(index, aggs, **body):
    return index.search(size=0, aggs=aggs, **body)["aggregations"]


def buckets(index, agg, **body):
    return [(b["key"], b["doc_count"]) for b in aggregate(index, {"a": agg}, **body)["a"]["buckets"]]


def rule_terms(index):
    """terms groups by value, most documents first, ten buckets unless size says otherwise."""
    index.with_hotels(number_of_shards=2)
    assert dict(buckets(index, {"terms": {"field": "brand"}})) == {b: 15 for b in rules.BRANDS}
    counts = {}
    for d in HOTELS:
        counts[d["price"]] = counts.get(d["price"], 0) + 1
    assert len(buckets(index, {"terms": {"field": "price"}})) == 10
    assert dict(buckets(index, {"terms": {"field": "price", "size": 100}})) == counts
    assert dict(buckets(index, {"terms": {"field": "city"}}, query={"term": {"brand": "如家"}})) == {c: 5 for c in rules.CITIES}


def rule_terms_order(index):
    """The default order is the number of documents, descending; order may say otherwise."""
    index.create({"properties": {"k": {"type": "keyword"}}}).put([{"k": "a"}] + [{"k": "b"}] * 3 + [{"k": "c"}] * 2, key="none")
    assert buckets(index, {"terms": {"field": "k"}}) == [("b", 3), ("c", 2), ("a", 1)]
    assert buckets(index, {"terms": {"field": "k", "order": {"_count": "asc"}}}) == [("a", 1), ("c", 2), ("b", 3)]
    assert buckets(index, {"terms": {"field": "k", "order": {"_key": "asc"}, "size": 2}}) == [("a", 1), ("b", 3)]


def rule_date_histogram(index):
    """date_histogram groups by steps of time."""
    index.with_hotels()
    months = {}
    for d in HOTELS:
        months[d["open"][:7]] = months.get(d["open"][:7], 0) + 1
    have = aggregate(index, {"a": {"date_histogram": {"field": "open", "calendar_interval": "month", "format": "yyyy-MM"}}})["a"]["buckets"]
    assert {b["key_as_string"]: b["doc_count"] for b in have} == months and [b["key"] for b in have] == sorted(b["key"] for b in have)


def rule_metrics(index):
    """avg, max, min, and stats with all of them and the sum."""
    index.with_hotels()
    prices = [d["price"] for d in HOTELS]
    have = aggregate(index, {k: {k: {"field": "price"}} for k in ("avg", "max", "min", "stats")})
    assert have["avg"]["value"] == sum(prices) / 60 and have["max"]["value"] == max(prices) and have["min"]["value"] == min(prices)
    assert have["stats"] == {"count": 60, "min": min(prices), "max": max(prices), "avg": sum(prices) / 60, "sum": sum(prices)}


def rule_sub_aggregations(index):
    """A nested aggregation is computed for each bucket, and may order the buckets."""
    index.with_hotels()
    agg = {"terms": {"field": "city", "order": {"price.avg": "desc"}}, "aggs": {"price": {"stats": {"field": "price"}}}}
    have = aggregate(index, {"a": agg})["a"]["buckets"]
    for b in have:
        prices = [d["price"] for d in HOTELS if d["city"] == b["key"]]
        assert b["price"]["max"] == max(prices) and abs(b["price"]["avg"] - sum(prices) / len(prices)) < 1e-9
    averages = [b["price"]["avg"] for b in have]
    assert len(have) == 3 and averages == sorted(averages, reverse=True)


def rule_pipelines(index):
    """Pipelines aggregate over the results of other aggregations."""
    index.with_hotels()
    have = aggregate(index, {"cities": {"terms": {"field": "city"}, "aggs": {"top": {"max": {"field": "price"}}}}, "best": {"max_bucket": {"buckets_path": "cities>top"}},
                             "mean": {"avg_bucket": {"buckets_path": "cities>_count"}}})
    top = {c: max(d["price"] for d in HOTELS if d["city"] == c) for c in rules.CITIES}
    assert have["best"]["value"] == max(top.values()) and set(have["best"]["keys"]) == {c for c in top if top[c] == max(top.values())}
    assert have["mean"]["value"] == 20


def rule_aggregation_elements(index):
    """An aggregation has a name, a type and a field: it is refused without them."""
    index.with_hotels()
    for aggs, kind in (({"a": {}}, "parsing_exception"), ({"a": {"terms": {}}}, "illegal_argument_exception"), ({"a": {"nothing": {"field": "price"}}}, "parsing_exception"),
                       ({"a[b": {"terms": {"field": "city"}}}, "parsing_exception"), ({"a": {"avg": {}}}, "illegal_argument_exception")):
        assert index.refused("GET", "_search", {"size": 0, "aggs": aggs}) == kind, aggs
    assert list(aggregate(index, {"名": {"max": {"field": "price"}}})) == ["名"]


def rule_size_zero(index):
    """size: 0 removes the documents from the answer; the query limits what is aggregated."""
    index.with_hotels()
    answer = index.search(size=0, query={"range": {"price": {"gte": 500}}}, aggs={"n": {"value_count": {"field": "price"}}})
    assert answer["hits"]["hits"] == [] and answer["hits"]["max_score"] is None
    assert answer["aggregations"]["n"]["value"] == answer["hits"]["total"]["value"] == sum(d["price"] >= 500 for d in HOTELS)


def rule_aggregated_fields(index):
    """Keyword, date, number and boolean fields can be aggregated; text cannot."""
    index.with_hotels()
    for field in ("city", "open", "price", "pool"):
        assert buckets(index, {"terms": {"field": field}}), field
    assert index.refused("GET", "_search", {"size": 0, "aggs": {"a": {"terms": {"field": "title"}}}}) == "illegal_argument_exception"


def complete(index, typed, **options):
    key = options.pop("key", "prefix")
    answer = index.search(suggest={"s": {key: typed, "completion": {"field": "suggestion", **options}}}, _source=False)
    return [o["text"] for o in answer["suggest"]["s"][0]["options"]]


def rule_completion(index):
    """Entries that begin with the typed text; text works as prefix; five unless size says otherwise."""
    words = ["如家", "如家精选", "如意", "汉庭", "river", "Riverside"]
    index.create({"properties": {"suggestion": {"type": "completion"}}}).put([{"suggestion": [w, f"x{i}"]} for i, w in enumerate(words)])
    assert sorted(complete(index, "如")) == sorted(["如家", "如家精选", "如意"]) == sorted(complete(index, "如", key="text"))
    assert complete(index, "如家精") == ["如家精选"] and complete(index, "家") == []
    assert sorted(complete(index, "RIV")) == ["Riverside", "river"]
    assert len(complete(index, "x")) == 5 and len(complete(index, "x", size=10)) == 6 and len(complete(index, "x", size=2)) == 2


def rule_skip_duplicates(index):
    """skip_duplicates offers equal entries once."""
    index.create({"properties": {"suggestion": {"type": "completion"}}}).put([{"suggestion": ["如家"]}] * 4 + [{"suggestion": ["如意"]}], key="none")
    assert complete(index, "如", size=10).count("如家") == 4
    assert sorted(complete(index, "如", size=10, skip_duplicates=True)) == ["如家", "如意"]


def rule_completion_needs_its_type(index):
    """Only fields of type completion can be completed."""
    index.with_hotels()
    assert index.refused("GET", "_search", {"suggest": {"s": {"prefix": "x", "completion": {"field": "city"}}}}) == "illegal_argument_exception"


def rule_completion_by_pinyin(index):
    """Completions match by pinyin and by first letters where their analyzer makes them."""
    py = {"type": "pinyin", "keep_full_pinyin": False, "keep_joined_full_pinyin": True, "keep_original": True, "limit_first_letter_length": 16,
          "remove_duplicated_term": True, "none_chinese_pinyin_tokenize": False}
    index.create({"properties": {"suggestion": {"type": "completion", "analyzer": "c"}}},
                 analysis={"analyzer": {"c": {"tokenizer": "keyword", "filter": "py"}}, "filter": {"py": py}})
    index.put([{"suggestion": ["如家", "外滩"]}, {"suggestion": ["汉庭"]}])
    for typed, want in (("rj", "如家"), ("ruj", "如家"), ("wait", "外滩"), ("ht", "汉庭"), ("汉", "汉庭")):
        assert complete(index, typed, skip_duplicates=True, size=10) == [want], typed


if __name__ == "__main__":
    rules.main(sys.modules[__name__])
