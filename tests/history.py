"""What clients saw of a cluster, and whether it can be true: checkers over the history of their requests. They know no cluster.

Documents are registers (a token, last writer wins) or lists (tokens that scripts or compare-and-set append). A request ended
as ACKED, REFUSED (an answer that says that nothing was done) or UNKNOWN (no answer, or one that says so): what is unknown may
happen at any later time, once."""
from collections import Counter, defaultdict
from dataclasses import dataclass, field

ACKED, REFUSED, UNKNOWN = "acked", "refused", "unknown"
LISTS = ("append", "cas")


@dataclass
class Op:
    doc: str
    kind: str  # set, delete, append, cas, auto
    token: object = None  # of a deletion: none
    outcome: str = UNKNOWN
    seq: int = -1
    term: int = 0
    base: object = None  # cas: (sequence number, term) that it was made conditional upon


@dataclass
class Final:
    """A document as it is at the end."""
    seq: int
    term: int
    value: object  # token, or list of tokens


@dataclass
class Read:
    """A document as somebody saw it."""
    doc: str
    seq: int
    term: int
    value: object


@dataclass
class History:
    ops: list = field(default_factory=list)
    reads: list = field(default_factory=list)

    def by_doc(self, *kinds):
        found = defaultdict(list)
        for op in self.ops:
            if op.kind in kinds:
                found[op.doc].append(op)
        return found


def registers(history, final):
    """The last acknowledged write is there, or one that comes after it and may have happened."""
    bad = []
    for doc, ops in history.by_doc("set", "delete").items():
        last = max((op for op in ops if op.outcome == ACKED), key=lambda op: op.seq, default=None)
        maybe = {op.token for op in ops if op.outcome == UNKNOWN}
        have = final.get(doc)
        value = have.value if have else None
        if last is None:
            if value is not None and value not in maybe:
                bad.append(f"{doc} is {value}, which was refused or never written")
        elif have is None:
            if last.token is not None and None not in maybe:
                bad.append(f"{doc} is not there, {last.token} was acknowledged with {last.seq}")
        elif have.seq < last.seq:
            bad.append(f"{doc} is {value} with {have.seq}, {last.token} was acknowledged with {last.seq}")
        elif have.seq == last.seq:
            if value != last.token:
                bad.append(f"{doc} is {value} with {have.seq}, of which {last.token} was acknowledged")
        elif value not in maybe:
            bad.append(f"{doc} is {value} with {have.seq}, after {last.token} with {last.seq}, but nothing unknown wrote that")
    return bad


def lists(history, final):
    """Each acknowledged token is there once, in the order of sequence numbers; unknown ones at most once; others are not."""
    bad = []
    for doc, ops in history.by_doc(*LISTS).items():
        value = final[doc].value if doc in final else []
        outcome = {op.token: op.outcome for op in ops}
        for token, n in Counter(value).items():
            if outcome.get(token, REFUSED) == REFUSED:
                bad.append(f"{doc} has {token}, which was refused or never written")
            elif n > 1:
                bad.append(f"{doc} has {token} {n} times")
        acked = sorted((op for op in ops if op.outcome == ACKED), key=lambda op: op.seq)
        place = {token: i for i, token in enumerate(value)}
        for op in acked:
            if op.token not in place:
                bad.append(f"{doc} lacks {op.token}, which was acknowledged with {op.seq}")
        order = [place[op.token] for op in acked if op.token in place]
        if order != sorted(order):
            bad.append(f"{doc} has acknowledged tokens in another order than that of their sequence numbers")
    return bad


def compare_and_set(history, _final=None):
    """Of one state of a document at most one compare-and-set was acknowledged; no sequence number was given twice."""
    bad, bases, given = [], {}, {}
    for op in history.ops:
        if op.outcome != ACKED or op.seq < 0:
            continue
        other = given.setdefault((op.doc, op.seq), op)
        if other is not op:
            bad.append(f"{op.doc}: {other.token} and {op.token} were both acknowledged with {op.seq}")
        if op.kind == "cas":
            other = bases.setdefault((op.doc, op.base), op)
            if other is not op:
                bad.append(f"{op.doc}: {other.token} and {op.token} were both set upon {op.base}")
            if op.base is not None and op.seq <= op.base[0]:
                bad.append(f"{op.doc}: {op.token} got {op.seq}, set upon {op.base}")
    return bad


def autos(history, final):
    """Documents with ids that nodes made up: the acknowledged ones are there, none is there twice."""
    bad = []
    ops = {op.token: op for op in history.ops if op.kind == "auto"}
    found = defaultdict(list)
    for doc, have in final.items():
        if not isinstance(have.value, list) and have.value in ops:
            found[have.value].append(doc)
    for token, op in ops.items():
        docs = found[token]
        if len(docs) > 1:
            bad.append(f"{token} is there {len(docs)} times: {docs}")
        if op.outcome == ACKED and op.doc not in docs:
            bad.append(f"{op.doc} with {token} was acknowledged and is not there")
        if op.outcome == REFUSED and docs:
            bad.append(f"{token} was refused and is there as {docs}")
    return bad


def one_value(history, final):
    """A sequence number and term of a document stand for one value, whoever reads it."""
    bad, known = [], {}
    seen = history.reads + [Read(doc, f.seq, f.term, f.value) for doc, f in final.items()]
    for r in seen:
        value = tuple(r.value) if isinstance(r.value, list) else r.value
        other = known.setdefault((r.doc, r.seq, r.term), value)
        if other != value:
            bad.append(f"{r.doc} with {r.seq} of term {r.term} was {other}, and {value}")
    return bad


CHECKERS = (registers, lists, compare_and_set, autos, one_value)


def check(history, final):
    return [f"{c.__name__}: {line}" for c in CHECKERS for line in c(history, final)]


def equal_copies(copies):
    """`copies`: what each copy of one shard has, by its name: {id: anything comparable}."""
    bad, first = [], None
    for name, docs in copies.items():
        if first is None:
            first = name
            continue
        for doc in sorted(docs.keys() | copies[first].keys()):
            if docs.get(doc) != copies[first].get(doc):
                bad.append(f"copies: {doc} is {copies[first].get(doc)} on {first}, {docs.get(doc)} on {name}")
    return bad
