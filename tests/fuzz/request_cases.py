"""Where the fuzzer of requests has its requests from, and how it changes them.

A case is a list of steps (method, path, body): recorded ones, those of tests/conformance/own, of tests/bodies.py, or of the differ's generators. A body is
None, a text, a value that goes as JSON, or a list of such values that goes as lines."""
import glob
import gzip
import importlib
import json
import os
import random
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "differ")]
import bodies  # noqa: E402
from draw import Draw  # noqa: E402
from node import SHARED  # noqa: E402
from request_client import errors_in  # noqa: E402
from request_documents import documents_case  # noqa: E402
from world import World  # noqa: E402

DIFFER_REQUESTS = 25
LARGEST = 60000  # bytes of a body that is worth its time
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "FOO"]
NUMBERS = [0, -1, 1, 2, -0.0, 0.1, 1e308, -1e308, 1e-320, 127, 128, 255, 32767, 65535, 65536, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, -2**63, -2**63 - 1, 10**40, 10000, 10001]
TEXTS = ["", " ", "*", "?", "**", "_all", "_id", "_source", "_score", "_doc", ".", "..", "a.", ".a", "a..b", "-", "--", "now", "now+1d/d", "2020-01-01||+1M/y", "AUTO", "AUTO:3,6", "75%", "-25%", "3<90%", "2<-25% 9<-3", "1d", "-1d",
         "1M", "0s", "999999999d", "1e400", "NaN", "Infinity", "-Infinity", "9223372036854775808", "true", "null", "\0", "a\0b", "\ufeff", "\u2028", "\ud7ff", "😀" * 3, "e\u0301", "ß", "İ", "酒店", "\r\n", "\\", "\\u", "\"", "'",
         "(", "[", "{", "/a/", "a~2", "a^1", "\"a b\"~3", "[1 TO 2}", "(a OR", "NOT", "&&", "_exists_:x", "a:b", "%", "%s%n", "${x}", "{{x}}", "doc['n'].value", "params.x", "return 1", "while(true){}", "\\d+(a|b)*", "[^-a]", "<1-9>", "a{1,5}",
         "POINT (1 2)", "1,2", "u33db", "::1", "10.0.0.0/8", "10.0.0.1", "UTC", "+18:00", "America/St_Johns", "yyyy-MM-dd", "epoch_millis", "x" * 300, "a " * 200, "a" * 32767]
PARAMETERS = ["pretty", "human", "error_trace", "filter_path=**", "filter_path=-hits", "filter_path=h*.**._id", "format=yaml", "format=json", "format=text", "v", "h=*", "s=index", "s=nope", "help", "bytes=b", "time=ms", "local", "size=1", "size=-1",
              "from=9999", "routing=a", "routing=a,b", "preference=_local", "preference=_shards:0", "preference=x", "scroll=1s", "search_type=dfs_query_then_fetch", "typed_keys", "rest_total_hits_as_int", "track_total_hits=3", "q=a", "q=k:(a OR b",
              "df=t", "default_operator=AND", "lenient", "explain", "version", "seq_no_primary_term", "stored_fields=_none_", "docvalue_fields=n", "_source=false", "_source_includes=*", "_source_excludes=a.*", "sort=n:desc", "sort=_score",
              "timeout=1ms", "terminate_after=1", "batched_reduce_size=2", "pre_filter_shard_size=1", "ccs_minimize_roundtrips", "ignore_unavailable", "allow_no_indices=false", "expand_wildcards=all", "expand_wildcards=none", "ignore_throttled",
              "refresh", "refresh=true", "refresh=false", "op_type=create", "version=3&version_type=external", "if_seq_no=0&if_primary_term=1", "require_alias", "pipeline=p", "wait_for_active_shards=all", "retry_on_conflict=3", "realtime=false",
              "conflicts=proceed", "slices=auto", "slices=3", "requests_per_second=1000", "wait_for_completion=false", "max_docs=1", "scroll_size=1", "include_type_name=true", "include_defaults", "flat_settings", "level=shards", "dry_run",
              "master_timeout=1s", "request_cache=true", "analyzer=standard", "suggest_field=t&suggest_text=a", "source={}&source_content_type=application/json", "fields=*", "ids=1,2", "max_concurrent_searches=1", "max_num_segments=1", "create"]


