#!/usr/bin/env python3
"""Pages of other sites cannot use a node: their requests are refused, by names too that were made to lead here; clients that are no browsers, the node's own
pages, and origins that may, are answered. Lists on the command line."""
import http.client
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import HANG_SECONDS, Node  # noqa: E402


def ask(node, method, path, headers):
    conn = http.client.HTTPConnection(node.host, node.port, timeout=HANG_SECONDS)
    try:
        conn.request(method, path, None, headers)
        r = conn.getresponse()
        r.read()
        return r.status, {k.lower(): v for k, v in r.getheaders()}
    finally:
        conn.close()


def main():
    delete_all = '/e/_delete_by_query?refresh&source_content_type=application/json&source={"query":{"match_all":{}}}'.replace('"', "%22").replace("{", "%7b").replace("}", "%7d")
    with Node(**{"node.roles": "master,data"}) as node:
        here = f"localhost:{node.port}"
        node.call("PUT", "/e/_doc/1?refresh=true", {"a": 1})
        for headers in ({"Host": here, "Origin": "http://evil.example"}, {"Host": here, "Origin": "null"}, {"Host": here, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
                        {"Host": "evil.example", "Origin": "http://evil.example"}, {"Host": f"evil.example:{node.port}", "Sec-Fetch-Site": "same-origin"}):
            for method, path in (("POST", delete_all), ("DELETE", "/e"), ("GET", "/e/_search"), ("OPTIONS", "/e")):
                assert ask(node, method, path, headers)[0] == 403, (method, path, headers)
        assert node.call("GET", "/e/_count")[1]["count"] == 1
        for headers in ({"Host": "evil.example"}, {"Host": here, "Origin": f"http://{here}"}, {"Host": here, "Sec-Fetch-Site": "none"}, {"Host": f"127.0.0.1:{node.port}", "Origin": f"http://127.0.0.1:{node.port}"}):
            assert ask(node, "GET", "/e/_search", headers)[0] == 200, headers
        assert ask(node, "GET", "/_console/", {"Host": here, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})[0] == 200
        assert sorted(node.call("GET", "/_nodes")[1]["nodes"].popitem()[1]["roles"]) == ["data", "master"]
    with Node(**{"http.cors.enabled": "true", "http.cors.allow-origin": "https://shop.example,http://search.example:9200"}) as node:
        shop = {"Host": f"localhost:{node.port}", "Origin": "https://shop.example"}
        status, headers = ask(node, "OPTIONS", "/e/_search", {**shop, "Access-Control-Request-Method": "POST"})
        assert status == 200 and headers["access-control-allow-origin"] == "https://shop.example" and "POST" in headers["access-control-allow-methods"], headers
        status, headers = ask(node, "GET", "/", shop)
        assert status == 200 and headers["access-control-allow-origin"] == "https://shop.example", headers
        assert ask(node, "GET", "/", {"Host": "search.example:9200", "Sec-Fetch-Site": "same-origin"})[0] == 200
        assert ask(node, "GET", "/", {**shop, "Origin": "https://evil.example"})[0] == 403
    print("ok")


main()
