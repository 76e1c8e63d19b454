"""Makes a finding of the fuzzer of requests smaller: fewer requests before it, then less in its body."""
import json

from shrink import Budget, _without as smaller_values


def parted(data):
    """(head lines without a length, body) of a request that is good HTTP."""
    head, _, body = data.partition(b"\r\n\r\n")
    return [l for l in head.split(b"\r\n") if not l.lower().startswith(b"content-length")], body


def joined(lines, body):
    length = [b"Content-Length: " + str(len(body)).encode()] if body else []
    return b"\r\n".join(lines + length) + b"\r\n\r\n" + body


def smaller_bodies(body):
    """Smaller forms of a body: of its JSON, of its lines, or of its bytes."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, (dict, list)):
        for v in smaller_values(value):
            yield json.dumps(v, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return
    rows = body.split(b"\n")
    if len(rows) > 2:
        for i in range(len(rows)):
            yield b"\n".join(rows[:i] + rows[i + 1:])
    size = len(body) // 2
    while size:
        for at in range(0, len(body), size):
            yield body[:at] + body[at + size:]
        size //= 2


def shrunk(datas, fails, trials):
    """The least list of requests found of which the last fails still. `fails(list)` tries them on a fresh node."""
    budget = Budget(trials)
    size = len(datas) - 1
    while size >= 1:
        at = 0
        while at < len(datas) - 1 and budget.take():
            trial = datas[:at] + datas[min(at + size, len(datas) - 1):]
            if fails(trial):
                datas = trial
            else:
                at += size
        size //= 2
    going = True
    while going and b"chunked" not in datas[-1] and b"gzip" not in datas[-1]:
        going = False
        lines, body = parted(datas[-1])
        for smaller in smaller_bodies(body):
            if not budget.take():
                return datas
            trial = datas[:-1] + [joined(lines, smaller)]
            if fails(trial):
                datas, going = trial, True
                break
    return datas
