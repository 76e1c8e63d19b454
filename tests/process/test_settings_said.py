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
    warned(node, "PUT", "/_cluster/settings", {"transient": {"script.max_compilations_rate": "5/1m"}}, "script.max_compilations_rate")
    silent(node, "PUT", "/_cluster/settings", {"transient": {"script.max_compilations_rate": None, "search.max_buckets": 100}})


def defaults(node):
    _, body, _ = ask(node, "GET", "/_cluster/settings?include_defaults&flat_settings")
    have = body["defaults"]
    for who in ("leader", "follower"):
        check.equal(have[f"cluster.fault_detection.{who}_check.interval"], "300ms", f"the interval of the {who} check")
        check.equal(have[f"cluster.fault_detection.{who}_check.timeout"], "700ms", f"the time-out of the {who} check")
    check.equal(have["cluster.routing.allocation.disk.threshold_enabled"], "true", "disks count")
    check.equal(have["search.default_search_timeout"], "-1", "what a node was started with does not hold for the cluster")
    check.equal(have["bootstrap.memory_lock"], "true", "what the node was started with")


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
    refused("xpack.security.enabled=true", "no users and no encryption")
    refused("xpack.security.http.ssl.enabled=true", "no users and no encryption")
    refused("http.ssl.enabled=true", "unknown setting")
    refused("http.type=security4", "not offered")
    refused("script.allowed_types=none", "not offered")
    refused("rest.action.multi.allow_explicit_index=false", "not offered")
    own = {"bootstrap.memory_lock": "true", "search.default_search_timeout": "1s", "xpack.ml.enabled": "false", "xpack.security.enabled": "false"}
    with Node(**own) as node:
        log = node.tail(100)
        check("settings without effect: bootstrap.memory_lock" in log, "the log names what has no effect")
        check("[search.default_search_timeout] has no effect where a node is started" in log, "the log names what is the cluster's")
        check("[xpack.ml.enabled] has no effect" in log, "the log names extensions")
        answers(node)
        defaults(node)
    limits_lowered()
    check.end()


if __name__ == "__main__":
    main()
