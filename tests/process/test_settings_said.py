#!/usr/bin/env python3
"""Settings that have no effect are said: by a Warning header where a request sets them, by a warning in the log where a node is started with them. Those that
ask for protection which is not there keep a node from starting."""
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from node import BUILD, HANG_SECONDS, Node, free_port  # noqa: E402

check = Checks()
PROGRAM = os.path.join(BUILD, "bin", "serai-node")


def ask(node, method, path, body=None):
    """(status, body, warning)"""
    request = urllib.request.Request(node.url + path, method=method, data=json.dumps(body).encode() if body is not None else None,
                                     headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=HANG_SECONDS) as r:
            return r.status, json.loads(r.read()), r.headers.get("Warning")
    except urllib.error.HTTPError as e:
        return e.code, json.loads(e.read()), e.headers.get("Warning")


def refused(setting, word):
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.run([PROGRAM, "-E", f"path.data={folder}/d", "-E", f"http.port={free_port()}", "-E", setting], capture_output=True, text=True, timeout=HANG_SECONDS)
    check(p.returncode == 64 and word in p.stderr, f"a node does not start with {setting}", (p.returncode, p.stderr[-300:]))


def warned(node, method, path, body, names):
    status, _, warning = ask(node, method, path, body)
    check.equal(status, 200, f"{method} {path}")
    check(warning is not None and warning.startswith("299 Elasticsearch-7.12.1-") and f"[{names}]" in warning, f"{method} {path} warns of {names}", warning)


def silent(node, method, path, body):
    status, _, warning = ask(node, method, path, body)
    check.equal((status, warning), (200, None), f"{method} {path} says nothing")


def answers(node):
    warned(node, "PUT", "/a", {"settings": {"index": {"codec": "best_compression", "store": {"type": "niofs"}}}}, "index.codec, index.store.type")
    silent(node, "PUT", "/b", {"settings": {"codec": "default", "refresh_interval": "3s"}})
    warned(node, "PUT", "/b/_settings", {"priority": 7}, "index.priority")
    silent(node, "PUT", "/b/_settings", {"index.refresh_interval": "1s"})
    warned(node, "PUT", "/_template/t", {"index_patterns": ["x*"], "settings": {"index.priority": 7}}, "index.priority")
    warned(node, "PUT", "/_index_template/t", {"index_patterns": ["x*"], "template": {"settings": {"priority": 7}}}, "index.priority")
    warned(node, "PUT", "/_component_template/t", {"template": {"settings": {"priority": 7}}}, "index.priority")
    warned(node, "PUT", "/_cluster/settings", {"transient": {"cluster.service.slow_task_logging_threshold": "5s"}}, "cluster.service.slow_task_logging_threshold")
    silent(node, "PUT", "/_cluster/settings", {"transient": {"script.max_size_in_bytes": 10}})
    scripted = {"query": {"script": {"script": {"source": "return true;"}}}}
    status, answer, _ = ask(node, "POST", "/a/_search", scripted)
    check.equal((status, answer["error"]["root_cause"][0]["reason"]),
                (400, "failed to create query: exceeded max allowed inline script size in bytes [10] with size [12] for script [return true;]"), "a script that is too long")
    silent(node, "PUT", "/_cluster/settings", {"transient": {"script.max_size_in_bytes": None}})
    check.equal(ask(node, "POST", "/a/_search", scripted)[0], 200, "the same script under the default")
    silent(node, "PUT", "/_cluster/settings", {"transient": {"search.max_buckets": 100}})


