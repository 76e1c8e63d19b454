#!/usr/bin/env python3
"""Requests that would take very long: others are answered meanwhile, they end when their client goes, and do not hold up the end of the node.

Each is sent and seen to be at work: the process uses processor time while it is not answered. Then another connection gets its
answer, the client goes, and the process must come to rest: what it uses from then on is counted in its own processor time, not by
the clock. The long form ends the node under each of them, too.
"""
import json
import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import HANG_SECONDS, Node, wait_for  # noqa: E402

FIGURES = os.environ.get("FIGURES") == "1"
LONG = os.environ.get("LONG") == "1"
WORDS = 20000      # of the index, each in a document of its own
BUSY = 0.3         # seconds of processor time that show that a request is at work
REST_TICKS = 3     # of 10 ms that a node at rest may use while it is watched
SLACK = 0.3        # seconds of processor time: 0.1 of the promise, and what the counters, the loops and other work take
QUICK = 5  # seconds of processor time: what takes longer than it is worth takes minutes
if os.environ.get("REPORTS"):
    SLACK *= 10    # each step costs a sanitizer's watch as well
    QUICK *= 10
TICK = os.sysconf("SC_CLK_TCK")


def search(body, path="/words/_search"):
    return "POST", path, json.dumps(body)


def query(q, **more):
    return search({"query": q, "size": 0, "track_total_hits": True, **more})


def suggest(kind, text, **more):
    return search({"suggest": {"s": {"text": text, kind: {"field": "name", **more}}}})


def polygon(n):
    """Corners on two circles in turn, so that the edges are everywhere."""
    import math
    r = lambda i: 60 if i % 2 else 5
    return [{"lat": r(i) * math.sin(2 * math.pi * i / n), "lon": r(i) * math.cos(2 * math.pi * i / n)} for i in range(n)]


def fuzzy_words(n):
    return " ".join(f"abcdefgh{i:06}" for i in range(n))


def buckets(pipeline):
    return {"size": 0, "aggs": {"h": {"histogram": {"field": "n", "interval": 1}, "aggs": {"v": {"avg": {"field": "n"}}, "p": pipeline}}}}


SLOW_SCRIPT = "double s = 0; for (int i = 0; i < 200000; ++i) { s += i % 7 } return s;"
SLOW_TEXT = "String s = 'ab'; for (int i = 0; i < 14; ++i) { s += s } int n = 0; for (int i = 0; i < 1000; ++i) { n += s.replace('a', 'bc').length() } return n;"
BACKTRACKING = {"type": "pattern_replace", "pattern": "(a|aa)+$", "replacement": "x"}

def many(one, n=200):
    return {"size": 0, "aggs": {f"a{i}": one for i in range(n)}}


def analyze(n, text, **parts):
    return "POST", "/_analyze", json.dumps({"text": [text * n], **parts})


WIDE = {"field": "n", "interval": 1, "min_doc_count": 0, "extended_bounds": {"min": 0, "max": 65000}}

