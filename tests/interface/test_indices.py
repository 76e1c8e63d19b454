#!/usr/bin/env python3
"""Indices, mappings, field types and attributes, analyzers."""
import sys
from urllib.parse import quote

import rules

PY = {"type": "pinyin", "keep_full_pinyin": False, "keep_joined_full_pinyin": True, "keep_original": True, "limit_first_letter_length": 16,
      "remove_duplicated_term": True, "none_chinese_pinyin_tokenize": False}


def tokens(index, text, path="_analyze", **body):
    return [t["token"] for t in index.ok("POST", path, {"text": text, **body})["tokens"]]


def rule_create_get_delete(index):
    """PUT creates an index with its mapping, GET returns its definition, DELETE deletes it."""
    assert index.ok("PUT", "", {"mappings": rules.MAPPING}) == {"acknowledged": True, "shards_acknowledged": True, "index": index.name}
    definition = index.ok("GET", "")[index.name]
    assert definition["mappings"] == rules.MAPPING and definition["settings"]["index"]["number_of_shards"] == "1"
    assert index.refused("PUT", "") == "resource_already_exists_exception"
    assert index.ok("DELETE", "") == {"acknowledged": True}
    assert index.refused("GET", "", status=404) == "index_not_found_exception"


def rule_index_names(index):
    """The client chooses the name; each name is an index of its own; names that no path could hold are refused."""
    other = index.name + "-酒店"
    for name in (index.name, other):
        index.node.call("DELETE", f"/{quote(name)}")
        index.ok("PUT", f"/{quote(name)}/_doc/1?refresh=true", {"in": name})
    assert [h["_source"]["in"] for h in index.search()["hits"]["hits"]] == [index.name]
    assert [h["_index"] for h in index.ok("GET", f"/{quote(other)}/_search")["hits"]["hits"]] == [other]
    index.ok("DELETE", f"/{quote(other)}")
    for name in ("Upper", "_under", "-dash", "+plus", "a,b", "a b", "a*b", "a%22b", "a%23b", "n" * 256):
        assert index.refused("PUT", "/" + name.replace(" ", "%20")) == "invalid_index_name_exception", name


def rule_mapping_constrains(index):
    """The mapping constrains what a document may hold in a field."""
    index.create({"properties": {"price": {"type": "integer"}, "at": {"type": "geo_point"}, "day": {"type": "date"}}})
    for bad in ({"price": "cheap"}, {"price": {"a": 1}}, {"at": "91,0"}, {"day": "monday"}):
        assert index.refused("PUT", "_doc/1", bad) == "mapper_parsing_exception", bad
    assert index.call("GET", "_doc/1")[0] == 404


def rule_exists(index):
    """HEAD says whether an index is there."""
    assert index.call("HEAD", "")[0] == 404
    index.create()
    assert index.call("HEAD", "")[0] == 200


def rule_shards_are_fixed(index):
    """The number of shards cannot be changed after the index is created; indices of several shards answer as one."""
    index.create(rules.MAPPING, number_of_shards=5).put(rules.hotels())
    assert index.refused("PUT", "_settings", {"index": {"number_of_shards": 2}}) == "illegal_argument_exception"
    for way in ("_split/x", "_shrink/x", "_clone/x"):
        index.refused("PUT", way)
    assert index.found({"term": {"city": "上海"}}) == {i for i in range(60) if i % 3 == 0}


def rule_routing_decides_the_shard(index):
    """A hash of the routing value, by default of the id, decides the shard."""
    index.create(number_of_shards=4)
    for i in range(20):
        index.ok("PUT", f"_doc/{i}?routing=a", {"n": i})
    index.ok("POST", "_refresh")
    shards = {h["_shard"] for h in index.search(size=20, explain=True)["hits"]["hits"]}
    assert len(shards) == 1, shards
    assert len(index.ok("GET", "_search?routing=a&size=20")["hits"]["hits"]) == 20
    index.put([{"id": i} for i in range(100, 200)])
    where = {h["_id"]: h["_shard"] for h in index.search(size=300, explain=True)["hits"]["hits"]}
    assert len(set(where.values())) == 4, where
    for i in range(100, 200):
        shard = index.ok("GET", f"_search_shards?routing={i}")["shards"][0][0]["shard"]
        assert where[str(i)] == f"[{index.name}][{shard}]", "the id is the routing value of those that have none"


