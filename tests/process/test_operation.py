#!/usr/bin/env python3
"""What an operator meets: settings that are wrong, ports and folders that are taken, logs, limits, time-outs, a gentle stop."""
import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import BUILD, HANG_SECONDS, Node, free_port, wait_for  # noqa: E402

PROGRAM = os.path.join(BUILD, "bin", "serai-node")


def refused(status, words, *settings, args=()):
    """A start that must end with this status and these words, and leave nothing behind."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, *args]
        for s in (f"path.data={folder}/data", f"http.port={free_port()}", *settings):
            command += ["-E", s]
        p = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert p.returncode == status, (settings, p.returncode, p.stderr)
    for w in words:
        assert w in p.stderr, (settings, w, p.stderr)


def test_arguments():
    out = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True)
    assert out.returncode == 0 and "7.12.1" in out.stdout
    out = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True)
    assert out.returncode == 0 and "usage: serai-node" in out.stdout
    refused(64, ["unknown setting [foo.bar]"], "foo.bar=1")
    refused(64, ["unknown setting [http.prot]", "did you mean", "http.port"], "http.prot=1")
    refused(64, ["name=value"], "http.port")
    refused(64, ["unknown argument", "usage"], args=["--nonsense"])
    refused(64, ["failed to parse", "search.default_search_timeout"], "search.default_search_timeout=soon")
    refused(64, ["node.roles"], "node.roles=king")
    refused(64, ["LOUD"], "logger.data=loud")
    refused(1, ["invalid port range [abc]"], "http.port=abc")
    refused(1, ["Unknown seed providers [file]"], "discovery.seed_providers=file")
    refused(1, ["must be the same"], "cluster.fault_detection.leader_check.timeout=1s", "cluster.fault_detection.follower_check.timeout=2s")
    refused(64, ["http.max_content_length"], "http.max_content_length=lots")
    refused(64, ["thread_pool.write.size"], "thread_pool.write.size=0")
    refused(1, ["Failed to bind", "203.0.113.1"], "network.host=203.0.113.1")
    refused(1, ["/dev/null"], "path.data=/dev/null")


def test_file_settings():
    with tempfile.TemporaryDirectory() as conf:
        with open(os.path.join(conf, "serai.yml"), "w") as f:
            f.write("cluster.name: orchard\nhttp:\n  prot: 1\n")
        refused(64, ["serai.yml:3", "http.prot"], f"path.conf={conf}")
        with open(os.path.join(conf, "serai.yml"), "w") as f:
            f.write("cluster.name: orchard\nxpack.security.enabled: false\nnode.attr.rack: r1\n")
        with Node(conf=conf) as node:
            assert node.call("GET", "/")[1]["cluster_name"] == "orchard"


def test_taken():
    """A port in use, and a second process on the same data."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        refused(1, ["Failed to bind", "in use"], f"http.port={s.getsockname()[1]}")
    with Node() as node:
        refused(1, ["node.lock", "already held"], f"path.data={node.data}/data")
        assert node.call("GET", "/")[0] == 200


def test_free_ports():
    """Port 0 is any free one, and what the node says it is."""
    with Node(**{"transport.port": 0}) as node:
        info = list(node.call("GET", "/_nodes/transport")[1]["nodes"].values())[0]
        port = int(info["transport"]["publish_address"].rsplit(":", 1)[1])
        assert port > 0 and info["transport_address"].endswith(f":{port}"), info


def test_gentle_stop():
    """Requests in flight are answered, idle connections closed, and the exit status is 0."""
    node = Node()
    with node:
        node.call("PUT", "/stop", {"settings": {"number_of_replicas": 0, "refresh_interval": "500ms"}})
        idle = socket.create_connection(("127.0.0.1", node.port))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(node.call, "PUT", f"/stop/_doc/{i}?refresh=wait_for", {"n": i}) for i in range(8)]
            indexed = lambda: node.call("GET", "/stop/_stats/indexing")[1]["_all"]["total"]["indexing"]["index_total"]
            wait_for("writes under way", lambda: indexed() == 8)  # each waits for the next refresh
            node.process.send_signal(signal.SIGTERM)
            for f in futures:
                status, answer = f.result(timeout=HANG_SECONDS)
                assert status == 201, answer
        assert node.process.wait(timeout=HANG_SECONDS) == 0
        assert idle.recv(10) == b""
        for line in open(node.log_path):
            assert json.loads(line)["type"] == "server", line
        node.start()
        assert node.call("GET", "/stop/_count")[1]["count"] == 8


def log_lines(path):
    return [json.loads(l) for l in open(path, encoding="utf-8") if l.startswith("{")]