# ---- sources ----------------------------------------------------------------------------------------------------------
def _do(step):
    return (*step["do"].split(" ", 1), step.get("body"))


def scenarios(own):
    """The recordings beside the project, where they are and not only the project's `own` is wanted."""
    return [] if own else sorted(glob.glob(os.path.join(SHARED, "conformance", "scenarios", "**", "*.json"), recursive=True))


REFUSES_ALL = {"breakers"}  # cases that set limits of memory: what another case asks is refused while they are so, rightly


def recorded(own):
    """Cases that lie in files, each with what to delete after it: (name, names of indices, steps)."""
    for path in scenarios(own):
        with open(path, encoding="utf-8") as f:
            case = json.load(f)
        yield os.path.basename(path)[:-5], case.get("cleanup", []), [(s["method"], s["path"], s.get("body")) for s in case["steps"]]
    for path in sorted(glob.glob(os.path.join(HERE, "..", "conformance", "own", "*.json"))):
        if os.path.basename(path)[:-5] in REFUSES_ALL:
            continue
        with open(path, encoding="utf-8") as f:
            case = json.load(f)
        yield os.path.basename(path)[:-5], case.get("cleanup", []), [_do(s) for s in case.get("setup", []) + case["steps"]]
    every = [(method, path, text if lines else json.loads(text)) for method, path, text, lines in bodies.all_bodies()]
    for i in range(0, len(every), 12):
        yield f"bodies-{i}", ["edge", "edge-new", "edge-re", "_template/edge", "_index_template/edge"], [("PUT", *bodies.SETUP), ("PUT", "/edge/_doc/1?refresh", {"t": "a b", "k": "a", "n": 1})] + every[i:i + 12]


def answers_of_recordings(own):
    """(type, reason) of each error that Elasticsearch itself gave."""
    files = scenarios(own) + glob.glob(os.path.join(HERE, "..", "conformance", "own", "*.json"))
    for path in files:
        with open(path, encoding="utf-8") as f:
            case = json.load(f)
        for step in case.get("steps", []):
            yield from errors_in(step.get("response"))


def differ_case(seed, area, prefix):
    """A case of the differ's generators."""
    module = importlib.import_module(f"areas.{area}")
    draw = Draw(seed)
    world = World(draw, prefix, getattr(module, "KINDS", ()))
    steps = list(world.create())
    steps += [("POST", f"/{index}/_bulk?refresh", world.bulk(draw.randint(1, 12))) for index in world.indices]
    for _ in range(DIFFER_REQUESTS):
        if draw.chance(0.2):
            steps.append(world.change())
        method, path, body = module.request(draw, world)
        steps.append((method, path, draw.spoilt(body) if body is not None and draw.chance(0.2) else body))
    return world.indices, steps


class Sources:
    """All cases, and what is taken from one into another: values by their key, paths, parameters."""

    def __init__(self, own, documents=0.1):
        self.documents = documents  # the share of cases of request_documents.py
        self.cases = list(recorded(own))
        self.areas = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(HERE, "..", "differ", "areas", "[a-z]*.py")))
        self.values, self.paths, self.parameters, self.texts = {}, set(), set(PARAMETERS), []
        everything = [s for _, _, steps in self.cases for s in steps]
        for n in range(40):
            everything += differ_case(f"pool {n}", self.areas[n % len(self.areas)], "pool")[1]
        for _, path, body in everything:
            path, _, query = path.partition("?")
            self.paths.add(path)
            self.parameters.update(p for p in query.split("&") if p)
            self._collect(body)
        self.keys, self.paths, self.parameters = sorted(self.values), sorted(self.paths), sorted(self.parameters)
        self.values = {k: sorted(v) for k, v in self.values.items()}
        self.wide = sorted({t for k in ("query", "aggs", "aggregations", "filter", "must", "script", "sort", "highlight", "suggest", "properties", "analysis", "docs") for t in self.values.get(k, ())})

    def _collect(self, value):
        if isinstance(value, dict):
            for k, v in value.items():
                text = json.dumps(v)
                if len(text) < 3000:
                    kept = self.values.setdefault(k, set())
                    if len(kept) < 300:
                        kept.add(text)
                self._collect(v)
        elif isinstance(value, list):
            for v in value:
                self._collect(v)

    def case(self, rng, worker):
        """(name, what to delete, steps) of a random case."""
        if rng.random() < self.documents:
            return documents_case(rng, worker)
        if rng.random() < 0.4:
            area, prefix = rng.choice(self.areas), f"w{worker}-"
            names, steps = differ_case(rng.random(), area, prefix)
            return f"differ-{area}", names, steps
        return rng.choice(self.cases)


