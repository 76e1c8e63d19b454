#!/usr/bin/env python3
"""150 judged queries (relevance/queries.txt) over the demo's hotels: what guests expect is what the first three hotels are, as the page's
search answers, and as `_rank_eval` judges the searches that it made. At least 95 % are met."""
import csv
import os
import subprocess
import tempfile

import application
from application import App, Checks, Search, command

check = Checks()
QUERIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relevance", "queries.txt")
HOTELS, FIRST, WANTED, BATCH = 10000, 3, 0.95, 15
JUDGED_PARTS = ("query", "post_filter", "sort", "from", "size")  # what _rank_eval takes of a search


def queries():
    """[(key, conditions or None)]: a condition is (field, whole, texts)."""
    found = []
    with open(QUERIES, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                key, expected = line.rstrip("\n").split(" -> ")
                conditions = []
                for part in expected.split():
                    if part != "none":
                        whole = "=" in part
                        field, text = part.split("=" if whole else "~")
                        conditions.append((field, whole, text.split("|")))
                found.append((key, conditions or None))
    return found


def holds(hotel, conditions):
    return all(any(hotel[field] == t if whole else t in (hotel[field] or "") for t in texts) for field, whole, texts in conditions)


def judge(search, made, hotels):
    """The share of each search's first three that are relevant; each key once."""
    precision = {}
    for at in range(0, len(made), BATCH):
        requests = []
        for key, conditions, body in made[at:at + BATCH]:
            relevant = [h["id"] for h in hotels if holds(h, conditions)]
            requests.append({"id": key, "request": {p: body[p] for p in JUDGED_PARTS},
                             "ratings": [{"_index": search.index, "_id": i, "rating": 1} for i in relevant]})
        status, answer = search.call("POST", f"/{search.index}/_rank_eval", {"requests": requests, "metric": {"precision": {"k": FIRST}}})[:2]
        check.equal((status, answer.get("failures")), (200, {}), "_rank_eval judges")
        for key, detail in answer.get("details", {}).items():
            precision[key] = detail["metric_score"]
    return precision


def main():
    application.need("serai-hotel")
    asked = queries()
    check(len(asked) >= 150 and len({k for k, _ in asked}) == len(asked), "150 queries", len(asked))
    with tempfile.TemporaryDirectory() as folder, Search() as search:
        path = os.path.join(folder, "hotels.csv")
        with open(path, "w", encoding="utf-8") as f:
            subprocess.run([application.HOTEL, "generate", str(HOTELS)], stdout=f, check=True)
        with open(path, encoding="utf-8", newline="") as f:
            hotels = [{**row, "starName": row["star_name"]} for row in csv.DictReader(f)]
        command(search.url, search.index, "import", path)
        met, made = [], []
        with App(search.url, search.index) as app:
            for key, conditions in asked:
                status, body = app.post("/hotel/find", {"key": key, "size": FIRST, "explain": True})
                check.equal(status, 200, f"find {key}")
                if conditions is None:
                    ok = body["total"] == 0
                else:
                    enough = min(FIRST, sum(holds(h, conditions) for h in hotels))
                    check(enough > 0, f"{key}: there is what a guest expects")
                    ok = sum(holds(h, conditions) for h in body["hotels"]) >= enough and len(body["hotels"]) > 0
                    made.append((key, conditions, body["search"]))
                met.append(ok)
                if not ok:
                    print(f"not met: {key}: " + ", ".join(f"{h['name']} {h['address']}" for h in body["hotels"]))
        precision = judge(search, made, hotels)
        check.equal(len(precision), len(made), "all are judged")
        for key, score in precision.items():
            if score < 1:
                print(f"_rank_eval: {key}: {score:.2f}")
        mean = sum(precision.values()) / max(1, len(precision))
        print(f"met by the endpoint: {sum(met)} of {len(met)}; mean precision of _rank_eval at {FIRST}: {mean:.3f}")
        check(sum(met) >= WANTED * len(met), f"{WANTED:.0%} are met", f"{sum(met)} of {len(met)}")
        check(mean >= WANTED, "and by _rank_eval", mean)
    check.end()


if __name__ == "__main__":
    main()