def test_slow_logs():
    with Node() as node:
        status, answer = node.call("PUT", "/slow", {"settings": {
            "number_of_replicas": 0, "index.search.slowlog.threshold.query.warn": "0ms", "index.search.slowlog.threshold.fetch.info": "0ms",
            "index.indexing.slowlog.threshold.index.debug": "0ms", "index.indexing.slowlog.source": "12"}})
        assert status == 200, answer
        node.call("PUT", "/slow/_doc/7?refresh=true", {"text": "a long text that is cut"})
        node.call("POST", "/slow/_search", {"query": {"match": {"text": "long"}}})
        kinds = lambda: {(l["type"], l["component"]): l for l in log_lines(node.log_path)}
        k = kinds()
        query, fetch = k[("index_search_slowlog", "i.s.s.query")], k[("index_search_slowlog", "i.s.s.fetch")]
        index = k[("index_indexing_slowlog", "i.i.s.index")]
        assert query["level"] == "WARN" and query["message"] == "[slow][0]" and query["total_hits"] == "1 hits", query
        assert '"match"' in query["source"] and fetch["level"] == "INFO", (query, fetch)
        assert index["level"] == "DEBUG" and index["id"] == "7" and index["source"] == '{"text": "a ', index
        slow = lambda: [l for l in log_lines(node.log_path) if l["type"] != "server"]
        n = len(slow())
        node.call("PUT", "/slow/_settings", {"index.search.slowlog.threshold.query.warn": "10s", "index.search.slowlog.threshold.fetch.info": -1})
        node.call("POST", "/slow/_search", {})
        assert len(slow()) == n


def test_log_levels_and_rotation():
    with tempfile.TemporaryDirectory() as logs:
        with Node(**{"path.logs": logs}) as node:
            name = node.call("GET", "/")[1]["cluster_name"]
            path = os.path.join(logs, f"{name}_server.json")
            wait_for("the line of its start", lambda: "started" in open(path).read())
            os.rename(path, path + ".1")
            node.process.send_signal(signal.SIGHUP)
            wait_for("a new file", lambda: os.path.exists(path))
            status, answer = node.call("PUT", "/_cluster/settings", {"transient": {"logger.node": "OFF"}})
            assert status == 200, answer
            status, answer = node.call("PUT", "/_cluster/settings", {"transient": {"logger.node": "LOUD"}})
            assert status == 400, answer
            node.stop()
            assert "stopping" not in open(path).read() and "started" in open(path + ".1").read()


def costly(steps):
    """A query that works so long on each document."""
    source = "double s = 0; for (int i = 0; i < %d; i++) { s += doc['n'].value * i } return s" % steps
    return {"script_score": {"query": {"match_all": {}}, "script": {"source": source}}}


