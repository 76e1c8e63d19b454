"""A load of writes and searches on a cluster, by clients that go on to the next node when one does not answer; notes what they
see as a history (history.py)."""
import http.client
import json
import random
import threading
import time

from history import ACKED, REFUSED, UNKNOWN, History, Op, Read

INDEX = "faults"
REGISTERS = 40
LISTS = 4  # a round: they get long
TIMEOUT = 3  # seconds after which a client asks another node; the outcome is unknown then
MAPPING = {"properties": {"t": {"type": "keyword"}, "l": {"type": "keyword"}, "n": {"type": "long"}}}
APPEND = "ctx._source.l.add(params.t)"


def verdict(status, answer):
    """What an answer says of a write."""
    if status in (200, 201):
        return ACKED
    error = answer.get("error", {}) if isinstance(answer, dict) else {}
    error = error if isinstance(error, dict) else {"reason": error}
    if status in (400, 409, 429):
        return REFUSED
    if error.get("type") in ("unavailable_shards_exception", "cluster_block_exception") and "unknown" not in error.get("reason", ""):
        return REFUSED
    return UNKNOWN


class Client(threading.Thread):
    """Asks one node after the other. `nodes()` says which addresses there are."""

    def __init__(self, load, number):
        super().__init__(daemon=True)
        self.load, self.number = load, number
        self.random = random.Random(f"{load.seed}-{number}")
        self.at, self.conn = number, None
        self.counter, self.failure = 0, None

    def token(self):
        self.counter += 1
        return f"{self.load.round}.{self.number}.{self.counter}"

    def ask(self, method, path, body=None):
        """(status, answer); (0, None) when nobody took the request, (-1, None) when one may have."""
        if isinstance(body, list):
            data, kind = "".join(json.dumps(line) + "\n" for line in body), "application/x-ndjson"
        else:
            data, kind = None if body is None else json.dumps(body), "application/json"
        try:
            if self.conn is None:
                host, port = self.load.addresses[self.at % len(self.load.addresses)]
                self.conn = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
                self.conn.connect()
        except OSError:
            self.next()
            return 0, None
        try:
            self.conn.request(method, path, data, {"Content-Type": kind} if data else {})
            r = self.conn.getresponse()
            answer = json.loads(r.read() or b"{}")
            return r.status, answer
        except (OSError, http.client.HTTPException, ValueError):
            self.next()
            return -1, None

    def next(self):
        if self.conn:
            self.conn.close()
        self.conn = None
        self.at += 1
        time.sleep(0.01)

    def move(self):
        """To another node, now and then: all are asked."""
        if self.random.random() < 0.03:
            self.next()

    def run(self):
        try:
            while not self.load.stopped.is_set():
                self.step()
                self.move()
                if self.load.pause:
                    time.sleep(self.load.pause)
        except Exception as e:  # noqa: BLE001 - the test tells it
            self.failure = f"{type(self).__name__}: {e!r}"
        if self.conn:
            self.conn.close()


