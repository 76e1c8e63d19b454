#!/usr/bin/env python3
"""Nothing is lost: under changes, kill -9 and restart of the management service, the application, the broker, the database and
the search node, in random order. Afterwards the database has what was answered, verify finds no difference, no message is left.

COUNT says how often each is killed (1; with LONG=1 20), SEED in which order and with which changes."""
import os
import random
import time

from application import Checks
from services import World, kill
from writer import Writer

check = Checks()
COUNT = int(os.environ.get("COUNT", "20" if os.environ.get("LONG") else "1"))
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 30))))


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
        writer = Writer(w.admin.call, SEED)
        writer.start()
        time.sleep(2)
        kills = ["admin", "application", "broker", "database", "node"] * COUNT
        random.shuffle(kills)
        for what in kills:
            kill_one(w, what)
            time.sleep(random.random() * 2)
        time.sleep(1)
        writer.end()
        print(f"{writer.done} changes answered, {writer.failed} not, {len(kills)} kills", flush=True)
        check(writer.done > len(kills), "changes were made", writer.done)
        check.equal(writer.wrong, [], "no answer contradicts an earlier one")
        check(w.until(w.idle), "nothing waits any more: neither in the outbox nor in a queue", w.admin.call("GET", "/status")[1])
        check.equal(writer.lost(), {}, "the database has what was answered")
        status, out, err = w.command("verify")
        check.equal(status, 0, f"verify finds no difference: {out[-500:]} {err[-500:]}")
        check.equal(w.app.get("/health")[1]["sync"]["dead"], 0, "nothing was put aside")
    check.end()


if __name__ == "__main__":
    main()