def rule_new_fields_only(index):
    """PUT _mapping adds fields; existing ones cannot be changed."""
    index.create({"properties": {"name": {"type": "text"}}})
    assert index.ok("PUT", "_mapping", {"properties": {"age": {"type": "integer"}}}) == {"acknowledged": True}
    assert index.refused("PUT", "_mapping", {"properties": {"name": {"type": "keyword"}}}) == "illegal_argument_exception"
    index.refused("PUT", "_mapping", {"properties": {"name": {"type": "text", "analyzer": "keyword"}}})
    assert set(index.ok("GET", "")[index.name]["mappings"]["properties"]) == {"name", "age"}


def rule_field_types(index):
    """text, keyword, the numbers, boolean, date, object, geo_point, completion: each is found as its type asks."""
    kinds = {t: {"type": t} for t in ("text", "keyword", "long", "integer", "short", "byte", "double", "float", "boolean", "date", "geo_point", "completion")}
    index.create({"properties": {**kinds, "object": {"properties": {"inner": {"type": "keyword"}}}}})
    index.put([{"text": "two words", "keyword": "two words", "long": 1 << 53, "integer": 2000000000, "short": -30000, "byte": 127, "double": 0.5, "float": 1.5,
                "boolean": True, "date": "2021-03-04", "geo_point": "31.2,121.5", "completion": ["ab"], "object": {"inner": "x"}}])
    for field, value in (("text", "words"), ("keyword", "two words"), ("long", 1 << 53), ("integer", 2000000000), ("short", -30000), ("byte", 127), ("double", 0.5),
                         ("float", 1.5), ("boolean", True), ("date", "2021-03-04"), ("object.inner", "x")):
        assert index.ids({"term": {field: {"value": value}}}) == ["0"], field
    assert index.ids({"geo_distance": {"distance": "1km", "geo_point": "31.2,121.5"}}) == ["0"]
    for field, value in (("byte", 128), ("short", 40000), ("integer", 1 << 31), ("date", "soon"), ("boolean", "maybe"), ("geo_point", "91,0")):
        assert index.refused("PUT", "_doc/1", {field: value}) == "mapper_parsing_exception", field


def rule_field_caps(index):
    """_field_caps tells a field's types over several indices, and what can be done with it there."""
    other = rules.Index(index.node, index.name + "-b")
    index.create({"properties": {"n": {"type": "long", "meta": {"unit": "ms"}}, "k": {"type": "keyword"}, "o": {"properties": {"t": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}},
                                 "same": {"type": "alias", "path": "n"}}})
    other.create({"properties": {"n": {"type": "keyword"}, "k": {"type": "keyword", "index": False}}})
    yes = {"searchable": True, "aggregatable": True}
    try:
        caps = index.ok("GET", "_field_caps?fields=*")["fields"]
        assert caps["o.t"] == {"text": {"type": "text", "searchable": True, "aggregatable": False}} and caps["o.t.raw"] == {"keyword": {"type": "keyword", **yes}}
        assert caps["o"] == {"object": {"type": "object", "searchable": False, "aggregatable": False}} and "_id" in caps
        assert caps["same"] == caps["n"] == {"long": {"type": "long", **yes, "meta": {"unit": ["ms"]}}}
        answer = index.ok("POST", f"/{index.name}*/_field_caps?fields=n,k,o.t,none&include_unmapped=true")
        assert answer["indices"] == [index.name, other.name] and set(answer["fields"]) == {"n", "k", "o", "o.t"}
        assert answer["fields"]["n"] == {"long": {"type": "long", **yes, "indices": [index.name], "meta": {"unit": ["ms"]}}, "keyword": {"type": "keyword", **yes, "indices": [other.name]}}
        assert answer["fields"]["k"] == {"keyword": {"type": "keyword", "searchable": False, "aggregatable": True, "non_searchable_indices": [other.name]}}
        assert answer["fields"]["o.t"]["unmapped"] == {"type": "unmapped", "searchable": False, "aggregatable": False, "indices": [other.name]}
        assert index.refused("GET", "_field_caps") == "illegal_argument_exception"
        assert index.refused("POST", "_field_caps?fields=n", {"filter": {}}) == "x_content_parse_exception"
    finally:
        index.node.call("DELETE", f"/{other.name}")


