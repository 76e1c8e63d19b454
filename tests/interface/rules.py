"""Runs the rules of one test program: every function named rule_*, each over an index of its own on one node, or on the search
service at SEARCH_URL (http://host:port)."""
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from node import Node  # noqa: E402

CITIES = ["上海", "北京", "深圳"]
BRANDS = ["如家", "汉庭", "希尔顿", "万豪"]
MAPPING = {"properties": {
    "id": {"type": "long"}, "title": {"type": "text"}, "city": {"type": "keyword"}, "brand": {"type": "keyword"}, "price": {"type": "integer"},
    "score": {"type": "float"}, "open": {"type": "date"}, "pool": {"type": "boolean"}, "at": {"type": "geo_point"}}}


def hotels(n=60):
    """Documents that tests can reckon with: every value follows from the number."""
    return [{"id": i, "title": f"hotel number {i} {'by the river' if i % 4 == 0 else 'in town'}", "city": CITIES[i % 3], "brand": BRANDS[i % 4],
             "price": 100 + i * 37 % 900, "score": (i % 50) / 2, "open": f"2020-{1 + i % 12:02}-{1 + i % 28:02}", "pool": i % 5 == 0,
             "at": {"lat": 30 + i * 0.05, "lon": 120 + i * 0.03}} for i in range(n)]


class Index:
    """One index; calls without a leading slash are below it."""

    def __init__(self, node, name):
        self.node, self.name = node, name

    def call(self, method, path, body=None):
        return self.node.call(method, path if path.startswith("/") else f"/{self.name}{'/' + path if path else ''}", body)

    def ok(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        assert status in (200, 201), f"{method} {path}: {status} {answer}"
        return answer

    def refused(self, method, path, body=None, status=400):
        """The innermost type of the refusal."""
        have, answer = self.call(method, path, body)
        assert have == status, f"{method} {path}: {have} {answer}"
        return answer["error"]["root_cause"][0]["type"] if isinstance(answer.get("error"), dict) else answer

    def create(self, mappings=None, **settings):
        self.ok("PUT", "", {"mappings": mappings or {}, "settings": settings})
        return self

    def put(self, docs, key="id"):
        """Indexes documents under their ids; they can be searched for at once."""
        lines = []
        for n, doc in enumerate(docs):
            lines += [{"index": {"_id": str(doc.get(key, n))}}, doc]
        answer = self.ok("POST", "_bulk?refresh=true", lines)
        assert not answer["errors"], answer
        return self

    def search(self, **body):
        return self.ok("GET", "_search", body)

    def ids(self, query, **body):
        """Ids of the documents that match, in the answer's order."""
        return [h["_id"] for h in self.search(query=query, **{"size": 1000, **body})["hits"]["hits"]]

    def found(self, query):
        return {int(i) for i in self.ids(query)}

    def with_hotels(self, n=60, **settings):
        return self.create(MAPPING, **settings).put(hotels(n))


class Service(Node):
    """A search service that somebody else runs."""

    def __init__(self, url):
        super().__init__()
        self.port = int(url.rsplit(":", 1)[1].strip("/"))

    def start(self):
        return self

    def kill(self):
        """It is not ours to restart."""


def main(module):
    passed = failed = 0
    url = os.environ.get("SEARCH_URL")
    with Service(url) if url else Node() as node:
        for name, rule in list(vars(module).items()):
            if not name.startswith("rule_"):
                continue
            index = Index(node, "interface-" + name[5:])
            try:
                rule(index)
                passed += 1
            except Exception:  # whatever goes wrong in a rule breaks that rule alone
                failed += 1
                print(f"FAILED {name}: {rule.__doc__ or ''}")
                print("".join(traceback.format_exc().splitlines(True)[-6:]), end="", flush=True)
            node.call("DELETE", f"/{index.name}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
