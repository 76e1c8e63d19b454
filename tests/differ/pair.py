"""Both services as one: asks each the same, and tells how the answers differ."""
import re
import threading
import time

from compare import Client, brief, differences
from known import unnamed

# What is a matter of when: which shards can be skipped, what a node that others use too has in its queue.
TAKEN_ANY = ("_shards.skipped", "number_of_pending_tasks", "task_max_waiting_in_queue_millis", "ingest_took")
CREATED = ("index.creation_date", "creation_date_string")  # times of two services; what else two runs never share is in compare.py
BUSY_TRIALS = 200


class Pair:
    def __init__(self, oracle, serai):
        self.oracle, self.serai = Client(oracle), Client(serai)
        self.apart = False  # whether the last answers differed at all, in ways that a page names too

    def both(self, method, path, body=None):
        """((status, body) of the oracle, the same of Serai), asked at once."""
        answers = [None, None]

        def ask(i, client):
            try:
                for _ in range(BUSY_TRIALS):
                    answers[i] = client.call(method, path, body)
                    if client is self.serai or not is_busy(answers[i]):
                        break
                    time.sleep(0.5)  # its heap is full for a moment: that is no answer
            except OSError as e:
                answers[i] = 0, f"no answer: {type(e).__name__}"
        other = threading.Thread(target=ask, args=(1, self.serai))
        other.start()
        ask(0, self.oracle)
        other.join()
        return answers

    def differences(self, method, path, body=None):
        """[(path, message)] of one request, the most telling first; [] where the answers are equal, or differ as a page says that they do."""
        (want_status, want), (got_status, got) = self.both(method, path, body)
        want, got = ordered(want), ordered(got)
        diffs = compared(method, want_status, want, got_status, got)
        diffs = [d for d in diffs if not d[0].endswith(CREATED) or d[1].startswith(("missing", "unexpected"))]
        self.apart = bool(diffs)
        return unnamed((want_status, want), (got_status, got), diffs, body, path)


def is_busy(answer):
    """Whether a service refused for want of memory, as a whole or for some of the shards."""
    status, body = answer
    return status == 429 or (isinstance(body, dict) and body.get("_shards", {}).get("failures") and "circuit_breaking_exception" in str(body["_shards"]["failures"]))


def compared(method, want_status, want, got_status, got):
    if want_status != got_status:
        told = lambda status, body: f"{status} {reason(body)}" if status >= 400 or not status else str(status)
        return [("status", f"{told(got_status, got)}, want {told(want_status, want)}")]
    if method == "HEAD":
        return []
    want, got = ordered(want), ordered(got)
    if isinstance(want, str) and isinstance(got, str):
        want, got = ([re.sub(r" +", " ", l.strip()) for l in t.splitlines()] for t in (want, got))
    return list(differences(want, got, TAKEN_ANY))


def ordered(body):
    """A body with what has no order in one: `_validate` asks a shard of each index by chance, and tells them by the shard's number; a node has a name of its own."""
    if isinstance(body, dict) and isinstance(body.get("explanations"), list):
        return {**body, "explanations": sorted(body["explanations"], key=lambda e: (str(e.get("index")), e.get("shard", 0)))}
    if isinstance(body, dict) and isinstance(body.get("nodes"), dict) and len(body["nodes"]) == 1:
        return {**body, "nodes": {"NODE": next(iter(body["nodes"].values()))}}
    return body


def reason(body):
    """Type and text of the innermost cause of an error."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return brief(error if error else body)
    inner = (error.get("root_cause") or [error])[0]
    while isinstance(inner.get("caused_by"), dict):
        inner = inner["caused_by"]
    return f"{inner.get('type')}: {str(inner.get('reason'))[:150]}"