def rates(node):
    """How many scripts may be compiled."""
    limits = lambda **names: ask(node, "PUT", "/_cluster/settings", {"transient": {f"script.{k.replace('__', '.')}": v for k, v in names.items()}})
    positive = "parameter must contain a positive integer and a timevalue, i.e. 10/1m, but was [x]"
    use_context = "Context cache settings [script.context.filter.max_compilations_rate] requires [script.max_compilations_rate] to be [use-context]"
    for reason, names in ((positive, {"max_compilations_rate": "x"}), ("rate [-1] must be positive", {"max_compilations_rate": "-1/1m"}),
                          ("time value [30s] must be at least on a one minute resolution", {"max_compilations_rate": "5/30s"}),
                          (use_context, {"max_compilations_rate": "9/1m", "context__filter__max_compilations_rate": "1/1h"}),
                          ("Context [foo] doesn't exist for setting [script.context.foo.max_compilations_rate]", {"context__foo__max_compilations_rate": "1/1h"})):
        status, answer, _ = limits(**names)
        check.equal((status, answer.get("error", {}).get("reason")), (400, reason), f"a rate that is refused: {names}")
    check.equal(limits(context__filter__max_compilations_rate="1/1h")[::2], (200, None), "a rate that is taken")
    filtered = lambda n: ask(node, "POST", "/a/_search", {"query": {"script": {"script": f"{n} == 1"}}})
    check.equal((filtered(1)[0], filtered(1)[0]), (200, 200), "a script, and the same again")
    status, answer, _ = filtered(2)
    reason = ("[script] Too many dynamic script compilations within, max: [1/1h]; please use indexed, or scripts with parameters instead; "
              "this limit can be changed by the [script.context.filter.max_compilations_rate] setting")
    refusal = {"type": "circuit_breaking_exception", "reason": reason, "bytes_wanted": 0, "bytes_limit": 0, "durability": "TRANSIENT"}
    check.equal((status, answer["error"]["root_cause"], answer["error"]["caused_by"]), (400, [refusal], refusal), "one script too many")
    check.equal(ask(node, "POST", "/a/_search", {"script_fields": {"f": {"script": "3 == 1"}}})[0], 200, "a script of another kind")
    check.equal(limits(context__filter__max_compilations_rate=None, max_compilations_rate="0/1m")[0], 200, "a rate of all")
    ask(node, "PUT", "/a/_doc/1?refresh", {"n": 0})  # the script is compiled for the first document
    status, answer, _ = ask(node, "POST", "/a/_update_by_query", {"script": "ctx._source.n = 1"})
    reason = reason.replace("[1/1h]", "[0/1m]").replace("context.filter.", "")
    cause = {"type": "general_script_exception", "reason": "Failed to compile inline script [ctx._source.n = 1] using lang [painless]"}
    check.equal((status, answer["error"]), (500, {"root_cause": [{**refusal, "reason": reason}], **cause, "caused_by": {**refusal, "reason": reason}}), "no scripts at all")
    check.equal((limits(max_compilations_rate=None)[0], filtered(2)[0]), (200, 200), "no limit")


def found(node, index, query):
    """How many hits, or the reason of the error."""
    status, answer, _ = ask(node, "POST", f"/{index}/_search", {"query": query})
    return answer["hits"]["total"]["value"] if status == 200 else json.dumps(answer["error"])


def queries():
    """What a node's and an index's settings say of queries."""
    terms = {"bool": {"should": [{"term": {"n": i}} for i in range(4)]}}
    own = {"indices.query.bool.max_clause_count": "3", "indices.query.query_string.allowLeadingWildcard": "false",
           "script.painless.regex.enabled": "false"}
    for settings, limited in (({}, False), (own, True)):
        with Node(**settings) as node:
            def refused_when_limited(what, query, words):
                have = found(node, "strict", query)
                check(words in str(have) if limited else have == 1, what, have)

            for name, lenient in (("strict", False), ("lenient", True)):
                ask(node, "PUT", f"/{name}", {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "index.query_string.lenient": lenient},
                                              "mappings": {"properties": {"n": {"type": "long"}, "k": {"type": "keyword"}}}})
                ask(node, "PUT", f"/{name}/_doc/1?refresh=true", {"n": 1, "k": "abc"})
            refused_when_limited("four clauses", terms, "failed to create query: maxClauseCount is set to 3")
            refused_when_limited("a leading wildcard", {"query_string": {"query": "k:*bc"}}, "'*' or '?' not allowed as first character")
            refused_when_limited("a regular expression", {"script": {"script": "'a' ==~ /a/"}}, "Regexes are disabled.")
            check.equal(found(node, "strict", {"query_string": {"query": "k:*bc", "allow_leading_wildcard": True}}), 1, "one that the query allows")
            for kind, forgiven in (("query_string", True), ("simple_query_string", False)):
                query = {kind: {"query": "abc", "fields": ["n"]}}
                there = [found(node, index, query) for index in ("strict", "lenient")]
                mistakes = ['failed to create query: For input string: \\"abc\\"' in str(one) for one in there]
                check.equal(mistakes, [True, not forgiven], f"{kind} of a word over a number")
                check(not forgiven or there[1] == 0, f"{kind} where the index is lenient", there)


