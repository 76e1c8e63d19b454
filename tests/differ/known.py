"""Differences that stand by decision: docs/rest-compatibility.md has each with its reason."""
import json
import re

# What is not offered is refused by words of its own (docs/rest-compatibility.md): the text of Serai's refusal.
NOT_OFFERED = re.compile(r"is not supported|are not supported|is not offered|script_lang not supported \[(expression|mustache)\]")

# Where Java fails by accident: Serai says what is wrong with the request.
ACCIDENTS = {"null_pointer_exception", "class_cast_exception", "illegal_state_exception", "array_index_out_of_bounds_exception", "index_out_of_bounds_exception", "unsupported_operation_exception"}

# Texts that show an object of Java, its class or its module.
OF_JAVA = re.compile(r"@[0-9a-f]{5,8}\b|\bin (unnamed )?module |org\.elasticsearch\.[a-z]+\.[\w.$]+")


def is_refusal(want, got):
    return got[0] >= 400 and bool(NOT_OFFERED.search(json.dumps(got[1], ensure_ascii=False)))


def is_accident(want, got):
    """500 by an accident of Java, where Serai has 400."""
    error = want[1].get("error") if isinstance(want[1], dict) else None
    return want[0] == 500 and 400 <= got[0] < 500 and isinstance(error, dict) and any(c.get("type") in ACCIDENTS for c in causes(error))


def causes(error):
    """An error, and what caused it, of all shards."""
    for e in [error, *error.get("root_cause", []), *(f.get("reason", {}) for f in error.get("failed_shards", []))]:
        while isinstance(e, dict):
            yield e
            e = e.get("caused_by")


def at(body, place):
    """What stands at a place that a difference names, or None."""
    for step in place.split("."):
        if isinstance(body, dict) and step in body:
            body = body[step]
        elif isinstance(body, list) and step.isdigit() and int(step) < len(body):
            body = body[int(step)]
        else:
            return None
    return body


def is_java_text(place, want, got):
    """A text that shows an object of Java; or the error of a shard, or of an item, that is an accident of Java."""
    here = at(want, place)
    if isinstance(here, str) and isinstance(at(got, place), str) and OF_JAVA.search(here):
        return True
    above = at(want, place.rpartition(".")[0])
    return isinstance(above, dict) and above.get("type") in ACCIDENTS and "reason" in above


def unnamed(want, got, diffs):
    """What of the differences of two answers (status, body) was not decided."""
    if diffs and (is_refusal(want, got) or is_accident(want, got)):
        return []
    return [d for d in diffs if not is_java_text(d[0], want[1], got[1])]
