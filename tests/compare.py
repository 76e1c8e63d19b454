"""Asks a service over HTTP, and compares two answers: status and whole body, without what differs from run to run."""
import http.client
import json
import math
import re
import urllib.parse

# Values that no two runs share. They are not compared, but they must be there, and be of the same type.
VOLATILE = {"took", "_scroll_id", "scroll_id", "pit_id", "uuid", "index_uuid", "cluster_uuid", "cluster_name", "creation_date", "creation_date_in_millis", "build_hash", "build_date",
            "build_type", "build_flavor", "stack_trace", "_node", "node", "node_id", "node_name", "allocation_id", "max_bytes", "timestamp", "timestamp_millis", "epoch", "task",
            "ephemeral_id", "transport_address", "bytes_limit", "bytes_wanted", "start_time_in_millis", "running_time_in_nanos", "throttled_millis"}
REL_TOL = 2e-6
TEXTS = [(re.compile(r"\[([^\]\[/ ]+)/[\w-]{22}\]"), r"[\1/UUID]"),            # [index/uuid]
         (re.compile(r"(?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z0-9])[\w-]{22}(?![\w-])"), "UUID"),
         (re.compile(r"\n at \[Source: .*", re.S), ""),                        # Jackson's source: a Java object, or bytes of the connection
         (re.compile(r"@[0-9a-f]{5,8}\b"), "@ADDRESS"),                          # Object.toString() of Java
         (re.compile(r"(?<=simulate_template_)[\w-]{22}|(?<=simulate_index_template_)[\w-]{22}"), "UUID"),
         (re.compile(r"(?<=id ')[\w-]{20}(?=')"), "ID"),                       # an id that was made
         (re.compile(r"[\w-]{20,}={0,2}(?= for scroll)"), "SCROLL")]
ID = re.compile(r"[\w-]{20}")


class Client:
    """One connection to a service; it is opened again when it was closed."""

    def __init__(self, url, timeout=60):
        u = urllib.parse.urlsplit(url if "//" in url else "http://" + url)
        self.host, self.port, self.timeout, self.conn = u.hostname, u.port or 9200, timeout, None

    def call(self, method, path, body=None, headers=None):
        """(status, body): the body parsed where it is JSON, else its text. A list goes as lines, other values as JSON, texts as they are."""
        data, kind = payload(body)
        sent = {**({"Content-Type": kind} if data is not None else {}), **(headers or {})}
        for attempt in (0, 1):
            try:
                self.conn = self.conn or http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)
                self.conn.request(method, urllib.parse.quote(path, safe="/?&=%*,:+_-.~[]!<>@"), data, sent)
                r = self.conn.getresponse()
                text = r.read().decode("utf-8", "replace")
                break
            except TimeoutError:
                self.conn = None
                raise
            except (http.client.HTTPException, OSError):
                self.conn = None
                if attempt:
                    raise
        try:
            return r.status, json.loads(text) if method != "HEAD" else None
        except ValueError:
            return r.status, text


def payload(body):
    """(bytes or None, their type) of a request's body."""
    if body is None:
        return None, None
    if isinstance(body, list):
        return "".join((l if isinstance(l, str) else json.dumps(l, ensure_ascii=False)) + "\n" for l in body).encode(), "application/x-ndjson"
    return (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode(), "application/json"


def normalised(text):
    """A text of an answer without identifiers of one run."""
    for pattern, by in TEXTS:
        text = pattern.sub(by, text)
    return text


def brief(value, n=160):
    s = json.dumps(value, ensure_ascii=False)
    return s if len(s) <= n else s[:n] + "…"


def apart(got, want, n=400, before=40):
    """Two texts that differ, briefly: long ones from shortly before the place where they begin to differ."""
    if max(len(got), len(want)) <= n:
        return brief(got, n), brief(want, n)
    same = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), min(len(got), len(want)))
    start = max(0, same - before)
    return tuple(("…" if start else "") + brief(t[start:], n) for t in (got, want))


def differences(want, got, ignore=(), path=()):
    """Yields (path, message) for each place where two bodies differ. `ignore` has paths that are not compared, `*` for any one step."""
    if any(matches(i, path) for i in ignore):
        return
    where = ".".join(map(str, path))
    if isinstance(want, dict) and isinstance(got, dict):
        for k in want:
            child = path + (k,)
            if k not in got:
                if not any(matches(i, child) for i in ignore):
                    yield ".".join(map(str, child)), f"missing, want {brief(want[k])}"
            elif not (k in VOLATILE and isinstance(want[k], (str, int, float)) and type(want[k]) is type(got[k])):
                yield from differences(want[k], got[k], ignore, child)
        for k in got:
            if k not in want and not any(matches(i, path + (k,)) for i in ignore):
                yield ".".join(map(str, path + (k,))), f"unexpected: {brief(got[k])}"
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield where, f"length {len(got)}, want {len(want)}: {brief(got)}, want {brief(want)}"
        for i, (w, g) in enumerate(zip(want, got)):
            yield from differences(w, g, ignore, path + (i,))
    elif isinstance(want, float) and isinstance(got, float):
        if not math.isclose(want, got, rel_tol=REL_TOL, abs_tol=1e-9) and not (math.isnan(want) and math.isnan(got)):
            yield where, f"{got}, want {want}"
    elif isinstance(want, str) and isinstance(got, str):
        if normalised(want) != normalised(got) and not (path and path[-1] == "_id" and ID.fullmatch(want) and ID.fullmatch(got)):
            yield where, "{}, want {}".format(*apart(got, want))
    elif type(want) is not type(got) or want != got:
        yield where, f"{brief(got)}, want {brief(want)}"


def matches(pattern, path):
    """Whether a path is the one that `a.*.b` tells, or below it."""
    parts = pattern.split(".")
    return len(parts) <= len(path) and all(p in ("*", str(k)) for p, k in zip(parts, path))
