#!/usr/bin/env python3
"""Files that requests name are read below the configuration folder alone, when they are regular and UTF-8; answers quote none of their lines. And
documents whose mapping would be beyond its limits are refused at once."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import Node, wait_for  # noqa: E402

PARTS = [("char_filter", "mapping", "mappings_path"), ("filter", "stop", "stopwords_path"), ("filter", "synonym", "synonyms_path"), ("filter", "synonym_graph", "synonyms_path"),
         ("filter", "stemmer_override", "rules_path"), ("filter", "word_delimiter", "type_table_path"), ("filter", "word_delimiter_graph", "type_table_path"),
         ("filter", "keyword_marker", "keywords_path"), ("filter", "keep", "keep_words_path"), ("filter", "common_grams", "common_words_path")]


def fill(conf):
    def put(name, data):
        with open(os.path.join(conf, name), "wb") as f:
            f.write(data)
    os.mkdir(os.path.join(conf, "sub"))
    put("rules.txt", b"# of letters\na => b\n")
    put("sub/rules.txt", b"a => c\n")
    put("secret.txt", b"SECRETSECRET\n")
    put("latin.txt", b"a => \xff\n")
    os.mkfifo(os.path.join(conf, "fifo"))
    os.symlink("/etc/passwd", os.path.join(conf, "out"))
    os.symlink("sub/rules.txt", os.path.join(conf, "in"))
    with open(os.path.join(conf, "large"), "wb") as f:
        f.truncate(65 << 20)


def nested(depth):
    return '{"x":' + '{"a":' * depth + "1" + "}" * depth + "}"


def file_that_went():
    """A file that an index needs is not there when the node starts again: the shard is told as failed, with the reason, holds up no other
    one, and comes back with the file."""
    with tempfile.TemporaryDirectory() as conf, Node(conf=conf) as node:
        path = os.path.join(conf, "rules.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write("a => b\n")
        analysis = {"filter": {"f": {"type": "synonym", "synonyms_path": "rules.txt"}}, "analyzer": {"a": {"tokenizer": "standard", "filter": ["f"]}}}
        body = {"settings": {"number_of_replicas": 0, "analysis": analysis}, "mappings": {"properties": {"t": {"type": "text", "analyzer": "a"}}}}
        assert node.call("PUT", "/ill", body)[0] == 200 and node.call("PUT", "/well", {"settings": {"number_of_replicas": 0}})[0] == 200
        for name in ("ill", "well"):
            assert node.call("PUT", f"/{name}/_doc/1", {"t": "a"})[0] == 201
        node.kill()
        os.rename(path, path + ".away")
        node.start()
        status = lambda name: node.call("GET", f"/_cluster/health/{name}")[1]["status"]
        wait_for("the other index", lambda: status("well") == "green")
        why = wait_for("the reason", lambda: (s := node.call("GET", "/_cat/shards/ill?h=state,unassigned.reason,unassigned.details")[1]).startswith("UNASSIGNED ALLOCATION_FAILED") and s)
        assert "rules.txt" in why or "IOException" in why, why
        assert status("ill") == "red"
        os.rename(path + ".away", path)
        wait_for("the index with its file", lambda: status("ill") == "green")
        assert node.call("GET", "/ill/_doc/1")[0] == 200
        hits = lambda: node.call("POST", "/ill/_search", {"query": {"match": {"t": "b"}}})[1]["hits"]["total"]["value"]
        assert node.call("POST", "/ill/_refresh")[0] == 200 and hits() == 1


def main():
    with tempfile.TemporaryDirectory() as conf, Node(conf=conf) as node:
        fill(conf)

        def analyze(place, kind, key, path):
            return node.call("POST", "/_analyze", {"tokenizer": "standard", place: [{"type": kind, key: path}], "text": "a"})

        for path, token in (("rules.txt", "b"), ("sub/rules.txt", "c"), ("in", "c"), (os.path.join(conf, "rules.txt"), "b")):
            status, answer = analyze(*PARTS[0], path)
            assert (status, answer["tokens"][0]["token"]) == (200, token), (path, answer)
        elsewhere = {}
        for part in PARTS:
            for path in ("/etc/passwd", "/no/such/file", "../../../../etc/passwd", "sub/../rules.txt", "out", "/proc/self/environ", "/proc/self/fd/2", "/dev/zero", "fifo", "sub", "", "large", "nope.txt"):
                status, answer = analyze(*part, path)
                assert status == 400 and answer["error"]["type"] == "illegal_argument_exception" and "IOException while reading" in answer["error"]["reason"], (part, path, answer)
                elsewhere[path] = answer["error"]["caused_by"]
            status, answer = analyze(*part, "latin.txt")
            assert status == 400 and "UTF-8" in answer["error"]["reason"], (part, answer)
            assert "SECRET" not in json.dumps(analyze(*part, "secret.txt")[1]), part
        assert elsewhere["/etc/passwd"] == elsewhere["/no/such/file"] == elsewhere["out"], "whether a file is there is not told"
        assert elsewhere["nope.txt"]["type"] == "no_such_file_exception"

        for depth in (25, 401, 900):
            status, answer = node.call("PUT", "/deep/_doc/1", nested(depth))
            assert status == 400 and "Limit of mapping depth [20]" in answer["error"]["reason"], (depth, answer)
        status, answer = node.call("PUT", "/wide/_doc/1", {f"f{i}": i for i in range(100000)})
        assert status == 400 and answer["error"]["reason"] == "Limit of total fields [1000] has been exceeded", answer

        node.call("PUT", "/meta", {"mappings": {"_meta": {"_routing": {"required": True}}}})
        assert node.call("PUT", "/meta/_doc/1", {"n": 1})[0] == 201 and node.call("GET", "/meta/_doc/1")[0] == 200
        for kind, error in (("derivative", "array_index_out_of_bounds_exception"), ("cumulative_sum", "action_request_validation_exception"), ("moving_avg", "array_index_out_of_bounds_exception"),
                            ("serial_diff", "array_index_out_of_bounds_exception"), ("moving_fn", "x_content_parse_exception")):
            status, answer = node.call("POST", "/meta/_search", {"aggs": {"h": {"histogram": {"field": "n", "interval": 1}, "aggs": {"x": {kind: {"buckets_path": []}}}}}})
            assert answer["error"]["type"] == error, (kind, answer)
        status, answer = node.call("POST", "/meta/_search", {"aggs": {"h": {"histogram": {"field": "n", "interval": 1}}, "x": {"max_bucket": {"buckets_path": []}}}})
        assert answer["error"]["type"] == "array_index_out_of_bounds_exception", answer


main()
file_that_went()
print("ok")
