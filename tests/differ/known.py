"""Differences that stand by decision: docs/rest-compatibility.md has each with its reason."""
import json
import re

# What is not offered is refused by words of its own (docs/rest-compatibility.md): the text of Serai's refusal.
NOT_OFFERED = re.compile(r"is not supported|are not supported|is not offered")


def is_known(method, path, body, want, got, diffs):
    """Whether the answers differ in nothing but what was decided."""
    return bool(diffs) and got[0] >= 400 and bool(NOT_OFFERED.search(json.dumps(got[1], ensure_ascii=False)))
