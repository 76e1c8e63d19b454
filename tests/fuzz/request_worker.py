"""One connection of the fuzzer of requests: takes cases, sends what is made of them, and looks at the answers."""
import threading

from request_cases import Request, mutant, original, seeded, whole
from request_client import Gone, Slow

AT_ONCE = 8
ATTACHED = 400           # requests that are kept before the one that failed


class Worker(threading.Thread):
    """Takes one case after the other, and sends what it makes of their steps."""

    def __init__(self, fuzz, number):
        super().__init__(daemon=True)
        self.fuzz, self.number, self.conn = fuzz, number, fuzz.node.connection()
        self.history, self.flying, self.sent, self.cases = [], [], 0, 0

    def run(self):
        while self.fuzz.more_cases(self.cases):
            rng = seeded(self.fuzz.seed, self.fuzz.round, self.number, self.cases)
            self.cases += 1
            name, cleanup, steps = self.fuzz.sources.case(rng, self.number)
            self.history = []
            clean = [whole("DELETE", "/" + n + ("" if n.startswith("_") else "?ignore_unavailable=true"), None) for n in cleanup]
            self.send(clean)
            for step in steps:
                if not self.fuzz.going():
                    break
                creates = step[0] == "PUT" and step[1].count("/") == 1
                batch = [] if creates and rng.random() < 0.35 else [original(step)]
                batch += [mutant(rng, self.fuzz.sources, step) for _ in range(rng.choice([1, 2, 2]) if step[0] in ("PUT", "DELETE") else rng.choice([2, 4, AT_ONCE]))]
                self.send(batch)
            self.send(clean)
        self.conn.close()

    def send(self, batch):
        """Good requests go at once, others one by one; answers are looked at."""
        part = []
        for request in batch:
            if request.framed and not request.close:
                part.append(request)
            else:
                self.together(part)
                self.alone(request)
                part = []
        self.together(part)

    def remember(self, requests):
        self.history = (self.history + requests)[-ATTACHED:]
        self.sent += len(requests)

    def together(self, batch):
        while batch and self.fuzz.alive():
            self.flying, done = batch, 0
            try:
                self.conn.send(b"".join(r.data for r in batch))
                for request in batch:
                    answer = self.conn.answer(request.method == "HEAD")
                    done += 1
                    if wrong := self.wrong(request, answer):
                        self.fuzz.found(wrong[0], wrong[1], self.history + batch[:done])
                    if answer.closes:
                        break
                else:
                    self.remember(batch)
                    self.flying = []
                    return
            except Gone as e:
                if self.fuzz.ended():
                    return
                if done == 0:
                    self.fuzz.found(f"closed without a word {batch[0].method}", str(e), self.history + batch[:1])
                    done = 1
            except Slow as e:
                self.fuzz.slow(self.history + batch[:done + 1], e.cpu)
                done += 1
            except ValueError as e:
                self.fuzz.found("no HTTP answer", str(e), self.history + batch[:done + 1])
                done += 1
            self.conn.close()
            self.remember(batch[:done])
            batch = batch[done:]
        self.flying = []

    def wrong(self, request, answer):
        """What the judge finds. An answer to HEAD does not say why: a GET does."""
        wrong = self.fuzz.judge.wrong(request, answer)
        if wrong and request.method == "HEAD":
            conn, again = self.fuzz.node.connection(), Request("GET", request.path, b"GET" + request.data[len(b"HEAD"):])
            try:
                conn.send(again.data)
                told = conn.answer(False)
                return self.fuzz.judge.wrong(again, told) if told.status == answer.status else wrong
            except (Gone, Slow, OSError, ValueError):
                return wrong
            finally:
                conn.close()
        return wrong

    def alone(self, request):
        """A request that is no good HTTP, or whose answer nobody waits for, on a connection of its own."""
        if not self.fuzz.alive():
            return
        conn, self.flying = self.fuzz.node.connection(), [request]
        try:
            conn.send(request.data)
            if not request.framed:
                conn.sock.shutdown(1)
                while True:
                    answer = conn.answer(request.method == "HEAD")
                    if wrong := self.fuzz.judge.wrong(request, answer):
                        self.fuzz.found(wrong[0], wrong[1], self.history + [request])
                    if answer.closes:
                        break
        except (Gone, OSError):
            if self.fuzz.ended():
                return
        except Slow as e:
            self.fuzz.slow(self.history + [request], e.cpu)
        except ValueError as e:
            if request.method != "HEAD" and b"HEAD" not in request.data:
                self.fuzz.found("no HTTP answer", str(e), self.history + [request])
        conn.close()
        self.remember([request])
        self.flying = []
