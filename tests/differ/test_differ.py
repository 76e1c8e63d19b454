#!/usr/bin/env python3
"""What the tool does with a difference, without an oracle: comparing, shrinking, grouping; and that worlds and requests are the same under the same seed."""
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from compare import differences  # noqa: E402
from draw import Draw  # noqa: E402
from known import unnamed  # noqa: E402
from pair import compared  # noqa: E402
from run import areas  # noqa: E402
from shrink import cause, curl, shrunk  # noqa: E402
from world import World  # noqa: E402

passed, failed = 0, 0


def check(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what}")


def test_comparing():
    want = {"took": 3, "hits": [{"_id": "1", "_score": 0.28768206}], "s": "no such index [i/IZ2MwfRmTqKz-GTdKFwKOg]"}
    got = {"took": 9, "hits": [{"_id": "1", "_score": 0.2876821}], "s": "no such index [i/AAAMwfRmTqKz-GTdKFwKOg]"}
    check(not list(differences(want, got)), "times, UUIDs and the seventh digit do not count")
    check([d[0] for d in differences(want, {**got, "x": 1})] == ["x"], "a key too many counts")
    check([d[0] for d in differences({"a": [1, 2]}, {"a": [1, 3]})] == ["a.1"], "the place is told")
    check([d[0] for d in differences({"a": 1}, {"a": 1.0})] == ["a"], "1 is not 1.0")
    check(not list(differences({"a": {"b": 1}}, {"a": {"b": 2}}, ["a.*"])), "what is ignored does not count")
    check(compared("GET", 200, {}, 400, {"error": {"type": "t", "reason": "r"}}) == [("status", "400 t: r, want 200")], "a status is told with its cause")
    check(not compared("GET", 200, "a  1\nb 2\n", 200, "a 1 \nb 2\n"), "columns may be wider")


def test_shrinking():
    def differs(steps):
        """As if the word fox in a document, and a match on it with an option, made the difference."""
        stored = [s for s in steps[:-1] if s[0] == "PUT" and "fox" in str(s[2])]
        return bool(stored) and "fox" in str(steps[-1][2]) and "slop" in str(steps[-1][2])
    steps = [("PUT", f"/i/_doc/{n}", {"t": f"the {'fox' if n == 5 else 'hen'} runs", "n": n}) for n in range(12)]
    steps.append(("POST", "/i/_search", {"query": {"bool": {"must": [{"match": {"t": "hen"}}, {"match_phrase": {"t": {"query": "red fox", "slop": 2, "boost": 3}}}]}}, "size": 3}))
    small = shrunk(steps, differs, lambda step: False, 400)
    check(len(small) == 2 and small[0][2] == {"t": "fox"}, f"one document with one word is left: {small}")
    check("boost" not in str(small[-1]) and "hen" not in str(small[-1]) and differs(small), f"nothing is left that does not matter: {small[-1]}")
    check(len(shrunk(steps, differs, lambda step: False, 0)) == 13, "without trials all stays")
    check(curl(("POST", "/i/_search", {"q": "O'Neil"})) == "curl -s -XPOST \"$U/i/_search\" -H 'Content-Type: application/json' -d '{\"q\": \"O'\\''Neil\"}'", "curl's quotes")


def test_known():
    def left(want, got):
        return unnamed(want, got, compared("POST", *want, *got))
    error = lambda kind, text: {"error": {"type": kind, "reason": text, "root_cause": [{"type": kind, "reason": text}]}}
    check(not left((500, error("null_pointer_exception", "null")), (400, error("illegal_argument_exception", "size is missing"))), "an accident of Java may be a 400")
    check(left((500, error("null_pointer_exception", "null")), (200, {})), "it may not be taken")
    check(left((500, error("search_phase_execution_exception", "failed")), (400, error("illegal_argument_exception", "no"))), "other failures are none")
    check(not left((400, error("x", "not a.B$C@1f2e3d4c")), (400, error("x", "not a number"))), "Java's objects need not be shown")
    check(left((400, error("x", "not a number")), (400, error("x", "no number"))), "other texts are compared")
    check(not left((200, {"hits": 1}), (400, error("x", "[join] is not supported"))), "what is not offered is refused")
    check(not left((0, "no answer: TimeoutError"), (400, error("x", "no"))) and left((200, {}), (0, "no answer: OSError")), "what is never answered there is answered here")
    shown = lambda text: (200, {"explanations": [{"explanation": text}]})
    check(not left(shown("FunctionScoreQuery(*:*, scored by boost(queryboost(score(a:b))^0.5)))"), shown("a:b")), "boosting is shown as it was written")
    check(not left(shown("_id:([fe 1f] [fe 3f])"), shown("ConstantScore(_id:[fe 1f] _id:[fe 3f] _id:[fe 1f])")), "an id that is there twice may be shown twice")
    check(left(shown("_id:([fe 1f])"), shown("_id:([fe 2f])")) and left(shown("a:b"), shown("a:c")), "other ids, and other terms, are compared")
    told = lambda text: (200, {"_explanation": {"description": text}})
    check(not left(told("weight(t:a in 3) [x]"), told("weight(t:a in 12) [x]")) and left(told("weight(t:a in 3)"), told("weight(t:b in 3)")), "a document may lie elsewhere")
    check(left((200, {"hits": {"total": 1}, "_explanation": {"value": 1, "description": "x"}}), (200, {"hits": {"total": 2}, "_explanation": {"value": 1, "description": "x"}})), "and so is what stands beside an explanation")


def test_grouping():
    one = cause("POST", "/differ-a/_search?size=3", [("hits.hits.0._score", "0.25, want 0.5")], ["t1"])
    two = cause("POST", "/differ-a,differ-b/_search", [("hits.hits.7._score", "1.5, want 2.75e-7")], ["k1"])
    check(one == two, f"numbers and names of indices make no group of their own: {one} {two}")
    one = cause("GET", "/a/_doc/1", [("error.reason", '"field [t1] is bad"')], ["t1", "k1"])
    check(one == cause("GET", "/b/_doc/22", [("error.reason", '"field [k1] is bad"')], ["t1", "k1"]), "nor do names of fields")
    check(one != cause("GET", "/b/_doc/22", [("error.reason", '"field [k1] is worse"')], ["t1", "k1"]), "the text does")


def test_seeds():
    def made(area, seed):
        module, draw = importlib.import_module(f"areas.{area}"), Draw(f"{area} {seed}")
        world = World(draw, "differ-", getattr(module, "KINDS", ()))
        out = list(world.create()) + [("POST", "/i/_bulk", world.bulk(9))] + [world.change() for _ in range(9)]
        for _ in range(60):
            method, path, body = module.request(draw, world)
            out.append((method, path, draw.spoilt(body) if body is not None and draw.chance(0.2) else body))
        return out
    for area in areas():
        check(made(area, 7) == made(area, 7) and made(area, 7) != made(area, 8), f"{area}: a case is its seed")
        check(all(curl(s) for s in made(area, 9)), f"{area}: requests can be written down")


def main():
    for test in (test_comparing, test_shrinking, test_known, test_grouping, test_seeds):
        test()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
