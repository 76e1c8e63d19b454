#!/usr/bin/env python3
"""Bodies with one key too many, at each level of each: refused where Elasticsearch 7.12.1 refuses them, in the same words.

usage: test_unknown_keys.py                 asks a fresh node
       test_unknown_keys.py --record URL    asks the Elasticsearch there, and writes unknown_keys.json anew

unknown_keys.json has, for each request of REQUESTS, what was said of "zzz": 1, {} and [] in each object of its body, as numbers into `said`: status, type,
reason, root cause's type and reason, and the innermost reason. OTHERWISE has what differs by decision, or in words alone."""
import copy
import http.client
import json
import os
import re
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from node import HANG_SECONDS, Node  # noqa: E402

check = Checks()
RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unknown_keys.json")
A = "/keys-a"
MAP = {"properties": {"a": {"type": "long"}, "t": {"type": "text", "fields": {"k": {"type": "keyword"}}}, "k": {"type": "keyword"}, "d": {"type": "date"}, "g": {"type": "geo_point"}, "n": {"type": "nested", "properties": {"x": {"type": "keyword"}}}, "s": {"type": "completion"}}}
Q = {"match_all": {}}
REQUESTS = [
    ("POST", A + "/_search", {"query": {"bool": {"must": [{"match": {"t": {"query": "a"}}}], "filter": [{"term": {"k": {"value": "x"}}}, {"terms": {"k": ["x"]}}, {"range": {"a": {"gte": 1}}}]}}, "size": 1, "sort": [{"a": {"order": "asc"}}], "_source": {"includes": ["a"]}, "highlight": {"fields": {"t": {"type": "plain"}}}, "aggs": {"x": {"terms": {"field": "k"}, "aggs": {"y": {"max": {"field": "a"}}}}}, "suggest": {"s": {"text": "hallo", "term": {"field": "t"}}}, "rescore": {"window_size": 5, "query": {"rescore_query": {"match_all": {}}}}, "script_fields": {"f": {"script": {"source": "1"}}}, "docvalue_fields": [{"field": "a", "format": None}]}),
    ("POST", A + "/_search", {"query": Q, "collapse": {"field": "k", "inner_hits": {"name": "i", "size": 1}}}),
    ("POST", A + "/_search", {"query": Q, "fields": [{"field": "a"}], "indices_boost": [{"keys-a": 1.0}], "track_total_hits": True, "slice": {"id": 0, "max": 2}}),
    ("POST", A + "/_search", {"query": {"nested": {"path": "n", "query": {"match_all": {}}, "inner_hits": {"size": 1, "highlight": {"fields": {"n.x": {}}}}}}}),
    ("POST", A + "/_search", {"query": {"function_score": {"query": {"match_all": {}}, "functions": [{"filter": {"match_all": {}}, "weight": 2}, {"gauss": {"a": {"origin": 1, "scale": 2}}}, {"script_score": {"script": {"source": "1"}}}, {"field_value_factor": {"field": "a"}}, {"random_score": {"seed": 1, "field": "a"}}]}}}),
    ("POST", A + "/_search", {"query": {"multi_match": {"query": "a", "fields": ["t"]}}}),
    ("POST", A + "/_search", {"query": {"query_string": {"query": "a"}}}),
    ("POST", A + "/_search", {"query": {"simple_query_string": {"query": "a"}}}),
    ("POST", A + "/_search", {"query": {"match_phrase": {"t": {"query": "a b", "slop": 1}}}}),
    ("POST", A + "/_search", {"query": {"match_phrase_prefix": {"t": {"query": "a b"}}}}),
    ("POST", A + "/_search", {"query": {"prefix": {"k": {"value": "x"}}}}),
    ("POST", A + "/_search", {"query": {"wildcard": {"k": {"value": "x*"}}}}),
    ("POST", A + "/_search", {"query": {"regexp": {"k": {"value": "x.*"}}}}),
    ("POST", A + "/_search", {"query": {"fuzzy": {"k": {"value": "x"}}}}),
    ("POST", A + "/_search", {"query": {"exists": {"field": "a"}}}),
    ("POST", A + "/_search", {"query": {"ids": {"values": ["1"]}}}),
    ("POST", A + "/_search", {"query": {"constant_score": {"filter": {"match_all": {}}}}}),
    ("POST", A + "/_search", {"query": {"dis_max": {"queries": [{"match_all": {}}]}}}),
    ("POST", A + "/_search", {"query": {"boosting": {"positive": {"match_all": {}}, "negative": {"match_all": {}}, "negative_boost": 0.5}}}),
    ("POST", A + "/_search", {"query": {"script": {"script": {"source": "true", "params": {"a": 1}}}}}),
    ("POST", A + "/_search", {"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": "1"}}}}),
    ("POST", A + "/_search", {"query": {"more_like_this": {"fields": ["t"], "like": [{"_index": "keys-a", "_id": "1"}], "min_term_freq": 1}}}),
    ("POST", A + "/_search", {"query": {"geo_distance": {"distance": "1km", "g": {"lat": 1, "lon": 2}}}}),
    ("POST", A + "/_search", {"query": {"geo_bounding_box": {"g": {"top_left": {"lat": 2, "lon": 1}, "bottom_right": {"lat": 1, "lon": 2}}}}}),
    ("POST", A + "/_search", {"query": {"geo_polygon": {"g": {"points": [{"lat": 1, "lon": 1}, {"lat": 2, "lon": 1}, {"lat": 2, "lon": 2}]}}}}),
    ("POST", A + "/_search", {"query": {"distance_feature": {"field": "d", "origin": "now", "pivot": "1d"}}}),
    ("POST", A + "/_search", {"query": {"match_bool_prefix": {"t": {"query": "a"}}}}),
    ("POST", A + "/_search", {"query": {"wrapper": {"query": "eyJtYXRjaF9hbGwiOnt9fQ=="}}}),
    ("POST", A + "/_search", {"query": {"match_none": {}}}),
    ("POST", A + "/_search", {"size": 0, "aggs": {"a": {"date_histogram": {"field": "d", "fixed_interval": "1d"}}, "b": {"histogram": {"field": "a", "interval": 1}}, "c": {"range": {"field": "a", "ranges": [{"from": 1, "to": 2}]}}, "d": {"date_range": {"field": "d", "ranges": [{"from": "now"}]}}, "e": {"filters": {"filters": {"x": {"match_all": {}}}}}, "f": {"filter": {"match_all": {}}}, "g": {"cardinality": {"field": "k"}}, "h": {"percentiles": {"field": "a", "percents": [50]}}, "i": {"stats": {"field": "a"}}, "j": {"top_hits": {"size": 1, "sort": [{"a": {"order": "asc"}}]}}}}),
    ("POST", A + "/_search", {"size": 0, "aggs": {"a": {"composite": {"size": 1, "sources": [{"x": {"terms": {"field": "k"}}}]}}, "b": {"nested": {"path": "n"}, "aggs": {"r": {"reverse_nested": {}}}}, "c": {"missing": {"field": "k"}}, "d": {"global": {}}, "e": {"value_count": {"field": "a"}}, "f": {"extended_stats": {"field": "a"}}, "g": {"geo_bounds": {"field": "g"}}, "h": {"geohash_grid": {"field": "g", "precision": 3}}, "i": {"geo_distance": {"field": "g", "origin": {"lat": 1, "lon": 1}, "ranges": [{"to": 1}]}}, "j": {"sampler": {"shard_size": 1}}, "k": {"significant_terms": {"field": "k"}}, "l": {"rare_terms": {"field": "k"}}, "m": {"adjacency_matrix": {"filters": {"x": {"match_all": {}}}}}, "n": {"auto_date_histogram": {"field": "d", "buckets": 2}}, "n2": {"variable_width_histogram": {"field": "a", "buckets": 2, "shard_size": 10, "initial_buffer": 10}}, "o": {"weighted_avg": {"value": {"field": "a"}, "weight": {"field": "a"}}}, "p": {"top_metrics": {"metrics": {"field": "a"}, "sort": {"a": "asc"}}}}}),
    ("POST", A + "/_search", {"size": 0, "aggs": {"a": {"histogram": {"field": "a", "interval": 1}, "aggs": {"m": {"max": {"field": "a"}}, "c": {"cumulative_sum": {"buckets_path": "m"}}, "d": {"derivative": {"buckets_path": "m"}}, "s": {"bucket_script": {"buckets_path": {"x": "m"}, "script": "params.x"}}, "l": {"bucket_selector": {"buckets_path": {"x": "m"}, "script": "params.x>0"}}, "o": {"bucket_sort": {"size": 1}}, "v": {"moving_fn": {"buckets_path": "m", "window": 2, "script": "MovingFunctions.max(values)"}}, "f": {"serial_diff": {"buckets_path": "m"}}}}, "x": {"max_bucket": {"buckets_path": "a>m"}}, "y": {"stats_bucket": {"buckets_path": "a>m"}}, "z": {"percentiles_bucket": {"buckets_path": "a>m"}}}}),
    ("POST", A + "/_search", {"suggest": {"text": "x", "a": {"phrase": {"field": "t", "direct_generator": [{"field": "t"}], "smoothing": {"laplace": {"alpha": 0.5}}, "highlight": {"pre_tag": "<", "post_tag": ">"}}}, "b": {"prefix": "x", "completion": {"field": "s", "fuzzy": {"fuzziness": 1}}}, "c": {"text": "x", "term": {"field": "t"}}}}),
    ("POST", A + "/_search", {"sort": [{"a": {"order": "asc", "nested": {"path": "n", "filter": {"match_all": {}}}}}, {"_script": {"type": "number", "script": {"source": "1"}, "order": "asc"}}, {"_geo_distance": {"g": {"lat": 1, "lon": 2}, "order": "asc"}}]}),
    ("POST", A + "/_count", {"query": Q}),("POST", A + "/_validate/query", {"query": Q}),("POST", A + "/_explain/1", {"query": Q}),
    ("POST", "/_mget", {"docs": [{"_index": "keys-a", "_id": "1", "_source": {"includes": ["a"]}}]}),
    ("POST", A + "/_mget", {"ids": ["1"]}),
    ("POST", "/_aliases", {"actions": [{"add": {"index": "keys-a", "alias": "keys-al", "filter": {"match_all": {}}}}]}),
    ("POST", "/_aliases", {"actions": [{"remove": {"index": "keys-a", "alias": "keys-al"}}]}),
    ("PUT", A + "/_alias/keys-al", {"routing": "1", "filter": {"match_all": {}}}),
    ("PUT", A + "/_settings", {"index": {"refresh_interval": "1s", "routing": {"allocation": {"enable": "all"}}}}),
    ("PUT", A + "/_settings", {"settings": {"refresh_interval": "1s"}}),
    ("PUT", A + "/_mapping", {"properties": {"new": {"type": "keyword", "fields": {"x": {"type": "text"}}}, "o": {"properties": {"p": {"type": "long"}}}}, "dynamic_templates": [{"x": {"match": "zz*", "mapping": {"type": "keyword"}}}], "_source": {"enabled": True}, "_routing": {"required": False}, "_meta": {"a": 1}}),
    ("PUT", "/keys-b", {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "analysis": {"analyzer": {"x": {"type": "custom", "tokenizer": "y", "filter": ["z"]}}, "tokenizer": {"y": {"type": "ngram"}}, "filter": {"z": {"type": "stop"}}}}, "mappings": {"properties": {"a": {"type": "text"}}}, "aliases": {"keys-al2": {"filter": {"match_all": {}}}}}),
    ("PUT", "/_template/keys-t", {"index_patterns": ["keys-zz*"], "order": 1, "settings": {"number_of_shards": 1}, "mappings": {"properties": {"a": {"type": "long"}}}, "aliases": {"keys-q": {"routing": "1"}}, "version": 1}),
    ("PUT", "/_index_template/keys-t", {"index_patterns": ["keys-zz*"], "priority": 987, "template": {"settings": {"number_of_shards": 1}, "mappings": {"properties": {"a": {"type": "long"}}}, "aliases": {"keys-q": {"routing": "1"}}}, "composed_of": [], "version": 1, "_meta": {"a": 1}}),
    ("PUT", "/_component_template/keys-t", {"template": {"settings": {"number_of_shards": 1}, "mappings": {"properties": {"a": {"type": "long"}}}, "aliases": {"keys-q": {"routing": "1"}}}, "version": 1, "_meta": {"a": 1}}),
    ("POST", "/_index_template/_simulate", {"index_patterns": ["keys-zz*"], "priority": 988, "template": {"settings": {"number_of_shards": 1}}}),
    ("POST", "/_analyze", {"tokenizer": {"type": "ngram"}, "filter": [{"type": "stop"}], "char_filter": [{"type": "html_strip"}], "text": "a b"}),
    ("POST", A + "/_analyze", {"field": "t", "text": "a"}),
    ("PUT", "/_cluster/settings", {"transient": {"cluster": {"routing": {"allocation": {"enable": None}}}}, "persistent": {}}),
    ("POST", "/_cluster/reroute?dry_run=true", {"commands": [{"cancel": {"index": "keys-a", "shard": 5, "node": "x"}}]}),
    ("POST", "/_cluster/reroute?dry_run=true", {"commands": [{"move": {"index": "keys-a", "shard": 0, "from_node": "x", "to_node": "y"}}]}),
    ("POST", "/_cluster/reroute?dry_run=true", {"commands": [{"allocate_replica": {"index": "keys-a", "shard": 0, "node": "x"}}]}),
    ("POST", "/_cluster/allocation/explain", {"index": "keys-a", "shard": 0, "primary": True}),
    ("POST", "/_reindex", {"source": {"index": "keys-a", "query": {"match_all": {}}, "size": 1, "sort": {"a": "asc"}, "_source": ["a"]}, "dest": {"index": "keys-d", "op_type": "index"}, "conflicts": "proceed", "max_docs": 1, "script": {"source": "ctx._source.q=1", "params": {"a": 1}}}),
    ("POST", A + "/_update_by_query", {"query": Q, "conflicts": "proceed", "max_docs": 1, "script": {"source": "ctx._source.q=1"}}),
    ("POST", A + "/_delete_by_query", {"query": {"match_none": {}}, "max_docs": 1}),
    ("POST", A + "/_update/1", {"doc": {"b": 1}, "upsert": {"c": 1}, "detect_noop": True, "_source": {"includes": ["a"]}}),
    ("POST", A + "/_update/1", {"script": {"source": "ctx._source.z=1", "params": {"q": 1}}, "scripted_upsert": False}),
    ("POST", "/_search/scroll", {"scroll_id": "x", "scroll": "1m"}),("DELETE", "/_search/scroll", {"scroll_id": ["x"]}),
    ("POST", A + "/_field_caps?fields=a", {"index_filter": {"match_all": {}}}),
    ("POST", A + "/_search_shards", {"query": {}}),("POST", A + "/_refresh", {}),("POST", A + "/_forcemerge", {}),("GET", "/_cluster/health/keys-a", {}),("GET", A, {}),("GET", "/_cat/indices/keys-a?h=index", {}),("DELETE", "/keys-zz", {}),("GET", A + "/_doc/1", {}),("POST", A + "/_close", {}),("POST", A + "/_open", {}),("PUT", A + "/_block/write", {}),("POST", "/_tasks/_cancel", {}),("GET", A + "/_mapping", {}),("POST", A + "/_flush", {}),("POST", A + "/_cache/clear", {}),("GET", "/_nodes", {}),("GET", A + "/_stats/docs", {}),("GET", "/", {})]
