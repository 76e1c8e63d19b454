#!/usr/bin/env python3
"""The checkers of what clients saw find each kind of wrong that there is, and nothing in what is right."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from history import ACKED, REFUSED, UNKNOWN, Final, History, Op, Read, check, equal_copies  # noqa: E402


def good():
    """(history, final) in which everything is right, and much is unknown."""
    ops = [
        Op("r", "set", "a", ACKED, 1, 1), Op("r", "set", "b", UNKNOWN), Op("r", "set", "c", ACKED, 5, 2), Op("r", "set", "d", REFUSED),
        Op("late", "set", "a", ACKED, 2, 1), Op("late", "set", "b", UNKNOWN),
        Op("gone", "set", "a", ACKED, 3, 1), Op("gone", "delete", None, UNKNOWN),
        Op("gone2", "set", "a", ACKED, 4, 1), Op("gone2", "delete", None, ACKED, 6, 1),
        Op("l", "append", "x", ACKED, 7, 1), Op("l", "append", "y", UNKNOWN), Op("l", "append", "z", ACKED, 9, 2),
        Op("l", "append", "no", REFUSED), Op("l", "append", "never", UNKNOWN),
        Op("k", "cas", "p", ACKED, 10, 1, None), Op("k", "cas", "q", ACKED, 11, 1, (10, 1)), Op("k", "cas", "s", REFUSED, -1, 0, (10, 1)),
        Op("id1", "auto", "u1", ACKED, 12, 1), Op(None, "auto", "u2", UNKNOWN), Op(None, "auto", "u3", REFUSED),
    ]
    final = {
        "r": Final(5, 2, "c"), "late": Final(8, 2, "b"), "l": Final(9, 2, ["x", "y", "z"]), "k": Final(11, 1, ["p", "q"]),
        "id1": Final(12, 1, "u1"), "id2": Final(13, 1, "u2"),
    }
    reads = [Read("l", 7, 1, ["x"]), Read("r", 1, 1, "a"), Read("r", 1, 2, "b")]
    return History(ops, reads), final


def spoilt():
    """(what is wrong, the checker that has to find it, what makes it so)"""

    def put(doc, *args):
        return lambda h, f: f.__setitem__(doc, Final(*args))

    def drop(doc):
        return lambda h, f: f.pop(doc)

    def op(*args):
        return lambda h, f: h.ops.append(Op(*args))

    return [
        ("an acknowledged document is lost", "registers", drop("r")),
        ("an older value came back", "registers", put("r", 1, 1, "a")),
        ("an older unknown value came back", "registers", put("r", 4, 1, "b")),
        ("another value under the acknowledged number", "registers", put("r", 5, 2, "b")),
        ("a refused value is there", "registers", put("r", 6, 2, "d")),
        ("a deleted document came back", "registers", put("gone2", 4, 1, "a")),
        ("a value that nobody wrote", "registers", lambda h, f: (h.ops.append(Op("new", "set", "a", REFUSED)), put("new", 1, 1, "a")(h, f))),
        ("an acknowledged token is lost", "lists", put("l", 9, 2, ["x", "y"])),
        ("a list is lost", "lists", drop("l")),
        ("a token twice", "lists", put("l", 9, 2, ["x", "y", "y", "z"])),
        ("a refused token", "lists", put("l", 9, 2, ["x", "no", "z"])),
        ("a token from elsewhere", "lists", put("l", 9, 2, ["x", "z", "q"])),
        ("tokens in another order", "lists", put("l", 9, 2, ["z", "x"])),
        ("a lost update", "lists", put("k", 11, 1, ["q"])),
        ("two winners of one state", "compare_and_set", op("k", "cas", "s2", ACKED, 12, 1, (10, 1))),
        ("two creators", "compare_and_set", op("k", "cas", "s2", ACKED, 12, 1, None)),
        ("a number given twice", "compare_and_set", op("r", "set", "e", ACKED, 5, 3)),
        ("a number that goes back", "compare_and_set", op("k", "cas", "s2", ACKED, 9, 1, (11, 1))),
        ("an acknowledged auto id is lost", "autos", drop("id1")),
        ("an auto id twice", "autos", put("id9", 14, 1, "u1")),
        ("an unknown auto id twice", "autos", put("id9", 14, 1, "u2")),
        ("a refused auto id", "autos", put("id9", 14, 1, "u3")),
        ("two values of one number", "one_value", lambda h, f: h.reads.append(Read("l", 7, 1, ["y"]))),
        ("another value at the end than was read", "one_value", lambda h, f: h.reads.append(Read("k", 11, 1, ["p"]))),
    ]


def main():
    is_right = Checks()
    history, final = good()
    is_right.equal(check(history, final), [], "a good history")
    for what, checker, spoil in spoilt():
        history, final = good()
        spoil(history, final)
        bad = check(history, final)
        is_right(any(line.startswith(checker + ":") for line in bad), what, bad)
    same = {"a": (1, 1, "x"), "b": (2, 1, "y")}
    is_right.equal(equal_copies({"n1": same, "n2": dict(same)}), [], "equal copies")
    for what, other in (("a document less", {"a": (1, 1, "x")}), ("a document more", {**same, "c": (3, 1, "z")}), ("another value", {**same, "b": (2, 1, "z")})):
        is_right.equal(len(equal_copies({"n1": same, "n2": other})), 1, what)
    is_right.end()


main()
