#!/usr/bin/env python3
"""Documents as deep as a body may be lie deeper in an answer than they are: it can be filtered, indented and turned to YAML."""
import http.client
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import HANG_SECONDS, Node  # noqa: E402

DEPTH = 998  # and the document itself: beyond a thousand it is refused
SHAPES = ("pretty", "format=yaml", "filter_path=**", "filter_path=hits.**.b", "filter_path=-hits.**.c", "filter_path=docs.**,hits.hits._source,_source", "filter_path=*.*.*.o.a.*,hits.**.b&pretty")


def ask(node, method, path, body=None):
    c = http.client.HTTPConnection(node.host, node.port, timeout=HANG_SECONDS)
    c.request(method, path, body, {"Content-Type": "application/json"})
    answer = c.getresponse()
    text = answer.read().decode()
    c.close()
    return answer.status, text


def main():
    inner = '{"a":' * (DEPTH - 1) + '{"b":1}' + "}" * (DEPTH - 1)
    with Node() as node:
        assert ask(node, "PUT", "/deep", '{"mappings":{"properties":{"o":{"type":"object","enabled":false}}}}')[0] == 200
        status, text = ask(node, "PUT", "/deep/_doc/1?refresh", '{"o":' + inner + "}")
        assert status == 201, text[:500]
        for shape in SHAPES:
            for method, path, body in (("GET", "/deep/_doc/1", None), ("POST", "/deep/_search", "{}"), ("POST", "/_msearch", '{"index":"deep"}\n{}\n'), ("POST", "/deep/_mget", '{"ids":["1"]}')):
                status, text = ask(node, method, f"{path}?{shape}", body)
                assert status == 200, (path, shape, status, text[:500])
                if shape in ("pretty", "format=yaml", "filter_path=**"):
                    assert text.replace('"', "").replace(" ", "").count("b:1") == 1, (path, shape, text[-200:])
        assert ask(node, "GET", "/")[0] == 200
    print("ok")


main()
