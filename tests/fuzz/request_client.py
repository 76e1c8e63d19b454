"""Sends the fuzzer's requests over raw sockets, and says what is wrong with an answer: its framing, its encoding, its type, a 5xx that must not be."""
import gzip
import json
import os
import re
import select
import socket
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_CPU = 5.0      # seconds of the node's processor time that one answer may take
PATIENCE = 8.0       # seconds after which nobody waits any more for what merely waits
BUSY_TYPES = {429: {"circuit_breaking_exception", "es_rejected_execution_exception", "search_phase_execution_exception"},
              503: {"search_phase_execution_exception", "too_many_buckets_exception", "unavailable_shards_exception", "no_shard_available_action_exception", "master_not_discovered_exception",
                    "process_cluster_event_timeout_exception", "shard_not_in_primary_mode_exception", "cluster_block_exception"}}
TEXT_TYPES = ("text/plain", "application/yaml", "text/html", "text/css", "text/javascript", "application/javascript", "image/svg+xml", "text/event-stream")
YAML_FOLD = re.compile(r"\\\n\s*\\?")
YAML_CAUSE = re.compile(r'type: "([^"]*)"\s+reason: "((?:[^"\\]|\\.)*)"')


def errors_in(value):
    """(type, reason) of every error inside of an answer."""
    if isinstance(value, dict):
        if isinstance(value.get("type"), str) and "reason" in value:
            yield value["type"], str(value["reason"])
        for v in value.values():
            yield from errors_in(v)
    elif isinstance(value, list):
        for v in value:
            yield from errors_in(v)


class Gone(Exception):
    """The node closed the connection."""


class Slow(Exception):
    """Nobody waits any longer. `cpu`: how many seconds of processor time the node had since."""

    def __init__(self, cpu):
        super().__init__(f"{cpu:.1f} s")
        self.cpu = cpu


class Answer:
    __slots__ = ("status", "headers", "body")

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def closes(self):
        return self.headers.get("connection", "").lower() == "close"

    def text(self):
        return self.body.decode("utf-8", "replace")


