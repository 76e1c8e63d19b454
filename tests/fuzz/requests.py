#!/usr/bin/env python3
"""Sends changed requests to a node that was built with sanitizers, and watches it.

usage: requests.py [--seconds N | --cases N] [--seed N] [--connections N] [--own] [--any-error] [--oracle URL] [--again FILE]

Requests are recorded ones, those of tests/conformance/own, and the differ's; each is changed in its structure, its bytes, its path, or how it is sent. Wanted:
the process lives and no sanitizer says anything; no answer takes 5 s of the node's own processor time; no 5xx that Elasticsearch does not give
(request_errors.txt; --oracle asks one); answers are JSON in UTF-8, or text where that is the form; when nobody asks any more nothing runs, no memory of requests
is held, and what the process has is bounded; a node that is stopped ends with 0, and comes up again with the indices that it had.

BUILD/fuzz/requests keeps each finding as a file, made smaller, which --again sends again; and count, how many requests were sent since the last one.
Exit status: 0 when nothing was found, 1 when something was. BUILD (build/asan) is where the node is."""
import argparse
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.join(ROOT, "build", "asan"))
os.environ["BUILD"] = BUILD
sys.path[:0] = [HERE, os.path.join(HERE, ".."), os.path.join(HERE, "..", "differ")]
from request_cases import Sources, answers_of_recordings, whole  # noqa: E402
from request_client import LIMIT_CPU, Gone, Judge, Slow  # noqa: E402
from request_node import FuzzNode, place_of  # noqa: E402
from request_oracle import ask_oracle, first_of  # noqa: E402
from request_shrink import shrunk  # noqa: E402
from request_worker import ATTACHED, Worker  # noqa: E402

OUT = os.path.join(BUILD, "fuzz", "requests")
ROUND = 90.0             # seconds between two looks at what is left behind
RESTARTS = 4             # after so many rounds the node is stopped and started again
REST_SECONDS = 75        # what waits for shards or a state gives up after a minute
SUSPECTS_AT_MOST = 5
IDLE_CPU = 20.0          # seconds of processor time after which work that nobody waits for should have ended
IDLE_SECONDS = 300
BUSY = 0.1               # of a processor: what works, and does not only wait
SHRINK_TRIALS = 150
SHRINK_SECONDS = 60
SHRINK_AT_MOST = 5      # findings of one round