def rule_objects(index):
    """An object field may omit its type; its sub-fields are found by their paths, in arrays of objects too."""
    index.create({"properties": {"owner": {"properties": {"name": {"type": "keyword"}, "home": {"type": "object", "properties": {"city": {"type": "keyword"}}}}}}})
    index.put([{"owner": {"name": "a", "home": {"city": "x"}}}, {"owner": [{"name": "b"}, {"name": "c", "home": {"city": "x"}}]}])
    assert index.ids({"term": {"owner.name": "a"}}) == ["0"] and index.ids({"term": {"owner.name": "c"}}) == ["1"]
    assert index.ids({"term": {"owner.home.city": "x"}}) == ["0", "1"]
    assert "type" not in index.ok("GET", "")[index.name]["mappings"]["properties"]["owner"]
    assert index.refused("PUT", "_doc/2", {"owner": "a"}) == "mapper_parsing_exception"


def rule_arrays(index):
    """A field may hold an array: its type is its elements'."""
    index.create({"properties": {"tags": {"type": "keyword"}}}).put([{"tags": ["a", "b"]}, {"tags": "c"}])
    assert index.ids({"term": {"tags": "b"}}) == ["0"] and index.ids({"terms": {"tags": ["b", "c"]}}) == ["0", "1"]


def rule_index_false(index):
    """index: false: the field is kept, and cannot be searched; the default is true."""
    kept = {"type": "keyword", "index": False}
    index.create({"properties": {"pic": kept, "name": {"type": "keyword"}, "yes": {"type": "keyword", "index": True}, "price": {"type": "integer", "index": False}}})
    index.put([{"pic": "a.jpg", "name": "a", "yes": "a", "price": 3}])
    assert index.refused("GET", "_search", {"query": {"term": {"pic": "a.jpg"}}}) == "query_shard_exception"
    assert index.refused("GET", "_search", {"query": {"range": {"price": {"gte": 3}}}}) == "query_shard_exception"
    assert index.ids({"term": {"name": "a"}}) == ["0"] and index.ids({"term": {"yes": "a"}}) == ["0"]
    assert index.search()["hits"]["hits"][0]["_source"]["pic"] == "a.jpg"


def rule_analyzers_of_fields(index):
    """analyzer splits what is indexed; search_analyzer what is searched for."""
    index.create({"properties": {"a": {"type": "text", "analyzer": "keyword"}, "b": {"type": "text", "analyzer": "standard", "search_analyzer": "keyword"}}})
    index.put([{"a": "two words", "b": "two words"}])
    assert index.ids({"match": {"a": "two"}}) == [] and index.ids({"match": {"a": "two words"}}) == ["0"]
    assert index.ids({"match": {"b": "two"}}) == ["0"] and index.ids({"match": {"b": "two words"}}) == []


def rule_copy_to(index):
    """copy_to makes several fields searchable as one, and is not in the source."""
    copied = {"type": "keyword", "copy_to": "all"}
    index.create({"properties": {"name": {"type": "text", "copy_to": "all"}, "brand": copied, "all": {"type": "text"}}})
    index.put([{"name": "river view", "brand": "Hilton"}, {"name": "hilton garden", "brand": "other"}])
    assert sorted(index.ids({"match": {"all": "hilton"}})) == ["0", "1"] and index.ids({"match": {"all": "river"}}) == ["0"]
    assert all("all" not in h["_source"] for h in index.search()["hits"]["hits"])


def rule_ik(index):
    """ik_smart is the coarsest segmentation, ik_max_word the finest."""
    index.create()
    text = "中华人民共和国国歌"
    smart, fine = (tokens(index, text, analyzer=a) for a in ("ik_smart", "ik_max_word"))
    assert "".join(smart) == text and len(smart) < len(fine) and set(smart) <= set(fine), (smart, fine)
    assert smart == tokens(index, text, tokenizer="ik_smart") and fine == tokens(index, text, tokenizer="ik_max_word")


