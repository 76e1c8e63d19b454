#!/usr/bin/env python3
"""Replays the cases of tests/conformance/own against a node: requests, and what Elasticsearch 7.12.1 answered to them.

usage: test_own.py [NAME…]                  replays all cases, or those with these names, on a fresh node (SERAI_URL=: on that one)
       test_own.py --record URL [NAME…]     asks the Elasticsearch there, and writes its answers into the cases; without names into those that lack answers

A case is a file own/NAME.json:
  {"about": "what it shows",
   "cleanup": ["NAME-a", "_template/NAME-t"],          what is deleted before and after it
   "limits": true,                                     it sets limits of memory: refusals are answers as others are
   "setup": [{"do": "PUT /NAME-a/_doc/1?refresh", "body": {"t": "hello world"}}],        only the status is recorded and compared
   "steps": [{"do": "POST /NAME-a/_search", "body": {...} | "raw text" | [lines],
              "headers": {"Content-Type": "text/plain"},
              "save": {"sid": "_scroll_id"},           values for ${sid} in later steps
              "ignore": ["hits.hits.*._id"],           paths that are not compared; * stands for any one key
              "status": 200, "response": {...}}]}      written by --record
Status and whole body are compared, texts of errors too."""
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from compare import Client, brief, differences  # noqa: E402
from node import HANG_SECONDS, Node  # noqa: E402

OWN = os.path.join(HERE, "own")


def substitute(value, saved):
    """`value` with ${name} replaced by what was saved."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda m: str(saved.get(m.group(1), m.group(0))), value)
    if isinstance(value, list):
        return [substitute(v, saved) for v in value]
    return {k: substitute(v, saved) for k, v in value.items()} if isinstance(value, dict) else value


def lookup(value, path):
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def clean(client, case):
    for name in case.get("cleanup", ()):
        client.call("DELETE", "/" + name)


def ask(client, step, saved):
    """(status, body) of one step; keeps what it saves."""
    method, path = substitute(step["do"], saved).split(" ", 1)
    status, body = client.call(method, path, substitute(step.get("body"), saved), step.get("headers"))
    for name, where in step.get("save", {}).items():
        try:
            saved[name] = lookup(body, where)
        except (KeyError, IndexError, TypeError, ValueError):
            pass
    return status, body


def replay(client, case, name):
    """How many steps passed, and how many failed."""
    saved, counts = {}, [0, 0]
    clean(client, case)
    for kind in ("setup", "steps"):
        for i, step in enumerate(case.get(kind, ())):
            status, body = ask(client, step, saved)
            wrong = [] if status == step["status"] else [("status", f"{status}, want {step['status']}: {brief(body)}")]
            if kind == "steps" and not step["do"].startswith("HEAD "):
                wrong += differences(substitute(step["response"], saved), body, step.get("ignore", ()))
            counts[bool(wrong)] += 1
            if wrong:
                print(f"FAIL {name} {kind}[{i}]: {step['do']} {brief(step.get('body'))}")
                print("".join(f"     {path}: {message}\n" for path, message in wrong[:4]), end="")
    clean(client, case)
    return counts


def record(client, case):
    """Writes the answers of a service into the case."""
    saved = {}
    clean(client, case)
    for kind in ("setup", "steps"):
        for step in case.get(kind, ()):
            step["status"], body = ask(client, step, saved)
            if step["status"] == 429 and "circuit_breaking_exception" in json.dumps(body) and not case.get("limits"):
                sys.exit(f"the service is out of memory for a moment, nothing was recorded: {step['do']}")
            if kind == "steps":
                step["response"] = body
            elif step["status"] >= 400:
                print(f"setup step answered {step['status']}: {step['do']}: {brief(body)}")
    clean(client, case)


def written(case):
    """A case as text: a step has a line for the request and one for the answer."""
    line = lambda v: json.dumps(v, ensure_ascii=False)
    out = []
    for key, value in case.items():
        if key in ("setup", "steps"):
            steps = []
            for step in value:
                asked = {k: v for k, v in step.items() if k not in ("status", "response")}
                answer = {k: step[k] for k in ("status", "response") if k in step}
                steps.append("  " + line(asked)[:-1] + (",\n   " + line(answer)[1:] if answer else "}"))
            value = "[\n" + ",\n".join(steps) + "]"
        else:
            value = line(value)
        out.append(f" {line(key)}: {value}")
    return "{\n" + ",\n".join(out) + "}\n"


def cases(names):
    """(name, path, case) of each case that was asked for."""
    for path in sorted(glob.glob(os.path.join(OWN, "*.json"))):
        name = os.path.basename(path)[:-5]
        if not names or name in names:
            with open(path, encoding="utf-8") as f:
                yield name, path, json.load(f)


def record_all(url, names):
    for name, path, case in cases(names):
        if names or any("status" not in s for kind in ("setup", "steps") for s in case.get(kind, ())):
            record(Client(url), case)
            with open(path, "w", encoding="utf-8") as f:
                f.write(written(case))
            print(f"recorded {name}")


def replay_all(url, names):
    client, passed, failed = Client(url, HANG_SECONDS), 0, 0
    for name, _, case in cases(names):
        ok, bad = replay(client, case, name)
        passed, failed = passed + ok, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main():
    args = sys.argv[1:]
    if args[:1] == ["--record"]:
        sys.exit(record_all(args[1], args[2:]) if len(args) > 1 else __doc__)
    if os.environ.get("SERAI_URL"):
        sys.exit(replay_all(os.environ["SERAI_URL"], args))
    with Node() as node:
        status = replay_all(node.url, args)
    sys.exit(status)


if __name__ == "__main__":
    main()
