"""Asks an Elasticsearch 7.12.1 what it answers to what the fuzzer of requests found."""
import re

from request_client import Connection, Gone, Slow
from request_shrink import joined, parted


def first_of(datas):
    """What makes the index of the last request and puts documents into it, and that request: often enough for the same answer."""
    m = re.match(rb"\w+ /([\w-]+)", datas[-1])
    name = re.escape(m.group(1)) if m else b"nothing"
    made = [d for d in datas[:-1] if re.match(rb"PUT /" + name + rb"[ ?]", d)][:1]
    filled = [d for d in datas[:-1] if re.match(rb"POST /(" + name + rb"/)?_bulk|PUT /" + name + rb"/_doc", d)][:3]
    return made + filled + datas[-1:]


def ask_oracle(url, datas):
    """What an Elasticsearch answers to the last of these requests: the status, and the answer. Indices are named anew, so that nobody else has them."""
    if any(re.search(rb"^\w+ /(\*|_all|_cluster/settings|_template|_index_template)", d) for d in datas[:-1]) or any(len(d) > 20000 for d in datas):
        return "not asked"
    names = sorted({m.group(1) for d in datas if (m := re.match(rb"(?:PUT|POST) /([a-z][\w-]*)[ ?/]", d))}, key=len, reverse=True)
    host, _, port = url.split("//")[-1].partition(":")
    conn, said = Connection(host, int(port), lambda: 0.0, 120), ""
    whole_name = lambda n: re.compile(rb"(?<![\w-])" + re.escape(n) + rb"(?![\w-])")
    delete = [b"DELETE /rfuzz-" + n + b"?ignore_unavailable=true HTTP/1.1\r\nHost: x\r\n\r\n" for n in names]
    for data in delete + datas + delete:
        if data in datas:
            lines, body = parted(data)
            for n in names:
                lines[0], body = whole_name(n).sub(b"rfuzz-" + n, lines[0]), whole_name(n).sub(b"rfuzz-" + n, body)
            data = joined(lines, body) if b"chunked" not in data else data
        try:
            conn.send(data)
            answer = conn.answer(data.startswith(b"HEAD"))
            text = f"{answer.status} {answer.text()[:1500]}"
        except (Gone, Slow, ValueError, OSError) as e:
            text = f"no answer: {e}"
            conn.close()
        if not data.startswith(b"DELETE /rfuzz-"):
            said = text
    conn.close()
    return said