def test_search_limits():
    with Node() as node:
        node.call("PUT", "/big", {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"n": {"type": "long"}, "k": {"type": "keyword"}}}})
        for start in range(0, 60000, 5000):
            lines = []
            for i in range(start, start + 5000):
                lines += [{"index": {}}, {"n": i, "k": f"k{i}"}]
            node.call("POST", "/big/_bulk", lines)
        node.call("POST", "/big/_refresh")
        slow = costly(200)
        status, answer = node.call("POST", "/big/_search", {"timeout": "1ms", "query": slow})
        assert status == 200 and answer["timed_out"] is True, answer
        status, answer = node.call("POST", "/big/_search", {"terminate_after": 10, "query": {"match_all": {}}})
        assert status == 200 and answer["terminated_early"] is True and answer["hits"]["total"]["value"] == 10, answer
        assert node.call("PUT", "/_cluster/settings", {"transient": {"search.default_search_timeout": "1ms"}})[0] == 200
        status, answer = node.call("POST", "/big/_search", {"query": slow})
        assert status == 200 and answer["timed_out"] is True, answer
        status, answer = node.call("POST", "/big/_search", {"timeout": "60s", "size": 0, "query": {"match_all": {}}})
        assert status == 200 and answer["timed_out"] is False, answer
        node.call("PUT", "/_cluster/settings", {"transient": {"search.default_search_timeout": None}})
        node.call("PUT", "/_cluster/settings", {"transient": {"search.allow_expensive_queries": False}})
        for query in ({"prefix": {"k": "k1"}}, {"wildcard": {"k": "k*"}}, {"regexp": {"k": "k.*"}}, {"fuzzy": {"k": "k1"}}, slow,
                      {"query_string": {"query": "k:k1*"}}, {"range": {"k": {"gte": "a"}}}):
            status, answer = node.call("POST", "/big/_search", {"query": query})
            assert status == 400 and "search.allow_expensive_queries" in str(answer), answer
        assert node.call("POST", "/big/_search", {"query": {"range": {"n": {"gte": 5}}}})[0] == 200
        node.call("PUT", "/_cluster/settings", {"transient": {"search.allow_expensive_queries": None}})
        # Clients that go away: their searches end, the next one is not behind them.
        one, steps = 0, 4
        while one < 0.3:  # so that a hundred of them could not be missed, and one is no burden to a slow machine
            steps *= 2
            began = time.monotonic()
            assert node.call("POST", "/big/_search", {"query": costly(steps)})[0] == 200
            one = time.monotonic() - began
        body = json.dumps({"query": costly(steps)}).encode()
        busy = [socket.create_connection(("127.0.0.1", node.port)) for _ in range(100)]
        for s in busy:
            s.sendall(b"POST /big/_search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        for s in busy:
            s.close()
        began = time.monotonic()
        assert node.call("POST", "/big/_search", {"size": 1}, timeout=4 * HANG_SECONDS)[0] == 200
        assert time.monotonic() - began < 20 * one + 5, "abandoned searches go on"


def test_full_queues():
    """More than threads and queue take: 429, and nothing is lost that was accepted."""
    with Node(**{"thread_pool.search.size": 1, "thread_pool.search.queue_size": 2, "thread_pool.write.size": 1,
                 "thread_pool.write.queue_size": 2}) as node:
        node.call("PUT", "/queue", {"settings": {"number_of_replicas": 0}})
        lines = []
        for i in range(20000):
            lines += [{"index": {}}, {"n": i}]
        assert node.call("POST", "/queue/_bulk?refresh=true", lines)[0] == 200
        body = {"query": {"script_score": {"query": {"match_all": {}}, "script": {"source":
                "double s = 0; for (int i = 0; i < 100; i++) { s += doc['n'].value * i } return s"}}}}
        answers = []
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for _ in range(20):  # until enough come at once
                answers += pool.map(lambda _: node.call("POST", "/queue/_search", body), range(16))
                if any(s == 429 for s, _ in answers):
                    break
        by_status = {s for s, _ in answers}
        assert by_status == {200, 429}, by_status
        refusal = next(a for s, a in answers if s == 429)
        assert "es_rejected_execution_exception" in str(refusal), refusal
        assert node.call("POST", "/queue/_search", {"size": 0})[0] == 200


def raw(node, data, seconds=HANG_SECONDS):
    with socket.create_connection(("127.0.0.1", node.port), timeout=seconds) as s:
        s.sendall(data)
        answer = b""
        try:
            while chunk := s.recv(65536):
                answer += chunk
                head, _, body = answer.partition(b"\r\n\r\n")
                if b"content-length" in head.lower():
                    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                    if len(body) >= length:
                        break
        except (TimeoutError, ConnectionResetError):
            pass
        return answer


def test_http_limits():
    with Node(**{"http.max_content_length": "1kb"}) as node:
        status, answer = node.call("PUT", "/limits/_doc/1", {"text": "x" * 2000})
        assert status == 413, answer
        assert b" 400 " in raw(node, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Long: " + b"y" * 20000 + b"\r\n\r\n").split(b"\r\n")[0]
        assert b" 400 " in raw(node, b"GET /" + b"y" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n").split(b"\r\n")[0]
        # Slow ones hold nobody up.
        slow = [socket.create_connection(("127.0.0.1", node.port)) for _ in range(50)]
        for s in slow:
            s.sendall(b"POST /limits/_search HTTP/1.1\r\nHost: x\r\nContent-Le")
        assert node.call("GET", "/")[0] == 200
        for s in slow:
            s.close()


def test_out_of_descriptors():
    """More connections than the process may have files: the oldest of those that are idle give way, the others are served, and there are files for shards."""
    limit = 128
    node = Node()
    node.prefix = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"]
    with node:
        node.call("PUT", "/few", {"settings": {"number_of_replicas": 0}})
        crowd = []
        for _ in range(limit + 50):
            try:
                s = socket.create_connection(("127.0.0.1", node.port), timeout=2)
                crowd.append(s)
            except OSError:
                break
        newest = crowd[-1]
        newest.sendall(b"PUT /few/_doc/1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}")
        newest.settimeout(HANG_SECONDS)
        assert newest.recv(100).startswith(b"HTTP/1.1 "), "a connection that was there is not served"
        assert node.call("PUT", "/more", {"settings": {"number_of_replicas": 0}})[0] == 200
        assert node.call("PUT", "/more/_doc/1?refresh=true", {"a": 1})[0] == 201
        for s in crowd:
            s.close()
        wait_for("all is well", lambda: node.call("PUT", "/few/_doc/2?refresh=true", {"a": 2})[0] in (200, 201))
        assert node.call("GET", "/_cluster/health")[1]["status"] == "green"


def main():
    passed = failed = 0
    for name, test in sorted(globals().items()):
        if not name.startswith("test_") or (len(sys.argv) > 1 and name not in sys.argv[1:]):
            continue
        try:
            test()
            passed += 1
        except (AssertionError, RuntimeError, OSError, KeyError, subprocess.TimeoutExpired) as e:
            print(f"FAILED: {name}: {type(e).__name__}: {e}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
