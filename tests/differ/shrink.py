"""Makes a case smaller while it differs in the same way, and names the way: requests are (method, path, body)."""
import copy
import json
import re


def cause(method, path, diffs, fields=()):
    """The group of a difference: where in which answer, and its text without names and numbers."""
    place, message = diffs[0]
    parts = ["F" if p in fields else re.sub(r"\d+", "#", p) for p in re.split(r"(?<!\\)\.", place)]
    names = "|".join(sorted(map(re.escape, fields), key=len, reverse=True))
    text = re.sub(rf"(?<![\w.])({names})(?![\w])", "F", message) if names else message
    text = re.sub(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", "#", text)
    text = re.sub(r"(# ?,? ?)+", "#", text)
    return f"{method} {endpoint(path)} · {'.'.join(parts)} · {text[:220]}"


def endpoint(path):
    """A path without names of indices and documents, and without parameters."""
    path = path.split("?")[0]
    return "/".join(p if p.startswith("_") else "I" for p in path.split("/") if p)


def _without(value):
    """Smaller copies of a body: each with one key or element less, or with a container replaced by what is in it."""
    if isinstance(value, dict):
        for k in list(value):
            yield {x: v for x, v in value.items() if x != k}
        for k, v in value.items():
            if isinstance(v, dict) and len(value) == 1 and all(isinstance(x, dict) for x in v.values()) and v:
                yield from (x for x in v.values() if isinstance(x, dict))
            for smaller in _without(v):
                yield {**value, k: smaller}
    elif isinstance(value, list):
        for i in range(len(value)):
            yield value[:i] + value[i + 1:]
        if len(value) == 1:
            yield value[0]
        for i, v in enumerate(value):
            for smaller in _without(v):
                yield value[:i] + [smaller] + value[i + 1:]
    elif isinstance(value, str) and " " in value:
        words = value.split(" ")
        for i in range(len(words)):
            yield " ".join(words[:i] + words[i + 1:])


QUICK_TRIALS = 60  # a request that only reads is asked again without making its data again


class Budget:
    """How many trials are left."""

    def __init__(self, trials):
        self.left = trials

    def take(self):
        self.left -= 1
        return self.left >= 0


def fewer_steps(steps, differs, budget):
    """The steps without those that the last one does not need: halves first, then single ones."""
    size = max(1, (len(steps) - 1) // 2)
    while size:
        i = 0
        while i < len(steps) - 1:
            trial = steps[:i] + steps[min(i + size, len(steps) - 1):]
            if not budget.take():
                return steps
            if differs(trial):
                steps = trial
            else:
                i += size
        size //= 2
    return steps


def smaller_body(steps, at, differs, budget):
    """The steps with the body of one as small as it can be."""
    going = True
    while going:
        going = False
        method, path, body = steps[at]
        for trial_body in _without(copy.deepcopy(body)) if isinstance(body, (dict, list)) else ():
            if isinstance(body, list) and not isinstance(trial_body, list):
                continue
            if not budget.take():
                return steps
            trial = steps[:at] + [(method, path, trial_body)] + steps[at + 1:]
            if differs(trial):
                steps, going = trial, True
                break
    return steps


def shrunk(steps, differs, same_data, trials):
    """The smallest case found. `differs(steps)` replays everything, `same_data(step)` asks the last request again where the data still is as it was."""
    budget = Budget(trials)
    if same_data(steps[-1]):
        steps = smaller_body(steps, len(steps) - 1, lambda s: same_data(s[-1]), Budget(QUICK_TRIALS))
    if trials <= 0 or not differs(steps):
        return steps
    steps = fewer_steps(steps, differs, budget)
    for at in reversed(range(len(steps))):
        steps = smaller_body(steps, at, differs, budget)
    return steps


def curl(step):
    """A request as a line to paste; $U is the service."""
    method, path, body = step
    if body is None:
        return f"curl -s -X{method} \"$U{path}\""
    if isinstance(body, list):
        text = "".join((l if isinstance(l, str) else json.dumps(l, ensure_ascii=False)) + "\n" for l in body)
        return f"curl -s -X{method} \"$U{path}\" -H 'Content-Type: application/x-ndjson' --data-binary '{text.replace(chr(39), chr(39) + chr(92) + chr(39) + chr(39))}'"
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return f"curl -s -X{method} \"$U{path}\" -H 'Content-Type: application/json' -d '{text.replace(chr(39), chr(39) + chr(92) + chr(39) + chr(39))}'"