# name -> (method, path, body); those of SHORT are also in the short form. Each takes minutes, or would.
REQUESTS = {
    "states of a regexp": query({"regexp": {"name": {"value": ".*a.{18}", "max_determinized_states": 2000000}}}),
    "states of a regexp of a field of keywords": query({"regexp": {"word": {"value": ".*a.{18}b", "max_determinized_states": 2000000}}}),
    "an intersection of regexps": query({"regexp": {"name": {"value": "(.*a.{17})&(.*b.{17})", "max_determinized_states": 2000000}}}),
    "a complement": query({"regexp": {"name": {"value": "~(.*a.{18})", "max_determinized_states": 2000000}}}),
    "regexps in a bool": query({"bool": {"should": [{"regexp": {"name": {"value": f".*{c}.{{18}}", "max_determinized_states": 2000000}}} for c in "abcdefgh"]}}),
    "a regexp in msearch": ("POST", "/words/_msearch", '{}\n' + json.dumps({"query": {"regexp": {"name": {"value": ".*a.{18}", "max_determinized_states": 2000000}}}}) + "\n"),
    "a regexp in validate": ("POST", "/words/_validate/query?rewrite=true", json.dumps({"query": {"regexp": {"name": {"value": ".*a.{18}", "max_determinized_states": 2000000}}}})),
    "a regexp in explain": ("POST", "/words/_explain/1", json.dumps({"query": {"regexp": {"name": {"value": ".*a.{18}", "max_determinized_states": 2000000}}}})),
    "a regexp in a filter of aggregations": search({"size": 0, "aggs": {"f": {"filter": {"regexp": {"name": {"value": ".*a.{18}", "max_determinized_states": 2000000}}}}}}),
    "a regexp in a post filter": search({"post_filter": {"regexp": {"name": {"value": ".*a.{18}", "max_determinized_states": 2000000}}}}),
    "a regexp that is counted": ("POST", "/words/_count", json.dumps({"query": {"regexp": {"name": {"value": ".*a.{18}", "max_determinized_states": 2000000}}}})),
    "a regexp in delete by query": ("POST", "/words/_search?scroll=1m", json.dumps({"query": {"regexp": {"name": {"value": ".*a.{18}", "max_determinized_states": 2000000}}}})),
    "a match of fuzzy words": query({"match": {"name": {"query": fuzzy_words(1000), "fuzziness": 2, "max_expansions": 1000}}}),
    "fuzzy words in multi_match": query({"multi_match": {"query": fuzzy_words(900), "fields": ["name", "text"], "fuzziness": 2, "max_expansions": 1000}}),
    "fuzzy words in query_string": query({"query_string": {"query": " ".join(f"abcdefgh{i:06}~2" for i in range(900)), "fields": ["name"], "fuzzy_max_expansions": 1000}}),
    "fuzzy words that are scored over shards": search({"query": {"match": {"name": {"query": fuzzy_words(1000), "fuzziness": 2, "max_expansions": 1000}}}}, "/words/_search?search_type=dfs_query_then_fetch"),
    "suggestions of terms": suggest("term", fuzzy_words(20000), suggest_mode="always", max_edits=2, prefix_length=0, min_word_length=1, max_inspections=100000),
    "suggestions of phrases": suggest("phrase", fuzzy_words(9), max_errors=9.0, real_word_error_likelihood=0.5,
                                      direct_generator=[{"field": "name", "suggest_mode": "always", "size": 200, "prefix_length": 0, "min_word_length": 1, "max_inspections": 100000}]),
    "a window that moves": search(buckets({"moving_fn": {"buckets_path": "v", "window": 2147483647, "script": "MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))"}})),
    "a window that moves by a model": search(buckets({"moving_fn": {"buckets_path": "v", "window": 2147483647, "script": "MovingFunctions.holt(values, 0.3, 0.1)"}})),
    "a script of buckets": search(buckets({"bucket_script": {"buckets_path": {"v": "v"}, "script": "def s = 0; for (int i = 0; i < 200000; ++i) { s += i % 7 } return s;"}})),
    "a polygon": query({"geo_polygon": {"at": {"points": polygon(100000)}}}),
    "polygons in a bool": query({"bool": {"should": [{"geo_polygon": {"at": {"points": polygon(30000)}}} for _ in range(3)]}}),
    "a phrase of equal words": query({"match_phrase": {"text": " ".join(["same"] * 5000)}}),
    "a sloppy phrase": query({"match_phrase": {"text": {"query": " ".join(["same"] * 1000), "slop": 1000}}}),
    "a script of each document": query({"script": {"script": f"{SLOW_SCRIPT.replace('return s', 'return s > 0')}"}}),
    "a script that replaces": query({"script": {"script": SLOW_TEXT.replace("return n", "return n > 0")}}),
    "a script that scores": search({"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": SLOW_SCRIPT}}}}),
    "a script that sorts": search({"sort": [{"_script": {"type": "number", "script": SLOW_SCRIPT}}]}),
    "a script of hits": search({"size": 10000, "script_fields": {"s": {"script": SLOW_SCRIPT}}}),
    "a script of an aggregation": search({"size": 0, "aggs": {"s": {"sum": {"script": SLOW_SCRIPT}}}}),
    "pairs of filters": search(many({"adjacency_matrix": {"filters": {f"f{i}": {"match_all": {}} for i in range(100)}}}, 12)),
    "many ranges": search({"size": 0, "aggs": {"r": {"range": {"field": "n", "ranges": [{"from": 0, "to": 1000000 + i} for i in range(60000)]}}}}),
    "fragments to be highlighted": search({"size": 1000, "query": {"match": {"text": "same"}}, "highlight": {"fields": {"text": {"type": "unified"}}}}),
    "phrases to be highlighted": search({"size": 1000, "query": {"match_phrase": {"text": "same same same"}}, "highlight": {"fields": {"text": {"type": "plain"}}}}),
    "rescoring": search({"size": 10000, "query": {"match_all": {}}, "rescore": {"window_size": 10000, "query": {"rescore_query": {"script_score": {"query": {"match_all": {}}, "script": {"source": SLOW_SCRIPT}}}}}}),
    "buckets in buckets": search({"size": 0, "aggs": {"a": {"terms": {"field": "word", "size": 20000}, "aggs": {"b": {"terms": {"field": "word", "size": 20000}, "aggs": {"c": {"top_hits": {"size": 1, "script_fields": {"s": {"script": SLOW_SCRIPT}}}}}}}}}}),
    "keys that print long": search({"size": 0, "aggs": {"c": {"composite": {"size": 10000, "sources": [{f"s{i}": {"date_histogram": {"field": "n", "fixed_interval": "1ms", "format": "yyyy" * 1000}}} for i in range(100)]}}}}),
    "long meta of many buckets": search({"size": 0, "aggs": {"a": {"terms": {"field": "word", "size": 20000}, "aggs": {"m": {"sum": {"field": "n"}, "meta": {"a": "x" * 100000}}}}}}),
    "many percentiles": search({"size": 0, "aggs": {"p": {"percentiles": {"field": "n", "percents": [i / 10000 for i in range(1000000)]}}}}),
    "exact percentiles": search(many({"percentiles": {"field": "n", "tdigest": {"compression": 1e9}}})),
    "a boundary that is far": search({"query": {"match": {"b1": "same"}}, "highlight": {"boundary_scanner": "chars", "boundary_max_scan": 1000000000, "boundary_chars": "^", "require_field_match": False,
                                      "fragment_size": 20, "number_of_fragments": 100000, "fields": {"b*": {"type": "fvh"}}}}, "/big/_search"),
    "distances from many places": search({"sort": [{"_geo_distance": {"at": [{"lat": i % 90, "lon": i % 180} for i in range(20000)], "mode": "min"}}]}),
    "hits that are explained": search({"size": 10000, "explain": True, "query": {"match": {"name": {"query": fuzzy_words(300), "fuzziness": 2, "max_expansions": 1000}}}}),
    "a pattern of an analyzer": ("POST", "/_analyze", json.dumps({"tokenizer": "keyword", "char_filter": [BACKTRACKING], "text": [("a" * 30 + "b") for _ in range(2000)]})),  # each just within the limit of one
    "paths of an analyzer": analyze(200000, "/A", tokenizer="path_hierarchy", filter=["lowercase"]),
    "paths from their ends": analyze(200000, "A/", tokenizer={"type": "path_hierarchy", "reverse": True}, filter=["lowercase", "asciifolding"]),
    "words of a path": analyze(200000, "/a", tokenizer="path_hierarchy", filter=["word_delimiter_graph"]),
    "pinyin of a path": analyze(100000, "/酒店", tokenizer="path_hierarchy", filter=["pinyin"]),
    "bigrams of a path": analyze(100000, "/酒店", tokenizer="path_hierarchy", filter=["cjk_width", "cjk_bigram"]),
    "synonyms of a path": analyze(200000, "/a", tokenizer="path_hierarchy", filter=["uppercase", {"type": "synonym_graph", "synonyms": ["A, b c, d"]}, "flatten_graph"]),
    "explained paths": analyze(200000, "/a", tokenizer="path_hierarchy", filter=["uppercase"], explain=True),
    "words that join": analyze(200000, "a_", tokenizer="classic"),
    "a pattern of a tokenizer": analyze(200000, "aa", tokenizer={"type": "simple_pattern", "pattern": "a*b"}),
    "many searches at once": ("POST", "/words/_msearch", "".join("{}\n" + search({"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": SLOW_SCRIPT}}}})[2] + "\n" for _ in range(200))),
    "composites of many sources": search(many({"composite": {"size": 10000, "sources": [{f"s{i}": {"terms": {"field": ["word", "n"][i % 2]}}} for i in range(8)]}})),
    "composites of scripts": search({"size": 0, "aggs": {"c": {"composite": {"sources": [{"s": {"terms": {"script": SLOW_SCRIPT}}}]}}}}),
    "significant terms": search({"query": {"range": {"n": {"lt": 19000}}}, **many({"significant_terms": {"field": "word", "size": 10000, "min_doc_count": 1, "background_filter": {"range": {"n": {"gte": 5}}}}})}),
    "rare terms and percentiles": search(many({"rare_terms": {"field": "word", "max_doc_count": 1}, "aggs": {"p": {"percentiles": {"field": "n"}}}}, 100)),
    "cells of places": search(many({"geohash_grid": {"field": "at", "precision": 12, "size": 10000}})),
    "pipelines over many buckets": search({"size": 0, "aggs": {"h": {"histogram": WIDE, "aggs": {"v": {"avg": {"field": "n"}}, **{f"p{i}": {"cumulative_sum": {"buckets_path": "v"}} for i in range(40)},
                                           **{f"m{i}": {"moving_fn": {"buckets_path": "v", "window": 1000, "script": "MovingFunctions.linearWeightedAvg(values)"}} for i in range(40)}}}}}),
    "siblings of many buckets": search({"size": 0, "aggs": {"h": {"histogram": WIDE, "aggs": {"v": {"avg": {"field": "n"}}}}, **{f"p{i}": {"percentiles_bucket": {"buckets_path": "h>v"}} for i in range(300)}}}),
    "nested documents": search({"query": {"nested": {"path": "c", "score_mode": "sum", "query": {"script_score": {"query": {"match_all": {}}, "script": {"source": SLOW_SCRIPT}}}}}}, "/deep/_search"),
    "nested documents in buckets": search({"size": 0, "aggs": {f"a{i}": {"nested": {"path": "c"}, "aggs": {"t": {"terms": {"field": "c.k", "size": 10000}, "aggs": {"r": {"reverse_nested": {}, "aggs": {"t": {"terms": {"field": "_id", "size": 100}}}}}}}} for i in range(100)}}, "/deep/_search"),
    "inner hits of nested documents": search({"size": 200, "query": {"nested": {"path": "c", "query": {"match_all": {}}, "inner_hits": {"size": 100, "script_fields": {"s": {"script": SLOW_SCRIPT}}}}}}, "/deep/_search"),
    **{f"a long text, highlighted ({kind})": search({"query": {"match": {"b1": "same other"}}, "highlight": {"require_field_match": False, "number_of_fragments": 100, "fields": {"b*": {"type": kind}}}}, "/big/_search")
       for kind in ("plain", "unified", "fvh")},
    "groups with inner hits": search({"size": 20000, "collapse": {"field": "word", "inner_hits": [{"name": f"i{k}", "size": 3} for k in range(3)]}}),
    "large documents": ("POST", "/big/_mget", json.dumps({"ids": ["1"] * 1000})),
    "large documents that are filtered": ("POST", "/big/_mget", json.dumps({"docs": [{"_id": "1", "_source": ["b*"]}] * 1000})),
    "a thousand patterns of a source": search({"size": 10000, "_source": [f"*{i}*.a*b*c*d" for i in range(1000)]}),
    "a hundred thousand searches": ("POST", "/words/_msearch", "{}\n{\"size\":1}\n" * 100000),
    "ten thousand rated searches": ("POST", "/words/_rank_eval", json.dumps({"metric": {"precision": {}}, "requests": [{"id": f"q{i}", "request": {"query": {"match_all": {}}}, "ratings": []} for i in range(10000)]})),
    "slow rated searches": ("POST", "/words/_rank_eval", json.dumps({"metric": {"dcg": {}}, "requests": [{"id": f"q{i}", "request": {"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": SLOW_SCRIPT}}}}, "ratings": []} for i in range(100)]})),
    "a pattern of an index's analyzer": query({"bool": {"should": [{"match": {"slow": "a" * 30 + f"b{i}"}} for i in range(300)]}}),
}
SLOW_UPDATE_SOURCE = "double s = 0; for (int i = 0; i < 200000; ++i) { s += i % 7 } ctx._source.n = s"
SLOW_UPDATE = json.dumps({"script": SLOW_UPDATE_SOURCE})
# Writes end with the node alone.
ENDS_ONLY = {
    "a bulk of updates by slow scripts": ("POST", "/words/_bulk", "".join('{"update":{"_id":"%d"}}\n%s\n' % (i, SLOW_UPDATE) for i in range(400))),
    "a bulk of documents that are slow to analyze": ("POST", "/words/_bulk", "".join('{"index":{}}\n' + json.dumps({"slow": " ".join("a" * 60 + "b" for _ in range(20))}) + "\n" for _ in range(200))),
    "an update by query": ("POST", "/words/_update_by_query", json.dumps({"script": {"source": SLOW_UPDATE_SOURCE}})),
    "a reindex": ("POST", "/_reindex", json.dumps({"source": {"index": "words"}, "dest": {"index": "words2"}, "script": {"source": SLOW_UPDATE_SOURCE}})),
    "a delete by query": ("POST", "/words/_delete_by_query", json.dumps({"query": {"script": {"script": SLOW_SCRIPT.replace("return s", "return s < 0")}}})),
}
SHORT = ["paths of an analyzer", "states of a regexp", "a match of fuzzy words", "a window that moves", "a polygon", "a phrase of equal words", "a script that replaces"]