# ---- changes of structure ---------------------------------------------------------------------------------------------
class _Twice(str):
    """A key that stands twice in its object."""


def _places(value, out, depth=0):
    if isinstance(value, dict):
        for k, v in value.items():
            out.append((value, k))
            _places(v, out, depth + 1)
    elif isinstance(value, list):
        for k, v in enumerate(value):
            out.append((value, k))
            _places(v, out, depth + 1)
    return out


# What texts that are parsed are made of: around an expression, and behind it.
GROWTH = [("(", ")"), ("~(", ")"), ("[", "]"), ("{", "}"), ("'", "'"), ("!", ""), ("-", ""), ("+(", ")"), ("<", ">"), ("", "|1"), ("", "+1"), ("", "&&1"), ("", "==1"), ("", "?1:1"), ("", ".a"), ("", ".a()"), ("", "[0]"), ("", "*"), ("", "?"),
          ("", "{1200}"), ("(", "){79}"), ("", " OR a"), ("", " AND (a"), ("", "&x"), ("", "||1d"), ("", "/d"), ("", ",a"), ("", ">a"), ("", " -a"), ("", "x"), ("", ";1"), ("if(1==1){", "}"), ("x->", "")]


def _grown(rng, text):
    """A text with rows and nests of some piece around it, and rows of those within nests of others."""
    for _ in range(rng.choice([1, 2, 3, 12])):
        before, behind = rng.choice(GROWTH)
        n = min(rng.choice([1, 2, 20, 300, 900]), max(0, (LARGEST // 2 - len(text)) // (len(before + behind))))
        text = before * n + text + behind * n
    return text


def _odd_value(rng, sources, old):
    kind = rng.randrange(11)
    if kind == 10 and isinstance(old, str):
        return _grown(rng, old)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 6:
        return rng.choice(TEXTS)
    if kind == 6:
        return rng.choice([None, True, False, [], {}, [[]], [None], {"": 1}, {"a": {}}])
    if kind == 7 and isinstance(old, (int, float)) and not isinstance(old, bool):
        return rng.choice([-old, old + 1, old - 1, old * 1000, old / 3, str(old)])
    if kind == 8 and isinstance(old, str):
        at = rng.randrange(len(old) + 1)
        return rng.choice([old + rng.choice(TEXTS), old[:at] + rng.choice(TEXTS) + old[at:], old[:at], old.upper(), [old] * 3, {old: old}])
    return json.loads(rng.choice(sources.wide))


def changed(rng, sources, value):
    """A value with one thing changed. `value` itself may be changed."""
    places = _places(value, [])
    if not places:
        return _odd_value(rng, sources, value)
    holder, key = rng.choice(places)
    old, kind = holder[key], rng.randrange(16)
    if kind < 5:
        same = sources.values.get(key) if isinstance(holder, dict) else None
        holder[key] = json.loads(rng.choice(same)) if same and rng.random() < 0.7 else _odd_value(rng, sources, old)
    elif kind == 5:
        del holder[key]
    elif kind == 6:
        holder[key] = [old] if rng.random() < 0.5 else {rng.choice(sources.keys): old}
    elif kind == 7 and isinstance(old, (dict, list)) and old:
        holder[key] = rng.choice(list(old.values()) if isinstance(old, dict) else old)
    elif kind == 8 and isinstance(holder, dict):
        other = rng.choice(sources.keys)
        holder[other] = json.loads(rng.choice(sources.values[other]))
    elif kind == 9 and isinstance(holder, dict):
        holder[rng.choice([rng.choice(sources.keys), key + "x", key.upper(), "", rng.choice(TEXTS)])] = holder.pop(key)
    elif kind == 10 and isinstance(holder, dict):
        holder[_Twice("\1" + key)] = rng.choice([old, None, {}, []])
    elif kind == 11:
        other, k = rng.choice(places)
        holder[key], other[k] = json.loads(json.dumps(other[k])), json.loads(json.dumps(old))
    elif kind == 12 and isinstance(holder, list):
        holder[key:key] = [old] * rng.choice([1, 2, 30])
    elif kind == 13:
        for _ in range(rng.choice([2, 5, 30, 120])):
            old = {key: old} if isinstance(holder, dict) else [old]
        holder[key] = old
    elif kind == 14 and isinstance(holder, dict):
        items = list(holder.items())
        rng.shuffle(items)
        holder.clear()
        holder.update(items)
    else:
        holder[key] = _odd_value(rng, sources, old)
    return value


def text_of(body):
    """The text of a body, as bytes; None where there is none."""
    if body is None:
        return None
    if isinstance(body, str):
        text = body
    elif isinstance(body, list):
        text = "".join((l if isinstance(l, str) else json.dumps(l, ensure_ascii=False)) + "\n" for l in body)
    else:
        text = json.dumps(body, ensure_ascii=False)
    return text.replace("\\u0001", "").encode("utf-8", "surrogatepass")


# ---- changes of bytes, paths, and what is sent -----------------------------------------------------------------------
ODD_BYTES = [b"\0", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u12", b"\\ud800", b"\n", b"\r", b"9" * 30, b"-", b"e", b".", b"/*", b"true", b"null", b"NaN", b"'", b"\xef\xbb\xbf"]


def damaged(rng, data):
    """Bytes with one to three places changed."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        if not data:
            return rng.choice(ODD_BYTES)
        at, kind = rng.randrange(len(data)), rng.randrange(6)
        if kind == 0:
            data = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1:]
        elif kind == 1:
            data = data[:at] + rng.choice(ODD_BYTES) + data[at:]
        elif kind == 2:
            data = data[:at] + rng.choice(ODD_BYTES) + data[at + 1:]
        elif kind == 3:
            data = data[:at]
        elif kind == 4:
            data = data[:at] + data[at + rng.randint(1, 8):]
        else:
            end = min(len(data), at + rng.randint(1, 40))
            data = data[:end] + data[at:end] + data[end:]
    return data


def changed_path(rng, sources, path):
    base, _, query = path.partition("?")
    kind = rng.randrange(8)
    if kind < 4:
        params = [p for p in query.split("&") if p]
        if params and rng.random() < 0.4:
            i = rng.randrange(len(params))
            name = params[i].split("=")[0]
            params[i] = rng.choice([name, name + "=", f"{name}={urllib.parse.quote(str(rng.choice(NUMBERS + TEXTS[:80])), safe='')}", params[i] + "&" + params[i]])
        else:
            params += [rng.choice(sources.parameters) for _ in range(rng.choice([1, 1, 2, 4]))]
        query = "&".join(params)
    elif kind == 4:
        base = rng.choice(sources.paths)
    else:
        parts = base.split("/")
        at = rng.randrange(len(parts))
        if kind == 5:
            parts[at] = rng.choice(["", "*", "_all", "a,b", "-a", "*,-a", "..", ".", "%00", "%2F", "%ff", "%", "%zz", "%ed%a0%80", "_search", "_doc", "_bulk", "_settings", "<a-{now/d}>", "x" * 300, rng.choice(rng.choice(sources.paths).split("/"))])
        elif kind == 6:
            del parts[at]
        else:
            parts[at:at] = [rng.choice(["_search", "_doc", "_mapping", "_settings", "1", "nope", "_cat", "_cluster"])]
        base = "/".join(parts)
    path = base + ("?" + query if query else "")
    return path if path.startswith("/") or rng.random() < 0.05 else "/" + path


def quoted(path):
    return urllib.parse.quote(path, safe="/?&=%*,:+_-.~[]!<>@").encode()


class Request:
    """What goes over the wire. `framed`: one answer must come; else the bytes are no good HTTP, and only what comes must be."""

    __slots__ = ("data", "method", "path", "framed", "close")

    def __init__(self, method, path, data, framed=True, close=False):
        self.method, self.path, self.data, self.framed, self.close = method, path, data, framed, close


def whole(method, path, body, kind=b"application/json", headers=b""):
    """A request as it should be."""
    head = method.encode() + b" " + quoted(path) + b" HTTP/1.1\r\nHost: x\r\n" + headers
    if body is not None:
        head += b"Content-Type: " + kind + b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n"
    return Request(method, path, head + b"\r\n" + (body or b""))


def odd_framing(rng, method, path, body, kind):
    """The request in another wrapping, or broken."""
    body, how = body or b"", rng.randrange(14)
    head = method.encode() + b" " + quoted(path) + b" HTTP/1.1\r\nHost: x\r\nContent-Type: " + kind + b"\r\n"
    sized = lambda n, b: head + b"Content-Length: " + str(n).encode() + b"\r\n\r\n" + b
    chunk = lambda b: b"%x\r\n%s\r\n" % (len(b), b) if b else b""
    if how < 3:
        cuts = sorted(rng.randrange(len(body) + 1) for _ in range(rng.randint(1, 9)))
        chunks = b"".join(chunk(body[a:b]) for a, b in zip([0] + cuts, cuts + [len(body)]))
        return Request(method, path, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    packed = gzip.compress(body, 1)
    if how == 3:
        return Request(method, path, head + b"Content-Encoding: gzip\r\nContent-Length: " + str(len(packed)).encode() + b"\r\n\r\n" + packed)
    if how == 4:
        packed = damaged(rng, packed)
        return Request(method, path, head + b"Content-Encoding: gzip\r\nContent-Length: " + str(len(packed)).encode() + b"\r\n\r\n" + packed)
    if how == 5:
        return Request(method, path, sized(len(body), body[:rng.randrange(len(body) + 1)]), False, True)
    if how == 6:
        return Request(method, path, sized(rng.choice([len(body) + 1, max(0, len(body) - 1), 0, 2**31, 2**63, -1, "x", ""]), body), False, True)
    if how == 7:
        good = sized(len(body), body)
        return Request(method, path, good[:rng.randrange(len(good))], False, True)
    if how == 8:
        return Request(method, path, damaged(rng, sized(len(body), body)[:rng.randint(20, 400)]) + body[-50:], False, True)
    if how == 9:
        return Request(method, path, damaged(rng, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(body) + b"0\r\n\r\n"), False, True)
    if how == 10:
        kind = rng.choice([b"application/yaml", b"application/cbor", b"application/smile", b"text/plain", b"application/x-ndjson", b"application/json; charset=utf-16", b"", b"x" * 9000])
        return whole(method, path, body, kind)
    if how == 11:
        return whole(method, path, body, kind, rng.choice([b"Accept: application/yaml\r\n", b"Accept-Encoding: gzip\r\n", b"X-Opaque-Id: " + b"i" * 500 + b"\r\n", b"X-A: b\r\n" * 50, b"Connection: close\r\n", b"Origin: http://a.b\r\n"]))
    return Request(method, path, sized(len(body), body), True, True)  # nobody waits for its answer


def mutant(rng, sources, step):
    """One request made of a step."""
    method, path, body = step
    lines, kind = isinstance(body, list) or "_bulk" in path or "_msearch" in path, rng.random()
    ctype = b"application/x-ndjson" if lines else b"application/json"
    if body is None or kind < 0.08:
        if body is None and rng.random() < 0.1:
            body = json.loads(rng.choice(sources.wide))
        path = changed_path(rng, sources, path)
        if rng.random() < 0.1:
            method = rng.choice(METHODS)
    elif not isinstance(body, str):
        if rng.random() < 0.75:
            body = json.loads(json.dumps(body))
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                body = changed(rng, sources, body)
        if rng.random() < 0.06:
            path = changed_path(rng, sources, path)
    text = text_of(body)
    if text is not None and len(text) > LARGEST:
        text = text[:LARGEST]
    if text is not None and (rng.random() < 0.12 or isinstance(body, str)):
        text = damaged(rng, text)
    if rng.random() < 0.05:
        return odd_framing(rng, method, path, text, ctype)
    return whole(method, path, text, ctype)


def original(step):
    """The step as it is."""
    method, path, body = step
    return whole(method, path, text_of(body), b"application/x-ndjson" if isinstance(body, list) else b"application/json")


def seeded(*parts):
    return random.Random(" ".join(map(str, parts)))