def defaults(node):
    _, body, _ = ask(node, "GET", "/_cluster/settings?include_defaults&flat_settings")
    have = body["defaults"]
    for who in ("leader", "follower"):
        check.equal(have[f"cluster.fault_detection.{who}_check.interval"], "300ms", f"the interval of the {who} check")
        check.equal(have[f"cluster.fault_detection.{who}_check.timeout"], "700ms", f"the time-out of the {who} check")
    check.equal(have["cluster.routing.allocation.disk.threshold_enabled"], "true", "disks count")
    check.equal(have["search.default_search_timeout"], "1s", "what a node was started with is a default")
    check.equal(have["bootstrap.memory_lock"], "true", "what the node was started with")
    _, body, _ = ask(node, "GET", "/_nodes/thread_pool")
    pools = next(iter(body["nodes"].values()))["thread_pool"]
    for pool, size in (("search", 5), ("write", 3)):
        check.equal((have[f"thread_pool.{pool}.size"], pools[pool]["size"]), (str(size), size), f"threads of the pool {pool} follow the processors")


def started_with():
    """The cluster's settings hold as a node is started with them, until the cluster says another value."""
    own = {"action.auto_create_index": "false", "action.destructive_requires_name": "true", "script.max_size_in_bytes": "10",
           "cluster.routing.allocation.exclude._name": "n", "cluster.blocks.read_only": "true", "node.name": "n", "search.max_buckets": "1"}
    put = lambda kind, **names: check.equal(ask(node, "PUT", "/_cluster/settings", {kind: {k.replace("__", "."): v for k, v in names.items()}})[0], 200, f"{kind} {names}")
    with Node(**own) as node:
        refused_by_node = lambda method, path, body, word, what: check(word in json.dumps(ask(node, method, path, body)[1]), what)
        check.equal(ask(node, "PUT", "/a?wait_for_active_shards=0", {"settings": {"number_of_replicas": 0}})[0], 200, "a block of the node's is none of the cluster's")
        refused_by_node("GET", "/_cluster/allocation/explain", None, 'filters [_name:\\"n\\"]', "no shard comes to the node")
        put("transient", **{"cluster__routing__allocation__exclude___name": "m"})
        check.equal(ask(node, "GET", "/_cluster/health?wait_for_status=green&timeout=30s")[1]["status"], "green", "the cluster's filter takes the place of the node's")
        put("transient", **{"cluster__routing__allocation__awareness__attributes": ["zone", "rack"]})
        check.equal(ask(node, "PUT", "/z?wait_for_active_shards=0", {"settings": {"number_of_replicas": 0}})[0], 200, "an index that finds no place")
        refused_by_node("GET", "/_cluster/allocation/explain", None, "attribute [zone]; required attributes cluster setting [cluster.routing.allocation.awareness.attributes=zone,rack]", "attributes may be a list")
        put("transient", **{"cluster__routing__allocation__awareness__attributes": None})
        refused_by_node("POST", "/b/_doc", {}, "no such index [b] and [action.auto_create_index] is [false]", "no index is made")
        refused_by_node("DELETE", "/a*", None, "Wildcard expressions or all indices are not allowed", "names are required")
        ask(node, "POST", "/a/_doc?refresh", {"n": [1, 2]})
        refused_by_node("POST", "/a/_search", {"query": {"script": {"script": "return true;"}}}, "size in bytes [10]", "a script is too long")
        twice = {"size": 0, "aggs": {"t": {"terms": {"field": "n"}}}}
        refused_by_node("POST", "/a/_search", twice, "Must be less than or equal to: [1]", "too many buckets")
        put("persistent", action__auto_create_index="true", script__max_size_in_bytes=100)
        check.equal(ask(node, "POST", "/b/_doc", {})[0], 201, "the cluster's comes first")
        check.equal(ask(node, "POST", "/a/_search", {"query": {"script": {"script": "return true;"}}})[0], 200, "as the script's length does")
        put("persistent", action__auto_create_index=None, script__max_size_in_bytes=None)
        refused_by_node("POST", "/c/_doc", {}, "[action.auto_create_index] is [false]", "the node's holds again")
        refused_by_node("POST", "/a/_search", {"query": {"script": {"script": "return true;"}}}, "size in bytes [10]", "as the script's length does")