# Patterns of names: the words differ, or (refused here, too, by another check) even the type does.
OTHERWISE = [
    (r"_mget docs.0._source ", "left out"),  # Java fails there
    (r"_simulate template.settings ", "words"),
    (r"query.geo_distance.g \{\}$", "refused"),
    (r"suggest.a.phrase.highlight \{\}$", "words"),
    (r"^4 POST /keys-a/_search query\.function_score\.functions\.4\.random_score (\[\])$", "refused"),
    (r"^21 POST /keys-a/_search query\.more_like_this ", "refused"),
    (r"^21 POST /keys-a/_search query\.more_like_this\.like\.0 ", "refused"),
    (r"^22 POST /keys-a/_search query\.geo_distance (\{\})$", "refused"),
    (r"^23 POST /keys-a/_search query\.geo_bounding_box (\{\})$", "refused"),
    (r"^30 POST /keys-a/_search aggs\.a\.composite\.sources\.0\.x (\[\])$", "refused"),
    (r"^30 POST /keys-a/_search aggs\.i\.geo_distance\.origin ", "refused"),
    (r"^31 POST /keys-a/_search aggs\.a\.aggs\.d\.derivative ", "refused"),
    (r"^31 POST /keys-a/_search aggs\.a\.aggs\.l\.bucket_selector\.buckets_path (\{\}|\[\])$", "refused"),
    (r"^47 PUT /_index_template/keys-t template\.aliases (1|\[\])$", "refused"),
    (r"^48 PUT /_component_template/keys-t template\.aliases (1|\[\])$", "refused"),
    (r"^0 POST /keys-a/_search query\.bool\.filter\.1\.terms (\{\})$", "words"),
    (r"^0 POST /keys-a/_search rescore (\[\])$", "words"),
    (r"^0 POST /keys-a/_search script_fields (\{\})$", "words"),
    (r"^4 POST /keys-a/_search query\.function_score (1|\{\})$", "words"),
    (r"^4 POST /keys-a/_search query\.function_score\.functions\.1 (\{\})$", "words"),
    (r"^4 POST /keys-a/_search query\.function_score\.functions\.2 (\{\})$", "words"),
    (r"^4 POST /keys-a/_search query\.function_score\.functions\.3 (\{\})$", "words"),
    (r"^4 POST /keys-a/_search query\.function_score\.functions\.3\.field_value_factor (\{\})$", "words"),
    (r"^4 POST /keys-a/_search query\.function_score\.functions\.4 (\{\})$", "words"),
    (r"^4 POST /keys-a/_search query\.function_score\.functions\.4\.random_score (\{\})$", "words"),
    (r"^7 POST /keys-a/_search query\.simple_query_string (1)$", "words"),
    (r"^22 POST /keys-a/_search query\.geo_distance\.g (1)$", "words"),
    (r"^27 POST /keys-a/_search query\.wrapper ", "words"),
    (r"^28 POST /keys-a/_search query\.match_none ", "words"),
    (r"^30 POST /keys-a/_search aggs\.a\.composite\.sources\.0 (\[\])$", "words"),
    (r"^30 POST /keys-a/_search aggs\.a\.composite\.sources\.0\.x (1|\{\})$", "words"),
    (r"^30 POST /keys-a/_search aggs\.k\.significant_terms ", "words"),
    (r"^30 POST /keys-a/_search aggs\.m\.adjacency_matrix\.filters (\{\})$", "words"),
    (r"^31 POST /keys-a/_search aggs\.a\.aggs\.s\.bucket_script\.buckets_path (\{\}|\[\])$", "words"),
    (r"^31 POST /keys-a/_search aggs\.a\.aggs\.l\.bucket_selector ", "words"),
    (r"^31 POST /keys-a/_search aggs\.a\.aggs\.f\.serial_diff ", "words"),
    (r"^32 POST /keys-a/_search suggest\.a\.phrase (\{\}|\[\])$", "words"),
    (r"^32 POST /keys-a/_search suggest\.a\.phrase\.direct_generator\.0 ", "words"),
    (r"^33 POST /keys-a/_search sort\.2\._geo_distance (1)$", "words"),
    (r"^53 POST /_cluster/reroute\?dry_run=true commands\.0\.cancel (\{\}|\[\])$", "words"),
    (r"^54 POST /_cluster/reroute\?dry_run=true commands\.0\.move (\{\}|\[\])$", "words"),
    (r"^55 POST /_cluster/reroute\?dry_run=true commands\.0\.allocate_replica ", "words"),
    (r"^57 POST /_reindex source ", "words"),
    (r"^57 POST /_reindex source\.query ", "words"),
    (r"^57 POST /_reindex source\.query\.match_all ", "words"),
    (r"^57 POST /_reindex source\.sort (1|\[\])$", "words"),
    (r"^59 POST /keys-a/_delete_by_query query\.match_none ", "words"),
    (r"^63 DELETE /_search/scroll  ", "words"),
]


