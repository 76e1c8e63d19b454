#!/usr/bin/env python3
"""Every endpoint knows the parameters that Elasticsearch 7.12.1 knows there, and no others; refuses the same wrong values in the same words; and names the
parameters that a misspelt one is like.

usage: test_parameters.py                 walks the router's table on a fresh node
       test_parameters.py --record URL    asks the Elasticsearch there, and writes parameters.json anew

parameters.json has a row for an endpoint: `body` and `also` are what it is asked with, `known` the names that it takes, `wrong` what it says of
"name=value" (numbers: into `said`), `like` names with a letter less, and what it says of them. Each request has a name too many, so that none is carried out.
DECIDED has what differs by decision."""
import glob
import http.client
import json
import os
import re
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from node import HANG_SECONDS, ROOT, Node  # noqa: E402

check = Checks()
RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parameters.json")
INDEX, UNKNOWN, BATCH = "params-a", "zzzqq", 26  # a batch holds suggest_field and those that need it
WRONG = ["", "abc", "-1"]
BOOLEANS = """active_only all_shards allow_no_indices allow_partial_search_results analyze_wildcard ccs_minimize_roundtrips copy_settings create detailed
 doc_as_upsert dry_run explain fieldStatistics field_statistics fielddata flat_settings flush forbid_closed_indices force full_id help human ignore_idle_threads ignore_throttled
 ignore_unavailable include_bootstrap include_defaults include_disk_info include_segment_file_sizes include_type_name include_unloaded_segments
 include_unmapped include_yes_decisions lenient local only_ancient_segments only_expunge_deletes offsets payloads
 positions preserve_existing pretty pri query realtime refresh
 request request_cache require_alias rest_total_hits_as_int retry_failed rewrite seq_no_primary_term termStatistics term_statistics track_scores ts typed_keys v verbose version
 wait_for_completion wait_for_no_initializing_shards wait_for_no_relocating_shards wait_for_removal wait_if_ongoing write_index_only""".split()
TIMES = "interval keep_alive master_timeout scroll search_timeout timeout wait_for_completion_timeout wait_for_timeout".split()
OTHERS = """_source _source_exclude _source_excludes _source_include _source_includes actions alias allow_no_match analyzer attributes batched_reduce_size bytes cause
 collapse completion_fields conflicts default_operator df doc docvalue_fields error_trace expand_wildcards fielddata_fields fields filter filter_path format
 from group_by groups h health id ids if_primary_term if_seq_no ignore index index_metric lang level lowercase_expanded_terms max_concurrent_searches
 max_concurrent_shard_requests max_docs max_num_segments metric min_compatible_shard_node min_score name node_id node_ids node_name node_names nodes op_type
 operation_threading order parent parent_task_id pipeline pre_filter_shard_size prefer_local preference q query_cache recycler requests_per_second rethrottle
 retry_on_conflict routing s script scroll_id scroll_size search_type size slices snapshots sort source_content_type stats status stored_fields suggest_field
 suggest_mode suggest_size task_id terminate_after text thread_pool_patterns threads time timestamp tokenizer track_total_hits ttl type types
 update_all_types upgrade upsert version_type wait_for_active_shards wait_for_events wait_for_metadata_version wait_for_nodes wait_for_relocating_shards
 wait_for_status""".split()
NAMES = sorted({*BOOLEANS, *TIMES, *OTHERS})
VALUES = {**{n: "true" for n in BOOLEANS}, **{n: "1s" for n in TIMES}, "expand_wildcards": "open", "op_type": "index", "version": "1", "version_type": "internal", "error_trace": "false",
          "search_type": "query_then_fetch", "wait_for_status": "green", "wait_for_events": "normal", "level": "indices", "bytes": "b", "time": "ms", "help": "false", "order": "1",
          "health": "green", "default_operator": "and", "conflicts": "proceed", "suggest_mode": "always", "slices": "auto", "index": INDEX, "type": "_doc", "format": "json"}
