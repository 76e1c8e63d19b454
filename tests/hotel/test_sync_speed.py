#!/usr/bin/env python3
"""Ten thousand changes through the whole chain: REST, database, outbox, broker, index. COUNT=10000 says how many.

What is measured: from the first request to the management service until the index agrees with the database and nothing waits.
The figures are printed; docs/benchmarks.md has them from one machine."""
import concurrent.futures
import http.client
import json
import os
import threading
import time

from application import Checks, node
from services import World, record

check = Checks()
COUNT = int(os.environ.get("COUNT", "10000"))
SECONDS_MAX = node.promised(20)
CLIENTS = 16
local = threading.local()


def change(host, method, path, body, want):
    """On a connection that is kept, as clients do."""
    for _ in range(2):
        if not hasattr(local, "conn"):
            local.conn = http.client.HTTPConnection(host, timeout=node.HANG_SECONDS)
        try:
            local.conn.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            r = local.conn.getresponse()
            r.read()
            return r.status == want
        except (OSError, http.client.HTTPException):
            del local.conn
    return False


def measure(w, name, calls):
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        started = time.monotonic()
        ok = all(pool.map(lambda c: change(w.admin.host, *c), calls))
        answered = time.monotonic() - started
    check(ok, f"{name}: every request is answered as it should be")
    check(w.until(w.idle), f"{name}: everything is served")
    took = time.monotonic() - started
    check(took < SECONDS_MAX * len(calls) / 10000 + 2, f"{name}: {len(calls)} changes in time", took)
    print(f"{name}: {len(calls)} changes: all answered after {answered:.1f} s, all in the index after {took:.1f} s", flush=True)


def main():
    with World("-E", "mysql.connections=16") as w:
        measure(w, "added", [("POST", "/hotel", record(i), 201) for i in range(COUNT)])
        measure(w, "changed", [("PUT", f"/hotel/{i}", {"price": i % 1000, "score": 40}, 200) for i in range(COUNT)])
        status, out, _ = w.command("verify")
        check.equal((status, out.splitlines()[-1]), (0, f"{COUNT} hotels in the database, 0 differences"), "verify")
        # A flood: everything is in the database and the outbox at once, as after a long absence.
        w.db.sql("START TRANSACTION; UPDATE tb_hotel SET price = price + 1; INSERT INTO tb_hotel_outbox (hotel_id, event) SELECT id, 'insert' FROM tb_hotel; COMMIT;")
        started = time.monotonic()
        check(w.until(w.idle), "a flood is served")
        took = time.monotonic() - started
        check(took < SECONDS_MAX, "in time", took)
        print(f"at once: {COUNT} changes in {took:.1f} s", flush=True)
        check.equal(w.command("verify")[0], 0, "verify again")
    check.end()


if __name__ == "__main__":
    main()