def fill(node):
    body = {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1, "max_result_window": 100000,
                         "analysis": {"char_filter": {"slow": BACKTRACKING}, "analyzer": {"slow": {"tokenizer": "whitespace", "char_filter": ["slow"]}}}},
            "mappings": {"properties": {"name": {"type": "text"}, "word": {"type": "keyword"}, "n": {"type": "long"}, "at": {"type": "geo_point"}, "text": {"type": "text"},
                                        "slow": {"type": "text", "analyzer": "slow"}}}}
    assert node.call("PUT", "/words", body)[0] == 200
    same = " ".join(["same"] * 6000)
    for first in range(0, WORDS, 5000):
        lines = []
        for i in range(first, first + 5000):
            doc = {"name": f"abcdefgh{i:06}", "word": f"abcdefgh{i:06}", "n": i, "at": {"lat": i % 90 - 45 + i / WORDS, "lon": i % 180 - 90 + i / WORDS}}
            if i % 40 == 0:
                doc["text"] = same
            lines += [{"index": {"_id": str(i)}}, doc]
        assert node.call("POST", "/words/_bulk", lines)[1]["errors"] is False
    assert node.call("POST", "/words/_refresh")[0] == 200
    one = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1}
    assert node.call("PUT", "/deep", {"settings": one, "mappings": {"properties": {"c": {"type": "nested", "properties": {"k": {"type": "keyword"}, "n": {"type": "long"}}}}}})[0] == 200
    lines = []
    for i in range(100):
        lines += [{"index": {"_id": str(i)}}, {"c": [{"k": f"k{k}", "n": k} for k in range(500)]}]
    assert node.call("POST", "/deep/_bulk?refresh=true", lines)[1]["errors"] is False
    fields = {f"b{i}": {"type": "text", "term_vector": "with_positions_offsets"} for i in range(4)}
    assert node.call("PUT", "/big", {"settings": {**one, "highlight": {"max_analyzed_offset": 100000000}}, "mappings": {"properties": fields}})[0] == 200
    assert node.call("PUT", "/big/_doc/1?refresh=true", {name: "same words and some other ones. " * (5 * 1024 * 1024 // 32) for name in fields})[0] == 201


def used(node):
    """Seconds of processor time of the process."""
    with open(f"/proc/{node.process.pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def send(node, request):
    method, path, body = request
    data = body.encode()
    kind = "application/x-ndjson" if path.endswith("_msearch") else "application/json"
    s = socket.create_connection((node.host, node.port))
    s.sendall(f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
    return s


def answered(s):
    s.settimeout(0)
    try:
        return bool(s.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False


def at_work(node, s, before, name):
    """Waits until the node has worked for a while on the request, which must not be answered by then."""
    end = time.monotonic() + HANG_SECONDS
    while used(node) - before < BUSY:
        assert not answered(s), f"{name}: answered after {used(node) - before:.2f} s: {s.recv(600)!r}"
        assert time.monotonic() < end, f"{name}: the node does not work"
        time.sleep(0.01)


def at_rest(node):
    """Waits until the node uses next to nothing for a while; what it had used when that began."""
    start, quiet = used(node), 0
    end = time.monotonic() + HANG_SECONDS
    while quiet < 20:
        assert time.monotonic() < end, "the node does not come to rest"
        time.sleep(0.02)
        now = used(node)
        if now - start > REST_TICKS / TICK:
            start, quiet = now, 0
        quiet += 1
    return start


def runs_and_goes(node, name):
    before = at_rest(node)
    s = send(node, REQUESTS[name])
    at_work(node, s, before, name)
    for _ in range(4):
        assert node.call("GET", "/")[0] == 200
        assert node.call("POST", "/words/_search", {"query": {"term": {"word": "abcdefgh000001"}}})[1]["hits"]["total"]["value"] == 1, name
    assert not answered(s), f"{name}: it was not long enough: {s.recv(600)!r}"
    gone = used(node)
    s.close()
    rest = at_rest(node)
    if FIGURES:
        print(f"{rest - gone:.2f} s  {name}", flush=True)
    assert rest - gone < SLACK, f"{name}: {rest - gone:.2f} s of processor time after the client had gone"


def waited(pid, by_thread):
    """Notes for how long each thread of a process has waited for a processor that others had."""
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as f:
                by_thread[tid] = int(f.read().split()[1]) / 1e9
    except (OSError, IndexError):  # it ends
        pass


def told_to_end(node, name):
    """SIGTERM; the node ends within 5 s. What its threads waited for a processor meanwhile is the machine's, not the node's."""
    pid, before, after = node.process.pid, {}, {}
    waited(pid, before)
    start = time.monotonic()
    node.process.send_signal(signal.SIGTERM)
    while node.process.poll() is None:
        waited(pid, after)
        assert time.monotonic() - start < HANG_SECONDS, f"{name}: the node does not end"
        time.sleep(0.01)
    took = time.monotonic() - start
    others = sum(seconds - before.get(tid, 0) for tid, seconds in after.items())
    node.log.close()
    assert node.process.returncode == 0 and took - others < 5, (name, node.process.returncode, took, others)


def ends_under(node, name):
    before = at_rest(node)
    s = send(node, {**REQUESTS, **ENDS_ONLY}[name])
    at_work(node, s, before, name)
    told_to_end(node, name)
    s.close()
    node.start()
    wait_for("the shard after a restart", lambda: node.call("GET", "/words/_doc/0")[0] == 200)


def test_updates_give_way(node):
    """Others write to a shard while updates by slow scripts are on it."""
    before = at_rest(node)
    s = send(node, ENDS_ONLY["a bulk of updates by slow scripts"])
    at_work(node, s, before, "slow updates")
    for _ in range(3):
        assert node.call("PUT", "/words/_doc/other?refresh=true", {"n": 1})[0] in (200, 201)
    assert not answered(s), "the updates were not slow enough"
    told_to_end(node, "slow updates")
    s.close()
    node.start()
    wait_for("the shard after a restart", lambda: node.call("GET", "/words/_doc/0")[0] == 200)


def test_ends_while_it_replays(node):
    """A node that is told to end while it reads a log of documents that are slow to analyze; and which has them all the next time."""
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1, "analysis": {"char_filter": {"slow": BACKTRACKING}, "analyzer": {"slow": {"tokenizer": "keyword", "char_filter": ["slow"]}}}}
    assert node.call("PUT", "/log", {"settings": settings, "mappings": {"properties": {"slow": {"type": "text", "analyzer": "slow"}}}})[0] == 200
    docs = 30
    for i in range(docs):
        assert node.call("PUT", f"/log/_doc/{i}", {"slow": "a" * 30 + "b"})[0] == 201
    node.kill()
    node.launch()
    end = time.monotonic() + HANG_SECONDS
    while used(node) < 2:
        assert time.monotonic() < end and node.process.poll() is None
        time.sleep(0.01)
    told_to_end(node, "a log that is read")
    node.start()
    wait_for("the shard", lambda: node.call("GET", "/_cluster/health/log")[1]["status"] == "green")
    assert node.call("POST", "/log/_refresh")[0] == 200 and node.call("GET", "/log/_count")[1]["count"] == docs
    assert node.call("DELETE", "/log")[0] == 200


def test_timeout(node):
    """What does not end in the request's time is answered in it, with what was found."""
    body = {"timeout": "200ms", "query": {"match": {"name": {"query": fuzzy_words(1000), "fuzziness": 2, "max_expansions": 1000}}}}
    before = at_rest(node)
    status, answer = node.call("POST", "/words/_search", body)
    assert status == 200 and answer["timed_out"] is True, answer
    assert used(node) - before < 3, used(node) - before
    body = {**body, "aggs": {"s": {"sum": {"field": "n"}}}, "sort": [{"n": "asc"}]}
    status, answer = node.call("POST", "/words/_search", body)
    assert status == 200 and answer["timed_out"] is True and answer["aggregations"]["s"]["value"] == 0, answer


def test_states_are_limited(node):
    """The limit of states holds before there are as many."""
    for pattern, states in (("(a{1,1000}){1,1000}", 1999000), ("((a*){1,1000}){1,1000}", 999000), ("(a{1,100}){1,90}", 17910), (".*a.{14}", 10000)):
        before = used(node)
        status, answer = node.call("POST", "/words/_search", {"query": {"regexp": {"name": {"value": pattern}}}})
        cause = answer["error"]["root_cause"][0]
        assert cause["reason"].endswith(f"Determinizing {pattern} would result in more than {states} states."), cause
        assert used(node) - before < QUICK, pattern
    stars = node.call("POST", "/words/_search", {"query": {"wildcard": {"name": "*a" * 16500}}})
    assert stars[0] == 200 and stars[1]["hits"]["total"]["value"] == 0, stars


def test_is_not_long(node):
    """What would have taken hours by the product of its parts: brackets that nothing closes, lists that hold one list many times, stops in a row."""
    twice = "def {0} = ['a']; for (int i = 0; i < 40; i++) {{ {0} = [{0}, {0}] }} "
    lists = twice.format("a") + twice.format("b")
    quick = {"brackets": (200, {"query": {"simple_query_string": {"query": "(" * 1000000, "fields": ["name", "text"]}}}),
             "brackets, and words": (200, {"query": {"simple_query_string": {"query": "((( (same) " * 900, "fields": ["text"]}}})}
    for expression in ("a == b", "a.equals(b)", "[a].contains(b)", "[a].indexOf(b) >= 0", "['x': a].equals(['x': b])", "Objects.equals(a, b)"):
        quick[expression] = (400, {"script_fields": {"s": {"script": f"{lists} return {expression}"}}})
    quick["many sort keys"] = (429, {"size": 10000, "sort": [{"n": "asc"}] * 10000})
    quick["many sort keys of buckets"] = (429, {"size": 0, "aggs": {"w": {"terms": {"field": "word", "size": 20000}, "aggs": {"h": {"top_hits": {"size": 100, "sort": [{"n": "asc"}] * 1000}}}}}})
    assert node.call("PUT", "/big/_doc/stops?refresh=true", {"c": "same" + "." * 1000000})[0] == 201
    quick["stops"] = (200, {"query": {"term": {"_id": "stops"}}, "highlight": {"highlight_query": {"match": {"c": "same"}}, "fields": {"c": {"type": "unified"}}}})
    nested = "x"
    for _ in range(300):
        nested = {"a": nested}
    assert node.call("PUT", "/nests", {"settings": {"number_of_replicas": 0}, "mappings": {"enabled": False}})[0] == 200
    assert node.call("PUT", "/nests/_doc/1", nested)[0] == 201
    templates = [{f"t{i}": {"match_pattern": "regex", "match": "(a|aa)+$", "mapping": {"type": "keyword"}}} for i in range(1000)]
    aliases = [{"add": {"index": "nests", "alias": f"al{i}", "filter": {"term": {"word": "x"}}}} for i in range(20000)]
    changes = {"settings": (400, "PUT", "/none", {"settings": {f"k{i}": i for i in range(50000)}}),
               "templates": (200, "PUT", "/templates", {"settings": {"number_of_replicas": 0}, "mappings": {"dynamic_templates": templates}}),
               "a name that matches for ever": (400, "PUT", "/templates/_doc/1", {"a" * 60 + "b": 1}),
               "numbers": (200, "PUT", "/numbers", {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"n": {"type": "integer"}}}}),
               "an object of many keys where a number is wanted": (400, "PUT", "/numbers/_doc/1", {"n": {f"k{i}": i for i in range(200000)}}),
               "aliases": (200, "POST", "/_aliases", {"actions": aliases}),
               "their end": (200, "POST", "/_aliases", {"actions": [{"remove": {"index": "nests", "alias": f"al{i}"}} for i in range(20000)]})}
    for name, (status, method, path, body) in changes.items():
        before = used(node)
        got, answer = node.call(method, path, body)
        assert got == status, (name, got, str(answer)[:500])
        assert used(node) - before < QUICK, (name, used(node) - before)
    for path in ("**." * 300 + "x", "**.a." * 100 + "**.b", "-" + "**." * 300 + "x"):
        before = used(node)
        assert node.call("GET", f"/nests/_doc/1?filter_path={path}")[0] == 200
        assert used(node) - before < QUICK, path[:20]
    for name, (status, body) in quick.items():
        before = used(node)
        got, answer = node.call("POST", "/words/_search" if name != "stops" else "/big/_search", body)
        assert got == status, (name, got, str(answer)[:500])
        assert used(node) - before < QUICK, (name, used(node) - before)


def test_cancel(node):
    """A task that is cancelled ends, and its client hears it."""
    s = send(node, REQUESTS["a match of fuzzy words"])
    tasks = lambda: node.call("GET", "/_tasks?actions=indices:data/read/search")[1]["nodes"]
    end = time.monotonic() + HANG_SECONDS
    while not tasks():
        assert time.monotonic() < end
    assert node.call("POST", "/_tasks/_cancel?actions=indices:data/read/search")[0] == 200
    s.settimeout(HANG_SECONDS)
    answer = b""
    while not answer.endswith(b'"status":400}'):
        more = s.recv(65536)
        assert more, answer
        answer += more
    assert answer.startswith(b"HTTP/1.1 400") and b"task_cancelled_exception" in answer, answer
    s.close()


if __name__ == "__main__":
    names = [n for n in REQUESTS if n in sys.argv[1:]] if len(sys.argv) > 1 else list(REQUESTS) if LONG else SHORT
    with Node() as started:
        fill(started)
        for one in names:
            runs_and_goes(started, one)
            if LONG or one == SHORT[1]:
                ends_under(started, one)
        for one in ENDS_ONLY if len(sys.argv) == 1 else ():
            ends_under(started, one)
        if len(sys.argv) == 1:
            test_updates_give_way(started)
            if LONG:
                test_ends_while_it_replays(started)
            test_timeout(started)
            test_states_are_limited(started)
            test_is_not_long(started)
            test_cancel(started)
    print(f"{len(names) + len(ENDS_ONLY) + 5} passed, 0 failed")