BODIES = [None, "{}", {"query": {"match_all": {}}}, {"doc": {"a": 1}}, {"text": "a"}, {"scroll_id": "x"}, {"id": "x"}, {"ids": ["1"]}, {"actions": []}, {"docs": [{"_index": INDEX, "_id": "1"}]},
          {"index_patterns": ["params-zzz-*"]}, {"index_patterns": ["params-zzz-*"], "template": {}}, {"template": {}}, {"properties": {}}, {"index.hidden": False},
          {"transient": {"cluster.max_shards_per_node": 99}}, {"actions": [{"add": {"index": INDEX, "alias": "params-zz"}}]}, {"index": INDEX, "alias": "params-zz"},
          {"dest": {"index": "params-zz"}, "source": {"index": INDEX}}, [{"index": {"_index": INDEX, "_id": "1"}}, {"a": 1}], [{"index": INDEX}, {"query": {"match_all": {}}}],
          {"index": INDEX, "shard": 0, "primary": True}]
QUERY = {"query": {"match_all": {}}}
ALIAS = {"index": INDEX, "alias": "params-zz"}
# What is asked with more than nothing, so that it is whole.
WHOLE = [(r"_mget$", {"docs": [{"_index": INDEX, "_id": "1"}]}), (r"_explain/|_by_query$", QUERY), (r"_update(/|$)", {"doc": {"a": 1}}), (r"PUT .*_alias|POST .*_alias(es)?/", ALIAS),
         (r"_reindex$", {"dest": {"index": "params-zz"}, "source": {"index": INDEX}}), (r"PUT /_cluster/settings", {"transient": {"cluster.max_shards_per_node": 99}}),
         (r"PUT .*_settings", {"index.hidden": False}), (r"_ingest/.*_simulate", {"pipeline": {"processors": []}, "docs": [{"_source": {}}]}),
         (r"PUT /_ingest/pipeline", {"processors": []}), (r"(PUT|POST) /_snapshot/\{repository\}$", {"type": "none"}), (r"_simulate(/|$)", {"index_patterns": ["params-zzz-*"], "template": {}}), (r"(GET|POST) /_search/scroll", {"scroll_id": "x"}),
         (r"_index_template/\{", {"index_patterns": ["params-zzz-*"], "template": {}}), (r"_component_template/\{", {"template": {}}), (r"_msearch/template", [{"index": INDEX}, {"id": "x"}]), (r"_msearch", [{"index": INDEX}, QUERY]),
         (r"_rank_eval$", {"requests": [{"id": "x", "request": QUERY, "ratings": []}], "metric": {"precision": {}}})]
ALSO = [[], ["requests_per_second"], ["fields"], ["node_names"], ["q"], ["include_type_name"], ["repository"]]
PARTS = {"index": INDEX, "id": "1", "type": "_doc", "fields": "a", "metric": "docs", "index_metric": "docs", "node": "_local", "nodes": "_all", "thread_pool_patterns": "write", "block": "write",
         "task_id": "x:1", "scroll_id": "x"}
# Ours alone, or not of the oracle that was asked.
LEFT_OUT = ("/_console", "/_license", "/_xpack", "/_prometheus", "/favicon.ico", "/_pit", "/{index}/_pit", "_clone", "_shrink", "_split", "/{type}/{id}")
# Behind these, Elasticsearch ends in an error of its own (or in no answer at all): a null, or a value that it never checks.
DECIDED = {"allow_partial_search_results=", "suggest_field=", "suggest_field=-1", "suggest_field=abc"}
# Their values are checked before a name too many is, there after it: either way the request is refused.
EARLIER = {"flat_settings", "group_by", "health", "include_type_name", "index", "level", "pri", "request_cache", "rest_total_hits_as_int", "stored_fields", "threads", "track_total_hits", "type",
           "typed_keys", "version", "wait_for_nodes"}


# What is taken and not kept, where it is given another value than its default: endpoints by name. docs/rest.md lists them.
IDLE = {"error_trace": "", "request_cache": r"_search(/template)?$|_by_query$", "max_concurrent_shard_requests": r"_m?search$|_search/template$|_by_query$", "pre_filter_shard_size": r"_msearch$", "verbose": r"_segments$",
        "groups": r"/_nodes/.*stats", "completion_fields": r"/_nodes/.*stats", "include_segment_file_sizes": r"_stats|/stats", "types": "/_nodes/", "fields": r"/_nodes/.*stats", "fielddata_fields": "/_nodes/"}
