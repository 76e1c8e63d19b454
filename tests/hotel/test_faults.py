#!/usr/bin/env python3
"""Nothing is lost: under changes, kill -9 and restart of the management service, the application, the broker, the database and
the search node, in random order. Afterwards the database has what was answered, verify finds no difference, no message is left.

COUNT says how often each is killed (1; with LONG=1 20), SEED in which order and with which changes."""
import os
import random
import threading
import time

from application import Checks
from services import World, kill, record

check = Checks()
COUNT = int(os.environ.get("COUNT", "20" if os.environ.get("LONG") else "1"))
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 30))))
HOTELS = 60
CHANGES_A_SECOND = 20


class Writer(threading.Thread):
    """Changes hotels at random; remembers what the service answered for each, and where nobody knows."""

    def __init__(self, w, seed):
        super().__init__(daemon=True)
        self.w, self.random = w, random.Random(seed)
        self.known = {}  # id -> record, or None: deleted; absent: nobody knows
        self.done = self.failed = 0
        self.wrong = []
        self.stop = threading.Event()

    def run(self):
        while not self.stop.wait(1 / CHANGES_A_SECOND):
            ident = self.random.randrange(1, HOTELS + 1)
            try:
                self.change(ident)
                self.done += 1
            except (OSError, ValueError):
                self.known.pop(ident, None)
                self.failed += 1

    def change(self, ident):
        what, price = self.random.random(), self.random.randrange(10000)
        if what < 0.2:
            method, path, body = "DELETE", f"/hotel/{ident}", None
        elif what < 0.5:
            method, path, body = "POST", "/hotel", record(ident, price=price)
        else:
            method, path, body = "PUT", f"/hotel/{ident}", {"price": price, "score": price % 50}
        status, answer = self.w.admin.call(method, path, body)
        before = self.known.get(ident, "nobody knows")
        if status in (200, 201):
            self.known[ident] = answer
        elif status == 204 or status == 404:
            self.known[ident] = None
        elif status == 409:
            if before is None:
                self.wrong.append(f"hotel {ident} was deleted, and is there")
        else:
            raise ValueError(status)
        if status == 404 and isinstance(before, dict):
            self.wrong.append(f"hotel {ident} was stored, and is gone")


def kill_one(w, what):
    """Kills it under way, leaves it away for a moment, starts it again."""
    if what == "admin":
        kill(w.admin)
    elif what == "application":
        kill(w.app)
    elif what == "broker":
        w.broker.kill()
    elif what == "database":
        w.db.kill()
    else:
        w.search.node.kill()
    time.sleep(random.random() / 2)
    {"admin": w.admin.__enter__, "application": w.app.__enter__, "broker": w.broker.start, "database": w.db.start, "node": w.search.node.start}[what]()


def main():
    print(f"SEED={SEED} COUNT={COUNT}", flush=True)
    random.seed(SEED)
    with World() as w:
        writer = Writer(w, SEED)
        writer.start()
        time.sleep(2)
        kills = ["admin", "application", "broker", "database", "node"] * COUNT
        random.shuffle(kills)
        for what in kills:
            kill_one(w, what)
            time.sleep(random.random() * 2)
        time.sleep(1)
        writer.stop.set()
        writer.join()
        print(f"{writer.done} changes answered, {writer.failed} not, {len(kills)} kills", flush=True)
        check(writer.done > len(kills), "changes were made", writer.done)
        check.equal(writer.wrong, [], "no answer contradicts an earlier one")
        check(w.until(w.idle), "nothing waits any more: neither in the outbox nor in a queue", w.admin.call("GET", "/status")[1])
        stored = {h["id"]: h for h in w.admin.call("GET", "/hotel/list?size=1000")[1]["hotels"]}
        lost = {i: (stored.get(i), want) for i, want in writer.known.items() if stored.get(i) != want}
        check.equal(lost, {}, "the database has what was answered")
        status, out, err = w.command("verify")
        check.equal(status, 0, f"verify finds no difference: {out[-500:]} {err[-500:]}")
        check.equal(w.app.get("/health")[1]["sync"]["dead"], 0, "nothing was put aside")
    check.end()


if __name__ == "__main__":
    main()