class Connection:
    """One connection. `cpu()` says how much processor time the node had so far."""

    def __init__(self, host, port, cpu, patience=PATIENCE):
        self.patience, self.address, self.cpu, self.sock, self.buffer = patience, (host, port), cpu, None, b""

    def open(self):
        if self.sock is None:
            self.sock = socket.create_connection(self.address, timeout=60)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.buffer = b""

    def close(self):
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def send(self, data):
        try:
            self.open()
            self.sock.sendall(data)
        except OSError as e:
            raise Gone(str(e)) from e

    def more(self, began):
        """Reads some bytes; Slow when it is not worth waiting any longer since `began` (when, processor time)."""
        while not select.select([self.sock], [], [], 0.5)[0]:
            cpu, waited = self.cpu() - began[1], time.monotonic() - began[0]
            if cpu > LIMIT_CPU or (waited > self.patience and cpu < waited * 0.02) or waited > 20 * self.patience:
                raise Slow(cpu)
        try:
            data = self.sock.recv(1 << 18)
        except OSError as e:
            raise Gone(str(e)) from e
        if not data:
            raise Gone("closed")
        self.buffer += data

    def answer(self, head_only):
        """The next answer on this connection; ValueError where it is not HTTP."""
        began = (time.monotonic(), self.cpu())
        while True:
            while (end := self.buffer.find(b"\r\n\r\n")) < 0:
                self.more(began)
            lines = self.buffer[:end].decode("latin-1").split("\r\n")
            m = re.fullmatch(r"HTTP/1\.[01] (\d{3}) [^\r\n]*", lines[0])
            if not m:
                raise ValueError(f"no status line: {lines[0][:200]!r}")
            self.buffer = self.buffer[end + 4:]
            if m.group(1) != "100":
                break
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or not re.fullmatch(r"[!-~]+", name):
                raise ValueError(f"no header: {line[:200]!r}")
            headers[name.lower()] = value.strip()
        status = int(m.group(1))
        if head_only or status in (204, 304):
            return Answer(status, headers, b"")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return Answer(status, headers, self.chunks(began))
        if not headers.get("content-length", "").isdigit():
            raise ValueError(f"neither length nor chunks: {headers}")
        length = int(headers["content-length"])
        while len(self.buffer) < length:
            self.more(began)
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return Answer(status, headers, body)

    def chunks(self, began):
        body = b""
        while True:
            while (end := self.buffer.find(b"\r\n")) < 0:
                self.more(began)
            size = int(self.buffer[:end], 16)
            while len(self.buffer) < end + 4 + size:
                self.more(began)
            body, self.buffer = body + self.buffer[end + 2:end + 2 + size], self.buffer[end + 4 + size:]
            if size == 0:
                return body


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def normalised(text):
    """A text without names and numbers: what groups findings."""
    text = re.sub(r"\[[^\[\]]*\]", "[]", re.sub(r"\[[^\[\]]*\]", "[]", re.sub(r"\".*?\"|`.*?`|'.*?'", '""', text[:400])))
    text = re.sub(r"(?<=[:\[]).*", "", text) if text.startswith(("Invalid ", "For input")) else text
    return re.sub(r"\s+", " ", re.sub(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", "#", text))[:160]


class Judge:
    """What is wrong with an answer. `known` has the errors of 500 that Elasticsearch gives too; None: nobody asks."""

    def __init__(self, known):
        self.any_error = known is None
        self.known = {(t, normalised(r)) for t, r in known or ()}
        self.patterns = []
        with open(os.path.join(HERE, "request_errors.txt"), encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    kind, _, pattern = line.strip().partition(" ")
                    self.patterns.append((kind, re.compile(pattern or ".*", re.S)))

    def wrong(self, request, answer):
        """None, or (a key that groups, what is wrong)."""
        path = request.path.split("?")[0]
        endpoint = "/".join(p if p.startswith("_") else "I" for p in path.split("/") if p)[:60]
        if request.method == "HEAD":
            bad = answer.status >= 500 and answer.status != 503 and (answer.status != 505 or request.framed) and not self.any_error
            return (f"{answer.status} HEAD {endpoint}", str(answer.headers)) if bad else None
        body = answer.body
        try:
            if answer.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            text = body.decode("utf-8")
        except (OSError, EOFError, zlib.error) as e:
            return f"bad gzip: {endpoint}", str(e)
        except UnicodeDecodeError as e:
            return f"not UTF-8: {endpoint}", f"{e}: {body[max(0, e.start - 60):e.start + 60]!r}"
        kind = answer.headers.get("content-type", "")
        value = None
        if kind.startswith("application/json"):
            try:
                value = json.loads(text, parse_constant=no_constant)
            except (ValueError, RecursionError) as e:
                at = getattr(e, "pos", 0)
                if text[at:at + 1] in ("\ufeff", "/"):  # a document is told as it came: with its mark or its comments, as Elasticsearch does
                    return None
                return f"not JSON: {endpoint}", f"{e}: {text[max(0, at - 200):at + 200]!r}"
        elif kind.startswith(TEXT_TYPES):
            if text[:1] == "{" and "format=" not in request.path and path.startswith("/_") and not path.startswith("/_cat"):
                return f"JSON as {kind}: {endpoint}", text[:300]
        elif text:
            return f"type [{kind}]: {endpoint}", text[:300]
        return self.wrong_status(request, answer, value, text, endpoint)

    def wrong_status(self, request, answer, value, text, endpoint):
        if isinstance(value, dict) and isinstance(value.get("error"), (dict, str)) and answer.status < 400 and "_validate" not in endpoint:
            return f"an error with {answer.status}: {endpoint}", text[:500]
        if answer.status in BUSY_TYPES:
            error = value.get("error") if isinstance(value, dict) else None
            if isinstance(error, dict) and (error.get("type") not in BUSY_TYPES[answer.status] or '"bytes_wanted":0' in text):
                return f"{answer.status} of type {error.get('type')}", text[:500]
        elif answer.status >= 500 and not (answer.status == 505 and not request.framed):
            error = value.get("error") if isinstance(value, dict) else None
            inner = error
            while isinstance(inner, dict) and (inner.get("caused_by") or inner.get("root_cause")):
                inner = inner.get("caused_by") or inner["root_cause"][0]
            pair = (str(inner.get("type")), str(inner.get("reason"))) if isinstance(inner, dict) else ("text", text[:400])
            parts = list(errors_in(value)) if isinstance(value, dict) else [(t, r.replace('\\"', '"')) for t, r in YAML_CAUSE.findall(YAML_FOLD.sub("", text))]
            pairs = [pair] if isinstance(inner, dict) else parts or [pair]
            if not any(self.is_known(*p) for p in pairs):
                return f"{answer.status} {pair[0]}: {normalised(pair[1])}", text[:1500]
        elif '"status":500' in text and isinstance(value, dict):
            return self.wrong_parts(value)
        return None

    def wrong_parts(self, value):
        """Items of a bulk, answers of a msearch, failures of shards: a 500 is one there too."""
        for item in value.get("items") or value.get("responses") or []:
            part = next(iter(item.values())) if isinstance(item, dict) and len(item) == 1 else item
            if isinstance(part, dict) and part.get("status") == 500 and isinstance(part.get("error"), dict):
                inner = part["error"]
                while isinstance(inner, dict) and (inner.get("caused_by") or inner.get("root_cause")):
                    inner = inner.get("caused_by") or inner["root_cause"][0]
                if not self.is_known(str(inner.get("type")), str(inner.get("reason"))):
                    return f"500 in a part {inner.get('type')}: {normalised(str(inner.get('reason')))}", json.dumps(part)[:1500]
        return None

    def is_known(self, kind, reason):
        return self.any_error or (kind, normalised(reason)) in self.known or any(k == kind and p.search(reason) for k, p in self.patterns)