class Asker:
    """One connection."""

    def __init__(self, host, port):
        self.c = http.client.HTTPConnection(host, port, timeout=HANG_SECONDS)

    def call(self, method, path, body=None):
        """(status, the answer or None)"""
        self.c.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"} if body is not None else {})
        r = self.c.getresponse()
        text = r.read().decode("utf-8", "replace")
        try:
            return r.status, json.loads(text)
        except ValueError:
            return r.status, None

    def prepare(self):
        self.clean()
        self.call("PUT", A, {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": MAP})
        self.call("PUT", A + "/_doc/1?refresh=true", {"a": 1, "t": "hello", "k": "x"})

    def clean(self):
        for name in ("keys-a", "keys-b", "keys-d", "_template/keys-t", "_index_template/keys-t", "_component_template/keys-t"):
            self.call("DELETE", "/" + name)

    def says(self, method, path, body):
        """What is said of the request, without what differs from run to run."""
        if path.startswith("/keys-b"):
            self.call("DELETE", "/keys-b")
        status, answer = self.call(method, path, body)
        if status == 200 and ("_close" in path or "_block" in path):
            self.prepare()
        error = answer.get("error") if isinstance(answer, dict) else None
        if not isinstance(error, dict):
            return [status, error]
        cause, inner = (error.get("root_cause") or [{}])[0], error
        while "caused_by" in inner:
            inner = inner["caused_by"]
        said = [status, error.get("type"), error.get("reason"), cause.get("type"), cause.get("reason"), inner.get("reason")]
        return [re.sub(r"(?s)\n at \[Source.*", "", re.sub(r"(?<![\w-])[\w-]{22}(?![\w-])|(?<=simulate_template_)[\w-]+", "ID", t)) if isinstance(t, str) else t for t in said]


def levels(value, path=()):
    """The ways to the objects in it."""
    if isinstance(value, dict):
        yield path
        for key in value:
            yield from levels(value[key], path + (key,))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from levels(item, path + (i,))


def cases():
    """(name, method, path, body)"""
    for i, (method, path, body) in enumerate(REQUESTS):
        for way in levels(body):
            for value in (1, {}, []):
                changed = copy.deepcopy(body)
                at = changed
                for key in way:
                    at = at[key]
                at["zzz"] = value
                yield f"{i} {method} {path} {'.'.join(map(str, way))} {json.dumps(value)}", method, path, changed


def record(url):
    target = urllib.parse.urlsplit(url)
    asker, said, answers = Asker(target.hostname, target.port), [], {}
    asker.prepare()
    for name, method, path, body in cases():
        says = asker.says(method, path, body)
        if says not in said:
            said.append(says)
        answers[name] = said.index(says)
    asker.clean()
    with open(RECORDED, "w", encoding="utf-8") as f:
        f.write('{"said": [\n' + ",\n".join(json.dumps(s) for s in said) + '\n],\n"answers": {\n' + ",\n".join(f"{json.dumps(n)}: {i}" for n, i in answers.items()) + "\n}}\n")


def main():
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
        return
    with open(RECORDED, encoding="utf-8") as f:
        recorded = json.load(f)
    check.equal({name for name, *_ in cases()}, set(recorded["answers"]), "every case is recorded")
    with Node() as node:
        asker = Asker(node.host, node.port)
        asker.prepare()
        for name, method, path, body in cases():
            want, have = recorded["said"][recorded["answers"][name]], asker.says(method, path, body)
            loose = next((kind for pattern, kind in OTHERWISE if re.search(pattern, name)), None)
            if loose == "left out":
                continue
            if loose == "words":
                check.equal(have[:2], want[:2], name)
            elif loose == "refused":
                check(have[0] >= 400, f"{name} is refused", have)
            else:
                check.equal(have, want, name)
    check.end()


if __name__ == "__main__":
    main()