def rule_keyword_tokenizer(index):
    """The keyword tokenizer splits nothing."""
    index.create()
    assert tokens(index, "a b, c", tokenizer="keyword") == ["a b, c"]


def rule_pinyin(index):
    """The pinyin analyzer's default form converts each character by itself; the filter's options give the joined form,
    the first letters and the original."""
    index.create(analysis={"analyzer": {"p": {"tokenizer": "keyword", "filter": "py"}}, "filter": {"py": PY}})
    assert {"ru", "jia"} <= set(tokens(index, "如家", analyzer="pinyin"))
    assert set(tokens(index, "如家酒店", analyzer="p")) == {"如家酒店", "rujiajiudian", "rjjd"}
    long = "如家" * 12
    assert max(len(t) for t in tokens(index, long, analyzer="p") if set(t) <= set("rj")) == 16, "limit_first_letter_length"
    assert tokens(index, "ibm", analyzer="p") == ["ibm"]


def rule_pinyin_options(index):
    """Each option of the pinyin filter by itself: turned round, it changes what the declared value gives."""
    for option, value, text, added, missing in (
            ("keep_full_pinyin", True, "如家酒店", {"ru", "jia", "jiu", "dian"}, set()), ("keep_joined_full_pinyin", False, "如家酒店", set(), {"rujiajiudian"}),
            ("keep_original", False, "如家酒店", set(), {"如家酒店"}), ("limit_first_letter_length", 2, "如家酒店", {"rj"}, {"rjjd"}),
            ("none_chinese_pinyin_tokenize", True, "liudehua", {"liu", "de", "hua"}, set())):
        split = {how: set(tokens(index, text, "/_analyze", tokenizer="keyword", filter=[{**PY, option: to}])) for how, to in (("as", PY[option]), ("not", value))}
        assert split["not"] - split["as"] == added and split["as"] - split["not"] == missing, (option, split)
    twice = [tokens(index, "哈哈", "/_analyze", tokenizer="keyword", filter=[{**PY, "keep_full_pinyin": True, "remove_duplicated_term": once}]) for once in (True, False)]
    assert twice[0].count("ha") == 1 and twice[1].count("ha") == 2, twice


def rule_parts_of_analyzers(index):
    """Character filters change the text before it is split, one tokenizer splits it, token filters change case, add synonyms and pinyin."""
    py = {**PY, "keep_joined_full_pinyin": False, "keep_original": False, "keep_full_pinyin": True, "keep_first_letter": False}
    index.create(analysis={
        "char_filter": {"and": {"type": "mapping", "mappings": ["& => and"]}},
        "filter": {"same": {"type": "synonym", "synonyms": ["inn, hotel"]}, "py": py},
        "analyzer": {"char": {"tokenizer": "whitespace", "char_filter": ["html_strip", "and"]}, "case": {"tokenizer": "whitespace", "filter": ["lowercase"]},
                     "syn": {"tokenizer": "whitespace", "filter": ["lowercase", "same"]}, "pin": {"tokenizer": "ik_max_word", "filter": ["py"]}}})
    for analyzer, text, want in (("char", "<b>Bed</b> & Bar", ["Bed", "and", "Bar"]), ("case", "Bed Bar", ["bed", "bar"]), ("syn", "Old Inn", ["old", "inn", "hotel"]),
                                 ("pin", "如家", ["ru", "jia"])):
        assert tokens(index, text, analyzer=analyzer) == want, (analyzer, tokens(index, text, analyzer=analyzer))


def rule_custom_analyzers(index):
    """settings.analysis declares analyzers of a tokenizer and filters, and filters of a type and options."""
    index.create({"properties": {"t": {"type": "text", "analyzer": "mine"}}},
                 analysis={"analyzer": {"mine": {"tokenizer": "whitespace", "filter": ["lowercase", "short"]}}, "filter": {"short": {"type": "truncate", "length": 3}}})
    assert tokens(index, "Elastic NO Search", analyzer="mine") == ["ela", "no", "sea"] == tokens(index, "Elastic NO Search", field="t")
    assert index.refused("PUT", "/other-of-" + index.name, {"settings": {"analysis": {"analyzer": {"x": {"tokenizer": "none"}}}}}) == "illegal_argument_exception"


