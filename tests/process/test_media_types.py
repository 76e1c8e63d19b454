#!/usr/bin/env python3
"""What clients look at before the body: the product, and the media type in which they are answered."""
import os
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import Node  # noqa: E402

JSON = "application/json; charset=UTF-8"
SPOKEN = "application/vnd.elasticsearch+json;compatible-with="
WANTED = [
    (None, JSON), ("*/*", JSON), ("application/json", JSON), ("application/yaml", "application/yaml"),
    (SPOKEN + "8", SPOKEN + "8"), (SPOKEN + "7", SPOKEN + "7"), ("APPLICATION/vnd.elasticsearch+json ; Compatible-With=8", SPOKEN + "8"),
    ("application/vnd.elasticsearch+json", JSON), (SPOKEN, JSON), (SPOKEN + "88", JSON), (SPOKEN + "9", JSON), ("application/vnd.elasticsearch+json;8", JSON),
]
passed = failed = 0


def ask(url, method="GET", body=None, **headers):
    rq = urllib.request.Request(url, method=method, data=body, headers={k.replace("_", "-"): v for k, v in headers.items() if v is not None})
    try:
        with urllib.request.urlopen(rq) as r:
            return r.status, r.headers
    except urllib.error.HTTPError as e:
        return e.code, e.headers


def check(what, have, want):
    global passed, failed
    passed, failed = passed + (have == want), failed + (have != want)
    if have != want:
        print(f"FAILED {what}: {have!r}, want {want!r}")


with Node() as node:
    for accept, kind in WANTED:
        for path, status in [("/", 200), ("/_cluster/health", 200), ("/nope", 404), ("/_search?size=x", 400), ("/_nope?pretty", 400)]:
            have, headers = ask(node.url + path, Accept=accept)
            check(f"{path} {accept}", (have, headers["content-type"], headers["X-elastic-product"]), (status, kind, "Elasticsearch"))
    for method, path, body in [("PUT", "/a/_doc/1", b"{}"), ("POST", "/_bulk", b'{"index":{"_index":"a"}}\n{}\n'), ("POST", "/a/_search", b"{}")]:
        kind = SPOKEN.replace("+json", "+x-ndjson") if path == "/_bulk" else SPOKEN
        have, headers = ask(node.url + path, method, body, Content_Type=kind + "8", Accept=SPOKEN + "8")
        check(f"{method} {path}", (have in (200, 201), headers["content-type"]), (True, SPOKEN + "8"))
    have, headers = ask(node.url + "/" + "x" * 5000)  # refused before anybody reads it
    check("a request line too long", (have, headers["X-elastic-product"]), (400, "Elasticsearch"))
    have, headers = ask(node.url + "/a", "HEAD")
    check("HEAD", (have, headers["X-elastic-product"]), (200, "Elasticsearch"))
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
