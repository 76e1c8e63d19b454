"""Changes under way, while something else goes wrong."""
import http.client
import random
import threading

from services import record

HOTELS = 60
CHANGES_A_SECOND = 20


class Writer(threading.Thread):
    """Changes hotels at random; remembers what the service answered for each, and where nobody knows. call(method, path, body) asks the
    management service: (status, answer)."""

    def __init__(self, call, seed):
        super().__init__(daemon=True)
        self.call, self.random = call, random.Random(seed)
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
            except (OSError, http.client.HTTPException, ValueError):
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
        status, answer = self.call(method, path, body)
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

    def end(self):
        self.stop.set()
        self.join()

    def lost(self):
        """id -> what the service has and what it should have."""
        have = {ident: self.call("GET", f"/hotel/{ident}") for ident in self.known}
        return {i: (have[i], want) for i, want in self.known.items() if have[i] != (200, want) and (want is not None or have[i][0] != 404)}
