#!/usr/bin/env python3
"""What is not UTF-8 is refused or replaced where it comes in, whichever way: answers are always UTF-8 and JSON, and so is what is stored."""
import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import HANG_SECONDS, Node  # noqa: E402

BAD = [b"\xff", b"\x80", b"\xc0\xaf", b"\xc1\x81", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x80\x80\xaf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xe4\xb8"]
PLACES = [  # method, path, body with @ for the bytes, is a line of several
    ("PUT", "/e/_doc/1", b'{"t":"a@"}'), ("PUT", "/e/_doc/1", b'{"t@":"a"}'), ("PUT", "/e/_doc/1", b'{"t":"a"}/*@*/'), ("PUT", "/f", b'{"aliases":{"a@":{}}}'),
    ("PUT", "/e/_mapping", b'{"_meta":{"a":"@"}}'), ("POST", "/e/_search", b'{"query":{"match":{"t":"@"}}}'), ("POST", "/e/_search", b'{"query":{"a@":{}}}'),
    ("POST", "/_analyze", b'{"text":"a@"}'), ("PUT", "/_template/e", b'{"index_patterns":["@"]}'), ("PUT", "/_cluster/settings", b'{"transient":{"cluster.a@":1}}'),
    ("POST", "/e/_update/2", b'{"doc":{"t":"@"}}'), ("POST", "/_msearch", b'{"index":"e@"}\n{}\n'),
]


def ask(node, method, path, body=b"", headers=b"Content-Type: application/json\r\n"):
    """Status and text of an answer; path and headers are bytes as they are."""
    with socket.create_connection((node.host, node.port), timeout=HANG_SECONDS) as s:
        s.sendall(method.encode() + b" " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        data = b""
        while (more := s.recv(65536)):
            data += more
    head, _, text = data.partition(b"\r\n\r\n")
    json.loads(text.decode("utf-8"))
    return int(head.split()[1]), text.decode("utf-8")


def main():
    with Node() as node:
        assert node.call("PUT", "/e", {"settings": {"number_of_replicas": 0}})[0] == 200
        assert node.call("PUT", "/e/_doc/2", {"t": "b"})[0] == 201
        for bad in BAD:
            for method, path, body in PLACES:
                status, text = ask(node, method, path.encode(), body.replace(b"@", bad))
                assert status == 400, (bad, path, body, status, text)
            status, text = ask(node, "POST", b"/e/_bulk", b'{"index":{"_id":"3"}}\n{"t":"' + bad + b'"}\n{"index":{"_id":"4"}}\n{"t":"good"}\n')
            assert status == 200 and [i["index"]["status"] for i in json.loads(text)["items"]] == [400, 201 if bad is BAD[0] else 200], text
            percent = b"".join(b"%%%02x" % c for c in bad)
            for raw in (bad, percent):
                assert "\ufffd" in ask(node, "GET", b"/e/_doc/" + raw)[1] or raw is bad
                ask(node, "GET", b"/e/_search?q=t:" + raw)
                ask(node, "GET", b"/" + raw + b"/a/b/c/d/e/f/g")
            ask(node, "POST", b"/e/_search", b"{}", b"Content-Type: a" + bad + b"\r\n")
            ask(node, "GET", b"/_tasks?detailed", b"", b"X-Opaque-Id: a" + bad + b"\r\n")
        for half in ("\\ud83d", "\\ude00", "\\ud83d\\u0041"):
            assert ask(node, "PUT", b"/e/_doc/5", b'{"t":"a%s","k%s":1}' % (half.encode(), half.encode()))[0] in (200, 201)
            assert "\ufffd" in ask(node, "POST", b"/_analyze", b'{"tokenizer":"keyword","text":"%s"}' % half.encode())[1]
        ask(node, "POST", b"/e/_refresh")
        for path in (b"/e/_search?docvalue_fields=t.keyword", b"/e/_mapping", b"/_cluster/state", b"/_cat/indices?format=json"):
            assert ask(node, "GET", path)[0] == 200
        source = json.dumps({"script_fields": {"x": {"script": {"source": "'\U0001F600a'.substring(1)"}}, "y": {"script": {"source": "'\U0001F600'.charAt(0).toString()"}}}})
        ask(node, "POST", b"/e/_search", source.encode())
    print("ok")


main()