class Fuzz:
    def __init__(self, args):
        self.args, self.seed, self.round = args, args.seed, 0
        self.sources, self.judge = Sources(args.own, args.documents), Judge(None if args.any_error else answers_of_recordings(args.own))
        self.lock, self.findings, self.suspects, self.waits, self.total = threading.Lock(), {}, [], 0, 0
        self.node, self.rss, self.until, self.over = None, [], 0.0, False

    # ---- what the workers ask and say ----
    def going(self):
        return time.monotonic() < self.until and not self.over

    def more_cases(self, done):
        """Whether a connection takes another case."""
        return self.going() and not 0 < self.args.cases <= done

    def alive(self):
        return not self.over and self.node.process.poll() is None

    def ended(self):
        """Whether the process is ending, or has."""
        if self.over or self.node.process.poll() is not None or self.node.report():
            if self.node.dead(30):
                self.over = True
        return self.over

    def found(self, key, what, requests):
        with self.lock:
            if key in self.findings:
                self.findings[key]["times"] += 1
                return
            self.findings[key] = {"what": what, "times": 1, "requests": [r.data for r in requests[-ATTACHED:]], "methods": [r.method for r in requests[-ATTACHED:]], "seed": self.seed, "round": self.round}
        print(f"found    {key}\n         {what[:300]}\n         {requests[-1].data[:600]!r}" if requests else f"found    {key}\n{what[:6000]}", flush=True)
        self.save(key)

    def slow(self, requests, cpu):
        with self.lock:
            if cpu > LIMIT_CPU:
                self.suspects.append((requests, cpu))
            else:
                self.waits += 1

    def save(self, key):
        os.makedirs(OUT, exist_ok=True)
        f = self.findings[key]
        path = os.path.join(OUT, re.sub(r"\W+", "-", key)[:80] + ".json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"key": key, **{k: f[k] for k in ("what", "times", "seed", "round", "methods")}, "last": f["requests"][-1].decode("latin-1") if f["requests"] else "",
                       "requests": [base64.b64encode(d).decode() for d in f["requests"]]}, out, indent=1)
        f["file"] = path

    # ---- one round ----
    def pulse(self):
        """GET / is answered all the time, whatever runs."""
        while any(w.is_alive() for w in self.workers) and not self.over:
            conn = self.node.connection()
            try:
                conn.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                conn.answer(False)
            except Slow as e:
                if e.cpu > LIMIT_CPU:
                    self.found("GET / waits", f"{e.cpu:.1f} s of processor time", [r for w in self.workers for r in w.flying[:1]])
            except (Gone, OSError, ValueError):
                if self.ended():
                    return
            conn.close()
            for w in self.workers:
                w.join(1 / len(self.workers))

    def run_round(self, seconds):
        self.round += 1
        self.until = time.monotonic() + seconds
        self.workers = [Worker(self, n) for n in range(self.args.connections)]
        threads = self.workers + [threading.Thread(target=self.pulse, daemon=True)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.total += sum(w.sent for w in self.workers)
        if self.node.process.poll() is not None or self.node.report():
            self.crashed()
        else:
            self.look_at_rest()

    def crashed(self):
        self.node.dead(60)
        if self.node.process.poll() is None:
            self.node.kill()
        report = self.node.report() or self.node.tail()
        key = place_of(report)
        print(f"the node ended: {self.node.process.returncode}", flush=True)
        flights = [w for w in self.workers if w.flying]
        self.found(key, report, [r for w in flights for r in w.flying])
        self.findings[key]["flights"] = [([r.data for r in w.history + w.flying], w.number) for w in flights]
        self.start_anew()

    def start_anew(self):
        self.node.clean_up()
        self.node, self.over = FuzzNode().start(), False
        self.rss = []

    def idle(self):
        """Waits until the node does nothing: no thread runs, a dozen times in a row. Returns whether that came."""
        began, quiet, end = self.node.cpu(), 0, time.monotonic() + IDLE_SECONDS
        while quiet < 12 and time.monotonic() < end:
            time.sleep(0.05)
            quiet = 0 if self.node.running() else quiet + 1
            if self.node.cpu() - began > IDLE_CPU:
                return False
        return quiet >= 12

    def look_at_rest(self):
        """Nobody asks any more: what is left?"""
        if not self.idle():
            self.found(f"runs on when nobody asks, round {self.round}", str(self.node.call("GET", "/_tasks?detailed")[1])[:3000], [w.history[-1] for w in self.workers if w.history])
            self.crash_by_hand()
            return
        self.node.call("DELETE", "/_search/scroll/_all")
        if self.round % RESTARTS == 0:
            self.restart()
        self.reset()
        self.look_at_memory()
        suspects, self.suspects = self.suspects[:SUSPECTS_AT_MOST], []
        for requests, _ in suspects:
            self.confirm(requests)
            if self.node.process.poll() is not None:
                return self.crashed()
            self.reset()
        return None

    def look_at_memory(self):
        """What waits for its index has ended when that is gone: no request holds anything."""
        held, end = {}, time.monotonic() + REST_SECONDS
        while True:
            status, stats = self.node.call("GET", "/_nodes/stats/breaker")
            if status != 200:
                held = {"answer": status, "body": str(stats)[:500]}
            else:
                breakers = next(iter(stats["nodes"].values()))["breakers"]
                held = {k: breakers[k]["estimated_size_in_bytes"] for k in ("request", "in_flight_requests") if breakers[k]["estimated_size_in_bytes"] > 65536}
            if not held or time.monotonic() > end:
                break
            time.sleep(0.25)
        if held:
            self.found(f"memory of requests is held: {sorted(held)}", f"{held} {self.node.call('GET', '/_tasks')[1]}"[:2000], [w.history[-1] for w in self.workers if w.history])
        self.rss.append(self.node.memory()[0] >> 20)
        if len(self.rss) > 6 and self.rss[-1] > 2 * max(self.rss[:4]) + 400:
            self.found(f"memory grows, round {self.round}", f"MB: {self.rss}", [])

    def crash_by_hand(self):
        self.node.process.send_signal(signal.SIGABRT)
        self.node.process.wait()
        self.start_anew()

    def confirm(self, requests):
        """A request that took long beside others is asked again, alone."""
        conn = self.node.connection()
        for request in requests[-60:-1]:
            if request.framed and not request.close:
                try:
                    conn.send(request.data)
                    conn.answer(request.method == "HEAD")
                except (Gone, Slow, ValueError, OSError):
                    conn.close()
        conn.close()
        self.idle()
        began = time.monotonic()
        try:
            conn.send(requests[-1].data)
            conn.answer(requests[-1].method == "HEAD")
        except Slow as e:
            if e.cpu > LIMIT_CPU and e.cpu > BUSY * (time.monotonic() - began):  # what waits costs a little, too
                self.found(f"over {LIMIT_CPU:.0f} s: {requests[-1].method} {requests[-1].path[:60]}", f"{e.cpu:.1f} s of processor time", requests)
        except (Gone, ValueError, OSError):
            pass
        conn.close()
        self.idle()

    def indices(self):
        status, rows = self.node.call("GET", "/_cat/indices?format=json&expand_wildcards=all&h=index,status,health")
        return {(r["index"], r["status"]): r["health"] for r in rows} if status == 200 and isinstance(rows, list) else {"answer": f"{status} {rows}"}

    def restart(self):
        """Ends the node gently, and starts it on its data."""
        before = self.indices()
        self.node.process.send_signal(signal.SIGTERM)
        try:
            status = self.node.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.found("does not end on SIGTERM", self.node.tail(), [])
            return self.crash_by_hand()
        if status != 0 or self.node.report():
            self.found(f"at the end: {place_of(self.node.report() or str(status))}", (self.node.report() or self.node.tail())[:20000], [w.history[-1] for w in self.workers if w.history])
            return self.start_anew()
        self.node.log.close()
        try:
            self.node.start()
        except RuntimeError as e:
            self.found("does not start again", str(e), [w.history[-1] for w in self.workers if w.history])
            shutil.copytree(self.node.data, os.path.join(OUT, f"data-{self.round}"), dirs_exist_ok=True)
            return self.start_anew()
        end = time.monotonic() + 60
        while (after := self.indices()) != before and any(after.get(k) != v for k, v in before.items() if v != "red") and time.monotonic() < end:
            time.sleep(0.2)
        if set(after) != set(before) or any(after[k] != v for k, v in before.items() if v != "red"):
            self.found("other indices after a restart", f"before {before}\nafter {after}", [])
            shutil.copytree(self.node.data, os.path.join(OUT, f"data-{self.round}"), dirs_exist_ok=True)
        return None

    def reset(self):
        """Takes away what the requests made."""
        call = self.node.call
        for scope in ("transient", "persistent"):
            status, now = call("GET", "/_cluster/settings?flat_settings")
            names = list(now.get(scope, {})) if status == 200 else []
            if names:
                call("PUT", "/_cluster/settings", {scope: {n: None for n in names}})
        call("PUT", "/*/_settings?expand_wildcards=all", {"index.blocks." + b: None for b in ("read_only", "metadata", "write", "read", "read_only_allow_delete")})
        deleted = call("DELETE", "/*?expand_wildcards=all")
        call("DELETE", "/_data_stream/*")
        call("DELETE", "/_index_template/*")
        call("DELETE", "/_component_template/*")
        call("DELETE", "/_template/*")
        call("DELETE", "/_ingest/pipeline/*")
        left = self.indices()
        if left:
            self.found("an index that cannot be deleted", f"{str(deleted)[:1000]} {left} {str(call('GET', '/_cluster/settings'))[:2000]} {str(call('GET', '/_cluster/state/blocks'))[:1000]}", [])
            return self.start_anew()
        status, state = call("GET", "/_cluster/state/metadata")
        for name in (state.get("metadata", {}).get("stored_scripts") or {}) if status == 200 else ():
            call("DELETE", f"/_scripts/{name}")
        return None

    # ---- smaller ----
    def as_the_oracle(self, key, datas):
        """Whether Elasticsearch answers so too."""
        if not self.args.oracle or not re.match(r"50\d ", key):
            return False
        said = ask_oracle(self.args.oracle, datas)
        same = said.startswith(key[:4]) or key.startswith("500 in a part") and '"status":500' in said
        if same:
            self.findings[key]["known"] = True
            with open(os.path.join(OUT, "as-elasticsearch.txt"), "a", encoding="utf-8") as out:
                out.write(f"{key}\t{datas[-1]!r}\t{said[:300]}\n")
        print(f"oracle   {'the same' if same else said[:400]}: {key}", flush=True)
        return same

    def make_smaller(self, key):
        finding = self.findings[key]
        if self.as_the_oracle(key, first_of(finding["requests"])):
            return
        end = time.monotonic() + SHRINK_SECONDS
        shared = {"node": None}

        def fails(datas):
            if time.monotonic() > end:
                return False
            if shared["node"] is None or shared["node"].process.poll() is not None:
                if shared["node"]:
                    shared["node"].clean_up()
                shared["node"] = FuzzNode().start()
            outer, self.node = self.node, shared["node"]
            try:
                self.reset()
                return self.finds(key, datas)
            finally:
                self.node = outer

        for datas in [d for d, _ in finding.get("flights", [])] or [finding["requests"]]:
            if datas and fails(datas):
                finding["requests"] = shrunk(datas, fails, SHRINK_TRIALS)
                finding["methods"] = [d.split(b" ", 1)[0].decode("latin-1") for d in finding["requests"]]
                break
        else:
            print(f"does not come again alone: {key}", flush=True)
            finding["requests"] = finding["requests"] or [d for ds, _ in finding.get("flights", []) for d in ds]
        if shared["node"]:
            shared["node"].clean_up()
        self.save(key)
        self.as_the_oracle(key, finding["requests"])
        print(f"smaller  {key}: {finding['file']}\n" + "\n".join(f"         {d[:1500]!r}" for d in finding["requests"][-6:]), flush=True)

    def finds(self, key, datas):
        """Sends these requests one after the other to self.node; whether the last one's answer, or the node's end, is the finding."""
        conn = self.node.connection()
        for i, data in enumerate(datas):
            method, _, rest = data.partition(b" ")
            request = whole(method.decode("latin-1"), "/", None)
            request.path, request.data = rest.split(b" ", 1)[0].decode("latin-1"), data
            try:
                conn.send(data)
                answer = conn.answer(method == b"HEAD")
                wrong = self.judge.wrong(request, answer)
                if i == len(datas) - 1 and wrong and wrong[0] == key:
                    return True
                if answer.closes:
                    conn.close()
            except Slow as e:
                if i == len(datas) - 1 and key.startswith("over ") and e.cpu > LIMIT_CPU:
                    return True
                conn.close()
            except (Gone, OSError) as e:
                conn.close()
                if self.node.process.poll() is not None or self.node.report():
                    self.node.dead(30)
                    return place_of(self.node.report()) == key
                if i == len(datas) - 1 and key.startswith("closed"):
                    return True
            except ValueError:
                conn.close()
                if i == len(datas) - 1 and key == "no HTTP answer":
                    return True
        return bool(self.node.report()) and self.node.dead(30) and place_of(self.node.report()) == key

    # ---- all of it ----
    def run(self):
        self.node = FuzzNode().start()
        end = time.monotonic() + self.args.seconds
        while (left := end - time.monotonic()) > 0 and not (self.args.cases and self.round):
            known = set(self.findings)
            self.run_round(min(ROUND, left) if not self.args.cases else left)
            for key in [k for k in self.findings if k not in known][:SHRINK_AT_MOST]:
                if self.findings[key]["requests"]:
                    self.make_smaller(key)
            print(f"round {self.round}: {self.total} requests, {self.waits} waits, {self.rss[-1] if self.rss else 0} MB, {len(self.real())} findings", flush=True)
        self.round = RESTARTS - 1
        self.restart()
        self.node.clean_up()
        self.count()
        for key in self.real():
            print(f"FAILED   {self.findings[key]['times']} times: {key}: {self.findings[key].get('file', '')}")
        print(f"{self.total} requests, {len(self.real())} findings")
        return 1 if self.real() else 0

    def real(self):
        """Findings without those that Elasticsearch has too."""
        return [k for k, f in self.findings.items() if not f.get("known")]

    def count(self):
        """How many requests were sent since the last finding, over all runs."""
        os.makedirs(OUT, exist_ok=True)
        path, before = os.path.join(OUT, "count"), 0
        if os.path.exists(path) and not self.real():
            with open(path, encoding="ascii") as f:
                before = int(f.read())
        with open(path, "w", encoding="ascii") as f:
            f.write(str(before + (0 if self.real() else self.total)))
        print(f"since the last finding: {before + (0 if self.real() else self.total)}")


def again(fuzz, path):
    """Sends a finding again, and makes it smaller where that still can be."""
    with open(path, encoding="utf-8") as f:
        finding = json.load(f)
    fuzz.node = FuzzNode().start()
    fails = fuzz.finds(finding["key"], [base64.b64decode(d) for d in finding["requests"]])
    print(f"{'found again' if fails else 'not found'}: {finding['key']}\n{fuzz.node.report()}")
    fuzz.node.clean_up()
    if fails:
        fuzz.findings[finding["key"]] = {**finding, "requests": [base64.b64decode(d) for d in finding["requests"]]}
        fuzz.make_smaller(finding["key"])
    return 1 if fails else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=0, help="so many cases of each connection instead of a time")
    parser.add_argument("--connections", type=int, default=6)
    parser.add_argument("--oracle", help="URL of an Elasticsearch 7.12.1 that is asked what it answers where we answer 500")
    parser.add_argument("--own", action="store_true", help="only requests that lie in the project, not the recordings beside it")
    parser.add_argument("--any-error", action="store_true", help="a 500 is no finding: which of them Elasticsearch gives too has to be looked at by hand")
    parser.add_argument("--documents", type=float, default=0.1, help="the share of cases of deep, wide and long documents, and of requests that show parts of them")
    parser.add_argument("--again")
    args = parser.parse_args()
    fuzz = Fuzz(args)
    sys.exit(again(fuzz, args.again) if args.again else fuzz.run())


if __name__ == "__main__":
    main()