IDLE_VALUES = {"error_trace": "true", "max_concurrent_shard_requests": "7"}


def idle_at(endpoint, name):
    return name in IDLE and re.search(IDLE[name], endpoint) is not None


class Asker:
    """One connection."""

    def __init__(self, host, port):
        self.c = http.client.HTTPConnection(host, port, timeout=HANG_SECONDS)

    def call(self, method, path, body=None):
        """(status, the error object or {"reason": text})"""
        data, kind = None, "application/json"
        if isinstance(body, list):
            data, kind = "".join(json.dumps(line) + "\n" for line in body), "application/x-ndjson"
        elif body is not None:
            data = body if isinstance(body, str) else json.dumps(body)
        self.c.request(method, path, data, {"Content-Type": kind} if data is not None else {})
        r = self.c.getresponse()
        self.warning = r.headers.get("Warning")
        text = r.read().decode("utf-8", "replace")
        try:
            error = json.loads(text).get("error")
        except (ValueError, AttributeError):
            error = None
        return r.status, error if isinstance(error, dict) else {"reason": str(error)}

    def ask(self, method, path, body, names, values=None):
        pairs = [(n, (values or {}).get(n, VALUES.get(n, "1"))) for n in names] + [(UNKNOWN, "1")]
        return self.call(method, path + "?" + urllib.parse.urlencode(pairs), body)

    def refused(self, method, path, body, names):
        """Those of the names that are not known; None: another error came first."""
        status, error = self.ask(method, path, body, names)
        reason = error.get("reason") or ""
        if status != 400 or "unrecognized parameter" not in reason:
            return None
        return set(re.findall(r"(?:: |, )\[([^\]]*)\]", reason.split("unrecognized parameter", 1)[1]))

    def known(self, method, path, body, names, also):
        """Those that are known. One alone that is answered with another error is: its value was read."""
        refused = self.refused(method, path, body, names + also)
        if refused is not None and UNKNOWN in refused:  # the reason is whole
            return set(names) - refused
        if len(names) == 1:
            return set(names)
        half = len(names) // 2
        return self.known(method, path, body, names[:half], also) | self.known(method, path, body, names[half:], also)

    def all_known(self, method, path, body, names, also):
        return set().union(*(self.known(method, path, body, names[at:at + BATCH], also) for at in range(0, len(names), BATCH)))


