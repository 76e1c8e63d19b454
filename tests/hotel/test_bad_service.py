#!/usr/bin/env python3
"""The application and the importer over a search service that is busy, slow, broken or incomplete: a stand-in answers."""
import http.server
import json
import os
import subprocess
import tempfile
import threading

import application
from application import App, Checks, call, command

check = Checks()
WHOLE = {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}


class StandIn:
    """Answers as `answer(method, path, body)` says: (status, object or text)."""

    def __init__(self, answer):
        outer = self
        self.answer, self.connections = answer, 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                outer.connections += 1

            def run(self):
                n = int(self.headers.get("content-length") or 0)
                status, body = outer.answer(self.command, self.path, self.rfile.read(n).decode() if n else "")
                data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = run

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # callers that do not wait any longer
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def test_answers_that_are_none():
    said = {}
    hits = {"total": {"value": 3, "relation": "eq"}, "hits": []}
    bad = [("an error", 500, {"error": {"type": "x", "reason": "y"}}), ("a refusal", 400, {}), ("overload", 429, {}), ("a missing index", 404, {}),
           ("no JSON", 200, "<html>"), ("half of it", 200, '{"hits":'), ("an empty body", 200, ""), ("another object", 200, {"ok": True}),
           ("failed shards", 200, {**WHOLE, "_shards": {"total": 2, "successful": 1, "failed": 1}, "hits": hits}),
           ("a time-out inside", 200, {**WHOLE, "timed_out": True, "hits": hits})]
    with StandIn(lambda *_: said["answer"]) as service, App(service.url, "x") as app:
        for name, status, body in bad:
            said["answer"] = (status, body)
            for method, path, request in (("POST", "/hotel/list", {}), ("POST", "/hotel/filters", {}), ("GET", "/hotel/suggestion?key=a", None)):
                have, answer, _ = call(app.host, method, path, request)
                check(have == 503 and set(answer) == {"status", "error", "reason"}, f"{path}: {name}", (have, answer))
        said["answer"] = (200, {**WHOLE, "hits": hits})
        check.equal(app.post("/hotel/list", {}), (200, {"total": 3, "hotels": []}), "an answer that is one")


def test_no_answer_in_time():
    told = threading.Event()
    with StandIn(lambda *_: (told.wait(), (200, {}))[1]) as service, App(service.url, "x", "-E", "search.timeout=1s") as app:
        have, answer = app.post("/hotel/list", {})
        check(have == 503 and "in time" in answer["reason"], "a slow service", (have, answer))
        told.set()


def test_connections_are_kept():
    hits = {"total": {"value": 12345, "relation": "gte"}, "hits": []}
    with StandIn(lambda *_: (200, {**WHOLE, "hits": hits})) as service, App(service.url, "x", "--threads", "1") as app:
        for _ in range(50):
            app.post("/hotel/list", {})
        check(service.connections <= 2, "one connection serves many searches", service.connections)
        check.equal(call(app.host, "POST", "/hotel/list", {})[2]["x-total-relation"], "gte", "a total that is a lower bound")


class BusyBulk:
    """An index of the right form whose bulks are refused: as a whole at first, some items later, one item for ever."""

    def __init__(self):
        self.stored, self.bulks, self.mapping, self.never = {}, 0, None, None

    def answer(self, method, path, body):
        if path == "/busy" and method == "GET":
            return (404, {}) if self.mapping is None else (200, {"busy": {}})
        if path == "/busy" and method == "PUT":
            self.mapping = json.loads(body)
            return 200, {}
        if path == "/busy/_count":
            return 200, {"count": len(self.stored)}
        if path == "/_bulk":
            return self.bulk(body)
        return 200, {}

    def bulk(self, body):
        self.bulks += 1
        if self.bulks in (1, 3):
            return (429, 503)[self.bulks // 2], {"error": {"type": "busy", "reason": "busy"}, "status": 429}
        lines, items = body.splitlines(), []
        for n in range(0, len(lines), 2):
            ident = json.loads(lines[n])["index"]["_id"]
            if ident == self.never:
                items.append({"index": {"status": 400, "error": {"type": "mapper_parsing_exception", "reason": "no"}}})
            elif self.bulks % 2 == 0 and n % 6 == 0:
                items.append({"index": {"status": 429, "error": {"type": "es_rejected_execution_exception", "reason": "queue"}}})
            else:
                self.stored[ident] = json.loads(lines[n + 1])
                items.append({"index": {"status": 201}})
        return 200, {"errors": True, "items": items}


def test_busy_bulks(folder):
    path = os.path.join(folder, "h.csv")
    with open(path, "w", encoding="utf-8") as f:
        subprocess.run([application.HOTEL, "generate", "2500"], stdout=f, check=True)
    ids = [line.split(",")[0] for line in open(path, encoding="utf-8")][1:]
    busy = BusyBulk()
    with StandIn(busy.answer) as service:
        _, out, _ = command(service.url, "busy", "import", path)
        check("2500 hotels imported" in out and sorted(busy.stored) == sorted(ids), "what is busy is tried again", (out, len(busy.stored)))
        check(all(str(d["id"]) == i for i, d in busy.stored.items()), "each hotel under its id")
        busy.stored, busy.mapping, busy.never = {}, None, ids[41]
        status, out, text = command(service.url, "busy", "import", path, check=False)
        check(status == 1 and f"h.csv:43: hotel {ids[41]} was refused: mapper_parsing_exception" in text and len(busy.stored) == 2499, "what is refused is told", (status, text))
        check.equal(busy.mapping["mappings"]["properties"]["suggestion"], {"type": "completion", "analyzer": "completion_analyzer"}, "the index is made in its final form")


def main():
    application.need("serai-hotel")
    test_answers_that_are_none()
    test_no_answer_in_time()
    test_connections_are_kept()
    with tempfile.TemporaryDirectory() as folder:
        test_busy_bulks(folder)
    check.end()


if __name__ == "__main__":
    main()