def rule_analyze(index):
    """POST /_analyze splits a text with a named analyzer: terms, places, positions."""
    answer = index.ok("POST", "/_analyze", {"text": "Quick fox", "analyzer": "standard"})["tokens"]
    assert answer == [{"token": "quick", "start_offset": 0, "end_offset": 5, "type": "<ALPHANUM>", "position": 0},
                      {"token": "fox", "start_offset": 6, "end_offset": 9, "type": "<ALPHANUM>", "position": 1}]
    assert index.refused("POST", "/_analyze", {"text": "x", "analyzer": "none"}) == "illegal_argument_exception"


def rule_homophones(index):
    """With pinyin at search time homophones match; with a search_analyzer of its own they do not."""
    fields = {"loose": {"type": "text", "analyzer": "p"}, "strict": {"type": "text", "analyzer": "p", "search_analyzer": "ik_smart"}}
    index.create({"properties": fields}, analysis={"analyzer": {"p": {"tokenizer": "ik_max_word", "filter": "py"}}, "filter": {"py": PY}})
    index.put([{"loose": "狮子", "strict": "狮子"}, {"loose": "虱子", "strict": "虱子"}])
    assert sorted(index.ids({"match": {"loose": "狮子"}})) == ["0", "1"] and index.ids({"match": {"strict": "狮子"}}) == ["0"]
    assert sorted(index.ids({"match": {"strict": "shizi"}})) == ["0", "1"]


def rule_hotel_index(index):
    """The hotel index's final form: made as declared, and given back so."""
    text, keyword = {"type": "text", "analyzer": "text_anlyzer", "search_analyzer": "ik_smart"}, {"type": "keyword"}
    properties = {"id": keyword, "name": {**text, "copy_to": ["all"]}, "address": {"type": "keyword", "index": False}, "price": {"type": "integer"},
                  "score": {"type": "integer"}, "brand": {**keyword, "copy_to": ["all"]}, "city": keyword, "starName": keyword,
                  "business": {**keyword, "copy_to": ["all"]}, "location": {"type": "geo_point"}, "pic": {"type": "keyword", "index": False}, "all": text,
                  "suggestion": {"type": "completion", "analyzer": "completion_analyzer"}}
    index.create({"properties": properties}, analysis={"analyzer": {"text_anlyzer": {"tokenizer": "ik_max_word", "filter": "py"},
                                                                    "completion_analyzer": {"tokenizer": "keyword", "filter": "py"}}, "filter": {"py": PY}})
    have = index.ok("GET", "")[index.name]["mappings"]["properties"]
    for name, field in properties.items():
        assert {k: v for k, v in have[name].items() if k in field} == field, (name, have[name])
    index.put([{"id": 7, "name": "7天连锁酒店(上海宝山路地铁站店)", "brand": "7天酒店", "business": "四川北路商业区", "suggestion": ["7天酒店", "四川北路商业区"]}])
    for word in ("地铁站", "四川北路商业区", "7天酒店"):
        assert index.ids({"match": {"all": word}}) == ["7"], word


def rule_hotel_index_earlier(index):
    """The hotel index's earlier form, without pinyin; it cannot be altered into the final one."""
    split, all_too = {"type": "text", "analyzer": "ik_max_word"}, {"type": "keyword", "copy_to": "all"}
    index.create({"properties": {"name": {**split, "copy_to": "all"}, "city": all_too, "brand": all_too, "business": {"type": "keyword"}, "all": split}})
    index.put([{"name": "如家酒店(外滩店)", "city": "上海", "brand": "如家", "business": "四川北路"}])
    for word, found in (("酒店", ["0"]), ("上海", ["0"]), ("如家", ["0"]), ("四川北路", []), ("rujia", [])):
        assert index.ids({"match": {"all": word}}) == found, word
    index.refused("PUT", "_mapping", {"properties": {"name": {"type": "text", "analyzer": "ik_smart", "copy_to": "all"}}})
    index.refused("PUT", "_mapping", {"properties": {"suggestion": {"type": "completion", "analyzer": "completion_analyzer"}}})
    assert index.refused("PUT", "_settings", {"analysis": {"analyzer": {"x": {"tokenizer": "keyword"}}}}) == "illegal_argument_exception"


if __name__ == "__main__":
    rules.main(sys.modules[__name__])