def endpoints():
    """"METHOD /pattern" of the tables in the sources; HEAD is GET without a body."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "coordinator", "rest", "*.c")):
        with open(path, encoding="utf-8") as f:
            for methods, pattern in re.findall(r'\{\s*((?:M_[A-Z]+(?:\s*\|\s*)?)+),\s*"(/[^"]*)",', f.read()):
                found.update(f"{m} {pattern}" for m in re.findall(r"M_([A-Z]+)", methods) if m != "HEAD")
    return sorted(e for e in found if e != "DELETE /" and not any(part in e for part in LEFT_OUT))


def place(endpoint):
    """(method, path, names that the pattern does not have already)"""
    method, pattern = endpoint.split(" ")
    inside = set(re.findall(r"\{(\w+)\}", pattern))
    parts = {**PARTS, "metric": "indices"} if "/_nodes/" in pattern else PARTS
    return method, re.sub(r"\{(\w+)\}", lambda m: parts.get(m.group(1), "params-zz"), pattern), [n for n in NAMES if n not in inside]


def prepare(asker):
    asker.call("DELETE", "/" + INDEX)
    asker.call("PUT", f"/{INDEX}/_doc/1?refresh=true", {"a": 1})


def misspelt(asker, method, path, body, also, known):
    """Three names with a letter less that are recognized, and what is said of them."""
    names = [n[:-1] for n in known if len(n) > 4 and n[:-1] not in known]
    names = [n for n in names if f"[{n}] -> " in like(asker, method, path, body, also, [n])][:3]
    return names, like(asker, method, path, body, also, names)


def said_of(asker, method, path, body, also, name, value):
    """[status, type, reason, the cause's reason], or 0: the name too many was found, the value was not wrong."""
    status, error = asker.ask(method, path, body, [name] + [a for a in also if a != name], {name: value})
    reason = error.get("reason")
    if status == 400 and f"[{UNKNOWN}]" in str(reason):
        return 0
    return [status, error.get("type"), reason, error.get("caused_by", {}).get("reason")]


def like(asker, method, path, body, also, names):
    return asker.ask(method, path, body, also + names)[1].get("reason")


def record(url):
    target = urllib.parse.urlsplit(url)
    asker, rows, said = Asker(target.hostname, target.port), {}, []
    prepare(asker)
    for endpoint in endpoints():
        method, path, names = place(endpoint)
        bodies = next(([b] for pattern, b in WHOLE if re.search(pattern, endpoint)), BODIES)
        found = next(((also, b) for also in ALSO for b in bodies if asker.refused(method, path, b, also) == {UNKNOWN}), None)
        if found is None:
            print("does not tell:", endpoint)
            continue
        also, body = found
        known = asker.all_known(method, path, body, names, also) | set(also)
        wrong = {}
        for name in sorted(known - {"error_trace"}):  # which is not answered at all where it is wrong
            for value in WRONG:
                says = said_of(asker, method, path, body, also, name, value)
                if says != 0:
                    says[2] = says[2].replace(path, "PATH") if says[2] else says[2]
                    if says not in said:
                        said.append(says)
                    wrong[f"{name}={value}"] = said.index(says)
        rows[endpoint] = {"body": body, "also": also, "known": sorted(known), "wrong": wrong, "like": misspelt(asker, method, path, body, also, sorted(known))}
    asker.call("DELETE", "/" + INDEX)
    with open(RECORDED, "w", encoding="utf-8") as f:
        f.write('{"said": [\n' + ",\n".join(json.dumps(s) for s in said) + '\n],\n"endpoints": {\n')
        f.write(",\n".join(f"{json.dumps(e)}: {json.dumps(r)}" for e, r in sorted(rows.items())) + "\n}}\n")


def walk(asker, said, rows):
    for endpoint, row in sorted(rows.items()):
        method, path, names = place(endpoint)
        body, also = row["body"], row["also"]
        have = asker.all_known(method, path, body, names, also) | set(also)
        check(have == set(row["known"]), f"{endpoint} knows the parameters that it should", sorted(have ^ set(row["known"])))
        names, reason = row["like"]
        check.equal(like(asker, method, path, body, also, names), reason, f"{endpoint} says what misspelt names are like")
        for wrong, index in row["wrong"].items():
            if wrong in DECIDED:
                continue
            name, value = wrong.split("=")
            have = said_of(asker, method, path, body, also, name, value)
            check.equal(have, [t.replace("PATH", path) if isinstance(t, str) else t for t in said[index]], f"{endpoint}?{wrong}")
        for name in row["known"]:
            for value in WRONG:
                if name not in EARLIER and name != "error_trace" and f"{name}={value}" not in row["wrong"]:
                    check.equal(said_of(asker, method, path, body, also, name, value), 0, f"{endpoint}?{name}={value} is fine")
            value = IDLE_VALUES.get(name, VALUES.get(name, "1"))
            asker.ask(method, path, body, [name] + [a for a in also if a != name], {name: value})
            idle = re.search(r"\[(.*)\] is accepted and has no effect here", asker.warning or "")
            check.equal(idle.group(1) if idle else None, name if idle_at(endpoint, name) else None, f"{endpoint}?{name}={value} says whether it has an effect")


def main():
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
        return
    with open(RECORDED, encoding="utf-8") as f:
        recorded = json.load(f)
    rows = recorded["endpoints"]
    missing = set(endpoints()) ^ set(rows)
    check(not missing, "every endpoint is walked", sorted(missing))
    with Node() as node:
        asker = Asker(node.host, node.port)
        prepare(asker)
        walk(asker, recorded["said"], rows)
    check.end()


if __name__ == "__main__":
    main()