class Writer(Client):
    def write(self, op, method, path, body):
        status, answer = self.ask(method, path, body)
        if status == 0:
            return None  # nobody heard of it
        op.outcome = UNKNOWN if status < 0 else verdict(status, answer)
        if op.outcome == ACKED:
            self.note_ack(op, answer)
        elif status > 0 and not (status == 409 and op.kind in ("cas", "append")):
            self.load.note_refusal(status, answer)
        self.load.note(op)
        return answer if op.outcome == ACKED else None

    def note_ack(self, op, answer):
        op.seq, op.term = answer["_seq_no"], answer["_primary_term"]
        if op.doc is None:
            op.doc = answer["_id"]
        failed = answer["_shards"]["failed"] if "_shards" in answer else 0
        self.load.acked += 1
        self.load.gaps.note()
        if failed and self.load.strict:
            self.load.note_refusal(200, answer)

    def step(self):
        kind = self.random.random()
        if kind < 0.3:
            self.set()
        elif kind < 0.4:
            self.delete()
        elif kind < 0.5:
            self.auto()
        elif kind < 0.65:
            self.bulk()
        elif kind < 0.85:
            self.append()
        else:
            self.compare_and_set()

    def register(self):
        return f"r{self.random.randrange(REGISTERS)}"

    def set(self):
        op = Op(self.register(), "set", self.token())
        refresh = "?refresh=true" if self.random.random() < 0.05 else ""
        self.write(op, "PUT", f"/{INDEX}/_doc/{op.doc}{refresh}", {"t": op.token, "n": self.counter})

    def delete(self):
        """One that was not there is deleted, too: it has a sequence number all the same."""
        op = Op(self.register(), "delete")
        status, answer = self.ask("DELETE", f"/{INDEX}/_doc/{op.doc}")
        if status == 0:
            return
        there_not = status == 404 and answer.get("result") == "not_found"
        op.outcome = UNKNOWN if status < 0 else ACKED if there_not else verdict(status, answer)
        if op.outcome == ACKED:
            self.note_ack(op, answer)
        self.load.note(op)

    def auto(self):
        op = Op(None, "auto", self.token())
        self.write(op, "POST", f"/{INDEX}/_doc", {"t": op.token})

    def bulk(self):
        ops = [Op(d, "set", self.token()) for d in {self.register() for _ in range(6)}] + [Op(None, "auto", self.token()) for _ in range(4)]
        lines = []
        for op in ops:
            lines += [{"index": {"_id": op.doc} if op.doc else {}}, {"t": op.token}]
        status, answer = self.ask("POST", f"/{INDEX}/_bulk", lines)
        if status == 0:
            return
        items = answer["items"] if status == 200 else [None] * len(ops)
        for op, item in zip(ops, items):
            if item is None:
                op.outcome = UNKNOWN if status < 0 else verdict(status, answer)
            else:
                op.outcome = verdict(item["index"]["status"], item["index"])
                if op.outcome == ACKED:
                    self.note_ack(op, item["index"])
                else:
                    self.load.note_refusal(item["index"]["status"], item["index"])
            self.load.note(op)

    def list_doc(self, kind):
        return f"{kind}{self.load.round}-{self.random.randrange(LISTS)}"

    def append(self):
        op = Op(self.list_doc("append"), "append", self.token())
        body = {"script": {"source": APPEND, "params": {"t": op.token}}, "upsert": {"l": [op.token]}}
        self.write(op, "POST", f"/{INDEX}/_update/{op.doc}?retry_on_conflict=20", body)

    def compare_and_set(self):
        op = Op(self.list_doc("cas"), "cas", self.token())
        status, answer = self.ask("GET", f"/{INDEX}/_doc/{op.doc}")
        if status == 200:
            op.base = (answer["_seq_no"], answer["_primary_term"])
            value = answer["_source"]["l"]
            self.load.saw(Read(op.doc, *op.base, value))
            how = f"?if_seq_no={op.base[0]}&if_primary_term={op.base[1]}"
        elif status == 404 and answer.get("found") is False:
            value, how = [], "?op_type=create"
        else:
            if status > 0:
                self.load.note_refusal(status, answer)
            return
        self.write(op, "PUT", f"/{INDEX}/_doc/{op.doc}{how}", {"l": value + [op.token]})


class Searcher(Client):
    def step(self):
        body = {"query": {"prefix": {"t": f"{self.load.round}."}}, "size": 5, "sort": ["n"], "aggs": {"l": {"terms": {"field": "l", "size": 3}}}}
        status, answer = self.ask("POST", f"/{INDEX}/_search", body)
        if status <= 0:
            return
        self.load.searches += 1
        if status != 200 or answer["_shards"]["failed"] or answer["timed_out"]:
            self.load.note_search_failure(status, answer)


class Gaps:
    """The longest time without an acknowledged write since begin()."""

    def __init__(self):
        self.begin()

    def begin(self):
        self.last, self.longest = time.monotonic(), 0.0

    def note(self):
        now = time.monotonic()
        self.longest, self.last = max(self.longest, now - self.last), now


class Load:
    """All clients, round after round. `addresses` of the nodes: (host, port)."""

    def __init__(self, addresses, seed, writers=4, searchers=1, pause=0.005):
        self.addresses, self.seed, self.pause = addresses, seed, pause
        self.writers, self.searchers = writers, searchers
        self.history, self.lock = History(), threading.Lock()
        self.round, self.acked, self.searches = 0, 0, 0
        self.refusals, self.search_failures, self.gaps = [], [], Gaps()
        self.strict = False
        self.clients = []

    def start(self):
        self.round += 1
        self.stopped = threading.Event()
        self.refusals, self.search_failures = [], []
        self.gaps.begin()
        self.clients = [Writer(self, n) for n in range(self.writers)] + [Searcher(self, self.writers + n) for n in range(self.searchers)]
        for c in self.clients:
            c.start()

    def stop(self):
        """Ends the round. Returns what went wrong with the clients themselves."""
        self.stopped.set()
        for c in self.clients:
            c.join()
        return [c.failure for c in self.clients if c.failure]

    def note(self, op):
        with self.lock:
            self.history.ops.append(op)

    def saw(self, read):
        with self.lock:
            self.history.reads.append(read)

    def note_refusal(self, status, answer):
        self.refusals.append((status, json.dumps(answer)[:300]))

    def note_search_failure(self, status, answer):
        self.search_failures.append((status, json.dumps(answer.get("error") or answer.get("_shards"))[:300]))