def limits_lowered():
    """An index whose fields are more than its limit became since is served after a restart."""
    with Node() as node:
        ask(node, "PUT", "/l", {"mappings": {"properties": {f"f{i}": {"type": "keyword"} for i in range(5)}}})
        check.equal(ask(node, "PUT", "/l/_doc/1?refresh", {"f0": "x"})[0], 201, "a document")
        check.equal(ask(node, "PUT", "/l/_settings", {"index.mapping.total_fields.limit": 2, "index.mapping.field_name_length.limit": 1})[0], 200, "lower limits")
        node.stop()
        node.start()
        ask(node, "GET", "/_cluster/health?wait_for_no_initializing_shards=true&timeout=60s")
        status, body, _ = ask(node, "POST", "/l/_search", {"query": {"term": {"f0": "x"}}})
        check.equal((status, body.get("hits", {}).get("total")), (200, {"value": 1, "relation": "eq"}), "the document is found after a restart")


def main():
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.run([PROGRAM, "-E", f"path.data={folder}/a,{folder}/b", "-E", f"http.port={free_port()}"], capture_output=True, text=True, timeout=HANG_SECONDS)
        check(p.returncode != 0 and "[path.data] has 2 folders" in p.stderr and os.listdir(folder) == [], "several folders of data are refused", (p.returncode, p.stderr[-300:]))
    refused("xpack.security.enabled=true", "no users and no encryption")
    refused("xpack.security.http.ssl.enabled=true", "no users and no encryption")
    refused("http.ssl.enabled=true", "unknown setting")
    refused("http.type=security4", "not offered")
    refused("script.allowed_types=none", "not offered")
    refused("plugin.mandatory=analysis-icu", "not offered")
    refused("http.detailed_errors.enabled=false", "not offered")
    refused("indices.query.bool.max_clause_count=0", "must be >= 1")
    refused("cluster.fault_detection.leader_check.interval=-5s", "negative durations are not supported")
    refused("http.compression_level=10", "must be <= 9")
    refused("thread_pool.search.size=0", "must be >= 1")
    refused("rest.action.multi.allow_explicit_index=false", "not offered")
    refused("search.max_keep_alive=1m", "[search.default_keep_alive] should be smaller")
    refused("cluster.routing.allocation.disk.watermark.low=10gb", "unable to consistently parse")
    refused("script.context.filter.max_compilations_rate=x", "positive integer and a timevalue")
    own = {"processors": "3", "bootstrap.memory_lock": "true", "search.default_search_timeout": "1s", "xpack.ml.enabled": "false", "xpack.security.enabled": "false", "cluster.blocks.read_only": "false"}
    with Node(**own) as node:
        log = node.tail(100)
        check("settings without effect: bootstrap.memory_lock" in log, "the log names what has no effect")
        check("[cluster.blocks.read_only] has no effect where a node is started" in log, "the log names what is the cluster's alone")
        check("search.default_search_timeout" not in log, "the log has no word for what the cluster's settings may change")
        check("[xpack.ml.enabled] has no effect" in log, "the log names extensions")
        answers(node)
        rates(node)
        defaults(node)
    started_with()
    limits_lowered()
    queries()
    check.end()


if __name__ == "__main__":
    main()
