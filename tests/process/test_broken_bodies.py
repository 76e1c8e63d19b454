#!/usr/bin/env python3
"""Bodies of every kind of request, cut off at every byte and with every byte damaged: each is answered, with JSON in UTF-8, and the node ends
when it is told to. The long form damages every byte in every way that it knows."""
import json
import os
import signal
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bodies  # noqa: E402
from node import HANG_SECONDS, Node  # noqa: E402

LONG = os.environ.get("LONG") == "1"
DAMAGE = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\xff", b"\x00", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"9", b"", b"\n"]
LONG_PATTERNS = ["a" * 100000, "a|" * 100000 + "b", "a&" * 100000 + "b", "a" + "*" * 100000, "\"" + "a" * 100000 + "\""]
AT_ONCE = 50  # requests sent ahead of their answers


def variants(text):
    """The text cut off, and damaged, at every byte."""
    data = text.encode()
    for i in range(len(data)):
        yield data[:i]
    for i in range(len(data)):
        for d in DAMAGE if LONG else [DAMAGE[i % len(DAMAGE)]]:
            yield data[:i] + d + data[i + 1:]


class Connection:
    def __init__(self, node):
        self.node, self.sock, self.file = node, None, None

    def open(self):
        if self.sock is None:
            self.sock = socket.create_connection((self.node.host, self.node.port), timeout=HANG_SECONDS)
            self.file = self.sock.makefile("rb")

    def answer(self):
        status = int(self.file.readline().split()[1])
        length, close = 0, False
        while (line := self.file.readline().strip().lower()):
            name, _, value = line.partition(b":")
            length = int(value) if name == b"content-length" else length
            close = close or (name == b"connection" and value.strip() == b"close")
        return status, self.file.read(length), close

    def ask(self, requests):
        """Sends them all, then reads the answers."""
        self.open()
        self.sock.sendall(b"".join(requests))
        answers = []
        for _ in requests:
            status, body, close = self.answer()
            answers.append((status, body))
            assert not close, (status, body)
        return answers


def request(method, path, body, lines):
    kind = "application/x-ndjson" if lines else "application/json"
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def main():
    asked = 0
    with Node() as node:
        status, answer = node.call("PUT", *bodies.SETUP)
        assert status == 200, answer
        connection = Connection(node)
        for method, path, text, lines in bodies.all_bodies():
            batch = list(variants(text))
            for i in range(0, len(batch), AT_ONCE):
                part = batch[i:i + AT_ONCE]
                for body, (status, answer) in zip(part, connection.ask([request(method, path, b, lines) for b in part])):
                    asked += 1
                    try:
                        if path != "/_render/template" or status != 200:  # there it is whatever the template says
                            json.loads(answer.decode("utf-8"))
                    except ValueError as e:
                        raise AssertionError((method, path, body, status, answer)) from e
                    assert status < 500 or os.environ.get("SHOW") is None, (method, path, body, status, answer)
            if path == "/edge-new":
                node.call("DELETE", "/edge-new")
        for pattern in LONG_PATTERNS:
            for body in ({"aggs": {"a": {"terms": {"field": "k", "include": pattern}}}}, {"query": {"regexp": {"k": pattern}}}):
                status, answer = node.call("POST", "/edge/_search", body)
                assert status == 400, (pattern[:20], len(pattern), status, answer)
        assert node.call("GET", "/")[0] == 200
        node.process.send_signal(signal.SIGTERM)
        assert node.process.wait(HANG_SECONDS) == 0
    print(f"{asked} broken bodies, all answered")


main()
